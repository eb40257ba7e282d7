import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import Database from 'libsql'
import pg from 'pg'
import { verifyStore } from '../../src/checks/ledger-check.ts'
import { rowsKey } from '../support/rows-key.ts'
import { replayStore } from '../../src/checks/replay-store.ts'
import { Divergence } from '../../src/machine/replay.ts'
import { databasePath, openSnapshot } from '../../src/store/open.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { kontor } from '../support/process.ts'

after(async () => (await postgres()).stop())

for (const store of ['SQLite', 'PostgreSQL'] as const)
  describe(`history on ${store}`, () => {
    let platform: TestPlatform
    let databaseUrl: string | undefined
    const place = (): { data: string; databaseUrl: string | undefined } => ({
      data: platform.data,
      databaseUrl,
    })
    const args = (): string[] =>
      databaseUrl === undefined
        ? ['--data', platform.data]
        : ['--data', platform.data, '--database-url', databaseUrl]
    const wrongs = async (): Promise<string[]> => {
      const snapshot = await openSnapshot(place())
      const { wrong } = await verifyStore(snapshot, { key: rowsKey(platform.data) })
      await snapshot.close()
      return wrong
    }
    const replayed = async (): ReturnType<typeof replayStore> => {
      const snapshot = await openSnapshot(place())
      try {
        return await replayStore(snapshot)
      } finally {
        await snapshot.close()
      }
    }
    /** Changes something behind the platform's back, runs the check, and puts it back. */
    const tampered = async (change: string, back: string, check: () => Promise<void>): Promise<void> => {
      await execute(change)
      try {
        await check()
      } finally {
        await execute(back)
      }
    }
    const execute = async (sql: string): Promise<void> => {
      if (databaseUrl === undefined) {
        const db = new Database(databasePath(platform.data))
        db.exec(sql)
        db.close()
        return
      }
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      await client.query(sql)
      await client.end()
    }
    after(() => platform.stop())

    test('a mixed history, with restarts and moves of the clock, replays to the same hash', async () => {
      databaseUrl = store === 'SQLite' ? undefined : await (await postgres()).database()
      platform = await TestPlatform.start(
        databaseUrl === undefined ? {} : { KONTOR_DATABASE_URL: databaseUrl },
      )
      for (let round = 0; round < 3; round++) {
        const main = await platform.user({ vip: 1 })
        await platform.credit(main.user_id, 'USDT', '1000.5')
        await platform.credit(main.user_id, 'BTC', '3', { account: 'margin', currency_pair: 'BTC_USDT' })
        await platform.operator.ok('PATCH', `/users/${main.user_id}`, { futures_ceiling: '500' })
        const sub = ok(
          await main.client.post('/sub_accounts', {
            login_name: `sub_${round}_${store}`,
            remark: 'é "x" \\u0000',
          }),
          201,
        )
        ok(await main.client.post(`/sub_accounts/${sub.user_id}/lock`), 204)
        await Promise.all(
          Array.from({ length: 40 }, async (_, i) =>
            main.client.post('/wallet/transfers', {
              currency: 'USDT',
              from: i % 3 === 2 ? 'futures' : 'spot',
              to: i % 3 === 2 ? 'spot' : 'futures',
              settle: 'usdt',
              amount: String(i + 1),
            }),
          ),
        )
        await platform.operator.ok('POST', '/clock', { advance_seconds: 21_600 * (round + 1) })
        const rule = (path: string): unknown[] => [
          { match: { path, method: 'get' }, effect: 'delay', delay_ms: 0, times: 1 },
        ]
        await platform.operator.ok('PUT', '/faults', rule('/nothing'))
        refused(
          await platform.operator.call('PUT', '/faults', rule('a\u0000b')),
          400,
          'INVALID_PARAM_VALUE',
          /control characters/,
        )
        // The next rows are made from what the store gave back.
        platform = await platform.restart()
        await platform.operator.ok('PATCH', `/users/${main.user_id}`, { push_acceptance: 'manual' })
      }
      const proven = async (): Promise<string> => {
        const proof = await platform.operator.ok('GET', '/ledger/proof')
        assert.equal(proof.balanced, true)
        return String(proof.state_hash)
      }
      /** What falls due with every minute may come between two looks: then both are taken again. */
      const atRest = async <T>(look: () => Promise<T>): Promise<{ looked: T; hash: string }> => {
        for (;;) {
          const hash = await proven()
          const looked = await look()
          if (hash === (await proven())) return { looked, hash }
        }
      }
      const { looked: result, hash } = await atRest(replayed)
      assert.equal(result.hash, hash)
      assert.ok(result.commands > 100 && result.sequence > 20)
      assert.deepEqual(await wrongs(), [])
      const verify = await kontor(['verify', ...args()])
      assert.match(verify.output, /^balanced: \d+ entries/)
      assert.equal(verify.code, 0)
      const { looked: replay, hash: told } = await atRest(() => kontor(['replay', ...args()]))
      assert.match(replay.output, new RegExp(`^equal: .*${told}`))
      assert.equal(replay.code, 0)
    })

    test('a changed line, row, record or command is found, and told where it is', async () => {
      const line = (by: string): string =>
        `update ledger_line set "after" = ${databaseUrl === undefined ? `cast(cast("after" as integer) ${by} as text)` : `"after" ${by}`} where "id" = 3`
      const amount = (by: string): string =>
        databaseUrl === undefined ? `cast(cast("amount" as integer) ${by} as text)` : `"amount" ${by}`
      const whole = databaseUrl === undefined ? `instr("amount", '.') = 0` : `"amount" = trunc("amount")`
      const account = (by: string): string =>
        `update account set "amount" = ${amount(by)} where "id" = (select min("id") from account where "currency" = 'USDT' and "owner" > 0 and ${whole})`
      const cases: [change: string, back: string, found: RegExp][] = [
        [
          account('+ 1'),
          account('- 1'),
          /account \d+ \(\d+ spot USDT\): holds \d+, but its last line ends at/,
        ],
        [account('+ 1'), account('- 1'), /USDT: all accounts add up to 1, not to zero/],
        [line('+ 7'), line('- 7'), /line 3 of account/],
        [
          `update ledger_line set "entry" = 900000 where "id" = 5`,
          `update ledger_line set "entry" = 5 where "id" = 5`,
          /entry 900000/,
        ],
        [
          `update audit set "operator" = 'mallory' where "id" = 2`,
          `update audit set "operator" = 'admin' where "id" = 2`,
          /audit 2: has been changed/,
        ],
        [
          'update command_batch set "sequence" = -3 where "sequence" = 3',
          'update command_batch set "sequence" = 3 where "sequence" = -3',
          /batch 3: is missing/,
        ],
      ]
      for (const [change, back, found] of cases)
        await tampered(change, back, async () => {
          assert.match((await wrongs()).join('\n'), found, change)
        })
      assert.deepEqual(await wrongs(), [])
      await tampered(account('+ 1'), account('- 1'), async () => {
        await assert.rejects(replayed(), (error: Error) => {
          assert.ok(error instanceof Divergence)
          assert.match(error.message, /^account \d+: the store has .*, the commands lead to /)
          return true
        })
        const { code, output } = await kontor(['verify', ...args()])
        assert.equal(code, 1)
        assert.match(output, /NOT in order/)
      })
      const command = (from: string, to: string): string =>
        `update command_batch set "commands" = replace("commands", '${from}', '${to}') where "sequence" = 1`
      await tampered(command('"1000000"', '"1000001"'), command('"1000001"', '"1000000"'), async () => {
        await assert.rejects(replayed(), /batch 1 differs/)
      })
      await replayed()
    })

    test('rules that change leave a checkpoint, and replay begins there', async () => {
      await platform.platform.stop()
      // As a version with other rules would have left it.
      await execute('update checkpoint set "rules" = 1')
      await assert.rejects(replayed(), /the last checkpoint is of rules 1/)
      platform = await TestPlatform.start(
        databaseUrl === undefined ? {} : { KONTOR_DATABASE_URL: databaseUrl },
        platform.data,
      )
      const before = await replayed()
      assert.ok(before.commands < 20, `${before.commands} commands since`)
      const { user_id } = await platform.user()
      await platform.credit(user_id, 'USDT', '5')
      const after = await replayed()
      assert.ok(after.commands > before.commands)
      assert.equal(after.hash, (await platform.operator.ok('GET', '/ledger/proof')).state_hash)
      assert.deepEqual(await wrongs(), [])
    })

    test('an unbalanced ledger: the platform starts and reads, but writes nothing', async () => {
      const change = (to: string, from: string): string =>
        `update account set "amount" = '${to}' where "owner" = 0 and "name" = 'equity' and "currency" = 'POINT' and "amount" = '${from}'`
      await tampered(change('-999', '-1000'), change('-1000', '-999'), async () => {
        platform = await platform.restart({ KONTOR_LOG: 'silent' })
        assert.equal((await fetch(`${platform.url}/readyz`)).status, 503)
        assert.equal((await fetch(`${platform.url}/healthz`)).status, 200)
        const proof = await platform.operator.ok('GET', '/ledger/proof')
        assert.equal(proof.balanced, false)
        ok(await platform.demo().get('/sub_accounts'))
        refused(
          await platform.demo().post('/wallet/transfers', {
            currency: 'USDT',
            from: 'spot',
            to: 'futures',
            settle: 'usdt',
            amount: '1',
          }),
          500,
          'SERVER_ERROR',
          /POINT.*kontor verify/,
        )
      })
      platform = await platform.restart()
      assert.equal((await fetch(`${platform.url}/readyz`)).status, 200)
    })
  })
