import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { WorldConfig } from '../../src/core/tables/world/config.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, refused } from '../support/client.ts'
import { ContractTrader } from '../support/contract-trader.ts'
import { LivePlatform } from '../support/live.ts'
import { TestPlatform } from '../support/platform.ts'
import { kontor } from '../support/process.ts'

interface Proof {
  readonly group: string
  readonly settle: string
  readonly contract: string
  readonly long: string
  readonly short: string
  readonly sum: string
  readonly cost: string
  readonly clearing: string
  readonly ok: boolean
}
const PATH = '/contracts/futures/usdt/BTC_USDT'

describe('operators and contracts', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000', SOL: '150' })
  })
  after(() => platform.stop())
  const proofOf = (rows: readonly Proof[], settle: string, contract: string): Proof =>
    rows.find((row) => row.group === 'futures' && row.settle === settle && row.contract === contract)!

  test('see and change the rules, and the change is told to everybody and kept', async () => {
    const { operator } = platform
    const all = await operator.ok('GET', '/contracts')
    assert.equal(all.length, 12, 'four perpetual, four dates of two underlyings')
    const before = await operator.ok('GET', '/contracts/futures/USDT/btc_usdt')
    assert.equal(before.tiers.length, 8)
    refused(await operator.call('GET', '/contracts/futures/usdt/NO_SUCH'), 404, 'CONTRACT_NOT_FOUND')
    refused(await operator.call('GET', '/contracts/spot/usdt/BTC_USDT'), 400, 'INVALID_PARAM_VALUE')
    const after = await operator.ok('PATCH', PATH, { order_size_max: 500, order_price_deviate: '0.1' })
    assert.equal(`${after.order_size_max} ${after.order_price_deviate}`, '500 0.1')
    assert.ok(after.config_change_time >= Math.floor(platform.now()) - 60)
    assert.equal(ok(await platform.client().get('/futures/usdt/contracts/BTC_USDT')).order_size_max, 500)
    refused(
      await operator.call('PATCH', PATH, { leverage_max: '126' }),
      400,
      'INVALID_PARAM_VALUE',
      /first tier/,
    )
    refused(await operator.call('PATCH', PATH, { status: 'delisted' }), 400, 'INVALID_PARAM_VALUE')
    // Tiers as clients read them may be sent back; what follows from the rest must follow.
    const shown = ok(await platform.client().get('/futures/usdt/risk_limit_tiers', { contract: 'ETH_USDT' }))
    const other = PATH.replace('BTC', 'ETH')
    const rows = shown.slice(0, 5)
    assert.deepEqual(
      (await operator.ok('PATCH', other, { tiers: rows })).tiers.map((row: object) => Object.values(row)),
      rows.map((row: Record<string, string>) => [
        row['risk_limit'],
        row['maintenance_rate'],
        row['leverage_max'],
      ]),
    )
    const wrong = { tiers: [{ ...shown[0], deduction: '1' }, ...shown.slice(1)] }
    refused(await operator.call('PATCH', other, wrong), 400, 'INVALID_PARAM_VALUE', /deduction.*leave it out/)
    refused(await operator.call('PATCH', PATH, { name: 'X' }), 400, 'INVALID_PARAM_VALUE', /not known/)
    const audit = await operator.ok('GET', '/audit?limit=1000')
    const record = audit.find(({ action }: { action: string }) => action === 'contract.change')
    assert.deepEqual(record.detail, {
      contract: 'futures/usdt/BTC_USDT',
      order_size_max: 500,
      order_price_deviate: '0.1',
    })
    platform = await platform.restart()
    assert.equal((await platform.operator.ok('GET', PATH)).order_size_max, 500)
    await platform.operator.ok('PATCH', PATH, { order_size_max: 1_000_000, order_price_deviate: '0.2' })
  })
  test('tiers that allow less act at once, and the next look liquidates', async () => {
    const { operator } = platform
    const path = PATH.replace('BTC', 'SOL')
    const { tiers, leverage_max } = await operator.ok('GET', path)
    const trader = await ContractTrader.of(platform, '1000')
    const maker = await ContractTrader.of(platform, '100000')
    const at = '/futures/usdt/positions/SOL_USDT'
    ok(await trader.client.request('POST', `${at}/leverage`, { query: { leverage: 10 } }))
    await maker.placed('SOL_USDT', -10, '150')
    await trader.placed('SOL_USDT', 10, '150')
    const strict = [{ risk_limit: '100000', maintenance_rate: '0.2', leverage_max: '4' }]
    const after = await operator.ok('PATCH', path, { tiers: strict })
    assert.deepEqual([after.tiers, after.leverage_max], [strict, '4'])
    assert.equal(ok(await platform.client().get('/futures/usdt/contracts/SOL_USDT')).leverage_max, '4')
    await operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.equal(ok(await trader.client.get(at)).size, 0)
    assert.equal(ok(await trader.client.get('/futures/usdt/liquidates')).length, 1)
    const higher = { query: { leverage: 5 } }
    refused(await maker.client.request('POST', `${at}/leverage`, higher), 400, 'LEVERAGE_TOO_HIGH')
    // What is said of it besides is held against the tiers.
    const both = { tiers: strict, leverage_max: '5' }
    refused(await operator.call('PATCH', path, both), 400, 'INVALID_PARAM_VALUE', /first tier/)
    assert.equal((await operator.ok('PATCH', path, { tiers, leverage_max })).leverage_max, leverage_max)
  })
  test('a leverage that was set while the contract allowed more opens nothing at more than it allows now', async () => {
    const { operator } = platform
    const path = PATH.replace('BTC', 'ETH')
    const { leverage_max } = await operator.ok('GET', path)
    const trader = await ContractTrader.of(platform, '100000')
    const maker = await ContractTrader.of(platform, '100000')
    const at = '/futures/usdt/positions/ETH_USDT'
    const leverage = (one: ContractTrader, query: Record<string, string>) =>
      one.client.request('POST', `${at}/leverage`, { query })
    ok(await leverage(trader, { leverage: '100' }))
    ok(await leverage(maker, { leverage: '0', cross_leverage_limit: '100' }))
    await operator.ok('PATCH', path, { leverage_max: '5' })
    await maker.placed('ETH_USDT', -100, '3000')
    assert.ok(Number(ok(await maker.client.get('/futures/usdt/accounts')).order_margin) > 600)
    await trader.placed('ETH_USDT', 100, '3000')
    // 3000 / 5 and the taker's fee of closing.
    const isolated = ok(await trader.client.get(at))
    assert.equal(`${isolated.leverage} ${isolated.lever} ${isolated.margin}`, '5 5 601.5')
    const cross = ok(await maker.client.get(at))
    assert.equal(`${cross.leverage} ${cross.cross_leverage_limit} ${cross.initial_margin}`, '0 5 601.5')
    const asked = ok(await trader.client.get('/futures/usdt/get_leverage/ETH_USDT'))
    assert.deepEqual(asked, { lever: '5', Lever: '5' })
    const query = { contract: 'ETH_USDT' }
    const [row] = ok(await trader.client.get('/futures/usdt/positions_timerange', query))
    assert.equal(row.leverage, '5')
    refused(await leverage(trader, { leverage: '100' }), 400, 'LEVERAGE_TOO_HIGH')
    await operator.ok('PATCH', path, { leverage_max })
    assert.equal(ok(await trader.client.get(at)).leverage, '100')
  })
  test('stop a contract: no orders, and it goes on afterwards', async () => {
    const { operator } = platform
    const trader = await ContractTrader.of(platform, '10000')
    await operator.ok('PATCH', PATH, { status: 'circuit_breaker' })
    refused(await trader.place('BTC_USDT', 1, '60000'), 400, 'TRADE_RESTRICTED')
    assert.equal(
      ok(await platform.client().get('/futures/usdt/contracts/BTC_USDT')).status,
      'circuit_breaker',
    )
    await operator.ok('PATCH', PATH, { status: 'trading' })
    const order = await trader.placed('BTC_USDT', 1, '59000')
    ok(await trader.client.delete(`/futures/usdt/orders/${order.id}`))
  })
  test('a contract that is stopped stays so when it is to be delisted, and one that is being delisted can be stopped', async () => {
    const { operator } = platform
    const path = PATH.replace('BTC', 'SOL')
    const holder = await ContractTrader.of(platform, '10000')
    const maker = await ContractTrader.of(platform, '10000')
    await maker.placed('SOL_USDT', -1, '150')
    await holder.placed('SOL_USDT', 1, '150')
    const bid = await maker.placed('SOL_USDT', 1, '149')
    const status = async () => ok(await platform.client().get('/futures/usdt/contracts/SOL_USDT')).status
    const reducing = () => holder.place('SOL_USDT', -1, '151', { reduce_only: true })
    const delisting_time = Math.floor(platform.now()) + 10
    await operator.ok('PATCH', path, { status: 'circuit_breaker', delisting_time })
    await operator.ok('POST', '/clock', { advance_seconds: 20 })
    assert.equal(await status(), 'circuit_breaker')
    refused(await reducing(), 400, 'TRADE_RESTRICTED')
    const order = () => maker.client.get(`/futures/usdt/orders/${bid.id}`)
    assert.equal(ok(await order()).status, 'open')
    // Let go, it is where its time has brought it.
    assert.equal((await operator.ok('PATCH', path, { status: 'trading' })).status, 'delisting')
    await operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.equal(ok(await order()).finish_as, 'cancelled')
    ok(await reducing(), 201)
    assert.equal((await operator.ok('PATCH', path, { status: 'circuit_breaker' })).status, 'circuit_breaker')
    refused(await reducing(), 400, 'TRADE_RESTRICTED')
    const anew = { status: 'trading', delisting_time: 0 }
    assert.equal((await operator.ok('PATCH', path, anew)).status, 'trading')
  })
  test('the proof adds up every position, and verify does so from the store', async () => {
    const buyer = await ContractTrader.of(platform, '100000')
    const seller = await ContractTrader.of(platform, '100000')
    await seller.placed('BTC_USDT', -1000, '60000')
    await buyer.placed('BTC_USDT', 1000, '60000')
    await seller.placed('BTC_USDT', 400, '60100')
    await buyer.placed('BTC_USDT', -400, '60100')
    const inverse = { settle: 'btc' }
    const long = await ContractTrader.of(platform, '1', inverse)
    const short = await ContractTrader.of(platform, '1', inverse)
    await short.placed('BTC_USD', -6000, '60000')
    await long.placed('BTC_USD', 6000, '60000')
    const proof: Proof[] = await platform.operator.ok('GET', '/futures/proof')
    const linear = proofOf(proof, 'usdt', 'BTC_USDT')
    assert.deepEqual(linear, {
      group: 'futures',
      settle: 'usdt',
      contract: 'BTC_USDT',
      long: '600',
      short: '600',
      sum: '0',
      cost: '0',
      clearing: '0',
      ok: true,
    })
    assert.equal(proofOf(proof, 'btc', 'BTC_USD').long, '6000')
    // One closes against a newcomer: what he has realised is what the others' costs no longer cancel.
    const newcomer = await ContractTrader.of(platform, '100000')
    await newcomer.placed('BTC_USDT', 100, '60500')
    await buyer.placed('BTC_USDT', -100, '60500')
    const ledger = await platform.operator.ok('GET', '/ledger/proof')
    assert.equal(ledger.balanced, true)
    assert.equal(ledger.contracts_match, true)
    const carried = proofOf(ledger.contracts, 'usdt', 'BTC_USDT')
    assert.deepEqual(
      [carried.long, carried.cost, carried.clearing, carried.ok],
      ['600', '5', '-5', true],
      '100 contracts at 60500 stand for what cost 60000',
    )
    const { output, code } = await kontor(['verify', '--data', platform.data], {})
    assert.equal(code, 0, output)
    assert.match(output, /^balanced: .* \d+ contracts, /m)
  })
  test('the insurance fund takes operator equity, and shows what it holds', async () => {
    const { operator } = platform
    const before = (await operator.ok('GET', '/insurance')).find(
      ({ settle }: { settle: string }) => settle === 'btc',
    )
    const after = await operator.ok('POST', '/insurance/BTC/fund', { amount: '2.5' })
    assert.equal(Number(after.balance), Number(before.balance) + 2.5)
    assert.deepEqual(after.positions, [])
    refused(
      await operator.call('POST', '/insurance/doge/fund', { amount: '1' }),
      400,
      'INVALID_PARAM_VALUE',
      /settle/,
    )
    refused(await operator.call('POST', '/insurance/btc/fund', { amount: '0' }), 400, 'INVALID_PARAM_VALUE')
    refused(
      await operator.call('POST', '/insurance/btc/fund', { amount: '0.000000001' }),
      400,
      'INVALID_PARAM_VALUE',
      /8 decimals/,
    )
    const [now] = ok(await platform.client().get('/futures/btc/insurance'))
    assert.equal(now.b, after.balance)
    assert.equal((await operator.ok('GET', '/ledger/proof')).balanced, true)
  })
})

describe('contracts of a live platform', () => {
  test('come from its file alone; one person stops one, two change it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kontor-live-contracts-'))
    const live = await LivePlatform.start()
    assert.deepEqual(await live.admin.ok('GET', '/contracts'), [])
    assert.deepEqual(ok(await live.platform.client().get('/futures/usdt/contracts')), [])
    refused(await live.admin.call('PATCH', PATH, { status: 'circuit_breaker' }), 404, 'CONTRACT_NOT_FOUND')
    const asked = await live.admin.call('POST', '/insurance/usdt/fund', { amount: '5' })
    assert.equal(asked.status, 202)
    await live.confirm(asked)
    assert.equal((await live.admin.ok('GET', '/insurance'))[0].balance, '5')
    await live.platform.stop()

    const path = join(folder, 'world.json')
    const contracts = BUILT_IN_WORLD.contracts!.filter(({ name }) => name === 'BTC_USDT')
    writeFileSync(path, JSON.stringify({ contracts }))
    const named = await LivePlatform.start({ KONTOR_CONFIG: path })
    const expires = Math.floor(Date.now() / 1000) + 3600
    await named.both('PUT', '/prices', { BTC: '60000', expires })
    assert.equal((await named.admin.ok('GET', '/contracts')).length, 1)
    const duty = await named.operator('duty')
    assert.equal(ok(await duty.call('PATCH', PATH, { status: 'circuit_breaker' })).status, 'circuit_breaker')
    refused(await duty.call('PATCH', PATH, { status: 'trading' }), 403, 'FORBIDDEN', /admin/)
    const change = { status: 'trading', orders_limit: 50 }
    assert.equal((await named.admin.call('PATCH', PATH, change)).status, 202)
    assert.equal((await named.admin.ok('GET', PATH)).orders_limit, 100)
    await named.both('PATCH', PATH, change)
    assert.equal((await named.admin.ok('GET', PATH)).orders_limit, 50)
    await named.platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})

describe('a changed file and its contracts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-contract-file-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (change: (contract: NonNullable<WorldConfig['contracts']>[number]) => object | undefined) => {
    const path = join(folder, 'world.json')
    const contracts = BUILT_IN_WORLD.contracts!.flatMap((row) => change(row) ?? [])
    writeFileSync(path, JSON.stringify({ contracts }))
    return { KONTOR_CONFIG: path }
  }
  test('what positions and orders need can not be taken away; all else can', async () => {
    let platform = await TestPlatform.start()
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000', SOL: '150' })
    const buyer = await ContractTrader.of(platform, '100000')
    const seller = await ContractTrader.of(platform, '100000')
    await seller.placed('BTC_USDT', -10, '60000')
    await buyer.placed('BTC_USDT', 10, '60000')
    await buyer.placed('ETH_USDT', 10, '2999.99')
    const of = (name: string, more: object | undefined) =>
      file((row) => (row.group === 'futures' && row.name === name ? more && { ...row, ...more } : row))
    for (const [made, expected] of [
      [
        () => of('BTC_USDT', undefined),
        /KONTOR_CONFIG contracts: futures\/usdt\/BTC_USDT is gone, but it has 2 positions and 0 orders/,
      ],
      [
        () => of('BTC_USDT', { quanto_multiplier: '0.001' }),
        /quanto_multiplier 0\.001, not 0\.0001, but it has 2 positions/,
      ],
      [() => of('ETH_USDT', undefined), /ETH_USDT is gone, but it has 0 positions and 1 order;/],
      [() => of('ETH_USDT', { order_price_round: '0.1' }), /order_price_round 0\.1, but it has 1 order at/],
      [
        () => of('ETH_USDT', { quanto_multiplier: '0.1' }),
        /quanto_multiplier 0\.1, not 0\.01, but it has 1 order of another worth; .*KONTOR_CANCEL_ORDERS=futures\/usdt\/ETH_USDT/,
      ],
    ] as [() => Record<string, string>, RegExp][]) {
      const env = made()
      await assert.rejects(platform.restart(env), expected)
      const { output } = await kontor(['config', 'diff', '--data', platform.data], env)
      assert.match(output, /BREAKS contracts: /)
      platform = await TestPlatform.start({}, platform.data)
    }
    // Nobody is in SOL_USDT, and finer ticks fit every order.
    platform = await platform.restart(
      file((row) => {
        if (row.name === 'SOL_USDT') return undefined
        return row.name === 'ETH_USDT' ? { ...row, order_price_round: '0.001' } : row
      }),
    )
    const list = ok(await platform.client().get('/futures/usdt/contracts'))
    assert.deepEqual(
      list.map(
        ({ name, order_price_round }: { name: string; order_price_round: string }) =>
          `${name} ${order_price_round}`,
      ),
      ['BTC_USDT 0.1', 'ETH_USDT 0.001'],
    )
    const book = ok(await platform.client().get('/futures/usdt/order_book', { contract: 'ETH_USDT' }))
    assert.deepEqual(book.bids, [{ p: '2999.99', s: 10 }])
    await platform.stop()
  })
  test('with KONTOR_CANCEL_ORDERS orders of a contract go where they alone stand in the way', async () => {
    let platform = await TestPlatform.start()
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000' })
    const { user_id, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000', { account: 'futures', settle: 'usdt' })
    const trader = new ContractTrader(user_id, platform.client(credential), '/futures/usdt')
    const order = await trader.placed('ETH_USDT', 10, '2999.99')
    const waits = ok(
      await trader.client.post('/futures/usdt/price_orders', {
        initial: { contract: 'ETH_USDT', size: 1, price: '2999.99' },
        trigger: { price: '3100', rule: 1, price_type: 1 },
      }),
      201,
    )
    const coarse = file((row) =>
      row.group === 'futures' && row.name === 'ETH_USDT' ? { ...row, order_price_round: '0.1' } : row,
    )
    const named =
      /contracts: futures\/usdt\/ETH_USDT has order_price_round 0\.1.* 2 orders .*KONTOR_CANCEL_ORDERS=futures\/usdt\/ETH_USDT/
    await assert.rejects(platform.restart(coarse), named)
    // The pair of the spot market is another one.
    const other = { ...coarse, KONTOR_CANCEL_ORDERS: 'ETH_USDT' }
    await assert.rejects(TestPlatform.start(other, platform.data), named)
    const cancelling = { ...coarse, KONTOR_CANCEL_ORDERS: 'futures/usdt/ETH_USDT' }
    const { output } = await kontor(['config', 'diff', '--data', platform.data], cancelling)
    assert.doesNotMatch(output, /BREAKS contracts: /)
    platform = await TestPlatform.start(cancelling, platform.data)
    const client = platform.client(credential)
    assert.equal(ok(await client.get(`/futures/usdt/orders/${String(order.id)}`)).finish_as, 'cancelled')
    const waited = ok(await client.get(`/futures/usdt/price_orders/${String(waits.id)}`))
    assert.deepEqual([waited.finish_as, waited.reason], ['cancelled', 'contract_changed'])
    const gone = file((row) => (row.group === 'futures' && row.name === 'ETH_USDT' ? undefined : row))
    platform = await platform.restart(gone)
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).contracts_match, true)
    await platform.stop()
  })
})
