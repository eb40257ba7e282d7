import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { PLAIN } from '../../src/core/futures/place.ts'
import { format } from '../../src/money/amount.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, type Credential } from '../support/client.ts'
import { ContractTrader } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { eventually, proveBalanced } from '../support/wallet.ts'
import type { Walk } from './die-at-commit.ts'
import { dies } from './kill.ts'

const COMMITS = [1, 2, 3, 5]
const seconds = (text: string): number => Date.parse(text) / 1000
interface Pairs {
  readonly group: 'futures' | 'delivery'
  readonly contract: string
  readonly pairs: number
  readonly size: number
  readonly money: string
}
/** Who holds how much, and how much money everybody has: what a work that is done in portions comes to. */
function outcome({ platform }: TestPlatform): string[] {
  const { state } = platform.desk.core as unknown as {
    state: import('../../src/core/state.ts').State
  }
  const positions = [...state.futures.positions.table.values()].map(
    ({ id, size, fund }) => `${id} ${format(size)} ${format(fund)}`,
  )
  const money = [...state.ledger.accounts.values()].map(
    ({ owner, name, currency, amount }) => `${owner} ${name} ${currency} ${format(amount)}`,
  )
  return [...positions, ...money].sort()
}
/** Accounts that hold a contract against each other, more of them than one command works on. */
async function opened(clock: number, { group, contract, pairs, size, money }: Pairs): Promise<TestPlatform> {
  const platform = await TestPlatform.start({ KONTOR_CLOCK: String(clock) })
  await platform.operator.ok('PUT', '/prices', { BTC: '60000' })
  const { core } = platform.platform.desk
  for (let i = 0; i < pairs; i++)
    for (const side of [-1, 1]) {
      const { user_id } = await core.submit('user.create', {
        login_name: `held_${i}_${side + 1}`,
        email: null,
        password_hash: null,
        remark: '',
        vip: 0,
        parent_id: 0,
        type: 1,
        actor: null,
      })
      const credit = { user_id, account: group, currency: 'USDT', amount: money, settle: 'usdt' } as const
      await core.submit('user.credit', { ...credit, currency_pair: null, actor: null })
      const order = { ...PLAIN, contract, size: String(side * size), price: '60000', tif: null }
      await core.submit('futures.place', { user_id, group, settle: 'usdt', order })
    }
  await platform.platform.stop()
  return platform
}

describe('kill -9 in the middle of what is done in portions', () => {
  const prepared = async (clock: number, pairs: Pairs): Promise<{ data: string; credential: Credential }> => {
    const { data, platform } = await opened(clock, pairs)
    const { key, secret } = platform.credentials
    return { data, credential: { key, secret } }
  }
  interface Prepared {
    readonly data: string
    readonly credential: Credential
    readonly env?: Record<string, string>
  }
  /** Each on a copy of what was prepared; `finish` brings it to the end, whatever the walk has written. */
  async function killed(
    { data, credential, env = {} }: Prepared,
    walk: Walk,
    finish: (platform: TestPlatform) => Promise<void>,
    check: (platform: TestPlatform, commit: number) => void | Promise<void>,
  ): Promise<void> {
    let kills = 0
    for (const commit of COMMITS) {
      const copy = mkdtempSync(join(tmpdir(), 'kontor-crash-'))
      cpSync(data, copy, { recursive: true })
      if (await dies({ env: { ...env, KONTOR_DATA: copy }, commit, credential, walk })) kills++
      const platform = await TestPlatform.start(env, copy)
      await finish(platform)
      await check(platform, commit)
      await proveBalanced(platform)
      const proof = await platform.operator.ok('GET', '/ledger/proof')
      assert.equal(proof.contracts_match, true, `commit ${commit}`)
      assert.deepEqual(platform.faults, [])
      await platform.stop()
    }
    rmSync(data, { recursive: true, force: true })
    assert.ok(kills >= 3, `${kills} times`)
  }
  /** All outcomes are one: nobody is paid twice, and nobody is left out. */
  const same = (): ((platform: TestPlatform, commit: number) => void) => {
    let first: string[] | undefined
    return (platform, commit) => {
      first ??= outcome(platform)
      assert.deepEqual(outcome(platform), first, `commit ${commit}`)
    }
  }
  const until = (time: number) => async (platform: TestPlatform) => {
    if ((await platform.operator.ok('GET', '/clock')).now < time)
      await platform.operator.ok('POST', '/clock', { now: time })
    await eventually(
      async () => (await platform.operator.ok('GET', '/due/coming?limit=1'))[0].due_at > time,
      'all that was due',
    )
  }

  test('funding of 520 positions', { timeout: 200_000 }, async () => {
    const time = seconds('2027-01-15T08:00:05Z')
    const pairs = { group: 'futures', contract: 'BTC_USDT', pairs: 260, size: 100, money: '1000' } as const
    const state = await prepared(seconds('2027-01-15T07:59:20Z'), pairs)
    const check = same()
    await killed(state, { kind: 'clock', now: time }, until(time), (platform, commit) => {
      check(platform, commit)
      const funded = outcome(platform).filter((line) => /BTC_USDT\/single -?100 -?0\.\d+$/.test(line))
      assert.equal(funded.length, 520)
    })
  })
  test('settlement of 520 positions', { timeout: 200_000 }, async () => {
    const time = seconds('2027-01-15T08:00:05Z')
    const contract = 'BTC_USDT_20270115'
    const pairs = { group: 'delivery', contract, pairs: 260, size: 100, money: '1000' } as const
    const state = await prepared(seconds('2027-01-15T07:59:20Z'), pairs)
    const check = same()
    await killed(state, { kind: 'clock', now: time }, until(time), (platform, commit) => {
      check(platform, commit)
      const settled = outcome(platform).filter((line) => /^[1-9].*20270115\/single 0 0$/.test(line))
      assert.equal(settled.length, 520)
    })
  })
  test(
    'liquidations that the fund can not pay, and who gives up for them',
    { timeout: 200_000 },
    async () => {
      // 40 x 10 BTC with a hundredth of margin: the fund has enough for three of them.
      const pairs = {
        group: 'futures',
        contract: 'BTC_USDT',
        pairs: 40,
        size: 100_000,
        money: '70000',
      } as const
      const state = await prepared(seconds('2027-01-15T09:00:00Z'), pairs)
      const prices = { BTC: '48000' }
      const finish = async (platform: TestPlatform): Promise<void> => {
        await platform.operator.ok('PUT', '/prices', prices)
        await eventually(
          () => Promise.resolve(outcome(platform).filter((line) => /single [1-9]/.test(line)).length <= 1),
          'only the fund is long',
        )
      }
      await killed(state, { kind: 'index', prices }, finish, async (platform) => {
        const lines = outcome(platform)
        const [[gave]] = (await platform.platform.desk.store.query(
          'select count(*) from auto_deleverage',
          [],
        )) as [[number]]
        assert.ok(gave > 0, 'somebody gave up something')
        for (const line of lines) assert.doesNotMatch(line, /^[1-9]\d* futures:usdt USDT -/)
      })
    },
  )

  test(
    'the liquidation of a unified account that holds contracts, coins and a loan',
    { timeout: 200_000 },
    async () => {
      // Without interest the mark is the index whenever it is looked at: all outcomes can be the same to the last unit.
      const folder = mkdtempSync(join(tmpdir(), 'kontor-crash-file-'))
      const KONTOR_CONFIG = join(folder, 'world.json')
      const contracts = BUILT_IN_WORLD.contracts!.map((row) => ({ ...row, interest_rate: '0' }))
      writeFileSync(KONTOR_CONFIG, JSON.stringify({ contracts }))
      const clock = String(seconds('2027-01-15T09:10:00Z'))
      const platform = await TestPlatform.start({ KONTOR_CONFIG, KONTOR_CLOCK: clock })
      await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
      const { user_id, client, credential } = await platform.user()
      for (const [currency, amount] of [
        ['USDT', '1000'],
        ['ETH', '20'],
      ] as const)
        await platform.credit(user_id, currency, amount)
      const mode = { mode: 'multi_currency', settings: { usdt_futures: true } }
      assert.equal((await client.put('/unified/unified_mode', mode)).status, 204)
      const long = new ContractTrader(user_id, client)
      ok(await long.ask('/positions/BTC_USDT/leverage', { leverage: 0, cross_leverage_limit: 100 }))
      const short = await ContractTrader.of(platform, '500000')
      await short.placed(-200_000, '60000')
      await long.placed(200_000, '60000')
      await long.placed(10, '59000')
      // Somebody takes the coins that pay for what contracts have lost.
      await platform.credit(short.user_id, 'USDT', '100000')
      const bid = { currency_pair: 'ETH_USDT', side: 'buy', amount: '25', price: '2995' }
      ok(await short.client.post('/spot/orders', bid), 201)
      await platform.platform.stop()
      const state = { data: platform.data, credential, env: { KONTOR_CONFIG } }
      const prices = { BTC: '57200', ETH: '3000' }
      const steps = async (now: TestPlatform): Promise<{ step: string }[]> =>
        now.operator.ok('GET', `/users/${user_id}/liquidations`)
      const finish = async (now: TestPlatform): Promise<void> => {
        await now.operator.ok('PUT', '/prices', prices)
        await eventually(
          async () => (await steps(now)).some(({ step }) => step === 'unlocked'),
          'the end of it',
        )
      }
      const check = same()
      await killed(state, { kind: 'index', prices }, finish, async (now, commit) => {
        check(now, commit)
        const told = (await steps(now)).map(({ step }) => step)
        // Nobody bids for the contracts: the fund takes them.
        for (const step of ['locked', 'order_cancelled', 'taken_over', 'repaid', 'unlocked'])
          assert.ok(told.includes(step), `${step}, commit ${commit}: ${told.join(' ')}`)
        assert.equal(told.filter((step) => step === 'locked').length, 1, `commit ${commit}`)
      })
      rmSync(folder, { recursive: true, force: true })
    },
  )
})
