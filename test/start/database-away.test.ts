import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/ports.ts'
import { postgres } from '../support/postgres.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { until } from '../support/raw.ts'

const folders: string[] = []
const servers: Server[] = []
const processes: PlatformProcess[] = []
after(async () => {
  for (const platform of processes) await platform.kill()
  for (const server of servers) server.close()
  for (const path of folders) rmSync(path, { recursive: true, force: true })
  await (await postgres()).stop()
})
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'kontor-away-')))
  return folders.at(-1)!
}
async function listening(take: (socket: Socket) => void, port = 0): Promise<number> {
  const server = createServer(take)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
/**
 * A way over TCP to the tests' server, which listens on a socket of the file system. What is asked with a text of `slow`
 * in it arrives late, once for each of them.
 */
async function bridge(
  url: string,
  port: number,
  slow: readonly string[] = [],
  lateMs = 0,
): Promise<string[]> {
  const path = join(new URL(url).searchParams.get('host')!, '.s.PGSQL.5432')
  const late: string[] = []
  const arrives = async function* (asked: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const part of asked) {
      const found = slow.find((text) => !late.includes(text) && part.includes(text))
      if (found !== undefined) {
        late.push(found)
        await sleep(lateMs)
      }
      yield part
    }
  }
  await listening((socket) => {
    const inner = connect(path)
    pipeline(socket, arrives, inner, () => socket.destroy())
    inner.pipe(socket)
    for (const end of [socket, inner]) end.on('error', () => socket.destroy().end())
  }, port)
  return late
}
const over = (url: string, port: number): string =>
  `postgresql://postgres@127.0.0.1:${port}${new URL(url).pathname}`
const launch = (env: Record<string, string>): PlatformProcess => {
  const platform = PlatformProcess.launch({ KONTOR_DATA: folder(), KONTOR_AGENTS: 'off', ...env })
  processes.push(platform)
  return platform
}
const get = async (port: number, path: string): Promise<{ status: number; text: string }> => {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`)
  return { status: reply.status, text: await reply.text() }
}

describe('a database that is away at the start', () => {
  test('is waited for: alive, not ready, and ready when it comes', async () => {
    const [port, database] = [await freePort(), await freePort()]
    const url = await (await postgres()).database()
    const env = { KONTOR_PORT: String(port), KONTOR_DATABASE_URL: over(url, database), KONTOR_LOG: 'info' }
    const platform = launch(env)
    await until(() =>
      get(port, '/readyz').then(
        ({ text }) => text.includes('waiting for the database'),
        () => false,
      ),
    )
    assert.deepEqual(await get(port, '/healthz'), { status: 200, text: '{"status":"ok"}' })
    const ready = await get(port, '/readyz')
    assert.equal(ready.status, 503)
    assert.match(
      ready.text,
      /^\{"label":"TOO_BUSY","message":"the platform is starting: waiting for the database, \d+ s of 60 s"\}$/,
    )
    assert.doesNotMatch(
      ready.text,
      new RegExp(String(database)),
      'where the database is, is nobody’s business',
    )
    for (const path of ['/api/v4/spot/time', '/operator/v1/status', '/', '/docs', '/metrics'])
      assert.equal((await get(port, path)).status, 503, path)
    const posted = await fetch(`http://127.0.0.1:${port}/api/v4/spot/orders`, { method: 'POST', body: '{}' })
    assert.equal(posted.status, 503)
    assert.match(platform.errors, /can't be opened: .*ECONNREFUSED.*it is tried again for up to 60 s/)
    await bridge(url, database)
    await platform.ready()
    assert.equal((await get(port, '/readyz')).status, 200)
    assert.match(platform.errors, /the database answers/)
    assert.equal(await platform.kill('SIGTERM'), 0)
  })

  test('whose answers stop for some seconds in the middle of a start is waited for too', async () => {
    const port = await freePort()
    const url = await (await postgres()).database()
    // In the middle of a migration, and of the transaction that hands the journal over.
    const slow = ['insert into migration', 'update journal_owner set base']
    const late = await bridge(url, port, slow, 2_000)
    const platform = launch({ KONTOR_PORT: '0', KONTOR_DATABASE_URL: over(url, port) })
    await platform.ready()
    assert.deepEqual(late, slow)
    assert.equal(await platform.kill('SIGTERM'), 0)
  })

  test('is given up with an exit code of its own', async () => {
    const env = {
      KONTOR_PORT: '0',
      KONTOR_DATA: folder(),
      KONTOR_DATABASE_URL: `postgresql://somebody:hunter2@127.0.0.1:${await freePort()}/kontor`,
    }
    const began = Date.now()
    const given = await kontor(['start', '--database-wait', '2'], env)
    assert.equal(given.code, 75, given.errors)
    assert.ok(Date.now() - began >= 2_000)
    assert.match(
      given.errors.split('\n').at(-2)!,
      /^kontor: KONTOR_DATABASE_URL: the database can't be opened: .*ECONNREFUSED.*; gave up after 2 s \(KONTOR_DATABASE_WAIT\)$/,
    )
    assert.doesNotMatch(given.errors, /hunter2/)
    assert.equal((await kontor(['start', '--database-wait', '0'], env)).code, 75)
    const doctor = await kontor(['doctor', '--database-wait', '30'], env)
    assert.equal(doctor.code, 1)
    assert.match(doctor.output, /^WRONG database: .*ECONNREFUSED.*; a start waits for it for up to 30 s$/m)
    // What only looks does not wait.
    assert.equal((await kontor(['verify'], env)).code, 2)
  })

  test('what no waiting mends is told at once, exit 2', async () => {
    const url = await (await postgres()).database()
    const password = await listening((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        const fields = 'SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user "postgres"\0\0'
        const head = Buffer.alloc(5)
        head.write('E')
        head.writeInt32BE(fields.length + 4, 1)
        socket.end(Buffer.concat([head, Buffer.from(fields)]))
      })
    })
    for (const [wrong, words] of [
      [url.replace(/\/kontor_\w+/, '/not_there'), /database "not_there" does not exist/],
      [url.replace('postgres@', 'nobody_here@'), /role "nobody_here" does not exist/],
      [over(url, password), /password authentication failed/],
    ] as const) {
      const began = Date.now()
      const { code, errors } = await kontor(['start'], {
        KONTOR_PORT: '0',
        KONTOR_DATA: folder(),
        KONTOR_DATABASE_URL: wrong,
      })
      assert.equal(code, 2, errors)
      assert.match(errors, /^kontor: KONTOR_DATABASE_URL: the database can't be opened: [^\n]*\n$/)
      assert.match(errors, words)
      assert.ok(Date.now() - began < 20_000, 'without waiting')
    }
  })

  test('SIGTERM ends the waiting, and nothing was made', async () => {
    const port = await freePort()
    const data = join(folder(), 'data')
    const database = `postgresql://x@127.0.0.1:${await freePort()}/kontor`
    const platform = launch({ KONTOR_DATA: data, KONTOR_PORT: String(port), KONTOR_DATABASE_URL: database })
    await until(() =>
      get(port, '/healthz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    )
    const began = Date.now()
    assert.equal(await platform.kill('SIGTERM'), 0, platform.errors)
    assert.ok(Date.now() - began < 20_000, 'without waiting for the database')
    assert.deepEqual(readdirSync(join(data, '..')), [])
  })
})
