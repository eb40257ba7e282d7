import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { PostgresServer } from '../support/postgres.ts'
import { LONG } from '../support/size.ts'
import { ETH_OUTSIDE, mine, proveBalanced, save, withdrawal } from '../support/wallet.ts'
import { dies } from './kill.ts'

const COMMITS_MAX = 60

interface SimTx {
  readonly kind: string
  readonly txid: string
  readonly amount: string
  readonly state: string
  readonly ok: boolean
}

/** One store, one platform after another: each dies a step of commits later, and the next one goes on and checks. */
async function killAtEachCommit(env: Record<string, string>, step: number): Promise<number> {
  let platform = await TestPlatform.start(env)
  await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
  const seen = new Set<string>()
  let kills = 0
  for (let commit = 1; commit <= COMMITS_MAX; commit += step) {
    const user = await platform.user()
    await platform.credit(user.user_id, 'ETH', '100')
    await save(platform, user.user_id, { currency: 'ETH', chain: 'ETH', address: ETH_OUTSIDE })
    const body = {
      currency: 'ETH',
      chain: 'ETH',
      amount: '2',
      address: ETH_OUTSIDE,
      withdraw_order_id: 'crash',
    }
    await platform.platform.stop()
    const { data } = platform
    const walk = { kind: 'simulated', user_id: user.user_id, withdrawal: body } as const
    const killed = await dies({
      env: { ...env, KONTOR_DATA: data },
      commit,
      credential: user.credential,
      walk,
    })
    platform = await TestPlatform.start(env, data)
    if (!killed) break
    kills++
    await check(platform, user, body, seen, `commit ${commit}`)
  }
  await platform.platform.stop()
  rmSync(platform.data, { recursive: true, force: true })
  return kills
}
async function check(
  platform: TestPlatform,
  user: Awaited<ReturnType<TestPlatform['user']>>,
  body: Record<string, string>,
  seen: Set<string>,
  where: string,
): Promise<void> {
  const owner = platform.client(user.credential)
  // The customer who saw no answer asks again: either it is new, or it is known.
  const again = await owner.post('/withdrawals', body)
  assert.ok(again.status === 200 || again.body.label === 'DUPLICATE_REQUEST', again.text)
  await mine(platform, 'ETH', 1)
  await mine(platform, 'ETH', 30)
  assert.equal(ok(await owner.get('/wallet/withdrawals')).length, 1, where)
  const done = await withdrawal(owner)
  assert.equal(done.status, 'DONE', where)
  const txs = (await platform.operator.ok('GET', '/chains/ETH/transactions')) as SimTx[]
  const added = txs.filter(({ txid }) => !seen.has(txid))
  for (const { txid } of added) seen.add(txid)
  const paid = added.filter(({ kind }) => kind === 'out')
  assert.deepEqual(
    paid.map((tx) => [tx.amount, tx.state, tx.ok, tx.txid]),
    [['1.998', 'mined', true, done.txid]],
    where,
  )
  const arrived = added.length - paid.length
  const deposits = ok(await owner.get('/wallet/deposits')) as { status: string }[]
  assert.deepEqual(
    deposits.map(({ status }) => status),
    Array.from({ length: arrived }, () => 'DONE'),
  )
  assert.equal(await platform.balance(user.user_id, 'ETH'), String(98 + 3 * arrived), where)
  await proveBalanced(platform)
  const { currencies, reserves_match } = await platform.operator.ok('GET', '/ledger/proof')
  assert.equal(reserves_match, true, where)
  const { accounts } = currencies.find((one: { currency: string }) => one.currency === 'ETH')
  assert.equal(accounts['withdrawal.in_flight'], '0')
}

test('SQLite: kill -9 after commits of a deposit and a withdrawal', { timeout: 280_000 }, async () => {
  const step = LONG ? 1 : 3
  const kills = await killAtEachCommit({}, step)
  assert.ok(kills >= 10 / step && kills < COMMITS_MAX / step, `${kills} commits`)
})

test('PostgreSQL: kill -9 after commits of a deposit and a withdrawal', { timeout: 280_000 }, async () => {
  const server = await PostgresServer.start()
  const step = LONG ? 1 : 4
  const kills = await killAtEachCommit({ KONTOR_DATABASE_URL: await server.database() }, step)
  assert.ok(kills >= 10 / step && kills < COMMITS_MAX / step, `${kills} commits`)
})
