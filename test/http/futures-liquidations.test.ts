import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { LEDGER_LINE } from '../../src/core/ledger/ledger.ts'
import { TestPlatform } from '../support/platform.ts'

interface Step {
  readonly id: number
  readonly liquidation: number
  readonly scope: string
  readonly step: string
  readonly currency: string
  readonly amount: string
  readonly detail: Readonly<Record<string, unknown>>
}
describe('steps of contract liquidations, as an operator sees them', () => {
  let platform: TestPlatform
  let rich: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000' })
    rich = await ContractTrader.of(platform, '100000000')
  })
  after(() => platform.stop())
  /** Oldest first. */
  const stepsOf = async ({ user_id }: ContractTrader): Promise<Step[]> =>
    ((await platform.operator.ok('GET', `/users/${user_id}/liquidations`)) as Step[]).reverse()
  const told = (steps: readonly Step[]): string[] => steps.map(({ step, amount }) => `${step} ${amount}`)
  /** To the price and back: what is due at once is done when it answers. */
  async function dip(price: string): Promise<void> {
    await setIndex(platform, { BTC: price })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    await setIndex(platform, { BTC: '60000' })
  }
  const leverage = async (trader: ContractTrader, of: string, limit = '0'): Promise<void> => {
    ok(await trader.ask('/positions/BTC_USDT/leverage', { leverage: of, cross_leverage_limit: limit }))
  }
  const buy = async (trader: ContractTrader, size: number): Promise<void> => {
    await rich.placed(-size, '60000')
    assert.equal((await trader.placed(size, '60000')).finish_as, 'filled')
  }

  test('isolated: orders end, the book takes a part, and the rest is well again', async () => {
    const trader = await ContractTrader.of(platform, '40000')
    await leverage(trader, '100')
    await buy(trader, 300_000)
    const order = await trader.placed(5, '59000')
    const trigger = { price: '65000', rule: 1, price_type: 0 }
    const initial = { contract: 'BTC_USDT', size: 5, price: '0', tif: 'ioc' }
    const waiting = ok(await trader.post('/price_orders', { initial, trigger }), 201)
    const bid = await rich.placed(60_000, '59610')
    await dip('59630')
    const steps = await stepsOf(trader)
    assert.deepEqual(
      steps.map(({ step }) => step),
      ['locked', 'order_cancelled', 'order_cancelled', 'liquidated', 'unlocked'],
    )
    const [locked, one, other, liquidated, unlocked] = steps as [Step, Step, Step, Step, Step]
    for (const { scope, liquidation } of steps)
      assert.equal(`${scope} ${liquidation > 0}`, 'futures/usdt/BTC_USDT true')
    assert.equal(new Set(steps.map(({ liquidation }) => liquidation)).size, 1)
    assert.ok(Number(locked.detail['equity']) <= Number(locked.detail['maintenance_margin']))
    assert.deepEqual([one.detail['order_id'], other.detail['price_order_id']], [order.id, waiting.id])
    const { size, margin } = await trader.position()
    assert.equal(liquidated.amount, String(300_000 - size))
    // The margin stays with what is left of the position, and its records say so.
    const [row] = ok(await trader.get('/positions_timerange', { contract: 'BTC_USDT' }))
    assert.equal(`${row.size} ${row.margin}`, `${size} ${margin}`)
    assert.deepEqual(liquidated.detail, { contract: 'futures/usdt/BTC_USDT', mode: 'single', price: '59610' })
    assert.equal(unlocked.detail['mode'], 'single')
    ok(await rich.delete(`/orders/${bid.id}`))
    ok(await trader.post('/orders', { contract: 'BTC_USDT', size: 0, price: '60000', close: true }), 201)
    await rich.placed(size, '60000', { tif: 'ioc' })
  })
  test('cross: what the book does not take the fund takes over', async () => {
    const trader = await ContractTrader.of(platform, '680')
    await leverage(trader, '0', '20')
    await buy(trader, 1_000)
    const bid = await rich.placed(400, '53300')
    await dip('53400')
    const steps = await stepsOf(trader)
    assert.deepEqual(told(steps), ['locked 0', 'liquidated 400', 'taken_over 600', 'unlocked 0'])
    assert.ok(steps.every(({ scope }) => scope === 'futures/usdt'))
    assert.ok(Number(steps[0]!.detail['margin_balance']) <= Number(steps[0]!.detail['maintenance_margin']))
    assert.equal((await rich.order(bid.id)).finish_as, 'filled')
    // The fund is none of those who hold it, here as there.
    const anybody = platform.client()
    const contract = ok(await anybody.get('/futures/usdt/contracts/BTC_USDT'))
    const stats = ok(await anybody.get('/futures/usdt/contract_stats', { contract: 'BTC_USDT' })).at(-1)
    assert.deepEqual([contract.long_users, contract.short_users], [stats.long_users, stats.short_users])
    assert.equal(contract.long_users, 0)
  })
  test('the fund orders each second while somebody stands against it, and does nothing while nobody does', async () => {
    const held = async (): Promise<number> => {
      const funds = (await platform.operator.ok('GET', '/insurance')) as {
        settle: string
        positions: { contract: string; size: string }[]
      }[]
      const { positions } = funds.find(({ settle }) => settle === 'usdt')!
      return Number(positions.find(({ contract }) => contract === 'BTC_USDT')?.size ?? 0)
    }
    const wait = (advance_seconds: number) => platform.operator.ok('POST', '/clock', { advance_seconds })
    const batches = async (): Promise<number> => (await platform.operator.ok('GET', '/status')).sequence
    ok(await rich.delete('/orders', { contract: 'BTC_USDT' }))
    assert.equal(await held(), 600)
    await wait(5)
    const before = await batches()
    await wait(50)
    assert.ok((await batches()) - before < 10, 'nothing is written each second')
    assert.equal(await held(), 600)
    // Too far away to be met.
    const far = await rich.placed(100, '59000')
    await wait(5)
    assert.equal(await held(), 600)
    ok(await rich.delete(`/orders/${far.id}`))
    const near = await rich.placed(100, '59900')
    await wait(1)
    assert.equal(await held(), 540)
    await wait(1)
    assert.equal(await held(), 500)
    assert.equal((await rich.order(near.id)).finish_as, 'filled')
    await wait(5)
    assert.equal(await held(), 500)
  })
  test('new tiers: whoever is beyond them is liquidated next, at an unchanged mark', async () => {
    const { operator } = platform
    await operator.ok('PUT', '/prices', { SOL: '150' })
    const contract = 'SOL_USDT'
    const [isolated, cross, safe] = [
      await ContractTrader.of(platform, '200'),
      await ContractTrader.of(platform, '200'),
      await ContractTrader.of(platform, '20000'),
    ]
    ok(await isolated.ask(`/positions/${contract}/leverage`, { leverage: 20 }))
    const query = { leverage: '0', cross_leverage_limit: '20' }
    ok(await cross.ask(`/positions/${contract}/leverage`, query))
    for (const trader of [isolated, cross, safe]) {
      await rich.placed(-20, '150', { contract })
      await trader.placed(20, '150', { contract })
    }
    const sizes = () =>
      Promise.all([isolated, cross, safe].map(async (one) => (await one.position(contract)).size as number))
    await operator.ok('POST', '/clock', { advance_seconds: 61 })
    assert.deepEqual(await sizes(), [20, 20, 20])
    const tiers = [{ risk_limit: '100000', maintenance_rate: '0.09', leverage_max: '10' }]
    await operator.ok('PATCH', `/contracts/futures/usdt/${contract}`, { tiers, leverage_max: '10' })
    await operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.deepEqual(await sizes(), [0, 0, 20])
  })
  test('both sides of a hedge are closed against each other first', async () => {
    const trader = await ContractTrader.of(platform, '2000')
    ok(await trader.ask('/dual_mode', { dual_mode: true }))
    await leverage(trader, '0', '20')
    await buy(trader, 5_000)
    await rich.placed(500, '60000')
    await trader.placed(-500, '60000')
    // More than it needs: the fund sells what it has taken over there as well, each second.
    await rich.placed(6_000, '55800')
    await dip('55600')
    const steps = await stepsOf(trader)
    assert.deepEqual(told(steps).slice(0, 3), ['locked 0', 'hedge_closed 500', 'liquidated 4500'])
    ok(await rich.delete('/orders', { contract: 'BTC_USDT' }))
  })
  test('while a contract is stopped, or all markets are, nothing is sold or bought in its book: the fund has it', async () => {
    const { operator } = platform
    const held = async (): Promise<number> => {
      const funds = (await operator.ok('GET', '/insurance')) as {
        settle: string
        positions: { contract: string; size: string }[]
      }[]
      const { positions } = funds.find(({ settle }) => settle === 'usdt')!
      return Number(positions.find(({ contract }) => contract === 'BTC_USDT')?.size ?? 0)
    }
    const contract = '/contracts/futures/usdt/BTC_USDT'
    for (const [stop, goOn] of [
      [
        () => operator.ok('PATCH', contract, { status: 'circuit_breaker' }),
        () => operator.ok('PATCH', contract, { status: 'trading' }),
      ],
      [
        () => operator.ok('POST', '/markets/halt', { reason: 'prices look wrong' }),
        () => operator.ok('POST', '/markets/resume', {}),
      ],
    ] as const) {
      const trader = await ContractTrader.of(platform, '680')
      await leverage(trader, '0', '20')
      await buy(trader, 1_000)
      // Nobody may bid more than whoever stands there already.
      const bid = await rich.placed(3_000, '53300')
      const before = await held()
      await stop()
      await dip('53400')
      assert.deepEqual(told(await stepsOf(trader)), ['locked 0', 'taken_over 1000', 'unlocked 0'])
      const [row] = ok(await trader.get('/liquidates'))
      assert.equal(`${row.size} ${row.left} ${row.fill_price}`, '1000 1000 0')
      await operator.ok('POST', '/clock', { advance_seconds: 5 })
      assert.equal(await held(), before + 1_000)
      assert.equal((await rich.order(bid.id)).left, 3_000)
      ok(await rich.delete(`/orders/${bid.id}`))
      await goOn()
    }
  })
  test('a fund that can not take all of it: others are deleveraged', async () => {
    const long = await ContractTrader.of(platform, '3000000')
    await leverage(long, '10')
    for (let i = 0; i < 3; i++) await buy(long, 1_000_000)
    await dip('30000')
    const steps = await stepsOf(long)
    const words = steps.map(({ step }) => step)
    assert.equal(words[0], 'locked')
    assert.equal(words.at(-1), 'unlocked')
    assert.ok(words.includes('taken_over') && words.includes('deleveraged'), told(steps).join())
    const taken = steps
      .filter(({ step }) => ['liquidated', 'taken_over', 'deleveraged'].includes(step))
      .reduce((sum, { amount }) => sum + Number(amount), 0)
    assert.equal(taken, 3_000_000)
    const other = ok(await rich.get('/auto_deleverages')).at(-1)
    const deleveraged = steps.find(({ step }) => step === 'deleveraged')!
    assert.equal(Math.abs(other.trade_size), Number(deleveraged.amount))
    assert.equal(other.fill_price, deleveraged.detail['price'])
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(proof.balanced, true)
  })
})

test('how near deleveraging is, by what the fund has lost of the most of a day; two of its lines tell, however many there are', async () => {
  const platform = await TestPlatform.start()
  const advance = (advance_seconds: number): Promise<unknown> =>
    platform.operator.ok('POST', '/clock', { advance_seconds })
  await setIndex(platform, { BTC: '60000' })
  const rich = await ContractTrader.of(platform, '100000000')
  const long = await ContractTrader.of(platform, '100000')
  const { store } = platform.platform.desk
  const select = store.select.bind(store)
  let lines = 0
  store.select = async (spec, ...rest) => {
    const rows = await select(spec, ...rest)
    if ((spec as object) === LEDGER_LINE) lines += rows.length
    return rows
  }
  const risk = async (): Promise<string> => {
    lines = 0
    const { states } = ok(await platform.client().get('/futures/usdt/adl_risk_states'))
    assert.ok(lines <= 2, `${lines} lines were read`)
    return states.BTC_USDT.state
  }
  ok(await long.ask('/positions/BTC_USDT/leverage', { leverage: '100' }))
  await rich.placed(-270_000, '60000')
  await long.placed(270_000, '60000')
  await setIndex(platform, { BTC: '36000' })
  await advance(1)
  assert.equal((await long.position()).size, 0)
  // What it has taken over is lost when it is sold: a tenth each second.
  assert.equal(await risk(), 'normal')
  await rich.placed(300_000, '36000')
  await advance(8)
  assert.equal(await risk(), 'warning')
  await advance(60)
  assert.equal(await risk(), 'adl_risk')
  // A day later that is the most of the last day.
  await advance(86_400)
  assert.equal(await risk(), 'normal')
  await platform.stop()
})
