import assert from 'node:assert/strict'
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import Database from 'libsql'
import { auditHash, GENESIS_HASH, type AuditRecord } from '../../src/core/tables/audit.ts'
import { databasePath } from '../../src/store/open.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { PlatformProcess, kontor } from '../support/process.ts'
import { Trader } from '../support/spot.ts'
import { ETH_OUTSIDE, holder } from '../support/wallet.ts'

/** Somebody with the database, and without the secret key. */
function tamper(data: string, act: (db: InstanceType<typeof Database>) => void): void {
  const db = new Database(databasePath(data))
  act(db)
  db.close()
}
const run =
  (sql: string) =>
  (db: InstanceType<typeof Database>): void => {
    assert.ok(db.prepare(sql).run().changes > 0, `${sql} changed nothing`)
  }

/** All that balances, and is not what the platform wrote. */
const ATTACKS: Record<string, (db: InstanceType<typeof Database>) => void> = {
  "a waiting withdrawal's address": run(
    `update withdrawal set "address" = '0x0000000000000000000000000000000000000001' where "live"`,
  ),
  'a removed hold': (db) => {
    run(`update withdrawal set "holds" = '[]', "status" = 'REQUEST' where "live"`)(db)
  },
  'an approval that nobody gave': run(
    `update withdrawal set "approvals" = '["admin","mallory"]' where "live"`,
  ),
  'a saved address': run(`update saved_address set "address" = '0x0000000000000000000000000000000000000001'`),
  'a new operator': run(
    `insert into operator ("name", "id", "role", "token_hash", "created_at") select 'mallory', 99, "role", 'f' || "token_hash", "created_at" from operator limit 1`,
  ),
  'rights of a key': run(`update api_key set "perms" = replace("perms", '"spot"', '"withdrawal"')`),
  'a due item that was never scheduled': run(
    `insert into due ("id", "at", "command", "input") values (777777, 1, 'push.expire', '{"id":1}')`,
  ),
  'a setting': run(`update setting set "value" = replace("value", '"0.0', '"0.9') where "name" = 'world'`),
  'balances and lines, consistently': (db) => {
    const [line] = db
      .prepare(
        `select l."account", l."id" from ledger_line l join account a on a."id" = l."account"
         where a."owner" > 0 and a."currency" = 'USDT' and a."name" = 'spot' and a."version" = 1 limit 1`,
      )
      .raw(true)
      .all() as [number, number][]
    const [account, id] = line!
    for (const [sql, key] of [
      [`update account set "amount" = "amount" + 1000 where "id" = ?`, account],
      [`update ledger_line set "amount" = "amount" + 1000, "after" = "after" + 1000 where "id" = ?`, id],
      [
        `update ledger_line set "amount" = "amount" - 1000, "after" = "after" - 1000 where "id" <> ?1 and "entry" = (select "entry" from ledger_line where "id" = ?1)`,
        id,
      ],
    ] as const)
      db.prepare(sql).run(key)
  },
  'history that was written anew': run(
    `update ledger_line set "kind" = 'deposit' where "id" = (select max("id") from ledger_line)`,
  ),
  'a finished order': run(`update spot_order set "user_id" = "user_id" + 1 where not "live"`),
  'a transfer of long ago': run(`update transfer set "currency" = 'DOGE' where "tx_id" = 1`),
  'a finished row that was taken away': run(`delete from transfer where "tx_id" = 1`),
  'an audit log that was cut short, its hashes mended': (db) => {
    run(`delete from audit where "id" = (select max("id") from audit)`)(db)
    const [[last]] = db.prepare('select "hash" from audit order by "id" desc limit 1').raw(true).all() as [
      [string],
    ]
    db.prepare('update audit_head set "hash" = ?').run(last)
  },
  'an audit log with another name in it, hashed anew': (db) => {
    db.prepare(`update audit set "operator" = 'somebody' where "id" = 2`).run()
    let previous_hash = GENESIS_HASH
    const rows = db
      .prepare('select "id", "at", "operator", "action", "detail" from audit order by "id"')
      .raw(true)
    for (const [id, at, operator, action, detail] of rows.all() as [
      number,
      number,
      string,
      string,
      string,
    ][]) {
      const record = {
        id,
        at,
        operator,
        action,
        detail: JSON.parse(detail) as AuditRecord['detail'],
        previous_hash,
      }
      const hash = auditHash(record)
      db.prepare('update audit set "previous_hash" = ?, "hash" = ? where "id" = ?').run(
        previous_hash,
        hash,
        id,
      )
      previous_hash = hash
    }
    db.prepare('update audit_head set "hash" = ?').run(previous_hash)
  },
  'a recorded command': run(
    `update command_batch set "commands" = replace("commands", '"amount":"100"', '"amount":"900"') where "sequence" = (select max("sequence") from command_batch where "commands" like '%"amount":"100"%')`,
  ),
  'sums that were taken away': run(`update head set "sums" = '', "schema" = '', "mac" = ''`),
}

describe('rows that were changed behind the platform’s back', () => {
  let data: string
  before(async () => {
    const platform = await TestPlatform.start()
    const { client } = await holder(platform)
    const trader = await Trader.of(platform, { USDT: '5000' })
    await trader.placed('buy', '0.01', '30000')
    const { id } = await trader.placed('buy', '0.01', '31000')
    await trader.client.delete(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' })
    await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '1', approvals: 2 })
    const withdrawal = { currency: 'ETH', amount: '5', address: ETH_OUTSIDE, chain: 'ETH' }
    assert.equal(ok(await client.post('/withdrawals', withdrawal)).status, 'MANUAL')
    data = mkdtempSync(join(tmpdir(), 'kontor-tampering-'))
    await platform.platform.stop()
    cpSync(platform.data, data, { recursive: true })
    rmSync(platform.data, { recursive: true, force: true })
  })
  after(() => rmSync(data, { recursive: true, force: true }))
  const copy = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'kontor-tampered-'))
    cpSync(data, folder, { recursive: true })
    return folder
  }

  test('nothing is said of a database that nobody touched', async () => {
    const { code, output } = await kontor(['verify', '--data', data])
    assert.match(output, /^balanced: /)
    assert.equal(code, 0)
  })
  for (const [name, attack] of Object.entries(ATTACKS))
    test(`verify finds ${name}`, async () => {
      const folder = copy()
      tamper(folder, attack)
      const { code, output } = await kontor(['verify', '--data', folder])
      assert.equal(code, 1, output)
      assert.match(output, /wrong: /)
      rmSync(folder, { recursive: true, force: true })
    })
  test('a start refuses what differs in one line, changes nothing, and goes on when somebody vouches for it', async () => {
    const folder = copy()
    tamper(folder, ATTACKS['a new operator']!)
    const refused = PlatformProcess.launch({ KONTOR_DATA: folder, KONTOR_PORT: '0', KONTOR_AGENTS: 'off' })
    assert.equal(await refused.exit, 2)
    assert.match(
      refused.errors,
      /^kontor: the database was changed behind the platform's back: the rows of operator .*kontor verify.*\n$/,
    )
    const { output, code } = await kontor(['reseal', '--data', folder])
    assert.match(output, /vouched for: operator/)
    assert.equal(code, 0)
    assert.equal((await kontor(['verify', '--data', folder])).code, 0)
    const platform = await PlatformProcess.start({ KONTOR_DATA: folder })
    assert.equal(await platform.kill('SIGTERM'), 0)
    rmSync(folder, { recursive: true, force: true })
  })
  test('another secret key is told at once', async () => {
    const folder = copy()
    writeFileSync(join(folder, 'secret.key'), 'ab'.repeat(32))
    const refused = PlatformProcess.launch({ KONTOR_DATA: folder, KONTOR_PORT: '0', KONTOR_AGENTS: 'off' })
    assert.equal(await refused.exit, 2)
    assert.match(
      refused.errors,
      /^kontor: the head of the database was not written with this secret key.*\n$/,
    )
    rmSync(folder, { recursive: true, force: true })
  })
  test('a database that was cut back is found by the head that was kept elsewhere', async () => {
    const folder = copy()
    const kept = join(folder, 'kept.json')
    const env = { KONTOR_DATA: folder, KONTOR_HEAD: kept }
    copyFileSync(databasePath(folder), join(folder, 'old.db'))
    const platform = await PlatformProcess.start(env)
    await fetch(`${platform.url}/operator/v1/operators`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${(JSON.parse(readFileSync(join(folder, 'credentials.json'), 'utf8')) as { operator_token: string }).operator_token}`,
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ name: 'second', role: 'viewer' }),
    })
    await platform.kill('SIGTERM')
    const printed = await kontor(['head', '--data', folder])
    assert.equal(
      (JSON.parse(printed.output) as { sequence: number }).sequence,
      (JSON.parse(readFileSync(kept, 'utf8')) as { sequence: number }).sequence,
    )
    assert.equal((await kontor(['verify', '--data', folder, '--head', kept])).code, 0)

    // Yesterday's copy: whole, sealed, and without what happened since.
    copyFileSync(join(folder, 'old.db'), databasePath(folder))
    for (const rest of ['-wal', '-shm']) rmSync(`${databasePath(folder)}${rest}`, { force: true })
    assert.equal((await kontor(['verify', '--data', folder])).code, 0)
    const found = await kontor(['verify', '--data', folder, '--head', kept])
    assert.match(found.output, /the end of the database was cut off/)
    assert.equal(found.code, 1)
    const refused = PlatformProcess.launch({ ...env, KONTOR_PORT: '0' })
    assert.equal(await refused.exit, 2)
    assert.match(refused.errors, /KONTOR_HEAD .*cut off/)
    rmSync(folder, { recursive: true, force: true })
  })
})
