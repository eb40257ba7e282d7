import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import Database from 'libsql'
import { databasePath } from '../src/store/open.ts'
import { OperatorClient } from './support/client.ts'
import { TOKEN } from './support/platform.ts'
import { PlatformProcess, kontor } from './support/process.ts'

/** Where a table or an index has rows: dbstat tells. The last bytes of such a page are a row's. */
function pageOf(path: string, name: string): { offset: number; size: number } {
  const db = new Database(path)
  const found = db
    .prepare(
      `select "pgoffset", "pgsize" from dbstat where "name" = ? and "ncell" > 0 and "pagetype" = 'leaf' limit 1`,
    )
    .raw(true)
    .all(name) as [number, number][]
  db.close()
  assert.ok(found[0] !== undefined, `${name} has no rows`)
  return { offset: found[0][0], size: found[0][1] }
}
const row =
  (name: string) =>
  (path: string): number[] => {
    const { offset, size } = pageOf(path, name)
    return Array.from({ length: 8 }, (_, i) => offset + size - 12 + i)
  }
/** The page's own words: what kind it is, how many rows it has, and where they are. */
const frame =
  (name: string) =>
  (path: string): number[] => {
    const { offset } = pageOf(path, name)
    return Array.from({ length: 10 }, (_, i) => offset + i)
  }

/** Bytes in which every bit is turned. `start`: what a start says; left out: it need not notice. */
const DAMAGES: Record<string, { bytes: (path: string) => number[]; start?: RegExp }> = {
  'the first bytes of the file': {
    bytes: () => Array.from({ length: 16 }, (_, i) => i),
    start: /is damaged: file is not a database; restore it from a backup/,
  },
  'the list of tables': { bytes: frame('sqlite_schema'), start: /is damaged: .*; restore it from a backup/ },
  'the head': { bytes: row('head'), start: /head/ },
  'a setting': { bytes: row('setting'), start: /run: kontor verify|damaged/ },
  'an account': { bytes: row('account'), start: /kontor verify/ },
  'the frame of the accounts': { bytes: frame('account'), start: /is damaged: .*restore it from a backup/ },
  'a ledger line': { bytes: row('ledger_line') },
  'the frame of the ledger lines': {
    bytes: frame('ledger_line'),
    start: /is damaged: .*restore it from a backup/,
  },
  'an API key': { bytes: row('api_key'), start: /kontor verify/ },
  'a transfer of long ago': { bytes: row('transfer') },
  'a recorded command': { bytes: row('command_batch') },
  'an index': { bytes: frame('ledger_line_account'), start: /is damaged: .*restore it from a backup/ },
}

describe('a damaged database', () => {
  let data: string
  const copies: string[] = []
  const copy = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'kontor-damaged-'))
    copies.push(folder)
    cpSync(data, folder, { recursive: true })
    return folder
  }
  before(async () => {
    data = mkdtempSync(join(tmpdir(), 'kontor-damage-'))
    const platform = await PlatformProcess.start({ KONTOR_DATA: data, KONTOR_OPERATOR_TOKEN: TOKEN })
    const operator = new OperatorClient(platform.url, TOKEN)
    const { user_id } = await operator.ok('POST', '/users', { login_name: 'somebody' })
    await operator.ok('POST', `/users/${user_id}/credit`, { account: 'spot', currency: 'BTC', amount: '2' })
    assert.equal(await platform.kill('SIGTERM'), 0)
  })
  after(() => {
    for (const folder of [data, ...copies]) rmSync(folder, { recursive: true, force: true })
  })

  for (const [name, { bytes, start }] of Object.entries(DAMAGES))
    test(`${name}: verify says where, a start says so in one line`, async () => {
      const folder = copy()
      const path = databasePath(folder)
      const places = bytes(path)
      const file = readFileSync(path)
      for (const place of places) file[place]! ^= 0xff
      writeFileSync(path, file)
      const verified = await kontor(['verify', '--data', folder])
      assert.equal(verified.code, 1, verified.output + verified.errors)
      assert.match(verified.output, /^wrong: .+$/m)
      assert.match(verified.output, /^NOT in order, \d+ faults: /m)
      assert.equal(verified.errors, '', 'no stack')
      if (start === undefined) return
      const started = PlatformProcess.launch({
        KONTOR_DATA: folder,
        KONTOR_PORT: '0',
        KONTOR_AGENTS: 'off',
        KONTOR_LOG: 'error',
      })
      assert.equal(await started.exit, 2, started.errors)
      assert.match(started.errors, start)
      assert.equal(started.errors.trim().split('\n').length, 1, started.errors)
      assert.doesNotMatch(started.errors, / at .*:\d+:\d+/)
    })

  test('a whole copy that may only be read is verified, and nothing is written beside it', async () => {
    const folder = copy()
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444)
    chmodSync(folder, 0o555)
    // Root may write anywhere: somebody else looks.
    const nobody = process.getuid?.() === 0 ? 65534 : undefined
    if (nobody !== undefined) {
      for (const name of readdirSync(folder)) chownSync(join(folder, name), nobody, nobody)
      chownSync(folder, nobody, nobody)
    }
    const before = readdirSync(folder)
    const { code, output, errors } = await kontor(['verify', '--data', folder], {}, nobody)
    assert.equal(code, 0, output + errors)
    assert.match(output, /^balanced: /)
    assert.deepEqual(readdirSync(folder), before)
    chmodSync(folder, 0o755)
  })

  test('without its key, or with an empty one, a start is refused and makes none', async () => {
    for (const content of [undefined, '']) {
      const folder = copy()
      const key = join(folder, 'secret.key')
      if (content === undefined) rmSync(key)
      else writeFileSync(key, content)
      const started = PlatformProcess.launch({ KONTOR_DATA: folder, KONTOR_PORT: '0', KONTOR_LOG: 'error' })
      assert.equal(await started.exit, 2)
      assert.match(
        started.errors,
        content === undefined
          ? /^kontor: KONTOR_DATA \S+secret\.key is missing, and the database was made with it: put it back from a backup, or set KONTOR_SECRET_KEY; .*\n$/
          : /^kontor: KONTOR_DATA \S+secret\.key does not hold a key .*put back the one that was made with this database\n$/,
      )
      assert.equal(existsSync(key), content !== undefined, 'no key was made')
    }
  })
})
