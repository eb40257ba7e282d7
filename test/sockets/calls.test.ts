import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CALL_CHANNELS } from '../../src/sockets/call-channels.ts'
import { CallLine, refusedCall, resultOf, type ApiAnswer } from '../support/call-line.ts'
import { ok, type Client, type Credential } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

interface Party {
  readonly user_id: number
  readonly client: Client
  readonly credential: Credential
}
const BUY = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000' }
const HEX = (digits: number): RegExp => new RegExp(`^[0-9a-f]{${digits}}$`)
const order = (client: Client, id: string) =>
  client.get(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' }).then((reply) => ok(reply))
const party = async (
  platform: TestPlatform,
  options: Parameters<TestPlatform['user']>[0] = {},
): Promise<Party> => {
  const made = await platform.user(options)
  await platform.credit(made.user_id, 'USDT', '1000000')
  await platform.credit(made.user_id, 'BTC', '100')
  return made
}
/** The last answer to each call, in the order in which they came. */
const answers = (line: CallLine): string[] =>
  line.frames.filter(({ ack }) => ack === undefined).map(({ request_id }) => request_id)

describe('the trading API over a socket', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(async () => {
    assert.deepEqual(platform.faults, [])
    await platform.stop()
  })
  const logged = async (options: Parameters<TestPlatform['user']>[0] = {}, connection = {}) => {
    const one = await party(platform, options)
    const line = new CallLine(platform, connection)
    resultOf(await line.login(one.credential))
    line.frames.length = 0
    line.texts.length = 0
    return { ...one, line }
  }

  test('a login: who it is, as texts; header members and their types', async () => {
    const { user_id, credential } = await party(platform)
    const line = new CallLine(platform)
    const answer = await line.login(credential, { req_id: 'authenticated' })
    assert.deepEqual(answer.data, { result: { api_key: credential.key, uid: String(user_id) } })
    assert.deepEqual(Object.keys(answer), ['request_id', 'header', 'data'])
    assert.equal(answer.request_id, 'authenticated')
    const { header } = answer
    assert.deepEqual(Object.keys(header as object), [
      'response_time',
      'status',
      'channel',
      'event',
      'client_id',
      'x_in_time',
      'x_out_time',
      'conn_id',
      'conn_trace_id',
      'trace_id',
    ])
    assert.match(header.response_time as string, /^\d{13}$/)
    assert.equal(header.status, '200')
    assert.equal(`${header.channel} ${header.event}`, 'spot.login api')
    assert.ok(Number.isSafeInteger(header.x_in_time) && header.x_out_time >= header.x_in_time)
    assert.equal(header.conn_id, line.conn_id)
    assert.equal(header.conn_trace_id, line.conn_trace_id)
    assert.match(header.trace_id as string, HEX(32))
    assert.equal(header.client_id, line.client_id)
    assert.equal(line.frames.length, 1, 'no ack')
    const { state } = platform.platform.desk.core
    assert.equal(state.keys.get(credential.key)!.user_id, user_id)
  })

  test('before a login nothing; after a failed one what there was', async () => {
    const { client, credential } = await party(platform)
    const line = new CallLine(platform)
    refusedCall(
      await line.call('spot.order_place', BUY),
      400,
      'AUTHENTICATION_FAILED',
      /^Not login\b.*spot\.login/,
    )
    assert.equal(line.frames.length, 1)
    refusedCall(await line.login({ ...credential, secret: 'x' }), 401, 'INVALID_SIGNATURE')
    refusedCall(await line.call('spot.order_list', { status: 'open' }), 400, 'AUTHENTICATION_FAILED')
    resultOf(await line.login(credential))
    resultOf(await line.login(credential))
    refusedCall(await line.login({ ...credential, secret: 'x' }), 401, 'INVALID_SIGNATURE')
    const { id } = resultOf(await line.call('spot.order_place', BUY))
    assert.equal((await order(client, id as string)).status, 'open')
    // With another key the session is another one.
    const other = await party(platform)
    resultOf(await line.login(other.credential))
    refusedCall(
      await line.call('spot.order_status', { order_id: id, currency_pair: 'BTC_USDT' }),
      404,
      'ORDER_NOT_FOUND',
    )
  })

  test('an order: ack, then the row that REST shows, member by member', async () => {
    const { client, credential, line } = await logged()
    const req_header = { 'X-Gate-Channel-Id': 'ccxt' }
    const param = { ...BUY, type: 'limit', account: 'spot', text: 't-my1', textIsRequired: true }
    const more = { req_header, api_key: credential.key, timestamp: '1', signature: 'abc' }
    const answer = await line.call('spot.order_place', param, more)
    assert.equal(line.frames.length, 2)
    const [ack, final] = line.frames as [ApiAnswer, ApiAnswer]
    assert.equal(final, answer)
    assert.deepEqual(Object.keys(ack), ['request_id', 'ack', 'header', 'data'])
    assert.equal(ack.ack, true)
    assert.equal(ack.header.status, '200')
    assert.equal(ack.request_id, answer.request_id)
    assert.equal(ack.header.trace_id, answer.header.trace_id)
    assert.deepEqual(ack.data, {
      result: {
        req_id: answer.request_id,
        req_header,
        req_param: param,
        api_key: '',
        timestamp: '',
        signature: '',
      },
    })
    assert.ok(!line.texts[1]!.includes('ack'), 'no client takes it for an ack')
    const row = resultOf(answer)
    assert.deepEqual(row, await order(client, row.id as string))
    assert.equal(row.biz_info, 'ch:ccxt')
    assert.equal(row.text, 't-my1')
    assert.ok(Number.isInteger(row.create_time_ms))
    for (const name of ['x_gate_ratelimit_limit', 'x_gate_ratelimit_requests_remain'])
      assert.equal(answer.header[name], 10)
    assert.ok(Number.isInteger(answer.header.x_gate_ratelimit_reset_timestamp))
    assert.equal(
      answer.header.x_gat_ratelimit_reset_timestamp,
      answer.header.x_gate_ratelimit_reset_timestamp,
    )
  })

  test('money moves as over REST: both place the same, and the rows differ in nothing but name and time', async () => {
    const socket = await logged()
    const rest = await party(platform)
    const maker = await party(platform)
    const plain = (row: Record<string, unknown>) => {
      const {
        id: _i,
        text: _t,
        create_time: _a,
        create_time_ms: _b,
        update_time: _c,
        update_time_ms: _d,
        ...same
      } = row
      return same
    }
    const accounts = async (client: Client) =>
      ok(await client.get('/spot/accounts')).map(({ currency, available, locked }: Record<string, string>) =>
        [currency, available, locked].join(' '),
      )
    for (const more of [
      {},
      { price: '50000', time_in_force: 'ioc' },
      { type: 'market', price: undefined, amount: '100', time_in_force: 'ioc' },
      { side: 'sell', price: '70000', iceberg: '0.001' },
      { price: '50000', action_mode: 'RESULT' },
    ]) {
      for (let i = 0; i < 2; i++)
        ok(
          await maker.client.post('/spot/orders', { ...BUY, side: 'sell', amount: '0.02', price: '45000' }),
          201,
        )
      const one = ok(await rest.client.post('/spot/orders', { ...BUY, ...more }), 201)
      const two = resultOf(await socket.line.call('spot.order_place', { ...BUY, ...more }))
      assert.deepEqual(plain(two as Record<string, unknown>), plain(one as Record<string, unknown>))
      assert.equal(`${one.text} ${two.text}`, 'apiv4 apiv4-ws')
      ok(await maker.client.delete('/spot/orders', { currency_pair: 'BTC_USDT' }))
    }
    assert.deepEqual(await accounts(socket.client), await accounts(rest.client))
  })

  test('texts: none, empty and a dash are apiv4-ws; the handshake names the program, a call may name another', async () => {
    const { line } = await logged({}, { channelId: 'bot-7' })
    const row = async (more: object, rest = {}) =>
      resultOf(await line.call('spot.order_place', { ...BUY, ...more }, rest))
    for (const text of [undefined, null, '', '-']) assert.equal((await row({ text })).text, 'apiv4-ws')
    assert.equal((await row({})).biz_info, 'ch:bot-7')
    for (const name of ['X-Gate-Channel-Id', 'x-gate-channel-id', 'X-SVC-Channel-ID'])
      assert.equal((await row({}, { req_header: { [name]: 'other' } })).biz_info, 'ch:other')
    for (const text of ['apiv4', 'web']) assert.equal((await row({ text })).text, text)
    // What tells where orders come from is the name of none of them.
    for (const order_id of ['apiv4', 'apiv4-ws', 'web'])
      for (const call of ['spot.order_status', 'spot.order_cancel']) {
        const answer = await line.call(call, { order_id, currency_pair: BUY.currency_pair })
        refusedCall(answer, 404, 'CLIENT_ID_NOT_FOUND')
      }
    refusedCall(
      await line.call('spot.order_place', { ...BUY, text: 'mine' }),
      400,
      'INVALID_PARAM_VALUE',
      /t-/,
    )
  })

  test('a batch: each item by itself; bounds without an ack', async () => {
    const { client, line } = await logged()
    const items = [
      { ...BUY, text: 't-1' },
      { ...BUY },
      { ...BUY, text: 't-2', amount: '100' },
      { ...BUY, text: 't-3', currency_pair: 'ETH_USDT', price: '1000' },
    ]
    const answer = await line.call('spot.order_place', items)
    const rows = resultOf(answer)
    assert.equal(line.frames.length, 2)
    assert.deepEqual(
      rows.map(({ succeeded, label }: Record<string, string>) => `${succeeded} ${label}`),
      ['true ', 'false MISSING_REQUIRED_PARAM', 'false BALANCE_NOT_ENOUGH', 'true '],
    )
    const { order_id, succeeded: _s, label: _l, message: _m, ...row } = rows[0]
    assert.equal(order_id, row.id)
    assert.deepEqual(row, await order(client, row.id as string))
    line.frames.length = 0
    const many = Array.from({ length: 11 }, (_, i) => ({ ...BUY, text: `t-m${i}` }))
    refusedCall(await line.call('spot.order_place', many), 400, 'TOO_MANY_ORDERS')
    const pairs = ['BTC_USDT', 'ETH_USDT', 'SOL_USDT', 'GT_USDT', 'ETH_BTC']
    const wide = pairs.map((currency_pair, i) => ({ ...BUY, currency_pair, text: `t-w${i}` }))
    refusedCall(await line.call('spot.order_place', wide), 400, 'TOO_MANY_CURRENCY_PAIRS')
    refusedCall(await line.call('spot.order_place', []), 400, 'INVALID_PARAM_VALUE')
    assert.equal(line.frames.length, 3, 'no acks')
  })

  test('a price order: {put, trigger}', async () => {
    const { client, line } = await logged()
    const put = {
      type: 'limit',
      side: 'buy',
      price: '20000',
      amount: '0.01',
      account: 'normal',
      time_in_force: 'gtc',
    }
    const trigger = { price: '20000', rule: '<=', expiration: 3600 }
    const { id, id_string } = resultOf(
      await line.call('spot.order_place', { market: 'BTC_USDT', put, trigger }),
    )
    assert.equal(id_string, String(id))
    assert.equal(ok(await client.get(`/spot/price_orders/${id}`)).status, 'open')
    assert.equal(line.frames.length, 2)
  })

  test('cancel, cancel_ids, cancel_cp, amend, status, list', async () => {
    const { client, line } = await logged()
    const placed = async (more = {}) => resultOf(await line.call('spot.order_place', { ...BUY, ...more }))
    const at = { currency_pair: 'BTC_USDT' }
    const one = await placed({ text: 't-one' })
    const amended = resultOf(
      await line.call('spot.order_amend', { ...at, order_id: one.id, price: '31000', account: 'spot' }),
    )
    assert.equal(amended.price, '31000')
    assert.deepEqual(amended, await order(client, one.id as string))
    refusedCall(
      await line.call('spot.order_amend', { ...at, order_id: one.id, price: '31000' }),
      400,
      'NO_CHANGE',
    )
    // An id may come as a number, and a text is as good.
    for (const order_id of [one.id, Number(one.id), 't-one'])
      assert.deepEqual(resultOf(await line.call('spot.order_status', { ...at, order_id })), amended)
    assert.deepEqual(resultOf(await line.call('spot.order_list', { ...at, status: 'open' })), [amended])
    line.frames.length = 0
    const gone = resultOf(await line.call('spot.order_cancel', { ...at, order_id: 't-one', account: 'spot' }))
    assert.equal(gone.status, 'cancelled')
    assert.deepEqual(gone, await order(client, one.id as string))
    assert.equal(line.frames.length, 1, 'no ack')
    assert.equal(line.frames[0]!.header.x_gate_ratelimit_limit, undefined)
    refusedCall(await line.call('spot.order_cancel', { ...at, order_id: one.id }), 400, 'ORDER_CANCELLED')
    refusedCall(await line.call('spot.order_cancel', at), 400, 'MISSING_REQUIRED_PARAM', /order_id/)
    refusedCall(
      await line.call('spot.order_cancel', { order_id: '1' }),
      400,
      'MISSING_REQUIRED_PARAM',
      /currency_pair/,
    )
    refusedCall(await line.call('spot.order_cancel', { ...at, order_id: '999999' }), 404, 'ORDER_NOT_FOUND')
    refusedCall(await line.call('spot.order_status', { ...at, order_id: 't-no' }), 404, 'CLIENT_ID_NOT_FOUND')
    const finished = resultOf(await line.call('spot.order_list', { status: 'finished', page: 1, limit: '5' }))
    assert.deepEqual(finished, ok(await client.get('/spot/orders', { status: 'finished' })))

    const [a, b] = [await placed(), await placed({ text: 't-b' })]
    const ids = [
      { ...at, id: a.id },
      { ...at, id: 't-b' },
      { ...at, id: '999999' },
    ]
    const cancelled = resultOf(await line.call('spot.order_cancel_ids', ids))
    assert.deepEqual(
      cancelled.map(({ id, succeeded, label }: Record<string, string>) => `${id} ${succeeded} ${label}`),
      [`${a.id} true `, `${b.id} true `, '999999 false ORDER_NOT_FOUND'],
    )
    const many = Array.from({ length: 21 }, () => ids[0])
    refusedCall(await line.call('spot.order_cancel_ids', many), 400, 'INVALID_PARAM_VALUE', /at most 20/)

    const [c, other] = [await placed(), await placed({ currency_pair: 'ETH_USDT', price: '1000' })]
    for (const param of [{}, undefined, { contract: 'BTC_USDT' }, { currency_pair: '' }])
      refusedCall(
        await line.call('spot.order_cancel_cp', param),
        400,
        'MISSING_REQUIRED_PARAM',
        /currency_pair/,
      )
    refusedCall(await line.call('spot.order_cancel_cp', ['BTC_USDT']), 400, 'INVALID_REQUEST_BODY', /object/)
    const all = resultOf(await line.call('spot.order_cancel_cp', { ...at, account: 'spot', side: 'buy' }))
    assert.deepEqual(
      all.map(({ id }: { id: string }) => id),
      [c.id],
    )
    assert.equal(
      ok(await client.get(`/spot/orders/${other.id}`, { currency_pair: 'ETH_USDT' })).status,
      'open',
    )
  })

  test('shapes of a frame: payload, req_id, unknown and foreign channels', async () => {
    const { line } = await logged()
    const last = (): ApiAnswer => line.frames.at(-1)!
    const give = (channel: string, payload?: unknown): ApiAnswer => {
      line.give({ time: 1, channel, event: 'api', payload })
      return last()
    }
    for (const payload of [undefined, null, [], 'x', 7])
      refusedCall(give('spot.order_place', payload), 400, 'INVALID_REQUEST_BODY', /payload/)
    assert.equal(last().request_id, '')
    refusedCall(give('spot.nothing', {}), 404, 'NOT_FOUND', /spot\.order_place/)
    refusedCall(give('nothing', { req_id: 5 }), 404, 'NOT_FOUND')
    assert.equal(last().request_id, '5')
    refusedCall(give('futures.order_place', {}), 400, 'INVALID_ARGUMENT', /\/v4\/ws\/usdt/)
    refusedCall(give('futures.login', {}), 400, 'INVALID_ARGUMENT')
    refusedCall(give('unified.login', {}), 400, 'INVALID_ARGUMENT', /\/v4\/ws\/unified/)
    for (const req_id of ['x'.repeat(65), {}, true]) {
      refusedCall(give('spot.order_place', { req_id }), 400, 'INVALID_PARAM_VALUE', /req_id/)
      assert.equal(last().request_id, '')
    }
    let deep: unknown = []
    for (let i = 0; i < 100; i++) deep = [deep]
    refusedCall(give('spot.order_place', { req_param: deep }), 400, 'INVALID_REQUEST_BODY', /deep/)
    refusedCall(give('spot.order_place', { req_param: 'x' }), 400, 'INVALID_REQUEST_BODY')
    refusedCall(give('spot.order_place', {}), 400, 'MISSING_REQUIRED_PARAM', /currency_pair/)
    refusedCall(
      give('spot.order_place', { req_param: { ...BUY, amount: 1 } }),
      400,
      'INVALID_PARAM_VALUE',
      /amount/,
    )
    refusedCall(give('spot.order_cancel_ids', { req_param: {} }), 400, 'INVALID_PARAM_VALUE', /list/)
    assert.ok(line.frames.every(({ ack }) => ack === undefined))
    // A name that a client makes up is text, and stays one.
    const odd = give('spot.a"b\\', {})
    assert.equal(odd.header.channel, 'spot.a"b\\')
  })

  test('addresses whose group is not built: logins work, calls are not there', async () => {
    const { credential } = await party(platform)
    for (const product of ['delivery', 'options', 'unified'] as const) {
      const line = new CallLine(platform, { product })
      resultOf(await line.login(credential))
      const prefix = product === 'delivery' ? 'futures' : product
      refusedCall(await line.call(`${prefix}.order_place`, {}), 404, 'NOT_FOUND')
      refusedCall(await line.call('spot.order_place', BUY), 400, 'INVALID_ARGUMENT', /\/ws\/v4\//)
    }
    const { credential: poor } = await party(platform, { perms: [{ name: 'spot', read_only: false }] })
    refusedCall(
      await new CallLine(platform, { product: 'futures' }).login(poor),
      403,
      'FORBIDDEN',
      /"futures"/,
    )
    resultOf(await new CallLine(platform).login(poor))
  })

  test('a command that is refused: ack, then REST label, message and status', async () => {
    const { client, line } = await logged()
    const bad = { ...BUY, amount: '100' }
    const rest = await client.post('/spot/orders', bad)
    const answer = await line.call('spot.order_place', bad)
    assert.deepEqual(answer.data, { errs: rest.body })
    refusedCall(answer, 400, 'BALANCE_NOT_ENOUGH')
    assert.deepEqual(
      line.frames.map(({ ack }) => ack),
      [true, undefined],
    )
    refusedCall(
      await line.call('spot.order_place', { ...BUY, currency_pair: 'NO_USDT' }),
      400,
      'INVALID_CURRENCY',
    )
  })

  test('x-gate-exptime: a call that comes too late does nothing, and is not acknowledged', async () => {
    const { client, line } = await logged()
    const now = Date.now()
    for (const [name, value] of [
      ['x-gate-exptime', String(now - 1000)],
      ['X-Gate-Exptime', now - 1000],
      ['X-Svc-Exptime', now - 1000],
      ['x-gate-exptime', 1000],
    ] as const)
      for (const channel of ['spot.order_place', 'spot.order_cancel_cp']) {
        const late = { req_header: { [name]: value } }
        refusedCall(await line.call(channel, BUY, late), 401, 'REQUEST_EXPIRED')
      }
    refusedCall(
      await line.call('spot.order_place', BUY, { req_header: { 'x-gate-exptime': 'soon' } }),
      400,
      'INVALID_PARAM_VALUE',
    )
    assert.ok(line.frames.every(({ ack }) => ack === undefined))
    assert.deepEqual(ok(await client.get('/spot/open_orders')), [])
    resultOf(await line.call('spot.order_place', BUY, { req_header: { 'x-gate-exptime': now + 60_000 } }))
  })

  test('rights are looked at anew for each call', async () => {
    const main = await party(platform)
    const sub = await platform.user({ parent: main.user_id })
    await platform.credit(sub.user_id, 'USDT', '1000')
    const line = new CallLine(platform)
    resultOf(await line.login(sub.credential))
    const at = `/sub_accounts/${sub.user_id}/keys/${sub.credential.key}`
    const put = (perms: object[], ip_whitelist: string[] = []) =>
      main.client.put(at, { name: 'k', perms, ip_whitelist })
    const place = () => line.call('spot.order_place', { ...BUY, amount: '0.001' })
    const list = () => line.call('spot.order_list', { status: 'open', currency_pair: 'BTC_USDT' })
    resultOf(await place())
    await put([{ name: 'spot', read_only: true }])
    refusedCall(await place(), 403, 'READ_ONLY')
    refusedCall(await line.call('spot.order_cancel_cp', { currency_pair: 'BTC_USDT' }), 403, 'READ_ONLY')
    assert.equal(resultOf(await list()).length, 1)
    await put([{ name: 'wallet', read_only: false }])
    refusedCall(await place(), 403, 'FORBIDDEN')
    await put([{ name: 'margin', read_only: false }], ['10.0.0.1'])
    refusedCall(await list(), 403, 'IP_FORBIDDEN')
    await put([{ name: 'margin', read_only: false }])
    resultOf(await place())
    ok(await main.client.post(`/sub_accounts/${sub.user_id}/lock`), 204)
    refusedCall(await list(), 403, 'ACCOUNT_LOCKED')
    ok(await main.client.post(`/sub_accounts/${sub.user_id}/unlock`), 204)
    // Deleted between two calls of one connection.
    resultOf(await place())
    ok(await main.client.delete(at), 204)
    refusedCall(await place(), 401, 'INVALID_KEY')
    refusedCall(await list(), 401, 'INVALID_KEY')
    assert.equal(
      line.frames.filter(({ ack, header }) => ack === true && header.channel === 'spot.order_place').length,
      3,
      'no ack for what is refused',
    )
  })

  test('another key in a call is refused: an order must not land on another account', async () => {
    const one = await logged()
    const other = await party(platform)
    for (const api_key of [other.credential.key, 'nobody', 7, {}])
      refusedCall(await one.line.call('spot.order_place', BUY, { api_key }), 401, 'INVALID_KEY', /logged in/)
    assert.deepEqual(ok(await one.client.get('/spot/open_orders')), [])
    for (const api_key of ['', null, one.credential.key])
      resultOf(await one.line.call('spot.order_place', BUY, { api_key, signature: 'wrong', timestamp: '1' }))
  })

  test('in one go: login, place, amend, cancel by text, each in its turn, answers of commands in order', async () => {
    for (let round = 0; round < 20; round++) {
      const { client, credential } = await party(platform)
      const line = new CallLine(platform)
      const at = { currency_pair: 'BTC_USDT', order_id: 't-x' }
      const sent = [
        line.login(credential, { req_id: '0' }),
        line.call('spot.order_place', { ...BUY, text: 't-x' }, { req_id: '1' }),
        line.call('spot.order_amend', { ...at, price: '31000' }, { req_id: '2' }),
        line.call('spot.order_place', { ...BUY, side: 'none' }, { req_id: '3' }),
        line.call('spot.order_status', at, { req_id: 'q' }),
        line.call('spot.order_cancel', at, { req_id: '4' }),
        line.call('spot.order_cancel', at, { req_id: '5' }),
        line.call('spot.order_place', { ...BUY, text: 't-x' }, { req_id: '6' }),
        line.call('spot.nothing', {}, { req_id: '7' }),
        line.call('spot.order_cancel_ids', [{ currency_pair: 'BTC_USDT', id: 't-x' }], { req_id: '8' }),
        // One client logs in before every call.
        line.login(credential, { req_id: 'again' }),
        line.call('spot.order_place', BUY, { req_id: '9' }),
      ]
      const all = await Promise.all(sent)
      const outcome = ({ header, data }: ApiAnswer): string =>
        `${header.status} ${data.errs?.label ?? data.result.status ?? ''}`
      // What became of an order that has ended, the store tells, as soon as it knows.
      assert.match(outcome(all[6]!), /^(400 ORDER_CANCELLED|404 CLIENT_ID_NOT_FOUND)$/)
      assert.deepEqual(all.filter((_, i) => i !== 6).map(outcome), [
        '200 ',
        '200 open',
        '200 open',
        '400 INVALID_PARAM_VALUE',
        '200 open',
        '200 cancelled',
        '200 open',
        '404 NOT_FOUND',
        '200 ',
        '200 ',
        '200 open',
      ])
      assert.equal(resultOf(all[4]!).price, '31000')
      const commands = answers(line).filter((id) => id !== 'q' && id !== '5')
      assert.deepEqual(commands, ['0', '1', '2', '3', '4', '6', '7', '8', 'again', '9'])
      assert.equal(ok(await client.get('/spot/open_orders'))[0].total, 1)
      for (const id of ['1', '6', '9'])
        assert.deepEqual(
          line.frames.filter(({ request_id }) => request_id === id).map(({ ack }) => ack === true),
          [true, false],
        )
    }
  })

  test('many orders of a market are cancelled in portions, and what comes behind waits', async () => {
    const { client, line } = await logged()
    const items = (n: number) =>
      Array.from({ length: 10 }, (_, i) => ({ ...BUY, amount: '0.001', text: `t-${n}-${i}` }))
    for (let n = 0; n < 12; n++) resultOf(await line.call('spot.order_place', items(n)))
    line.frames.length = 0
    const [all, next] = await Promise.all([
      line.call('spot.order_cancel_cp', { currency_pair: 'BTC_USDT' }, { req_id: 'all' }),
      line.call('spot.order_place', { ...BUY, text: 't-0-0' }, { req_id: 'next' }),
    ])
    assert.equal(resultOf(all).length, 120)
    assert.ok(resultOf(all).every(({ status }: { status: string }) => status === 'cancelled'))
    assert.equal(resultOf(next).status, 'open')
    assert.deepEqual(answers(line), ['all', 'next'])
    assert.equal(ok(await client.get('/spot/open_orders'))[0].total, 1)
  })

  test('what the platform keeps of a call: metrics, the log of requests, last use of the key', async () => {
    const { user_id, line, credential } = await logged()
    resultOf(await line.call('spot.order_place', { ...BUY, text: 't-log' }, { signature: 'SIGNED' }))
    const text = await (await fetch(`${platform.url}/metrics`)).text()
    assert.match(text, /kontor_requests_total\{route="WS spot\.order_place",status="200"\} \d+/)
    const { requests } = await platform.operator.ok('GET', `/requests?user_id=${user_id}`)
    const [login, placed] = requests
    assert.equal(
      `${login.method} ${login.path} ${login.query} ${login.body}`,
      'WS /ws/v4/ channel=spot.login ',
    )
    assert.equal(
      `${placed.method} ${placed.path} ${placed.query}`,
      'WS /api/v4/spot/orders channel=spot.order_place',
    )
    assert.match(placed.body as string, /"t-log"/)
    assert.match(placed.reply as string, /^\{"result":\{"id"/)
    assert.equal(placed.key, credential.key)
    assert.ok(!JSON.stringify(requests).includes('SIGNED'))
  })

  test('every channel is declared with endpoints that are there, and refuses a key that may not', async () => {
    const { line } = await logged({ perms: [{ name: 'spot', read_only: true }] })
    for (const { channel, kind, rest } of CALL_CHANNELS.filter(({ channel }) =>
      channel.startsWith('spot.'),
    )) {
      if (kind === 'login') continue
      assert.ok(rest.length > 0)
      const answer = await line.call(channel, {})
      if (kind === 'command') refusedCall(answer, 403, 'READ_ONLY')
      else refusedCall(answer, 400, 'MISSING_REQUIRED_PARAM')
    }
  })
})

describe('limits of calls', () => {
  const cancels = (line: CallLine, count: number): void => {
    for (let i = 0; i < count; i++)
      void line.call('spot.order_cancel', { currency_pair: 'BTC_USDT', order_id: String(9_000_000 + i) })
  }
  test('a thousand calls may wait for their answers, and no more', async () => {
    const platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: '1' })
    const { credential } = await party(platform)
    const line = new CallLine(platform)
    resultOf(await line.login(credential))
    line.frames.length = 0
    cancels(line, 1_010)
    const busy = line.frames.filter(({ header }) => header.status === '503')
    assert.equal(busy.length, 10)
    refusedCall(busy[0]!, 503, 'TOO_BUSY', /1000 calls/)
    while (line.frames.length < 1_010) await sleep(5)
    // Nor may they be long.
    const long = { currency_pair: 'BTC_USDT', order_id: '1', note: 'x'.repeat(1_000_000) }
    const sent = Array.from({ length: 10 }, () => line.call('spot.order_cancel', long))
    const statuses = (await Promise.all(sent)).map(({ header }) => header.status as string)
    assert.deepEqual(statuses, [...Array.from({ length: 8 }, () => '404'), '503', '503'])
    resultOf(await line.call('spot.order_place', BUY))
    await platform.stop()
  })

  test('the multiplier of all limits scales how many may wait, and off lifts it', async () => {
    for (const [setting, busy] of [
      ['0.01', 1_000],
      ['off', 0],
    ] as const) {
      const platform = await TestPlatform.start({ KONTOR_RATE_LIMITS: setting })
      const { credential } = await party(platform)
      const line = new CallLine(platform)
      resultOf(await line.login(credential))
      cancels(line, 1_010)
      while (line.frames.length < 1_011) await sleep(5)
      assert.equal(line.frames.filter(({ header }) => header.status === '503').length, busy, setting)
      await platform.stop()
    }
  })

  test('one window with REST for each account and market; a batch counts once for each', async () => {
    const platform = await TestPlatform.start({ KONTOR_CLOCK: '1790000000', KONTOR_RATE_LIMITS: '1' })
    const { client, credential } = await party(platform)
    const line = new CallLine(platform)
    resultOf(await line.login(credential))
    assert.equal(line.frames[0]!.header.x_gate_ratelimit_limit, undefined)
    for (let i = 0; i < 4; i++) ok(await client.post('/spot/orders', BUY), 201)
    const first = await line.call('spot.order_place', BUY)
    assert.equal(first.header.x_gate_ratelimit_requests_remain, 5)
    assert.equal(line.frames[1]!.header.x_gate_ratelimit_requests_remain, 5, 'in the ack too')
    const { id } = resultOf(first)
    const amend = (price: string) =>
      line.call('spot.order_amend', { currency_pair: 'btc_usdt', order_id: id, price })
    resultOf(await amend('30001'))
    const batch = ['BTC_USDT', 'BTC_USDT', 'ETH_USDT'].map((currency_pair, i) => ({
      ...BUY,
      currency_pair,
      price: '1000',
      text: `t-${i}`,
    }))
    assert.equal((await line.call('spot.order_place', batch)).header.x_gate_ratelimit_requests_remain, 3)
    for (let i = 0; i < 3; i++) resultOf(await amend(`3000${i + 2}`))
    const last = line.frames.at(-1)!
    assert.equal(last.header.x_gate_ratelimit_requests_remain, undefined, 'left out when 0')
    assert.equal(last.header.x_gate_ratelimit_limit, 10)
    const before = line.frames.length
    const over = await line.call('spot.order_place', BUY)
    refusedCall(over, 429, 'TOO_MANY_REQUESTS', /^Request Rate Limit Exceeded: .*\(211\)$/)
    assert.equal(line.frames.length, before + 1, 'no ack')
    const { header } = over
    assert.equal(header.x_gate_ratelimit_limit, 10)
    // The window of the first one ends then; the clock stands but for a microsecond each time it is read.
    assert.equal(header.x_gate_ratelimit_reset_timestamp, 1_790_000_001_001)
    assert.equal(header.x_gat_ratelimit_reset_timestamp, 1_790_000_001_001)
    assert.equal((await client.post('/spot/orders', BUY)).status, 429, 'REST is over the limit as well')
    resultOf(await line.call('spot.order_place', { ...BUY, currency_pair: 'ETH_USDT', price: '1000' }))
    // A price order counts among price orders; what has no limit is not refused, and tells none.
    for (let i = 0; i < 30; i++)
      resultOf(await line.call('spot.order_list', { status: 'open', currency_pair: 'BTC_USDT' }))
    resultOf(await line.call('spot.order_cancel', { currency_pair: 'BTC_USDT', order_id: id }))
    assert.equal(line.frames.at(-1)!.header.x_gate_ratelimit_limit, undefined)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 2 })
    resultOf(await line.call('spot.order_place', BUY))
    await platform.stop()
  })
})

describe('faults of calls', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const set = (...rules: object[]) => platform.operator.ok('PUT', '/faults', rules)
  const logged = async () => {
    const one = await party(platform)
    const line = new CallLine(platform)
    resultOf(await line.login(one.credential))
    line.frames.length = 0
    return { ...one, line }
  }
  const opened = async (client: Client): Promise<number> =>
    ok(await client.get('/spot/open_orders'))[0]?.total ?? 0
  const match = { channel: 'spot.order_place' }

  test('error: nothing happens; a rule with a channel is none of REST, and the other way round', async () => {
    const { client, line } = await logged()
    await set(
      { match, effect: 'error', label: 'TOO_BUSY' },
      { match: { path: '/spot/orders' }, effect: 'error' },
    )
    refusedCall(await line.call('spot.order_place', BUY), 503, 'TOO_BUSY')
    assert.equal(line.frames.length, 1)
    resultOf(await line.call('spot.order_list', { status: 'open', currency_pair: 'BTC_USDT' }))
    assert.equal(await opened(client), 0)
    await set({ match: { channel: 'spot.*' }, effect: 'error', times: 1 })
    ok(await client.post('/spot/orders', BUY), 201)
    refusedCall(
      await line.call('spot.order_status', { currency_pair: 'BTC_USDT', order_id: '1' }),
      500,
      'SERVER_ERROR',
    )
    resultOf(await line.call('spot.order_place', BUY))
    await set()
  })

  test('error: a login that is told to fail is none, and the one before stays', async () => {
    const { user_id, credential } = await party(platform)
    const line = new CallLine(platform)
    const list = { status: 'open', currency_pair: 'BTC_USDT' }
    await set({ match: { channel: 'spot.login', user_id }, effect: 'error', times: 2 })
    refusedCall(await line.login(credential), 500, 'SERVER_ERROR')
    refusedCall(await line.call('spot.order_list', list), 400, 'AUTHENTICATION_FAILED', /^Not login/)
    const other = await logged()
    refusedCall(await other.line.login(credential), 500, 'SERVER_ERROR')
    assert.equal(other.line.session?.user_id, other.user_id)
    resultOf(await line.login(credential))
    resultOf(await line.call('spot.order_list', list))
    await set()
  })

  test('drop_reply commits without an answer; disconnect too, and the line is cut; duplicate answers twice', async () => {
    const { user_id, client, line } = await logged()
    await set(
      {
        match: { ...match, user_id },
        sequence: [{ effect: 'drop_reply' }, { effect: 'disconnect' }, { effect: 'duplicate' }],
      },
      { match: { ...match, user_id: 1 }, effect: 'error' },
    )
    void line.call('spot.order_place', { ...BUY, text: 't-1' })
    void line.call('spot.order_place', { ...BUY, text: 't-2' })
    const third = await line.call('spot.order_place', { ...BUY, text: 't-3' })
    resultOf(third)
    assert.equal(await opened(client), 3)
    assert.equal(line.cuts, 1)
    assert.deepEqual(
      line.frames.map(({ request_id, ack }) => `${request_id} ${ack === true}`),
      ['r-2 true', 'r-3 true', 'r-4 true', 'r-4 false', 'r-4 false'],
    )
    const [, dropped] = (
      await platform.operator.ok('GET', `/faults/report?user_id=${user_id}`)
    ).faults.reverse()
    assert.equal(`${dropped.effect} ${dropped.method} ${dropped.path}`, 'disconnect POST spot.order_place')
    await set()
  })

  test('delay: what comes behind waits too, so that the order of arrival holds', async () => {
    const { client, line } = await logged()
    await set({ match, effect: 'delay', delay_ms: 60, times: 1 })
    const start = performance.now()
    const [placed, gone] = await Promise.all([
      line.call('spot.order_place', { ...BUY, text: 't-slow' }, { req_id: 'a' }),
      line.call('spot.order_cancel', { currency_pair: 'BTC_USDT', order_id: 't-slow' }, { req_id: 'b' }),
    ])
    assert.ok(performance.now() - start >= 55)
    assert.equal(`${resultOf(placed).status} ${resultOf(gone).status}`, 'open cancelled')
    assert.deepEqual(answers(line), ['a', 'b'])
    assert.equal(await opened(client), 0)
  })

  test('who looks after a lost answer is told from who sends again', async () => {
    const { user_id, line } = await logged()
    await set({ match, effect: 'drop_reply', times: 1 })
    void line.call('spot.order_place', { ...BUY, text: 't-1' })
    await sleep(20)
    await line.call('spot.order_status', { currency_pair: 'BTC_USDT', order_id: 't-1' })
    await line.call('spot.order_place', { ...BUY, text: 't-1' })
    const [fault] = (await platform.operator.ok('GET', `/faults/report?user_id=${user_id}`)).faults
    assert.equal(fault.outcome, 'looked_up_then_retried')
    assert.deepEqual(
      fault.then.map(({ path, what }: Record<string, string>) => `${path} ${what}`),
      ['spot.order_status lookup', 'spot.order_place same_request'],
    )
  })

  test('a rule that could do nothing is refused', async () => {
    for (const [rule, mention] of [
      [{ match: { channel: 'spot.orders', path: '/spot/orders' }, effect: 'error' }, /match\.path/],
      [{ match: { channel: 'spot.orders', method: 'GET' }, effect: 'error' }, /match\.method/],
      [{ match: { channel: 'Spot Orders' }, effect: 'error' }, /channel/],
      [{ match: {}, effect: 'disconnect' }, /match\.channel/],
      [{ match: { path: '/spot/*' }, sequence: [{ effect: 'pass' }, { effect: 'gap' }] }, /match\.channel/],
    ] as const) {
      const reply = await platform.operator.call('POST', '/faults', rule)
      assert.equal(reply.status, 400, reply.text)
      assert.match(reply.body.message as string, mention)
    }
  })
})
