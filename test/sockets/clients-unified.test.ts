import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ok } from '../support/client.ts'
import { SocketClient, type Frame } from '../support/socket.ts'
import { until, Venue, type Member } from '../support/venue.ts'

const PATH = '/v4/ws/unified'
const cut = (text: string): string => String(Math.trunc(Number(text) * 100) / 100)

/** No client library knows this address; a plain one, signed as the documentation says. */
describe('unified channels on a busy market', { timeout: 120_000 }, () => {
  let venue: Venue
  const open: SocketClient[] = []
  before(async () => {
    venue = await Venue.open()
    await venue.crowd('BTC_USDT', { USDT: '50000000', BTC: '500' }, '0.01')
  })
  after(async () => {
    for (const socket of open) await socket.close()
    await venue.close()
  })
  const connect = async (path = PATH): Promise<SocketClient> => {
    const socket = await SocketClient.open(venue.url, undefined, path)
    open.push(socket)
    return socket
  }
  const unified = async (mode = 'multi_currency', funds: object = { USDT: '100000' }): Promise<Member> => {
    const member = await venue.member(funds as Record<string, string>)
    ok(await member.client.put('/unified/unified_mode', { mode }), 204)
    return member
  }
  const assets = ({ client }: Member): Promise<Frame> =>
    client.get('/unified/accounts').then((reply) => ok(reply) as Frame)
  const shown = (row: Frame): object => ({
    r: cut(row['total_initial_margin_rate']),
    R: cut(row['total_maintenance_margin_rate']),
    b: cut(row['total_margin_balance']),
    e: cut(row['unified_account_total_equity']),
    l: cut(row['unified_account_total_liab']),
    T: cut(row['unified_account_total']),
    a: cut(row['total_available_margin']),
  })
  const figures = ({ u: _user, t: _time, ...rest }: Frame): object => rest

  test('assets and their detail: at once, and what changed; equal to REST', async () => {
    const member = await unified()
    const { user_id, credential, client } = member
    const socket = await connect()
    for (const [channel, payload] of [
      ['unified.assets', undefined],
      ['unified.asset_detail', ['!all']],
    ] as const) {
      const answer = await socket.subscribe(channel, payload, credential)
      assert.deepEqual(answer['result'], { status: 'success' })
    }
    const last = (channel: string): Frame => socket.pushed(channel).at(-1)!['result']
    await until('first pushes', () => socket.pushed('unified.asset_detail').length === 1)
    assert.equal(socket.pushed('unified.assets').length, 1)
    assert.equal(last('unified.assets')['u'], user_id)
    assert.deepEqual(figures(last('unified.assets')), shown(await assets(member)))
    const usdt = { a: '100000', f: '0', e: '100000', tl: '0', b: '100000' }
    assert.deepEqual(last('unified.asset_detail')['dts'], { USDT: usdt })
    await sleep(1_500)
    assert.equal(socket.pushed('unified.asset_detail').length, 1, 'nothing changed, nothing comes')

    const [, ask] = await venue.spread('BTC_USDT')
    const price = String(Math.round(ask * 1.05))
    const order = { currency_pair: 'BTC_USDT', account: 'unified', side: 'buy', amount: '0.02', price }
    ok(await client.post('/spot/orders', order), 201)
    await until('the coin is told of', () => socket.pushed('unified.asset_detail').length === 2)
    assert.deepEqual(Object.keys(last('unified.asset_detail')['dts']).sort(), ['BTC', 'USDT'])
    // Prices move the figures: what was told is what REST says at the same time.
    await until('assets as REST has them', async () => {
      const now = JSON.stringify(shown(await assets(member)))
      return JSON.stringify(figures(last('unified.assets'))) === now
    })

    ok(await client.post('/unified/loans', { currency: 'ETH', type: 'borrow', amount: '1' }))
    const told = (currency: string): Frame | undefined =>
      socket.pushed('unified.asset_detail').findLast(({ result }) => currency in result.dts)?.['result'].dts[
        currency
      ]
    await until('the loan is told of', () => told('ETH') !== undefined)
    const { balances } = (await assets(member)) as { balances: Record<string, Frame> }
    assert.equal(told('ETH')!['tl'], balances['ETH']!['total_liab'])
    assert.equal(told('ETH')!['a'], balances['ETH']!['available'])

    // Sold to the last bit: the currency is told of once more, with nothing.
    const amount = told('BTC')!['a'] as string
    ok(
      await client.post('/spot/orders', {
        ...order,
        side: 'sell',
        amount,
        price: String(Math.round(ask * 0.9)),
      }),
      201,
    )
    const left = ok(await client.get('/spot/accounts', { currency: 'BTC' }))[0].available as string
    await until(`BTC is ${left}`, () => told('BTC')!['a'] === left)
    assert.deepEqual(told('BTC'), { a: '0', f: '0', e: '0', tl: '0', b: '0' })
    assert.deepEqual((await socket.unsubscribe('unified.assets'))['result'], { status: 'success' })
  })
  test('some currencies alone; both ways at once are refused', async () => {
    const { credential } = await unified('multi_currency', { USDT: '1000', BTC: '1', ETH: '1' })
    const socket = await connect()
    await socket.subscribe('unified.asset_detail', ['BTC', 'ETH'], credential)
    await until('the first push', () => socket.pushed('unified.asset_detail').length === 1)
    const { dts } = socket.pushed('unified.asset_detail')[0]!['result']
    assert.deepEqual(Object.keys(dts).sort(), ['BTC', 'ETH'])
    assert.equal(`${dts.BTC.a} ${dts.ETH.b}`, '1 1')
    await socket.subscribe('unified.asset_detail', ['SOL'], credential)
    await until('all that are asked for, once more', () => socket.pushed('unified.asset_detail').length === 2)
    const poor = await unified('multi_currency', {})
    const empty = await connect()
    await empty.subscribe('unified.asset_detail', ['BTC'], poor.credential)
    await until('a first push of nothing', () => empty.pushed('unified.asset_detail').length === 1)
    assert.deepEqual(empty.pushed('unified.asset_detail')[0]!['result'].dts, {})
    const both = await socket.subscribe('unified.asset_detail', ['!all', 'BTC'], credential)
    assert.equal(both['error'].code, 2)
  })
  test('single currency: the figures of USDT', async () => {
    const member = await unified('single_currency')
    const socket = await connect()
    await socket.subscribe('unified.asset_detail', ['!all'], member.credential)
    await until('the first push', () => socket.pushed('unified.asset_detail').length === 1)
    const { USDT } = socket.pushed('unified.asset_detail')[0]!['result'].dts
    const { balances } = (await assets(member)) as { balances: Record<string, Frame> }
    const row = balances['USDT']!
    assert.deepEqual(
      [USDT.cb, USDT.mb, USDT.im, USDT.mm, USDT.imr, USDT.mmr, USDT.am],
      ['cross_balance', 'margin_balance', 'im', 'mm', 'imr', 'mmr', 'available_margin'].map(
        (name) => row[name],
      ),
    )
  })
  test('refusals: a classic account, no key, a wrong signature, another address', async () => {
    const { credential } = await venue.member({ USDT: '1' })
    const socket = await connect()
    const classic = await socket.subscribe('unified.assets', [], credential)
    assert.equal(classic['error'].code, 2)
    assert.equal(JSON.parse(classic['error'].message).label, 'ACCOUNT_EXCEPTION')
    const unsigned = await socket.subscribe('unified.assets', [])
    assert.equal(
      `${unsigned['error'].code} ${JSON.parse(unsigned['error'].message).label}`,
      '4 MISSING_REQUIRED_HEADER',
    )
    const forged = await socket.subscribe('unified.assets', [], { ...credential, secret: 'f'.repeat(64) })
    assert.equal(
      `${forged['error'].code} ${JSON.parse(forged['error'].message).label}`,
      '4 INVALID_SIGNATURE',
    )
    const elsewhere = await (await connect('/ws/v4/')).subscribe('unified.assets', [], credential)
    assert.equal(elsewhere['error'].code, 2)
    assert.match(elsewhere['error'].message, /\/v4\/ws\/unified/)
  })
})
