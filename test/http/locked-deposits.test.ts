import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { marketOf } from '../../src/core/tables/world/markets.ts'
import { ok, refused, type Client } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'
import { ETH_OUTSIDE, deposit, mine, newestDeposit, outside, proveBalanced, save } from '../support/wallet.ts'

const CREDITED = 12
const UNLOCKED = 24

/** Coins that a reorganisation can still take back, and everything a thief would do with them before it does. */
describe('credited but not unlocked deposits', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
    await platform.operator.ok('PATCH', '/chains/BTC', { auto_mine_seconds: 0 })
    await platform.operator.ok('PUT', '/prices', { BTC: '60000', ETH: '3000', USDC: '1' })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const family = async (funds: Record<string, string> = {}) => {
    const main = await Trader.of(platform, funds)
    const sub = await Trader.of(platform, {}, { parent: main.user_id })
    for (const [currency, chain] of [
      ['ETH', 'ETH'],
      ['USDT', 'ETH'],
    ] as const)
      await save(platform, main.user_id, { currency, chain, address: ETH_OUTSIDE })
    return { main, sub }
  }
  /** Credited on the spot, and not unlocked. */
  const credited = async (user: Trader, amount: string) => {
    const { txid } = await deposit(platform, user.user_id, amount)
    await mine(platform, 'ETH', CREDITED)
    assert.equal((await newestDeposit(user.client)).status, 'DEP_CREDITED')
    return txid
  }
  const vanish = (depth: number, txid: string) =>
    platform.operator.ok('POST', '/chains/ETH/reorg', { depth, drop: [txid] })
  const withdraw = (client: Client, amount: string, currency = 'ETH') =>
    client.post('/withdrawals', { currency, chain: 'ETH', amount, address: ETH_OUTSIDE })
  const push = async (client: Client, amount: string, currency = 'ETH') => {
    const { user_id } = await platform.user()
    return client.post('/withdrawals/push', { receive_uid: user_id, currency, amount })
  }
  const hop = (main: Trader, sub: Trader, amount: string, direction: 'to' | 'from', currency = 'ETH') =>
    main.client.post('/wallet/sub_account_transfers', {
      sub_account: String(sub.user_id),
      currency,
      amount,
      direction,
    })
  const unified = async (trader: Trader) =>
    ok(await trader.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
  const borrow = (trader: Trader, amount: string, currency = 'USDT') =>
    trader.client.post('/unified/loans', { currency, amount, type: 'borrow' })

  test('they hop to the main account, and do not leave it by withdrawal or push', async () => {
    const { main, sub } = await family({ ETH: '3' })
    await credited(sub, '10')
    ok(await hop(main, sub, '10', 'from'))
    refused(await withdraw(main.client, '3.5'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    refused(await push(main.client, '3.5'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    ok(await withdraw(main.client, '2'), 200)
    refused(await withdraw(main.client, '1.5'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    ok(await push(main.client, '1'))
    refused(await push(main.client, '0.5'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    await mine(platform, 'ETH', UNLOCKED - CREDITED)
    ok(await push(main.client, '10'))
  })

  test('sold for something else, their worth stays behind', async () => {
    const { main, sub } = await family({ USDT: '1000' })
    await credited(sub, '10')
    const buyer = await Trader.of(platform, { USDT: '100000' })
    await buyer.placed('buy', '10', '3000', { currency_pair: 'ETH_USDT' })
    await sub.placed('sell', '10', '3000', { currency_pair: 'ETH_USDT' })
    const proceeds = (await sub.money('USDT')).split('/')[0]!
    assert.ok(Number(proceeds) > 29_000)
    ok(await hop(main, sub, proceeds, 'from', 'USDT'))
    refused(await withdraw(main.client, '1000', 'USDT'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    refused(await push(main.client, '1000', 'USDT'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    ok(await push(main.client, '900', 'USDT'))
    // What an order holds is still the family's: it counts as before.
    await main.placed('buy', '9', '2000', { currency_pair: 'ETH_USDT' })
    refused(await push(main.client, '100', 'USDT'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    ok(await push(main.client, '10', 'USDT'))
    await mine(platform, 'ETH', UNLOCKED - CREDITED)
    ok(await push(main.client, '1000', 'USDT'))
  })

  test('and what positions in contracts have lost of it by now does not leave either', async () => {
    const { main, sub } = await family({ USDT: '11000' })
    await credited(sub, '10')
    const buyer = await Trader.of(platform, { USDT: '100000' })
    await buyer.placed('buy', '10', '3000', { currency_pair: 'ETH_USDT' })
    await sub.placed('sell', '10', '3000', { currency_pair: 'ETH_USDT' })
    ok(await hop(main, sub, (await sub.money('USDT')).split('/')[0]!, 'from', 'USDT'))
    const into = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt' }
    ok(await main.client.post('/wallet/transfers', { ...into, amount: '9000' }))
    ok(await buyer.client.post('/wallet/transfers', { ...into, amount: '40000' }))
    const most = { leverage: '0', cross_leverage_limit: '50' }
    ok(
      await main.client.request('POST', '/futures/usdt/positions/BTC_USDT/leverage', {
        query: most,
      }),
    )
    // Whoever sells so dear has won what the other one has lost.
    const dear = { contract: 'BTC_USDT', price: '66000' }
    ok(await buyer.client.post('/futures/usdt/orders', { ...dear, size: -10_000 }), 201)
    ok(await main.client.post('/futures/usdt/orders', { ...dear, size: 10_000 }), 201)
    const { unrealised_pnl } = ok(await main.client.get('/futures/usdt/accounts'))
    assert.ok(Number(unrealised_pnl) < -5_900, unrealised_pnl)
    refused(await push(main.client, '5100', 'USDT'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    ok(await push(main.client, '4800', 'USDT'))
    await mine(platform, 'ETH', UNLOCKED - CREDITED)
    ok(await push(main.client, '5100', 'USDT'))
  })

  test('they carry no loan: not where they came in, not moved, not sold, not in a margin account', async () => {
    const { main, sub } = await family({ USDC: '1000' })
    await unified(main)
    await unified(sub)
    await credited(sub, '10')
    refused(await borrow(sub, '100'), 400, 'INITIAL_MARGIN_TOO_LOW')
    assert.equal(ok(await sub.client.get('/unified/borrowable', { currency: 'USDT' })).amount, '0')
    const figures = ok(await sub.client.get('/unified/accounts'))
    assert.equal(figures.total_margin_balance, '0')
    assert.equal(figures.balances.ETH.available, '10', 'it is there, and trades')
    // Moved: the main account's own money still carries a loan, the locked coins do not.
    ok(await hop(main, sub, '10', 'from'))
    refused(await borrow(main, '2000'), 400, 'INITIAL_MARGIN_TOO_LOW')
    // Sold for something else.
    const buyer = await Trader.of(platform, { USDT: '100000' })
    await buyer.placed('buy', '10', '3000', { currency_pair: 'ETH_USDT' })
    await main.placed('sell', '10', '3000', { currency_pair: 'ETH_USDT' })
    refused(await borrow(main, '1', 'ETH'), 400, 'INITIAL_MARGIN_TOO_LOW')
    refused(
      await main.place('sell', '2', '3000', {
        currency_pair: 'ETH_USDT',
        account: 'unified',
        auto_borrow: true,
      }),
      400,
      'AUTO_BORROW_TOO_MUCH',
    )
    // In an isolated account.
    const third = await family({ USDT: '10' })
    await credited(third.main, '10')
    const toMargin = { currency: 'ETH', from: 'spot', to: 'margin', amount: '10', currency_pair: 'ETH_USDT' }
    ok(await third.main.client.post('/wallet/transfers', toMargin))
    const isolated = { currency: 'USDT', amount: '5000', type: 'borrow', currency_pair: 'ETH_USDT' }
    refused(await third.main.client.post('/margin/uni/loans', isolated), 400, 'INITIAL_MARGIN_TOO_LOW')
    await mine(platform, 'ETH', UNLOCKED)
    ok(await third.main.client.post('/margin/uni/loans', isolated), 204)
    ok(await borrow(main, '1', 'ETH'))
  })

  test('nobody is liquidated or restricted because a deposit came in', async () => {
    const { main, sub } = await family({ BTC: '1' })
    await unified(main)
    ok(await borrow(main, '20000'))
    const figure = async () => ok(await main.client.get('/unified/accounts')).total_margin_balance
    const before = await figure()
    await deposit(platform, main.user_id, '50')
    await credited(sub, '50')
    assert.equal((await newestDeposit(main.client)).status, 'DEP_CREDITED')
    assert.equal(await figure(), before)
    const buyer = await Trader.of(platform, { USDT: '100000' })
    await buyer.placed('buy', '10', '3000', { currency_pair: 'ETH_USDT' })
    await main.placed('sell', '10', '3000', { currency_pair: 'ETH_USDT' })
    assert.ok(Number(await figure()) >= Number(before), 'what they were sold for is there')
  })

  test('what a reorganisation takes back is owed by the whole family before anything leaves', async () => {
    const { main, sub } = await family({ ETH: '5', USDT: '5000' })
    const txid = await credited(sub, '10')
    const waiting = ok(await withdraw(main.client, '4'))
    const asked = await push(main.client, '1', 'USDT')
    ok(asked)
    const manual = await platform.user()
    await platform.operator.ok('PATCH', `/users/${manual.user_id}`, { push_acceptance: 'manual' })
    const { id } = ok(
      await main.client.post('/withdrawals/push', {
        receive_uid: manual.user_id,
        currency: 'USDT',
        amount: '7',
      }),
    )
    // The coins are elsewhere by now.
    ok(await hop(main, sub, '10', 'from'))
    const toMargin = { currency: 'ETH', from: 'spot', to: 'margin', amount: '11', currency_pair: 'ETH_USDT' }
    ok(await main.client.post('/wallet/transfers', toMargin))
    await vanish(CREDITED, txid)
    assert.equal(await platform.balance(sub.user_id, 'ETH'), '-10')
    refused(
      await withdraw(main.client, '100', 'USDT'),
      400,
      'NEGATIVE_ASSETS',
      new RegExp(String(sub.user_id)),
    )
    refused(await push(main.client, '1', 'USDT'), 400, 'NEGATIVE_ASSETS')
    await unified(main)
    refused(await borrow(main, '100'), 400, 'NEGATIVE_ASSETS')
    refused(await platform.operator.call('POST', `/push/${id}/accept`), 400, 'NEGATIVE_ASSETS')
    await mine(platform, 'ETH', 2)
    const [held] = await platform.operator.ok('GET', `/withdrawals?user_id=${main.user_id}&limit=1`)
    assert.deepEqual(
      [held.id, held.status],
      [waiting.id, 'REVIEW'],
      'one that was asked for before waits too',
    )
    refused(await platform.operator.call('POST', `/withdrawals/${held.id}/approve`), 400, 'NEGATIVE_ASSETS')
    // Paid back: everything goes on.
    const back = { ...toMargin, from: 'margin', to: 'spot', amount: '11' }
    ok(await main.client.post('/wallet/transfers', back))
    ok(await hop(main, sub, '10', 'to'))
    await platform.operator.ok('POST', `/withdrawals/${held.id}/approve`)
    ok(await push(main.client, '1', 'USDT'))
  })

  test('a bound keeps what is credited early, for a family, below a worth', async () => {
    await platform.operator.ok('PUT', '/policy', { early_credit_usdt: '36000' })
    const { main, sub } = await family()
    await deposit(platform, sub.user_id, '10')
    await mine(platform, 'ETH', 6)
    await deposit(platform, main.user_id, '5')
    await mine(platform, 'ETH', CREDITED)
    assert.equal((await newestDeposit(sub.client)).status, 'DEP_CREDITED')
    assert.equal((await newestDeposit(main.client)).status, 'TRACK', 'they are worth 45000 together')
    assert.equal(await platform.balance(main.user_id, 'ETH'), '0')
    await mine(platform, 'ETH', 6)
    assert.equal((await newestDeposit(sub.client)).status, 'DONE')
    assert.equal((await newestDeposit(main.client)).status, 'DEP_CREDITED', 'there is room again')
    await mine(platform, 'ETH', 6)
    assert.equal((await newestDeposit(main.client)).status, 'DONE')
    // One that is over the bound by itself comes when it is unlocked.
    const whale = await family()
    await deposit(platform, whale.main.user_id, '100')
    await mine(platform, 'ETH', UNLOCKED - 1)
    assert.equal((await newestDeposit(whale.main.client)).status, 'TRACK')
    await mine(platform, 'ETH', 1)
    assert.equal((await newestDeposit(whale.main.client)).status, 'DONE')
    assert.equal(await platform.balance(whale.main.user_id, 'ETH'), '100')
    await platform.operator.ok('PUT', '/policy', { early_credit_usdt: null })
  })

  test('locks and debts of a family are the same after a restart', async () => {
    const { main, sub } = await family({ USDT: '500' })
    const txid = await credited(sub, '10')
    ok(await hop(main, sub, '10', 'from'))
    platform = await platform.restart()
    const again = platform.client(main.client.credential)
    refused(await withdraw(again, '1'), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    await vanish(CREDITED, txid)
    platform = await platform.restart()
    refused(
      await platform.client(main.client.credential).post('/withdrawals', {
        currency: 'USDT',
        chain: 'ETH',
        amount: '100',
        address: outside('evm'),
      }),
      400,
      'NEGATIVE_ASSETS',
    )
    ok(
      await platform.client(main.client.credential).post('/wallet/sub_account_transfers', {
        sub_account: String(sub.user_id),
        currency: 'ETH',
        amount: '10',
        direction: 'to',
      }),
    )
  })
})

test('locked coins that nothing prices: once they are sold, nothing leaves', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-unpriced-'))
  const path = join(folder, 'world.json')
  const { currencies, markets } = BUILT_IN_WORLD
  writeFileSync(
    path,
    JSON.stringify({
      currencies: currencies.map((one) => (one.currency === 'DOGE' ? { ...one, index_price: '0' } : one)),
      markets: [
        ...markets.filter(({ base }) => base !== 'DOGE'),
        marketOf('DOGE_BTC', 8, 0, '0.000002', { min_quote_amount: '0.000001' }),
      ],
    }),
  )
  const platform = await TestPlatform.start({ KONTOR_CONFIG: path })
  await platform.operator.ok('PATCH', '/chains/DOGE', { auto_mine_seconds: 0 })
  const thief = await Trader.of(platform, { USDT: '1000' })
  const buyer = await Trader.of(platform, { BTC: '1' })
  const other = await platform.user()
  const send = (currency: string, amount: string) =>
    thief.client.post('/withdrawals/push', { receive_uid: other.user_id, currency, amount })
  await deposit(platform, thief.user_id, '100000', 'DOGE', 'DOGE')
  await mine(platform, 'DOGE', (await platform.operator.ok('GET', '/chains/DOGE')).min_confirms)
  assert.equal((await newestDeposit(thief.client)).status, 'DEP_CREDITED')
  ok(await send('USDT', '100'))
  await buyer.placed('buy', '100000', '0.000002', { currency_pair: 'DOGE_BTC' })
  await thief.placed('sell', '100000', '0.000002', { currency_pair: 'DOGE_BTC' })
  for (const [currency, amount] of [
    ['BTC', '0.1'],
    ['USDT', '100'],
  ] as const)
    refused(await send(currency, amount), 400, 'BALANCE_NOT_ENOUGH', /locked/)
  await mine(platform, 'DOGE', 100)
  ok(await send('BTC', '0.1'))
  await platform.stop()
  rmSync(folder, { recursive: true })
})
