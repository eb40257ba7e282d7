import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Tx } from '../../src/machine/table.ts'
import { UNIFIED } from '../../src/core/tables/unified/loan-accounts.ts'
import { borrowable, totalOwed, transferable } from '../../src/core/unified/loans.ts'
import { RiskWatch } from '../../src/core/liquidation/watch.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import type { WorldConfig } from '../../src/core/tables/world/config.ts'
import { amountOf, format } from '../../src/money/amount.ts'
import { Lender } from './setup.ts'

const GT = { currency_pair: 'GT_USDT' } as const
/** Sells a crumb of the token to himself, so that our own last price says what he likes. */
function printPrice(engine: Lender, price: string, amount = '1'): void {
  const [one, other] = [engine.user({ GT: '1000' }), engine.user({ USDT: '100000' })]
  engine.place(one, 'sell', amount, price, GT)
  engine.place(other, 'buy', amount, price, GT)
  assert.equal(format(engine.state.spot.lastPrice('GT_USDT')!), price)
}
const label = (outcome: object): string => ('label' in outcome ? (outcome.label as string) : 'passed')
const feed: WorldConfig['price_feed'] = { url: 'http://feed', seconds: 10, stale_seconds: 60 }

class Live extends Lender {
  constructor(more: Partial<WorldConfig> = {}) {
    super()
    this.must('world.live', { live: true })
    // A live platform knows its mode before its world: there was no price before.
    new Tx().put(this.state.world.settings, { name: 'last_prices', value: {} })
    this.must('world.configure', { config: { ...BUILT_IN_WORLD, ...more } })
  }
  set(prices: Readonly<Record<string, string | null>>, seconds = 3_600): void {
    const expires = Math.floor(this.at / 1e6) + seconds
    this.must('prices.set', { prices, expires, actor: null })
  }
  read(prices: Readonly<Record<string, string>>, second?: Readonly<Record<string, string>>): string[] {
    return this.must('prices.feed', { prices, ...(second !== undefined && { second }) }).waiting
  }
  price(currency: string): string {
    const { price, source } = this.state.prices.quote(currency)
    return `${source} ${format(price)}`
  }
}

test('small balances are no free swap: a family turns so much in an hour, in however many pieces and accounts', () => {
  const engine = new Lender()
  engine.prices({ XRP: '0.5', DOGE: '0.1', GT: '8' })
  const main = engine.user({ XRP: '1000', DOGE: '5' })
  const subs = [1, 2].map(() => engine.user({}, { parent_id: main }))
  const turn = (user_id: number): string =>
    label(engine.run('small_balance.convert', { user_id, currency: [], is_all: true }))
  const piece = (sub_account: number): void => {
    const rest = { sub_account_type: 'spot', direction: 'to', client_order_id: null, known_tx: null } as const
    engine.must('sub_transfer.create', { main, sub_account, currency: 'XRP', amount: '2', ...rest })
  }
  for (let i = 0; i < 99; i++) {
    piece(subs[i % 2]!)
    assert.equal(turn(subs[i % 2]!), 'passed', `piece ${i + 1}`)
  }
  // Two more, of which one passes: it is the first by name, and the other stays where it is.
  piece(subs[0]!)
  engine.must('sub_transfer.create', {
    main,
    sub_account: subs[0]!,
    sub_account_type: 'spot',
    currency: 'DOGE',
    amount: '5',
    direction: 'to',
    client_order_id: null,
    known_tx: null,
  })
  const { ledger } = engine.state
  assert.equal(turn(subs[0]!), 'passed')
  assert.deepEqual(
    ['DOGE', 'XRP'].map((currency) => format(ledger.balance(subs[0]!, 'spot', currency))),
    ['0', '2'],
  )
  assert.equal(turn(subs[0]!), 'AMOUNT_TOO_MUCH')
  piece(subs[1]!)
  assert.equal(turn(subs[1]!), 'AMOUNT_TOO_MUCH')
  const stranger = engine.user({ XRP: '2' })
  assert.equal(turn(stranger), 'passed')
  engine.at += 3_600e6
  assert.equal(turn(subs[0]!), 'passed')
})

describe('nobody prints the index price', () => {
  test('a trade with oneself at 1,000 times the price is worth nothing as collateral', () => {
    const engine = new Lender()
    const thief = engine.unified({ GT: '1000' })
    const before = borrowable(engine.state, thief, 'unified', 'USDT')
    printPrice(engine, '8000')
    assert.equal(borrowable(engine.state, thief, 'unified', 'USDT'), before)
    assert.equal(label(engine.loan(thief, 'borrow', 'USDT', '1000000')), 'INITIAL_MARGIN_TOO_LOW')
  })
  test('nor does it repay a debt', () => {
    const engine = new Lender()
    const thief = engine.unified({ GT: '1', USDT: '2000' })
    engine.loan(thief, 'borrow', 'BTC', '0.1')
    printPrice(engine, '8000')
    const { repaid_infos, used_infos } = engine.must('margin.quick_repay', {
      user_id: thief,
      debt_currencies: ['BTC'],
      available_currencies: ['GT'],
    })
    // 1 GT at 8 buys 8 / 60300 BTC: the index and the spread.
    assert.equal(repaid_infos[0]!.repaid, '0.00013266')
    assert.equal(used_infos[0]!.used, '1')
  })
  test('nor does it pay fees, nor turn dust into it', () => {
    const engine = new Lender()
    printPrice(engine, '8000')
    const maker = engine.user({ BTC: '1' })
    const thief = engine.user({ USDT: '6000', GT: '5' })
    engine.must('user.change', { user_id: thief, settings: { debit_fee: 1 }, actor: null })
    engine.place(maker, 'sell', '0.1', '60000')
    const outcome = engine.place(thief, 'buy', '0.1', '60000')
    assert.ok('reply' in outcome)
    // 6000 x 0.2 % x 90 % = 10.8 USDT, at 8: 1.35 GT; at the printed price it would be 0.00135.
    assert.equal(format(outcome.reply.gt_fee), '1.35')
    const low = new Lender()
    printPrice(low, '0.008', '500')
    const owner = low.user({ DOGE: '5' })
    low.must('small_balance.convert', { user_id: owner, currency: ['DOGE'], is_all: false })
    assert.equal(format(low.state.ledger.balance(owner, 'spot', 'GT')), '0.0625')
  })
  test('quick repayment is no free swap: a spread, and a quota for each currency and hour', () => {
    const engine = new Lender()
    const rich = engine.unified({ USDT: '5000000' })
    engine.loan(rich, 'borrow', 'BTC', '20')
    const out = { from: 'spot', to: 'futures', currency_pair: null, settle: 'btc' } as const
    engine.must('transfer.create', { user_id: rich, currency: 'BTC', amount: '20', ...out })
    const repay = () =>
      engine.run('margin.quick_repay', {
        user_id: rich,
        debt_currencies: ['BTC'],
        available_currencies: ['USDT'],
      })
    const first = repay()
    assert.ok('reply' in first)
    // 200000 USDT at 60000 x 1.005.
    assert.deepEqual(first.reply.repaid_infos, [
      { currency: 'BTC', repaid: '3.31674958', left: '16.68325042' },
    ])
    assert.equal(label(repay()), 'AMOUNT_TOO_MUCH')
    // Nor by another account, nor for another debt out of the same currency.
    const other = engine.unified({ USDT: '100000' })
    engine.loan(other, 'borrow', 'ETH', '1')
    engine.must('transfer.create', {
      user_id: other,
      currency: 'ETH',
      amount: '1',
      from: 'spot',
      to: 'margin',
      currency_pair: 'ETH_USDT',
      settle: null,
    })
    const ask = { user_id: other, debt_currencies: ['ETH'], available_currencies: ['USDT'] }
    // What the first one's rounding left of the quota buys next to nothing.
    assert.ok(Number(engine.must('margin.quick_repay', ask).repaid_infos[0]!.repaid) < 0.000001)
    engine.due(engine.at + 3_600e6)
    assert.ok('reply' in repay())
  })
})

describe('live mode', () => {
  test('without a source nothing is lent, counted, converted or repaid with; a price marked in the file counts', () => {
    const trusted = BUILT_IN_WORLD.currencies.map((row) =>
      row.currency === 'USDC' ? { ...row, index_price_trusted: true } : row,
    )
    const engine = new Live({ currencies: trusted })
    assert.deepEqual(
      ['BTC', 'USDC', 'USDT'].map((name) => engine.price(name)),
      ['none 0', 'configured 1', 'configured 1'],
    )
    printPrice(engine, '8')
    assert.equal(engine.price('GT'), 'none 0')
    const user = engine.unified({ BTC: '1', USDT: '1000', DOGE: '1' })
    assert.equal(label(engine.loan(user, 'borrow', 'BTC', '0.001')), 'TRADE_RESTRICTED')
    // 1000 USDT carry 10 times as much of USDC; the BTC, worth far more outside, carry nothing.
    assert.equal(format(borrowable(engine.state, user, 'unified', 'USDC')), '10000')
    engine.loan(user, 'borrow', 'USDC', '100')
    const repay = { user_id: user, debt_currencies: ['USDC'], available_currencies: ['BTC'] }
    assert.equal(label(engine.run('margin.quick_repay', repay)), 'TRADE_RESTRICTED')
    const dust = { user_id: user, currency: ['DOGE'], is_all: false }
    assert.equal(label(engine.run('small_balance.convert', dust)), 'TRADE_RESTRICTED')
  })
  test("an operator's price must end within days, ends by itself, and USDT is 1", () => {
    const engine = new Live()
    const set = (prices: Record<string, string | null>, expires: number | null) =>
      label(engine.run('prices.set', { prices, expires, actor: null }))
    const now = Math.floor(engine.at / 1e6)
    assert.equal(set({ BTC: '60000' }, null), 'MISSING_REQUIRED_PARAM')
    assert.equal(set({ BTC: '60000' }, now - 1), 'INVALID_PARAM_VALUE')
    assert.equal(set({ BTC: '60000' }, now + 8 * 86_400), 'INVALID_PARAM_VALUE')
    assert.equal(set({ USDT: '2' }, now + 60), 'INVALID_PARAM_VALUE')
    assert.equal(set({ BTC: '60000', USDT: '1' }, now + 60), 'passed')
    assert.equal(engine.price('BTC'), 'operator 60000')
    // A later one of the same currency is not ended by the first one's time.
    assert.equal(set({ ETH: '3000' }, now + 600), 'passed')
    engine.due(engine.at + 61e6)
    assert.deepEqual([engine.price('BTC'), engine.price('ETH')], ['none 0', 'operator 3000'])
    assert.equal(set({ ETH: null }, null), 'passed')
    assert.equal(engine.price('ETH'), 'none 0')
  })
  test('a price that goes away forgives no debt, liquidates nobody, and lets nothing out', () => {
    const engine = new Live()
    engine.set({ BTC: '60000', ETH: '3000' }, 60)
    const watch = new RiskWatch(engine.state)
    const long = engine.unified({ BTC: '1' })
    engine.loan(long, 'borrow', 'USDT', '40000')
    const short = engine.unified({ USDT: '10000' })
    engine.loan(short, 'borrow', 'ETH', '1')
    const thin = engine.unified({ BTC: '1' })
    engine.loan(thin, 'borrow', 'USDT', '50000')
    const out = { from: 'spot', to: 'futures', currency_pair: null, settle: 'usdt' } as const
    engine.must('transfer.create', { user_id: thin, currency: 'USDT', amount: '50000', ...out })
    const owed = totalOwed(engine.state, long, UNIFIED, 'USDT')
    assert.ok(transferable(engine.state, short, 'unified', 'USDT') > 0n)
    engine.due(engine.at + 61e6)
    assert.equal(engine.price('ETH'), 'none 0')
    assert.deepEqual(watch.suspects(100).found, [])
    const all = [long, short, thin]
    engine.must('margin.check', { accounts: all.map((user_id) => ({ user_id, scope: 'unified' })) })
    engine.due(engine.at + 120e6)
    for (const user of all) {
      assert.equal(engine.state.margin.isLocked(user, 'unified'), false)
      for (const currency of ['USDT', 'ETH', 'BTC'])
        assert.equal(transferable(engine.state, user, 'unified', currency), 0n, `${user} ${currency}`)
    }
    assert.equal(totalOwed(engine.state, long, UNIFIED, 'USDT'), owed)
    // His BTC count for nothing now, so the loan that he keeps as USDT can't be lost in a trade either.
    const accomplice = engine.user({ GT: '1000' })
    engine.place(accomplice, 'sell', '100', '300', GT)
    assert.equal(label(engine.place(long, 'buy', '100', '300', GT)), 'TRADE_RESTRICTED')
    // A lower price that comes back is acted on as ever.
    engine.set({ BTC: '50000' })
    assert.deepEqual(
      watch.suspects(100).found.map(({ user_id }) => user_id),
      [thin],
    )
  })
  test('what has no price at all is not forgiven either: nobody pays while its owner keeps it', () => {
    const engine = new Lender()
    const user = engine.unified({ BTC: '1' })
    engine.loan(user, 'borrow', 'USDT', '50000')
    const out = { from: 'spot', to: 'futures', currency_pair: null, settle: 'usdt' } as const
    engine.must('transfer.create', { user_id: user, currency: 'USDT', amount: '50000', ...out })
    // As if an older version had left no last price behind.
    engine.must('world.live', { live: true })
    new Tx().put(engine.state.world.settings, { name: 'last_prices', value: {} })
    const before = engine.state.ledger.balance(0, 'insurance', 'USDT')
    engine.must('margin.check', { accounts: [{ user_id: user, scope: 'unified' }] })
    engine.due(engine.at + 120e6)
    assert.equal(engine.state.ledger.balance(0, 'insurance', 'USDT'), before)
    assert.equal(format(totalOwed(engine.state, user, UNIFIED, 'USDT')), '50000')
    const expires = Math.floor(engine.at / 1e6) + 600
    engine.must('prices.set', { prices: { BTC: '60000' }, expires, actor: null })
    engine.due(engine.at + 61e6)
    assert.equal(engine.state.margin.isLocked(user, 'unified'), false)
    assert.equal(format(engine.state.ledger.balance(user, 'spot', 'BTC')), '1')
  })
  test('a withdrawal whose worth nobody knows waits for operators; in the sandbox it counts 0', () => {
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const ask = (engine: Lender): string => {
      const user_id = engine.user({ ETH: '10' })
      engine.must('saved_address.save', {
        user_id,
        currency: 'ETH',
        chain: 'ETH',
        address,
        name: '',
        tag: '',
        verified: true,
        verified_at: null,
        actor: null,
      })
      engine.at += 25 * 3_600e6
      return engine.must('withdrawal.request', {
        user_id,
        currency: 'ETH',
        chain: 'ETH',
        amount: '1',
        address,
        memo: null,
        withdraw_order_id: null,
        asset_class: null,
        known_id: null,
        requested_by: null,
      }).status
    }
    const live = new Live()
    assert.equal(ask(live), 'MANUAL')
    live.set({ ETH: '3000' }, 2 * 86_400)
    assert.equal(ask(live), 'REQUEST')
    assert.equal(ask(new Lender()), 'REQUEST')
  })
})

describe('a price feed', () => {
  const fed = (): Live => {
    const engine = new Live({ price_feed: feed })
    assert.deepEqual(engine.read({ BTC: '60000' }), ['BTC'], 'a first price waits for a second reading too')
    assert.equal(engine.price('BTC'), 'none 0')
    assert.deepEqual(engine.read({ BTC: '60010' }), [])
    assert.equal(engine.price('BTC'), 'feed 60010')
    return engine
  }
  test('a jump waits for a second reading within 5 s; the old price stands, and carries no new loan', () => {
    const engine = fed()
    const user = engine.unified({ BTC: '1', USDT: '100' })
    engine.loan(user, 'borrow', 'USDT', '40000')
    assert.deepEqual(engine.read({ BTC: '500' }), ['BTC'])
    assert.equal(engine.price('BTC'), 'feed 60010')
    assert.equal(label(engine.loan(user, 'borrow', 'BTC', '0.001')), 'TRADE_RESTRICTED')
    assert.equal(label(engine.loan(user, 'borrow', 'USDT', '10')), 'TRADE_RESTRICTED')
    assert.equal(transferable(engine.state, user, 'unified', 'USDT'), 0n)
    engine.must('margin.check', { accounts: [{ user_id: user, scope: 'unified' }] })
    assert.equal(engine.state.margin.riskLevelOf(user, 'unified'), 'normal')
    // Six seconds later is too late to bear it out: that reading is a first one itself.
    engine.at += 6e6
    assert.deepEqual(engine.read({ BTC: '501' }), ['BTC'])
    assert.equal(engine.price('BTC'), 'feed 60010')
    engine.at += 4e6
    assert.deepEqual(engine.read({ BTC: '60020' }), [])
    assert.equal(engine.price('BTC'), 'feed 60020')
    assert.equal(label(engine.loan(user, 'borrow', 'USDT', '10')), 'passed')
  })
  test('a second reading that agrees, or a second source, is believed at once; others are not', () => {
    const engine = fed()
    engine.read({ BTC: '50000' })
    assert.deepEqual(engine.read({ BTC: '20000' }), ['BTC'], 'it does not agree')
    assert.deepEqual(engine.read({ BTC: '20100' }), [])
    assert.equal(engine.price('BTC'), 'feed 20100')
    assert.deepEqual(engine.read({ BTC: '40000' }, { BTC: '20000' }), ['BTC'])
    assert.deepEqual(engine.read({ BTC: '30000' }, { BTC: '30100' }), [])
    assert.equal(engine.price('BTC'), 'feed 30000')
  })
  test('one that says something else each time is as good as a silent one', () => {
    const engine = fed()
    for (let i = 0; i < 40; i++) {
      engine.at += 2e6
      engine.read({ BTC: i % 2 === 0 ? '500' : '900000' })
    }
    assert.equal(engine.price('BTC'), 'none 0')
    assert.equal(format(engine.state.prices.quote('BTC').known), '60010')
  })
  test('after a silence a far price needs a second reading too', () => {
    const engine = fed()
    engine.read({})
    assert.equal(engine.price('BTC'), 'none 0')
    assert.deepEqual(engine.read({ BTC: '500' }), ['BTC'])
    assert.equal(engine.price('BTC'), 'none 0')
    assert.deepEqual(engine.read({ BTC: '60300' }), [])
    assert.equal(engine.price('BTC'), 'feed 60300')
    assert.equal(engine.state.prices.worth('BTC', amountOf('2')), amountOf('120600'))
  })
})
