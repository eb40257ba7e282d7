import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ok, type Credential } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient, type Frame } from '../support/socket.ts'
import { until } from '../support/venue.ts'

const NAME = 'BTC_USDT'
const CHANNELS = [
  'orders',
  'usertrades',
  'positions',
  'liquidates',
  'auto_deleverages',
  'position_closes',
  'reduce_risk_limits',
  'balances',
].map((name) => `futures.${name}`)

/** Private channels of contracts: who is told, in which order, and that it is what REST says. */
describe('private channels of contracts', () => {
  let platform: TestPlatform
  let maker: ContractTrader
  const sockets: SocketClient[] = []
  const open = async (path = '/v4/ws/usdt', headers: Record<string, string> = {}): Promise<SocketClient> => {
    const socket = await SocketClient.open(platform.url, platform.now, path, headers)
    sockets.push(socket)
    return socket
  }
  const keyOf = ({ client }: ContractTrader): Credential => client.credential!
  const listen = async (
    socket: SocketClient,
    trader: ContractTrader,
    names: readonly string[] = ['!all'],
    channels: readonly string[] = CHANNELS,
  ): Promise<void> => {
    for (const channel of channels) {
      const answer = await socket.subscribe(channel, ['20011', ...names], keyOf(trader))
      assert.deepEqual(answer['result'], { status: 'success' }, JSON.stringify(answer))
    }
  }
  const told = (socket: SocketClient, channel: string): Frame[] =>
    socket.pushed(`futures.${channel}`).flatMap(({ result }) => result as Frame[])
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    maker = await ContractTrader.of(platform, '50000000')
  })
  after(async () => {
    for (const socket of sockets) await socket.close()
    await platform.stop()
  })

  /** Equal to REST's record: what is a number here is a text there. */
  const equal = (record: Frame, row: Frame, members: readonly string[], numbers: readonly string[]): void => {
    for (const name of members) assert.deepEqual(record[name], row[name], name)
    for (const name of numbers) {
      assert.equal(typeof record[name], 'number', name)
      assert.equal(record[name], Number(row[name]), name)
    }
  }
  const equalOrder = (record: Frame, row: Frame): void => {
    equal(
      record,
      row,
      [
        'id',
        'contract',
        'status',
        'size',
        'left',
        'iceberg',
        'tif',
        'text',
        'is_close',
        'is_liq',
        'is_reduce_only',
        'stp_id',
        'stp_act',
        'amend_text',
        'biz_info',
        'refu',
      ],
      ['price', 'fill_price', 'tkfr', 'mkfr', 'refr'],
    )
    assert.equal(record['user'], String(row['user']))
    assert.equal(record['create_time'], Math.floor(row['create_time'] as number))
    assert.equal(record['create_time_ms'], Math.round((row['create_time'] as number) * 1000))
    assert.equal(record['update_time'], Math.round((row['update_time'] as number) * 1000))
    const ended = row['status'] === 'finished'
    assert.equal(record['finish_time_ms'], ended ? Math.round((row['finish_time'] as number) * 1000) : 0)
    assert.equal(record['finish_time'], ended ? Math.floor(row['finish_time'] as number) : 0)
    if (ended) assert.equal(record['finish_as'], row['finish_as'])
    assert.deepEqual([record['stop_profit_price'], record['stop_loss_price']], ['', ''])
  }
  const equalPosition = (record: Frame, row: Frame): void => {
    equal(
      record,
      row,
      ['contract', 'size', 'mode', 'update_id'],
      [
        'leverage',
        'leverage_max',
        'cross_leverage_limit',
        'entry_price',
        'liq_price',
        'maintenance_rate',
        'margin',
        'realised_pnl',
        'realised_point',
        'history_pnl',
        'history_point',
        'last_close_pnl',
        'risk_limit',
      ],
    )
    assert.equal(record['user'], String(row['user']))
    assert.equal(record['time'], row['update_time'])
    assert.equal(Math.floor((record['time_ms'] as number) / 1000), record['time'])
  }

  test('an order from its placement to its end, with fills, position and money', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const socket = await open()
    await listen(socket, trader)
    const placed = await trader.placed(5, '59000', { text: 't-mine' })
    await until('its placement', () => told(socket, 'orders').length === 1)
    assert.equal(told(socket, 'orders')[0]!['finish_as'], '_new')
    equalOrder(told(socket, 'orders')[0]!, placed as Frame)
    assert.equal(told(socket, 'orders')[0]!['update_id'], 1)
    await maker.placed(-2, '59000')
    await until('its first fill', () => told(socket, 'orders').length === 2)
    assert.equal(told(socket, 'orders')[1]!['finish_as'], '_update')
    equalOrder(told(socket, 'orders')[1]!, (await trader.order(placed.id as number)) as Frame)
    equalPosition(told(socket, 'positions').at(-1)!, (await trader.position()) as Frame)
    ok(
      await trader.client.request('PUT', `/futures/usdt/orders/${placed.id as number}`, {
        body: { size: 4 },
      }),
    )
    await maker.placed(-2, '59000')
    await until('its end', () => told(socket, 'orders').length === 4)
    const [, , amended, ended] = told(socket, 'orders') as [Frame, Frame, Frame, Frame]
    assert.equal(`${amended['finish_as']} ${amended['size']}`, '_update 4')
    assert.equal(`${ended['finish_as']} ${ended['status']} ${ended['left']}`, 'filled finished 0')
    equalOrder(ended, (await trader.order(placed.id as number)) as Frame)
    const ids = told(socket, 'orders').map(({ update_id }) => update_id as number)
    assert.ok(
      ids.every((id, i) => i === 0 || id > ids[i - 1]!),
      String(ids),
    )
    // It closes again: a position's end.
    await maker.placed(4, '59500')
    await trader.placed(0, null, { close: true, tif: 'ioc' })
    await until('the end of the position', () => told(socket, 'position_closes').length === 1)
    const [close] = ok(await trader.get('/position_close')) as [Frame]
    equal(told(socket, 'position_closes')[0]!, close, ['contract', 'side', 'text'], ['pnl'])
    equalPosition(told(socket, 'positions').at(-1)!, (await trader.position()) as Frame)

    const fills = (ok(await trader.get('/my_trades')) as Frame[]).reverse()
    assert.equal(fills.length, 3)
    for (const [i, fill] of told(socket, 'usertrades').entries()) {
      const row = fills[i]!
      equal(
        fill,
        row,
        ['contract', 'order_id', 'size', 'close_size', 'price', 'role', 'text'],
        ['fee', 'point_fee'],
      )
      assert.equal(fill['id'], String(row['id']))
      assert.equal(fill['create_time_ms'], Math.round((row['create_time'] as number) * 1000))
      assert.equal(fill['create_time'], Math.floor(row['create_time'] as number))
    }
    const book = (ok(await trader.get('/account_book', { limit: 100 })) as Frame[]).reverse().slice(1)
    const lines = told(socket, 'balances')
    assert.equal(lines.length, book.length)
    for (const [i, line] of lines.entries()) {
      equal(line, book[i]!, ['text', 'type', 'time'], ['balance', 'change'])
      assert.equal(`${line['currency']} ${line['user']}`, `usdt ${trader.user_id}`)
    }
    assert.equal(lines.at(-1)!['balance'], Number((await trader.account()).total))
    // Who hears of an order's change has heard of its fills; then positions, then money.
    const kinds = socket.frames
      .filter(({ event }) => event === 'update')
      .map(({ channel }) => (channel as string).slice('futures.'.length))
    assert.deepEqual(kinds.slice(0, 5), ['orders', 'usertrades', 'orders', 'positions', 'balances'])
    assert.deepEqual(kinds.slice(-5), ['usertrades', 'orders', 'positions', 'position_closes', 'balances'])
  })

  test('only what was asked for: contracts, settle currency, account; sizes as the handshake wants them', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const [eth, texts, btc, foreign] = [
      await open(),
      await open('/v4/ws/futures/usdt', { 'X-Gate-Size-Decimal': '1' }),
      await open('/v4/ws'),
      await open(),
    ]
    await listen(eth, trader, ['ETH_USDT'])
    await listen(texts, trader, [NAME])
    await listen(btc, trader)
    await listen(foreign, maker)
    const count = foreign.frames.length
    const { id } = await trader.placed(3, '50000')
    await trader.placed(1, '2900', { contract: 'ETH_USDT' })
    ok(await trader.delete(`/orders/${id as number}`))
    await until('its end', () => told(texts, 'orders').length === 2)
    assert.deepEqual(
      told(texts, 'orders').map(({ size, left }) => `${typeof size} ${size} ${left}`),
      ['string 3 3', 'string 3 3'],
    )
    assert.deepEqual(
      told(eth, 'orders').map(({ contract, size }) => `${contract} ${typeof size}`),
      ['ETH_USDT number'],
    )
    assert.deepEqual(told(btc, 'orders'), [])
    assert.equal(foreign.frames.length, count)
    const answer = await texts.unsubscribe('futures.orders', ['1', NAME])
    assert.deepEqual(answer['result'], { status: 'success' })
    await trader.placed(3, '50000')
    await sleep(50)
    assert.equal(told(texts, 'orders').length, 2)
    const wrong = await eth.subscribe('futures.orders', ['1'], keyOf(trader))
    assert.match(wrong['error'].message as string, /contracts are missing/)
    // Money that comes and goes.
    ok(
      await trader.client.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'futures',
        to: 'spot',
        settle: 'usdt',
        amount: '10.5',
      }),
    )
    await until('the transfer', () => told(eth, 'balances').length === 1)
    const { balance, change, type, text, currency } = told(eth, 'balances')[0]!
    assert.deepEqual([balance, change, type, text, currency], [9989.5, -10.5, 'dnw', '', 'usdt'])
  })

  test('each group has its permission: futures, delivery', async () => {
    const { user_id } = await ContractTrader.of(platform, '100')
    const [perpetual, dated] = [
      await platform.key(user_id, [{ name: 'futures', read_only: true }]),
      await platform.key(user_id, [{ name: 'delivery', read_only: true }]),
    ]
    const [usdt, delivery] = [await open(), await open('/fx-ws/v4/ws/delivery/usdt')]
    const status = async (socket: SocketClient, key: Credential): Promise<string> => {
      const { result, error } = await socket.subscribe('futures.positions', [String(user_id), '!all'], key)
      if (result.status === 'success') return 'success'
      return `${error.code} ${(JSON.parse(error.message as string) as Frame)['label']}`
    }
    assert.equal(await status(usdt, perpetual), 'success')
    assert.equal(await status(usdt, dated), '4 FORBIDDEN')
    assert.equal(await status(delivery, dated), 'success')
    assert.equal(await status(delivery, perpetual), '4 FORBIDDEN')
    const closed = usdt.whenClosed()
    await platform.operator.ok('PATCH', `/users/${user_id}/keys/${perpetual.key}`, { state: 2 })
    const { code, reason } = await closed
    assert.equal(`${code} ${reason.split(':')[0]!}`, '1008 INVALID_CREDENTIALS')
  })

  test('dated contracts: the same channels, integers, their own accounts', async () => {
    const [contract] = ok(await platform.client().get('/delivery/usdt/contracts')) as [Frame]
    const name = contract['name'] as string
    const trader = await ContractTrader.of(platform, '10000', { base: '/delivery/usdt' })
    const other = await ContractTrader.of(platform, '10000', { base: '/delivery/usdt' })
    const socket = await open('/v4/ws/delivery/usdt', { 'X-Gate-Size-Decimal': '1' })
    await listen(socket, trader, [name])
    await other.placed(-2, '60000', { contract: name })
    const { id } = await trader.placed(2, '60000', { contract: name })
    await until('its money', () => told(socket, 'balances').length === 1)
    const [order] = told(socket, 'orders')
    assert.equal(`${order!['id']} ${order!['finish_as']} ${order!['size']}`, `${id as number} filled 2`)
    const row = (await trader.position(name)) as Frame
    const [position] = told(socket, 'positions')
    assert.equal(`${position!['contract']} ${position!['size']}`, `${name} 2`)
    assert.equal(position!['liq_price'], Number(row['liq_price']))
    assert.equal(told(socket, 'usertrades')[0]!['size'], 2)
  })

  test('settings of a position, margin and both sides of dual mode', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const socket = await open()
    await listen(socket, trader, [NAME], ['futures.positions'])
    const last = (): Frame | undefined => told(socket, 'positions').at(-1)
    ok(await trader.ask(`/positions/${NAME}/leverage`, { leverage: 20 }))
    await until('the leverage', () => last()?.['leverage'] === 20)
    await maker.placed(-10, '60000')
    await trader.placed(10, '60000')
    await until('the position', () => last()?.['size'] === 10)
    equalPosition(last()!, (await trader.position()) as Frame)
    ok(await trader.ask(`/positions/${NAME}/margin`, { change: '12.5' }))
    const margin = Number(((await trader.position()) as Frame)['margin'])
    await until('its margin', () => last()?.['margin'] === margin)
    equalPosition(last()!, (await trader.position()) as Frame)
    // Where the contract allows less than was set, that is told.
    const rules = `/contracts/futures/usdt/${NAME}`
    const { leverage_max } = await platform.operator.ok('PATCH', rules, { leverage_max: '5' })
    assert.equal(leverage_max, '5')
    ok(await trader.ask(`/positions/${NAME}/margin`, { change: '1' }))
    await until('less leverage', () => last()?.['leverage'] === 5)
    equalPosition(last()!, (await trader.position()) as Frame)
    await platform.operator.ok('PATCH', rules, { leverage_max: '125' })
    await maker.placed(10, '60000')
    await trader.placed(-10, '60000')
    await until('its end', () => last()?.['size'] === 0)
    ok(await trader.ask(`/positions/${NAME}/leverage`, { leverage: 0 }))
    ok(await trader.ask('/dual_mode', { dual_mode: true }))
    await maker.placed(-10, '60000')
    await trader.placed(4, '60000')
    await maker.placed(10, '60000')
    await trader.placed(-3, '60000')
    await until('both sides', () => last()?.['mode'] === 'dual_short' && last()?.['size'] === -3)
    const rows = (await trader.position()) as unknown as Frame[]
    equalPosition(
      last()!,
      rows.find(({ mode }) => mode === 'dual_short')!,
    )
  })

  test('a unified account: its position and its account book, and what its spot balance becomes', async () => {
    ok(await maker.delete('/orders', { contract: NAME }))
    const { user_id, client, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    ok(
      await client.put('/unified/unified_mode', { mode: 'multi_currency', settings: { usdt_futures: true } }),
      204,
    )
    const trader = new ContractTrader(user_id, client)
    const [socket, spot] = [await open(), await open('/ws/v4/')]
    await listen(socket, trader)
    assert.equal((await spot.subscribe('spot.balances', undefined, credential))['result'].status, 'success')
    await maker.placed(-10, '60000')
    await trader.placed(10, '60000')
    await maker.placed(4, '59900')
    await trader.placed(-4, '59900')
    await until('its money', () => told(socket, 'balances').length === 3)
    equalPosition(told(socket, 'positions').at(-1)!, (await trader.position()) as Frame)
    const book = (ok(await trader.get('/account_book')) as Frame[]).reverse()
    for (const [i, line] of told(socket, 'balances').entries())
      equal(line, book[i]!, ['text', 'type', 'time'], ['balance', 'change'])
    const pushed = spot.pushed('spot.balances').flatMap(({ result }) => result as Frame[])
    const [row] = ok(await client.get('/spot/accounts', { currency: 'USDT' })) as [Frame]
    assert.deepEqual(
      [pushed.at(-1)!['available'], pushed.at(-1)!['freeze']],
      [row['available'], row['locked']],
    )
    ok(await maker.delete('/orders', { contract: NAME }))
  })

  test('price orders: created, changed, fired, cancelled; the stops of an order; REST’s rows', async () => {
    const trader = await ContractTrader.of(platform, '10000')
    const socket = await open()
    await listen(socket, trader, [NAME], ['futures.orders', 'futures.autoorders'])
    await maker.placed(-1, '60000')
    await maker.placed(1, '60000')
    const last = (): Frame => told(socket, 'autoorders').at(-1)!
    const count = (wanted: number): Promise<boolean> =>
      until(`${wanted} records`, () => told(socket, 'autoorders').length === wanted)
    const equalRow = async (record: Frame): Promise<void> => {
      const row = ok(await trader.get(`/price_orders/${record['id'] as number}`)) as Frame
      const { name, is_stop_order: _, stop_trigger: __, ...rest } = record
      assert.equal(name, 'price_autoorders')
      assert.deepEqual(rest, { finish_time: 0, finish_as: '', ...row })
    }
    const initial = { contract: NAME, size: 2, price: '59000', text: 't-fires' }
    const { id } = ok(
      await trader.post('/price_orders', { initial, trigger: { price: '61000', rule: 1 } }),
      201,
    )
    await count(1)
    assert.equal(
      `${last()['id']} ${last()['status']} ${last()['is_stop_order']}`,
      `${id as number} open false`,
    )
    assert.deepEqual(last()['stop_trigger'], { rule: 0, trigger_price: '', order_price: '' })
    await equalRow(last())
    ok(
      await trader.client.request('PUT', `/futures/usdt/price_orders/${id as number}`, {
        body: { trigger_price: '60500' },
      }),
    )
    await count(2)
    assert.equal(last()['trigger'].price, '60500')
    await equalRow(last())
    await maker.placed(-1, '60500')
    await maker.placed(1, '60500')
    await count(3)
    assert.equal(`${last()['status']} ${last()['finish_as']}`, 'finished succeeded')
    await equalRow(last())
    assert.equal(told(socket, 'orders').at(-1)!['id'], last()['trade_id'], 'the order that it placed')
    const other = ok(
      await trader.post('/price_orders', { initial, trigger: { price: '62000', rule: 1 } }),
      201,
    )
    ok(await trader.delete(`/price_orders/${other.id as number}`))
    await count(5)
    assert.equal(last()['finish_as'], 'cancelled')
    await equalRow(last())
    const carrier = await trader.placed(3, '58000', {
      tpsl_tp_trigger_price: '65000',
      tpsl_sl_trigger_price: '55000',
    })
    await count(7)
    const order = told(socket, 'orders').at(-1)!
    assert.deepEqual(
      [order['id'], order['stop_profit_price'], order['stop_loss_price']],
      [carrier.id, '65000', '55000'],
    )
    for (const record of told(socket, 'autoorders').slice(-2)) {
      assert.equal(`${record['is_stop_order']} ${record['me_order_id']}`, `true ${carrier.id as number}`)
      assert.equal(record['stop_trigger'].trigger_price, record['trigger'].price)
      await equalRow(record)
    }
    ok(await maker.delete('/orders', { contract: NAME }))
  })

  test('a liquidation step by step: the order, what is left, the tier; then all of it, and who was deleveraged', async () => {
    const [one, other] = [await ContractTrader.of(platform, '30000'), maker]
    const socket = await open()
    await listen(socket, one)
    ok(await other.delete('/orders', { contract: NAME }))
    ok(await one.ask(`/positions/${NAME}/leverage`, { leverage: 100 }))
    await other.placed(-300_000, '60000')
    await one.placed(300_000, '60000')
    const { id: resting } = await one.placed(-10, '66000')
    await until('the position', () => told(socket, 'positions').at(-1)?.['size'] === 300_000)
    // Above the last bid, and before the others: the middle is never far above the index, which the mark then follows.
    await other.placed(-10, '59650')
    await other.placed(30_000, '59620')
    await other.placed(18_449, '59610')
    await setIndex(platform, { BTC: '59630', ETH: '3000' })
    await until('a step', () => told(socket, 'liquidates').length > 0)
    const rows = ok(await one.get('/liquidates')) as Frame[]
    const step = told(socket, 'liquidates')[0]!
    equal(
      step,
      rows.at(-1)!,
      ['contract', 'order_id', 'size', 'left', 'time'],
      ['entry_price', 'fill_price', 'leverage', 'liq_price', 'margin', 'mark_price', 'order_price'],
    )
    assert.equal(`${step['user']} ${step['size']}`, `${one.user_id} 300000`)
    const gone = told(socket, 'orders').find(({ id, status }) => id === resting && status === 'finished')
    assert.equal(gone?.['finish_as'], 'liquidated', 'its order went first')
    const order = told(socket, 'orders').find(({ id }) => id === step['order_id'])!
    assert.equal(`${order['is_liq']} ${order['is_reduce_only']}`, 'true true')
    await until('the tier', () => told(socket, 'reduce_risk_limits').length > 0)
    const reduced = told(socket, 'reduce_risk_limits')[0]!
    assert.equal(`${reduced['contract']} ${reduced['cancel_orders']}`, `${NAME} 1`)
    for (const name of ['leverage_max', 'liq_price', 'maintenance_rate', 'risk_limit'])
      assert.equal(typeof reduced[name], 'number', name)
    const shown = (await one.position()) as Frame
    assert.equal(told(socket, 'positions').at(-1)!['size'], shown['size'])
    assert.equal(told(socket, 'positions').at(-1)!['update_id'], shown['update_id'])

    // Nobody bids, and the loss is more than the fund has: those who earned by it give up theirs.
    const short = await open()
    await listen(short, other)
    ok(await other.delete('/orders', { contract: NAME }))
    await setIndex(platform, { BTC: '10000', ETH: '3000' })
    await until('it is gone', async () => ((await one.position()) as Frame)['size'] === 0, 20_000)
    await until('the end', () => told(socket, 'position_closes').length > 0)
    await until('who gave up', () => told(short, 'auto_deleverages').length > 0)
    const [given] = ok(await other.get('/auto_deleverages')) as [Frame]
    equal(
      told(short, 'auto_deleverages').at(-1)!,
      given,
      ['contract', 'trade_size', 'position_size', 'time'],
      ['entry_price', 'fill_price'],
    )
  })
})
