import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from '../src/cli/main.ts'
import { replayTraffic } from '../src/kontor.ts'

const bin = fileURLToPath(new URL('../../bin/kontor.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'kontor-record-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('kontor record writes the session of a bot down, on a clock that goes with the real one', async () => {
  const [file, credentials] = [join(folder, 'session.jsonl'), join(folder, 'credentials.json')]
  const options = ['--port', '0', '--agents', 'off', '--credentials', credentials]
  const child = spawn(process.execPath, [bin, 'record', file, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('kontor ready on ')) break
  const order = '{"currency_pair":"BTC_USDT","side":"sell","amount":"0.1","price":"70000"}'
  const call = (): Promise<number> =>
    run(['call', 'POST', '/api/v4/spot/orders', order, '--credentials', credentials], {})
  assert.equal(await call(), 0)
  const { url } = JSON.parse(readFileSync(credentials, 'utf8')) as { url: string }
  const time = async (): Promise<number> =>
    ((await (await fetch(`${url}/api/v4/spot/time`)).json()) as { server_time: number }).server_time
  const began = await time()
  for (let i = 0; i < 100 && (await time()) < began + 1_000; i++) await sleep(100)
  assert.equal(await call(), 0)
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])

  const text = readFileSync(file, 'utf8')
  const { secret, operator_token } = JSON.parse(readFileSync(credentials, 'utf8')) as Record<string, string>
  assert.ok(!text.includes(secret!) && !text.includes(operator_token!))
  const created = [...text.matchAll(/"create_time_ms":"?(\d+)/g)].map(([, ms]) => Number(ms))
  assert.equal(created.length, 2)
  assert.ok(created[1]! > created[0]!, 'time went by')
  const { requests, differences } = await replayTraffic(file)
  assert.ok(requests >= 3, 'the clock was moved by requests of its own')
  assert.deepEqual(differences, [])
  assert.equal(await run(['replay-traffic', file], {}), 0)
  writeFileSync(file, text.replace('"left":"0.1"', '"left":"0.2"'))
  assert.equal(await run(['replay-traffic', file], {}), 1)
  assert.equal(
    await run(['replay-traffic', file, '--against', 'http://127.0.0.1:1', '--data', folder + '/no'], {}),
    2,
  )
})
