import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../sim/random.ts'
import { ok } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient, type Frame } from '../support/socket.ts'

/**
 * Random commands of many accounts on contracts, by REST and by sockets, while prices move and positions are
 * liquidated: what each account was pushed, applied in order, is what REST says in the end, and nobody hears of others.
 */
const NAMES = ['BTC_USDT', 'ETH_USDT'] as const
const PRICES = { BTC_USDT: 60_000, ETH_USDT: 3_000 } as const
const OPERATIONS = 1_500
const started: TestPlatform[] = []
after(async () => {
  for (const platform of started) await platform.stop()
})
const close = (one: number, other: number): boolean =>
  Math.abs(one - other) <= 1e-7 * Math.max(1, Math.abs(one))

/** One account: two ways to act, and all that it has been told. */
class Account {
  readonly trader: ContractTrader
  readonly socket: SocketClient
  readonly orders = new Map<number, Frame>()
  readonly filled = new Map<string, number>()
  readonly fills: Frame[] = []
  readonly positions = new Map<string, Frame>()
  readonly closes: Frame[] = []
  readonly liquidates: Frame[] = []
  readonly answered = new Set<number>()
  readonly mine: number[] = []
  readonly kinds = new Set<string>()
  balance: number
  events = 0

  constructor(trader: ContractTrader, socket: SocketClient, balance: number) {
    this.trader = trader
    this.socket = socket
    this.balance = balance
    socket.listener = (frame) => this.hear(frame)
  }
  private hear(frame: Frame): void {
    if (frame['header'] !== undefined && frame['ack'] === undefined) {
      const { result } = frame['data'] as Frame
      for (const one of Array.isArray(result) ? result : [result])
        if (typeof one?.id === 'number') this.answered.add(one.id as number)
    }
    if (frame['event'] !== 'update') return
    this.events++
    const { channel, result } = frame
    this.kinds.add(channel as string)
    for (const record of result as Frame[]) {
      if ('user' in record) assert.equal(record['user'], String(this.trader.user_id))
      if (channel === 'futures.orders') this.order(record)
      if (channel === 'futures.usertrades') {
        const id = record['order_id'] as string
        this.fills.push(record)
        this.filled.set(id, (this.filled.get(id) ?? 0) + Number(record['size']))
      }
      if (channel === 'futures.balances') {
        this.balance += record['change'] as number
        assert.ok(
          close(this.balance, record['balance'] as number),
          `${this.balance} ${JSON.stringify(record)}`,
        )
        this.balance = record['balance'] as number
      }
      if (channel === 'futures.positions') {
        const id = `${record['contract']} ${record['mode']}`
        const before = this.positions.get(id)
        assert.ok((record['update_id'] as number) > ((before?.['update_id'] as number | undefined) ?? 0))
        this.positions.set(id, record)
      }
      if (channel === 'futures.position_closes') this.closes.push(record)
      if (channel === 'futures.liquidates') this.liquidates.push(record)
    }
  }
  private order(order: Frame): void {
    const id = order['id'] as number
    const before = this.orders.get(id)
    if (before === undefined && (order['text'] as string).startsWith('t-s'))
      assert.ok(this.answered.has(id), 'the result of a call comes first')
    if (order['finish_as'] === '_new') assert.equal(before, undefined, '_new comes first')
    if (order['finish_as'] === '_update') assert.equal(before?.['status'], 'open', 'it was open before')
    if (before !== undefined) {
      assert.equal(before['status'], 'open', 'nothing comes after the end')
      assert.ok(order['update_id'] > before['update_id'], 'ids go up')
    }
    this.orders.set(id, order)
    // What past the book was taken from a position is no fill of an order on it.
    if (order['is_liq'] !== true && order['finish_as'] !== 'reduce_only')
      assert.equal(
        (order['size'] as number) - (order['left'] as number),
        this.filled.get(String(id)) ?? 0,
        `fills come before the order that they filled: ${JSON.stringify(order)}`,
      )
  }
}

test('what accounts of contracts are pushed is what REST says, whoever did it and by which way', async () => {
  const platform = await TestPlatform.start()
  started.push(platform)
  await setIndex(platform, { BTC: '60000', ETH: '3000' })
  const random = new Random(99)
  const accounts: Account[] = []
  for (let i = 0; i < 5; i++) {
    const trader = await ContractTrader.of(platform, i === 4 ? '300' : '200000')
    const credential = trader.client.credential!
    const socket = await SocketClient.open(platform.url, platform.now, '/v4/ws/usdt')
    const account = new Account(trader, socket, Number((await trader.account()).total))
    assert.equal((await socket.login(credential, 'futures.login'))['header'].status, '200')
    for (const name of [
      'orders',
      'usertrades',
      'positions',
      'position_closes',
      'liquidates',
      'auto_deleverages',
      'reduce_risk_limits',
      'balances',
    ])
      assert.equal(
        (await socket.subscribe(`futures.${name}`, [trader.user_id, '!all'], credential))['result'].status,
        'success',
      )
    for (const name of NAMES)
      await trader.ask(`/positions/${name}/leverage`, { leverage: i === 4 ? 100 : 10 * i })
    accounts.push(account)
  }

  const act = async (): Promise<string> => {
    const account = random.pick(accounts)
    const { trader, socket, mine } = account
    const contract = random.pick(NAMES)
    const price = String(PRICES[contract] + random.below(9) - 4)
    const way = random.below(12)
    const order = {
      text: `t-${way < 3 || way === 5 ? 's' : ''}${random.below(1e9)}`,
      contract,
      size: (1 + random.below(40)) * random.pick([1, -1]),
      price,
      tif: random.pick(['gtc', 'gtc', 'ioc', 'poc']),
      reduce_only: random.chance(0.1),
    }
    const id = mine.at(-1 - random.below(Math.min(15, Math.max(1, mine.length)))) ?? 1
    const keep = (result: Frame): void => {
      if (typeof result['id'] === 'number') mine.push(result['id'])
    }
    const call = async (channel: string, param: unknown): Promise<string> => {
      const answer = await socket.call(channel, param)
      if (answer['header'].status !== '200') return answer['data'].errs.label as string
      const { result } = answer['data'] as Frame
      if (channel.endsWith('place'))
        for (const one of Array.isArray(result) ? result : [result]) keep(one as Frame)
      return channel
    }
    if (way < 3) return call('futures.order_place', order)
    if (way < 5) {
      const { status, body } = await trader.post('/orders', order)
      if (status !== 201) return (body as Frame)['label'] as string
      keep(body as Frame)
      return 'POST /orders'
    }
    if (way === 5)
      return call('futures.order_batch_place', [
        order,
        { ...order, text: `t-s${random.below(1e9)}`, size: -order.size },
      ])
    if (way === 6) return call('futures.order_cancel', { order_id: id })
    if (way === 7) return (await trader.delete(`/orders/${id}`)).status === 200 ? 'DELETE' : 'refused'
    if (way === 8) return call('futures.order_amend', { order_id: id, size: 1 + random.below(50) })
    if (way === 9)
      return (
        await trader.client.post('/wallet/transfers', {
          currency: 'USDT',
          from: 'futures',
          to: 'spot',
          settle: 'usdt',
          amount: '1.25',
        })
      ).status === 200
        ? 'transfer'
        : 'refused'
    if (way === 10 && random.chance(0.3)) {
      const moved = random.below(400) - 200
      await setIndex(platform, { BTC: String(60_000 + moved), ETH: String(3_000 + moved / 20) })
      return 'index'
    }
    return random.chance(0.2)
      ? call('futures.order_cancel_cp', { contract })
      : call('futures.order_cancel_ids', [String(id)])
  }
  const reached = new Map<string, number>()
  for (let done = 0; done < OPERATIONS;) {
    const burst = 1 + random.below(12)
    for (const outcome of await Promise.all(Array.from({ length: burst }, act)))
      reached.set(outcome, (reached.get(outcome) ?? 0) + 1)
    done += burst
  }
  // The one with the least money goes.
  await setIndex(platform, { BTC: '57000', ETH: '2850' })
  await setIndex(platform, { BTC: '63000', ETH: '3150' })
  await platform.operator.ok('POST', '/clock', { advance_seconds: 5 })
  await sleep(300)

  for (const { trader, orders, fills, positions, closes, liquidates, balance, events } of accounts) {
    assert.ok(events > 50, `${trader.user_id} was told of ${events} things`)
    for (const [id, order] of orders) {
      const row = (await trader.order(id)) as Frame
      for (const name of ['size', 'left', 'status', 'text', 'tif', 'contract', 'is_reduce_only', 'biz_info'])
        assert.equal(order[name], row[name], `${id} ${name}`)
      for (const name of ['price', 'fill_price'])
        assert.equal(order[name], Number(row[name]), `${id} ${name}`)
      if (row['status'] === 'finished') assert.equal(order['finish_as'], row['finish_as'])
    }
    for (const open of ok(await trader.get('/orders', { status: 'open', limit: 1000 })) as Frame[])
      assert.equal(orders.get(open['id'] as number)?.['status'], 'open')
    const rows = ok(await trader.get('/my_trades', { limit: 1000 })) as Frame[]
    assert.equal(fills.length, rows.length)
    const told = new Map(fills.map((fill) => [`${fill['id']} ${fill['order_id']} ${fill['role']}`, fill]))
    for (const row of rows) {
      const fill = told.get(`${row['id']} ${row['order_id']} ${row['role']}`)
      assert.ok(fill !== undefined, `fill ${row['id']} was not told`)
      for (const name of ['contract', 'size', 'close_size', 'price', 'text'])
        assert.equal(fill[name], row[name], name)
      assert.equal(fill['fee'], Number(row['fee']))
    }
    for (const position of positions.values()) {
      const row = (await trader.position(position['contract'] as string)) as Frame
      for (const name of ['size', 'mode', 'update_id']) assert.equal(position[name], row[name], name)
      for (const name of [
        'leverage',
        'entry_price',
        'realised_pnl',
        'history_pnl',
        'last_close_pnl',
        'risk_limit',
      ])
        assert.equal(position[name], Number(row[name]), name)
    }
    assert.equal((ok(await trader.get('/position_close', { limit: 1000 })) as Frame[]).length, closes.length)
    assert.equal((ok(await trader.get('/liquidates', { limit: 1000 })) as Frame[]).length, liquidates.length)
    assert.equal(balance, Number((await trader.account()).total))
  }
  assert.ok(accounts[4]!.liquidates.length > 0, 'the poorest was liquidated')
  for (const what of [
    'futures.order_place',
    'futures.order_batch_place',
    'futures.order_cancel',
    'futures.order_amend',
    'futures.order_cancel_cp',
    'futures.order_cancel_ids',
    'POST /orders',
    'transfer',
  ])
    assert.ok((reached.get(what) ?? 0) > 5, `${what}: ${JSON.stringify([...reached])}`)
  for (const { socket } of accounts) await socket.close()
})
