import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEPOSIT, type Deposit } from '../../src/core/tables/deposits.ts'
import { SPOT_ORDER, type Order } from '../../src/core/tables/exchange/order.ts'
import { SPOT_FILL, SPOT_TRADE } from '../../src/core/tables/exchange/trades.ts'
import type { DomainEvent } from '../../src/events/event.ts'
import { eventsOf } from '../../src/events/events.ts'
import { Batch } from '../../src/machine/batch.ts'
import type { CommittedBatch, CommittedCommand } from '../../src/machine/stream.ts'
import { STORED, Table, type Tx } from '../../src/machine/table.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import { outcomeOf } from '../sim/auditor.ts'
import { Random } from '../sim/random.ts'
import { EventBench, Follower, NO_AMENDMENT, balancesIn, orderOf } from '../support/events.ts'
import { Lender } from '../unified/setup.ts'

const PAIR = 'BTC_USDT'
const MARKETS = [PAIR, 'ETH_USDT'] as const
const PRICE = { BTC_USDT: 60_000, ETH_USDT: 3_000 } as const
const FUNDS = { BTC: '50', ETH: '500', USDT: '5000000' }
const KINDS = [
  'order',
  'price_order',
  'fill',
  'trade',
  'book_level',
  'ticker',
  'balance',
  'deposit',
  'withdrawal',
  'loan',
  'liquidation',
] as const

/** What an event says, as a text: rows of classes too, and without the notes that indexes make on them. */
function textOf(event: DomainEvent): string {
  const columns = (row: object | undefined, spec: { readonly columns: object }): unknown =>
    row && Object.keys(spec.columns).map((column) => (row as Record<string, unknown>)[column])
  const plain: Record<string, unknown> = { ...event }
  if (event.kind === 'order') {
    plain['before'] = columns(event.before, SPOT_ORDER)
    plain['after'] = columns(event.after, SPOT_ORDER)
  }
  if (event.kind === 'fill') plain['fill'] = columns(event.fill, SPOT_FILL)
  return JSON.stringify(plain, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}
const told = (batches: readonly CommittedBatch[]): DomainEvent[] =>
  batches.flatMap(({ commands }) => commands.flatMap(eventsOf))
const briefly = (events: readonly DomainEvent[]): string[] =>
  events.flatMap((event) => {
    if (event.kind === 'order') return [`${event.change} ${event.after.id}`]
    if (event.kind === 'fill') return [`fill ${event.fill.role} ${format(event.fill.amount)}`]
    if (event.kind === 'trade') return [`trade ${format(event.trade.amount)}`]
    if (event.kind === 'book_level')
      return [`${event.side} ${format(event.price as bigint as Amount)} ${format(event.change)}`]
    if (event.kind === 'ticker') return [`ticker ${event.market} ${event.candles.length}`]
    return []
  })

test('a random history: books and balances put together from events are the state’s, after every batch', async () => {
  const bench = await new EventBench().open()
  const { core, state } = bench
  const random = new Random(20_261)
  const follower = new Follower()
  const users = [await bench.user(FUNDS), await bench.user(FUNDS), await bench.user(FUNDS)]
  follower.hear(told(await bench.committed()))
  const reached = new Set<string>()
  const heard: { readonly command: CommittedCommand; readonly texts: readonly string[] }[] = []

  const act = (): Promise<unknown> => {
    const user_id = random.pick(users)
    const market = random.pick(MARKETS)
    const price = String(PRICE[market] + random.below(13) - 6)
    const amount = `0.0${10 + random.below(80)}`
    const side = random.pick(['buy', 'sell'] as const)
    const [open] = random.chance(0.9)
      ? state.spot.openOrders(user_id, market).slice(-1 - random.below(5))
      : []
    const named = { user_id, id: open?.id ?? 999_999, currency_pair: market }
    switch (random.below(8)) {
      case 0:
        return core.submit('spot.cancel', named)
      case 1:
        return core.submit('spot.amend', {
          ...named,
          ...NO_AMENDMENT,
          ...random.pick([{ price }, { amount }]),
        })
      case 2:
        return core.submit('transfer.create', {
          user_id,
          currency: 'USDT',
          ...random.pick([{ from: 'spot', to: 'margin' } as const, { from: 'margin', to: 'spot' } as const]),
          amount: String(1 + random.below(500)),
          currency_pair: PAIR,
          settle: null,
        })
      case 3:
        return core.submit('spot.place_batch', {
          user_id,
          orders: [1, 2, 3].map((n) => orderOf(market, side, amount, price, { text: `t-${n}` })),
        })
      case 4:
        if (random.chance(0.1))
          return core.submit('spot.cancel_all', { user_id, currency_pair: market, side: null, account: null })
        return core.submit('spot.place', {
          user_id,
          order: orderOf(market, side, amount, price, { iceberg: '0.005' }),
        })
      default:
        return core.submit('spot.place', {
          user_id,
          order: orderOf(market, side, amount, price, { time_in_force: random.pick(['gtc', 'ioc', 'poc']) }),
        })
    }
  }
  for (let step = 0; step < 400; step++) {
    const outcomes = await Promise.all(Array.from({ length: 1 + random.below(4) }, () => outcomeOf(act())))
    const batches = await bench.committed()
    assert.ok(batches.length <= 1, 'what is submitted in one turn is one batch')
    const events = told(batches)
    if (outcomes.every((outcome) => outcome !== 'ok')) assert.deepEqual(events, [], 'nothing happened')
    follower.hear(events)
    for (const command of batches.flatMap(({ commands }) => commands))
      heard.push({ command, texts: eventsOf(command).map(textOf) })
    for (const event of events) reached.add(event.kind === 'order' ? event.change : event.kind)
    for (const outcome of outcomes) reached.add(outcome)

    for (const command of batches.flatMap(({ commands }) => commands)) {
      const places = eventsOf(command).map(({ kind }) => KINDS.indexOf(kind))
      assert.deepEqual(
        places,
        [...places].sort((one, other) => one - other),
        'kind after kind',
      )
    }
    for (const market of MARKETS)
      for (const side of ['buy', 'sell'] as const)
        assert.deepEqual(
          follower.depth(market, side),
          state.spot.book(market).depth(side, Infinity),
          `${market} ${side} after step ${step}`,
        )
    assert.deepEqual(follower.balances, balancesIn(state), `balances after step ${step}`)
  }
  assert.deepEqual(follower.gaps, [])
  for (const what of ['placed', 'changed', 'ended', 'fill', 'trade', 'book_level', 'ticker', 'balance', 'ok'])
    assert.ok(reached.has(what), `${what} was never seen`)
  assert.ok(reached.has('ORDER_NOT_FOUND'), `a refusal was never seen: ${[...reached].join(' ')}`)
  // All that came later changed nothing of what the commands say.
  for (const { command, texts } of heard) {
    assert.deepEqual(eventsOf(command), eventsOf(command))
    assert.deepEqual(eventsOf(command).map(textOf), texts)
  }
  await bench.close()
})

test('an order’s life: placed, partly filled, amended, cancelled; and a refused command says nothing', async () => {
  const bench = await new EventBench().open()
  const { core } = bench
  const maker = await bench.user(FUNDS)
  const taker = await bench.user(FUNDS)
  await bench.committed()
  const events = async (): Promise<DomainEvent[]> => told(await bench.committed())

  const { id } = await core.submit('spot.place', {
    user_id: maker,
    order: orderOf(PAIR, 'sell', '1', '60000'),
  })
  const placed = await events()
  assert.deepEqual(briefly(placed), [`placed ${id}`, 'sell 60000 1', 'ticker BTC_USDT 0'])
  assert.deepEqual(
    placed.flatMap((event) =>
      event.kind === 'balance'
        ? [`${event.owner} ${event.account} ${format(event.before)} ${format(event.after)}`]
        : [],
    ),
    [`${maker} spot 50 49`, `${maker} spot.locked 0 1`],
  )
  await core.submit('spot.place', { user_id: taker, order: orderOf(PAIR, 'buy', '0.25', '60000') })
  assert.deepEqual(briefly(await events()), [
    `changed ${id}`,
    `ended ${id + 1}`,
    'fill taker 0.25',
    'fill maker 0.25',
    'trade 0.25',
    'sell 60000 -0.25',
    'ticker BTC_USDT 1',
  ])
  const named = { user_id: maker, id, currency_pair: PAIR }
  await core.submit('spot.amend', { ...named, ...NO_AMENDMENT, price: '60100' })
  assert.deepEqual(briefly(await events()), [
    `changed ${id}`,
    'sell 60000 -0.75',
    'sell 60100 0.75',
    'ticker BTC_USDT 0',
  ])
  await core.submit('spot.cancel', named)
  assert.deepEqual(briefly(await events()), [`ended ${id}`, 'sell 60100 -0.75', 'ticker BTC_USDT 0'])
  assert.equal(await outcomeOf(core.submit('spot.cancel', named)), 'ORDER_CANCELLED')
  const dear = orderOf(PAIR, 'sell', '51', '61000')
  assert.equal(
    await outcomeOf(core.submit('spot.place', { user_id: taker, order: dear })),
    'BALANCE_NOT_ENOUGH',
  )
  assert.deepEqual(await events(), [])

  // Placed and gone in one batch: each command tells its own.
  const submitted = core.submit('spot.place', {
    user_id: maker,
    order: orderOf(PAIR, 'sell', '1', '60000', { text: 't-short' }),
  })
  await Promise.all([submitted, core.submit('spot.cancel', { ...named, id: 't-short' })])
  const short = await events()
  const { id: gone } = await submitted
  assert.deepEqual(briefly(short), [
    `placed ${gone}`,
    'sell 60000 1',
    'ticker BTC_USDT 0',
    `ended ${gone}`,
    'sell 60000 -1',
    'ticker BTC_USDT 0',
  ])
  const money = short.flatMap((event) => (event.kind === 'balance' ? [event] : []))
  assert.deepEqual(
    money.map(({ account, before, after }) => `${account} ${format((after - before) as Amount)}`),
    ['spot -1', 'spot.locked 1', 'spot 1', 'spot.locked -1'],
  )
  assert.equal(money[2]!.update_id, money[0]!.update_id + 1, 'money that came back has another update_id')
  await bench.close()
})

/** Every command's changes as a batch of its own, from `listen` on. */
class Told extends Lender {
  readonly events: DomainEvent[] = []
  private listening = false
  private sequence = 0
  listen(): void {
    this.listening = true
  }
  protected override applied(tx: Tx): void {
    super.applied(tx)
    if (!this.listening) return
    const batch = new Batch('all')
    batch.add(tx, this.at, 'test', '{}')
    this.events.push(...(batch.committed(++this.sequence, this.at)?.commands ?? []).flatMap(eventsOf))
  }
}
test('loans and their interest, by venue', () => {
  const engine = new Told()
  const user = engine.unified({ BTC: '1' })
  engine.listen()
  engine.loan(user, 'borrow', 'USDT', '100')
  engine.due(engine.at + 3_700_000_000)
  engine.loan(user, 'repay', 'USDT', '50')
  const loans = engine.events.flatMap((event) => (event.kind === 'loan' ? [event] : []))
  assert.deepEqual(
    [...new Set(loans.map(({ type, venue, market, currency }) => `${type} ${venue} ${market}${currency}`))],
    ['borrow unified USDT', 'interest unified USDT', 'repay unified USDT'],
  )
  const debts = engine.events.flatMap((event) =>
    event.kind === 'balance' && event.account === 'debt.unified' ? [event] : [],
  )
  assert.deepEqual(
    [debts[0]!.venue, format(debts[0]!.before), format(debts[0]!.after)],
    ['unified', '0', '-100'],
  )
})

test('a liquidation: its steps, the orders that it sells by, what is paid back', () => {
  const engine = new Told()
  engine.prices({ BTC: '60000' })
  const user = engine.unified({ BTC: '1' })
  engine.loan(user, 'borrow', 'USDT', '50000')
  engine.must('transfer.create', {
    user_id: user,
    currency: 'USDT',
    amount: '50000',
    from: 'spot',
    to: 'futures',
    currency_pair: null,
    settle: 'usdt',
  })
  engine.place(engine.user({ USDT: '200000' }), 'buy', '3', '52500')
  engine.prices({ BTC: '52400' })
  engine.listen()
  const noted = engine.steps.length
  engine.must('margin.check', { accounts: [{ user_id: user, scope: 'unified' }] })
  engine.due(engine.at + 15e6)
  const events = engine.events
  const steps = events.flatMap((event) => (event.kind === 'liquidation' ? [event] : []))
  assert.deepEqual(
    steps.map(({ step }) => step),
    engine.steps.slice(noted),
  )
  assert.ok(steps.some(({ step, currency }) => step.step === 'sold' && currency === 'BTC'))
  assert.ok(
    steps.every(({ venue, market, user_id }) => venue === 'unified' && market === '' && user_id === user),
  )
  assert.ok(events.some((event) => event.kind === 'fill' && event.user_id === user))
  assert.ok(events.some((event) => event.kind === 'loan' && event.type === 'repay'))
})

test('a withdrawal that is asked for and cancelled, a deposit in its first block', () => {
  const engine = new Told()
  const user_id = engine.user({ ETH: '5' })
  const { address } = engine.must('address.ensure', { user_id, chain: 'ETH', address: null })
  const target = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  engine.must('saved_address.save', {
    user_id,
    currency: 'ETH',
    chain: 'ETH',
    address: target,
    name: '',
    tag: '',
    verified: true,
    verified_at: null,
    actor: null,
  })
  engine.at += 25 * 3_600e6
  engine.listen()
  const { id } = engine.must('withdrawal.request', {
    user_id,
    currency: 'ETH',
    chain: 'ETH',
    amount: '1',
    address: target,
    memo: null,
    withdraw_order_id: null,
    asset_class: null,
    known_id: null,
    requested_by: null,
  })
  engine.must('withdrawal.cancel', { user_id, id })
  const payment = { txid: '0x1', output: 0, address, memo: '', currency: 'ETH', amount: '2', height: 1 }
  engine.must('chain.observe', {
    chain: 'ETH',
    fork: 0,
    tip: { height: 1, hash: '0x1' },
    payments: [payment],
    outcomes: [],
  })
  const said = engine.events.flatMap((event) =>
    event.kind === 'withdrawal' || event.kind === 'deposit'
      ? [`${event.kind} ${event.change} ${event.currency} ${event.before?.status} ${event.after.status}`]
      : [],
  )
  assert.deepEqual(said, [
    'withdrawal created ETH undefined REQUEST',
    'withdrawal changed ETH REQUEST CANCEL',
    'deposit created ETH undefined TRACK',
  ])
})

test('rows that memory no longer had: nothing was open, nothing is new', () => {
  const order: Order = {
    id: 7,
    user_id: 1,
    pair: PAIR,
    side: 'buy',
    account: 'cross_margin',
    price: 5n,
    shown: 3n,
    rank: 1,
    status: 'cancelled',
  } as unknown as Order
  const deposit = { id: 3, user_id: 1, currency: 'BTC' } as unknown as Deposit
  const row = (table: unknown, key: number, after: object | undefined) => ({
    table: table as Table<object>,
    key,
    before: STORED,
    after,
  })
  const command: CommittedCommand = {
    sequence: 9,
    at: 5,
    changes: [
      row(new Table(DEPOSIT), 3, deposit),
      row(new Table(SPOT_TRADE), 1, undefined),
      row(new Table(SPOT_ORDER), 7, order),
      row(new Table(SPOT_ORDER), 8, undefined),
    ],
    appended: [],
  } as unknown as CommittedCommand
  const head = { sequence: 9, at: 5, user_id: 1, change: 'changed', before: undefined }
  assert.deepEqual(eventsOf(command), [
    { kind: 'order', venue: 'unified', market: PAIR, after: order, ...head },
    { kind: 'deposit', venue: 'wallet', currency: 'BTC', after: deposit, ...head },
  ])
})
