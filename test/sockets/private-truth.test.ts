import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { amountOf, format, type Amount } from '../../src/money/amount.ts'
import { Random } from '../sim/random.ts'
import { ok, type Client } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient, type Frame } from '../support/socket.ts'

/**
 * Random commands of many accounts, by REST and by sockets: what each account was pushed, applied in order, is what REST
 * says in the end; nobody hears of others; and on a connection the result of a call comes before what it caused.
 */
const PAIRS = ['BTC_USDT', 'ETH_USDT'] as const
const PRICES = { BTC_USDT: 60_000, ETH_USDT: 3_000 } as const
const OPERATIONS = 2_000
const started: TestPlatform[] = []
after(async () => {
  for (const platform of started) await platform.stop()
})

/** One account: two ways to act, and all that it has been told. */
class Account {
  readonly userId: number
  readonly rest: Client
  readonly socket: SocketClient
  readonly orders = new Map<string, Frame>()
  readonly fills: Frame[] = []
  readonly balances = new Map<string, Frame>()
  readonly priceOrders = new Map<string, Frame>()
  readonly filled = new Map<string, bigint>()
  readonly answered = new Set<string>()
  readonly mine: string[] = []
  changes = new Map<string, bigint>()
  events = 0

  constructor(userId: number, rest: Client, socket: SocketClient) {
    this.userId = userId
    this.rest = rest
    this.socket = socket
    socket.listener = (frame) => this.hear(frame)
  }
  private hear(frame: Frame): void {
    if (frame['header'] !== undefined && frame['ack'] === undefined) {
      const { result } = frame['data'] as Frame
      for (const one of Array.isArray(result) ? result : [result])
        if (typeof one?.id === 'string') this.answered.add(one.id as string)
    }
    if (frame['event'] !== 'update') return
    this.events++
    const { channel, result } = frame
    if (channel === 'spot.orders')
      for (const order of result as Frame[]) {
        assert.equal(order['user'], this.userId)
        const before = this.orders.get(order['id'] as string)
        if (before === undefined && (order['text'] as string).startsWith('t-s'))
          assert.ok(this.answered.has(order['id'] as string), 'the result of a call comes first')
        if (order['event'] === 'put') assert.equal(before, undefined, 'put comes first')
        if (order['event'] === 'update') assert.equal(before?.['status'], 'open', 'it was open before')
        if (before !== undefined) assert.notEqual(before['event'], 'finish', 'nothing comes after the end')
        assert.equal(
          order['filled_amount'],
          format((this.filled.get(order['id'] as string) ?? 0n) as Amount),
          'fills come before the order that they filled',
        )
        this.orders.set(order['id'] as string, order)
      }
    if (channel === 'spot.usertrades')
      for (const fill of result as Frame[]) {
        assert.equal(fill['user_id'], this.userId)
        this.fills.push(fill)
        const id = fill['order_id'] as string
        this.filled.set(id, (this.filled.get(id) ?? 0n) + amountOf(fill['amount'] as string))
      }
    if (channel === 'spot.balances')
      for (const record of result as Frame[]) {
        assert.equal(record['user'], String(this.userId))
        const before = this.balances.get(record['currency'] as string)
        const was = amountOf(
          (before?.['total'] as string | undefined) ?? this.first.get(record['currency'] as string) ?? '0',
        )
        const change = signed(record['change'] as string)
        assert.equal(amountOf(record['total'] as string), was + change, 'changes add up')
        assert.equal(
          amountOf(record['available'] as string) + amountOf(record['freeze'] as string),
          amountOf(record['total'] as string),
        )
        if (before !== undefined) assert.ok(record['update_id'] > before['update_id'], 'ids go up')
        this.balances.set(record['currency'] as string, record)
      }
    if (channel === 'spot.priceorders') {
      assert.equal((result as Frame)['uid'], String(this.userId))
      this.priceOrders.set((result as Frame)['id'] as string, result as Frame)
    }
  }
  readonly first = new Map<string, string>()
}
/** Whatever REST answers. */
async function read(client: Client, path: string, query?: Record<string, string | number>): Promise<Frame> {
  return ok(await client.get(path, query)) as Frame
}
const signed = (text: string): bigint => (text.startsWith('-') ? -amountOf(text.slice(1)) : amountOf(text))

test('what accounts are pushed is what REST says, whoever did it and by which way', async () => {
  const platform = await TestPlatform.start()
  started.push(platform)
  const random = new Random(77)
  const accounts: Account[] = []
  for (let i = 0; i < 5; i++) {
    const { user_id, client, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '3000000')
    await platform.credit(user_id, 'BTC', '40')
    await platform.credit(user_id, 'ETH', '800')
    const socket = await SocketClient.open(platform.url, platform.now)
    const account = new Account(user_id, client, socket)
    for (const { currency, available } of (await read(client, '/spot/accounts')) as unknown as Frame[])
      account.first.set(currency as string, available as string)
    assert.equal((await socket.login(credential))['header'].status, '200')
    for (const [channel, payload] of [
      ['spot.orders', ['!all']],
      ['spot.usertrades', [...PAIRS]],
      ['spot.balances', undefined],
      ['spot.priceorders', ['!all']],
    ] as const)
      assert.equal((await socket.subscribe(channel, payload, credential))['result'].status, 'success')
    accounts.push(account)
  }

  const act = async (): Promise<string> => {
    const account = random.pick(accounts)
    const { rest, socket, mine } = account
    const pair = random.pick(PAIRS)
    const side = random.pick(['buy', 'sell'] as const)
    const price = String(PRICES[pair] + random.below(9) - 4)
    const way = random.below(12)
    const order = {
      text: `t-${way < 3 || way === 5 ? 's' : ''}${random.below(1e9)}`,
      currency_pair: pair,
      side,
      amount: `0.${10 + random.below(80)}`,
      price,
      time_in_force: random.pick(['gtc', 'gtc', 'ioc', 'poc']),
    }
    const known = mine.at(-1 - random.below(Math.min(15, Math.max(1, mine.length)))) ?? '1'
    const id = known.split(' ')[0]!
    const of = known.split(' ')[1] ?? pair
    const keep = (result: Frame): void => {
      if (typeof result['id'] === 'string') mine.push(`${result['id']} ${result['currency_pair'] as string}`)
    }
    const call = async (channel: string, param: unknown): Promise<string> => {
      const answer = await socket.call(channel, param)
      if (answer['header'].status !== '200') return answer['data'].errs.label as string
      const { result } = answer['data'] as Frame
      for (const one of Array.isArray(result) ? result : [result]) {
        if (channel === 'spot.order_place') keep(one as Frame)
      }
      return channel
    }
    const send = async (method: string, path: string, options: object): Promise<string> => {
      const { status, body } = await rest.request(method, path, options)
      if (status >= 400) return (body as Frame)['label'] as string
      if (path === '/spot/orders' && method === 'POST') keep(body as Frame)
      return `${method} ${path.replace(/\d+$/, '{id}')}`
    }
    if (way < 3) return call('spot.order_place', order)
    if (way < 5) return send('POST', '/spot/orders', { body: order })
    if (way === 5)
      return call('spot.order_place', [
        order,
        { ...order, text: `t-s${random.below(1e9)}`, currency_pair: random.pick(PAIRS), price: '2999' },
      ])
    if (way === 6) return call('spot.order_cancel', { order_id: id, currency_pair: of })
    if (way === 7) return send('DELETE', `/spot/orders/${id}`, { query: { currency_pair: of } })
    if (way === 8)
      return call('spot.order_amend', {
        order_id: id,
        currency_pair: of,
        amount: `0.${10 + random.below(80)}`,
      })
    if (way === 9)
      return send('POST', '/wallet/transfers', {
        body: { currency: 'USDT', from: 'spot', to: 'margin', amount: '10', currency_pair: 'BTC_USDT' },
      })
    if (way === 10)
      return send('POST', '/spot/price_orders', {
        body: {
          market: pair,
          trigger: { price: String(PRICES[pair] + 3), rule: '>=' },
          put: { side, price, amount: '0.05' },
        },
      })
    return random.chance(0.3)
      ? call('spot.order_cancel_cp', { currency_pair: pair })
      : call('spot.order_cancel', { order_id: id, currency_pair: of })
  }
  const reached = new Map<string, number>()
  for (let done = 0; done < OPERATIONS;) {
    const burst = 1 + random.below(12)
    for (const outcome of await Promise.all(Array.from({ length: burst }, act)))
      reached.set(outcome, (reached.get(outcome) ?? 0) + 1)
    done += burst
  }
  await sleep(200)

  for (const { userId, rest, orders, fills, balances, priceOrders, first, events } of accounts) {
    assert.ok(events > 100, `${userId} was told of ${events} things`)
    // Every order, member by member.
    for (const [id, order] of orders) {
      const shown = await read(rest, `/spot/orders/${id}`, {
        currency_pair: order['currency_pair'],
      })
      const { user: _, event: __, ...pushed } = order
      assert.deepEqual(pushed, {
        ...shown,
        create_time_ms: String(shown['create_time_ms']),
        update_time_ms: String(shown['update_time_ms']),
      })
    }
    for (const currency_pair of PAIRS)
      for (const open of (await read(rest, '/spot/orders', {
        currency_pair,
        status: 'open',
      })) as unknown as Frame[])
        assert.equal(orders.get(open['id'] as string)?.['status'], 'open')
    // Every fill.
    const told = new Map(fills.map((fill) => [`${String(fill['id'])} ${String(fill['order_id'])}`, fill]))
    assert.equal(told.size, fills.length, 'no fill is told twice')
    let seen = 0
    for (const currency_pair of PAIRS)
      for (let page = 1; ; page++) {
        const rows = (await read(rest, '/spot/my_trades', {
          currency_pair,
          limit: 1000,
          page,
        })) as unknown as Frame[]
        for (const row of rows) {
          const fill = told.get(`${String(row['id'])} ${String(row['order_id'])}`)
          assert.ok(fill !== undefined, `fill ${String(row['id'])} was not told`)
          for (const name of [
            'currency_pair',
            'side',
            'role',
            'amount',
            'price',
            'fee',
            'fee_currency',
            'text',
            'amend_text',
            'create_time_ms',
          ])
            assert.equal(fill[name], row[name], name)
          assert.equal(String(fill['id_market']), row['sequence_id'])
          seen++
        }
        if (rows.length < 1000) break
      }
    assert.equal(seen, fills.length)
    // Every balance.
    for (const { currency, available, locked, update_id } of (await read(
      rest,
      '/spot/accounts',
    )) as unknown as Frame[]) {
      const record = balances.get(currency as string)
      if (record === undefined) assert.equal(first.get(currency as string), available)
      else
        assert.deepEqual(
          [record['available'], record['freeze'], record['update_id']],
          [available, locked, update_id],
          `${userId} ${String(currency)}`,
        )
    }
    for (const [id, order] of priceOrders) {
      const shown = await read(rest, `/spot/price_orders/${id}`)
      for (const name of ['market', 'status', 'reason', 'fired_order_id', 'trigger', 'put'])
        assert.deepEqual(order[name], shown[name], name)
    }
  }
  for (const what of [
    'spot.order_place',
    'spot.order_cancel',
    'spot.order_amend',
    'spot.order_cancel_cp',
    'POST /spot/orders',
    'POST /wallet/transfers',
    'POST /spot/price_orders',
  ])
    assert.ok((reached.get(what) ?? 0) > 10, `${what}: ${JSON.stringify([...reached])}`)
})
