import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { FINAL_DEPTH } from '../../src/core/tables/tips.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { deposit, mine, newestDeposit, outside, proveBalanced, save } from '../support/wallet.ts'

describe('deposits', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start(withoutContracts())
    for (const chain of ['ETH', 'XRP', 'BTC', 'TRX'])
      await platform.operator.ok('PATCH', `/chains/${chain}`, { auto_mine_seconds: 0 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const reorg = (chain: string, depth: number, drop: string[] = []) =>
    platform.operator.ok('POST', `/chains/${chain}/reorg`, { depth, drop })

  test('addresses are made once, in the form of their chain, tagged where the chain is', async () => {
    const { client } = await platform.user()
    const usdt = ok(await client.get('/wallet/deposit_address', { currency: 'usdt' }))
    assert.deepEqual(
      usdt.multichain_addresses.map((one: { chain: string }) => one.chain),
      ['ETH', 'TRX', 'SOL'],
    )
    assert.equal(usdt.address, usdt.multichain_addresses[0].address)
    assert.equal(usdt.min_deposit_amount, '1')
    assert.match(usdt.multichain_addresses[0].address, /^0x[0-9a-fA-F]{40}$/)
    assert.match(usdt.multichain_addresses[1].address, /^T/)
    assert.equal(usdt.multichain_addresses[0].min_confirms, 12)
    assert.deepEqual(ok(await client.get('/wallet/deposit_address', { currency: 'USDT' })), usdt)
    const other = await platform.user()
    const xrp = ok(await client.get('/wallet/deposit_address', { currency: 'XRP' }))
    const xrpOther = ok(await other.client.get('/wallet/deposit_address', { currency: 'XRP' }))
    assert.equal(xrp.address, xrpOther.address)
    assert.notEqual(xrp.multichain_addresses[0].payment_id, xrpOther.multichain_addresses[0].payment_id)
    assert.equal(xrp.multichain_addresses[0].payment_name, 'Tag')
    refused(
      await client.get('/wallet/deposit_address', { currency: 'PEPU' }),
      400,
      'INVALID_CURRENCY',
      /low-cap/,
    )
    refused(await client.get('/wallet/deposit_address', { currency: 'POINT' }), 400, 'INVALID_CURRENCY')
    refused(await client.get('/wallet/deposit_address'), 400, 'MISSING_REQUIRED_PARAM', /currency/)
  })

  test('PEND, TRACK, DEP_CREDITED, DONE; credited money trades but can not leave before DONE', async () => {
    const { client, user_id } = await platform.user()
    const receiver = await platform.user()
    const { txid, address } = await deposit(platform, user_id, '2.5')
    let record = await newestDeposit(client)
    assert.equal(record.status, 'PEND')
    assert.equal(record.txid, txid)
    assert.equal(record.address, address)
    assert.equal(record.amount, '2.5')
    assert.equal(await platform.balance(user_id, 'ETH'), '0')
    await mine(platform, 'ETH', 1)
    record = await newestDeposit(client)
    assert.equal(record.status, 'TRACK')
    await mine(platform, 'ETH', 10)
    assert.equal((await newestDeposit(client)).status, 'TRACK')
    await mine(platform, 'ETH', 1)
    assert.equal((await newestDeposit(client)).status, 'DEP_CREDITED')
    assert.equal(await platform.balance(user_id, 'ETH'), '2.5')
    const push = { receive_uid: receiver.user_id, currency: 'ETH', amount: '1' }
    refused(await client.post('/withdrawals/push', push), 400, 'BALANCE_NOT_ENOUGH')
    await save(platform, user_id, { currency: 'ETH', chain: 'ETH', address: outside('evm') })
    const body = { currency: 'ETH', chain: 'ETH', amount: '1', address: outside('evm') }
    refused(await client.post('/withdrawals', body), 400, 'BALANCE_NOT_ENOUGH', /locked/)
    const margin = { currency: 'ETH', from: 'spot', to: 'margin', amount: '1', currency_pair: 'ETH_USDT' }
    ok(await client.post('/wallet/transfers', margin))
    await mine(platform, 'ETH', 12)
    assert.equal((await newestDeposit(client)).status, 'DONE')
    ok(await client.post('/withdrawals/push', push))
    assert.equal(await platform.balance(user_id, 'ETH'), '0.5')
  })

  test('too small, no memo, unknown memo, held, blocked, released', async () => {
    const { client, user_id } = await platform.user()
    await deposit(platform, user_id, '0.0001')
    assert.equal((await newestDeposit(client)).status, 'INVALID')
    await mine(platform, 'ETH', 30)
    assert.equal((await newestDeposit(client)).status, 'INVALID')
    assert.equal(await platform.balance(user_id, 'ETH'), '0')

    const { address } = ok(await client.get('/wallet/deposit_address', { currency: 'XRP' }))
    for (const memo of [undefined, '4000000000'])
      await platform.operator.ok('POST', '/chains/XRP/deposits', {
        address,
        currency: 'XRP',
        amount: '10',
        memo,
      })
    await mine(platform, 'XRP', 5)
    const lost = await platform.operator.ok('GET', '/deposits?status=MANUAL')
    assert.equal(lost.length, 2)
    assert.equal(lost[0].user_id, 0)
    refused(
      await platform.operator.call('POST', `/deposits/${lost[0].id}/release`, {}),
      400,
      'MISSING_REQUIRED_PARAM',
      /user_id/,
    )
    const found = await platform.operator.ok('POST', `/deposits/${lost[0].id}/release`, { user_id })
    assert.equal(found.status, 'DONE')
    assert.equal(await platform.balance(user_id, 'XRP'), '10')
    await platform.operator.ok('POST', `/deposits/${lost[1].id}/block`)

    await deposit(platform, user_id, '3')
    const [seen] = await platform.operator.ok('GET', `/deposits?user_id=${user_id}&limit=1`)
    assert.equal((await platform.operator.ok('POST', `/deposits/${seen.id}/hold`)).status, 'REVIEW')
    await mine(platform, 'ETH', 30)
    assert.equal((await newestDeposit(client)).status, 'REVIEW')
    assert.equal(await platform.balance(user_id, 'ETH'), '0')
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    const eth = proof.currencies.find((one: { currency: string }) => one.currency === 'ETH')
    assert.equal(eth.accounts['deposits.unclaimed'], '3.0001')
    const stranger = await platform.user()
    refused(
      await platform.operator.call('POST', `/deposits/${seen.id}/release`, { user_id: stranger.user_id }),
      400,
      'INVALID_PARAM_VALUE',
      /is that of user/,
    )
    assert.equal((await platform.operator.ok('POST', `/deposits/${seen.id}/release`)).status, 'DONE')
    assert.equal(await platform.balance(user_id, 'ETH'), '3')
    refused(
      await platform.operator.call('POST', `/deposits/${seen.id}/hold`),
      400,
      'INVALID_PARAM_VALUE',
      /DONE: .*; operators can ask for nothing$/,
    )

    await deposit(platform, user_id, '4')
    const [next] = await platform.operator.ok('GET', `/deposits?user_id=${user_id}&limit=1`)
    await platform.operator.ok('POST', `/deposits/${next.id}/hold`)
    assert.equal((await platform.operator.ok('POST', `/deposits/${next.id}/block`)).status, 'BLOCKED')
    await mine(platform, 'ETH', 30)
    assert.equal(await platform.balance(user_id, 'ETH'), '3')
    refused(await platform.operator.call('POST', '/deposits/d99999/hold'), 404, 'NOT_FOUND')
  })

  test('a payment in the first of very many blocks is credited like any other', async () => {
    const { client, user_id } = await platform.user()
    await deposit(platform, user_id, '2')
    await mine(platform, 'ETH', FINAL_DEPTH + 1)
    assert.equal((await newestDeposit(client)).status, 'DONE')
    assert.equal(await platform.balance(user_id, 'ETH'), '2')
    await mine(platform, 'ETH', FINAL_DEPTH + 1)
    assert.equal(await platform.balance(user_id, 'ETH'), '2')
  })
  test('a reorganisation deeper than min_confirms takes the credit back, even below zero', async () => {
    const { client, user_id } = await platform.user()
    const { txid } = await deposit(platform, user_id, '5')
    await mine(platform, 'ETH', 40)
    assert.equal((await newestDeposit(client)).status, 'DONE')
    const margin = { currency: 'ETH', from: 'spot', to: 'margin', amount: '4', currency_pair: 'ETH_USDT' }
    ok(await client.post('/wallet/transfers', margin))
    refused(
      await platform.operator.call('POST', '/chains/ETH/reorg', { depth: 5, drop: [txid] }),
      400,
      'INVALID_PARAM_VALUE',
      /deep/,
    )
    await reorg('ETH', 40)
    assert.equal((await newestDeposit(client)).status, 'DONE')
    assert.equal(await platform.balance(user_id, 'ETH'), '1')
    await reorg('ETH', 40, [txid])
    assert.equal((await newestDeposit(client)).status, 'INVALID')
    assert.equal(await platform.balance(user_id, 'ETH'), '-4')
    await platform.credit(user_id, 'USDT', '100')
    const receiver = await platform.user()
    refused(
      await client.post('/withdrawals/push', {
        receive_uid: receiver.user_id,
        currency: 'USDT',
        amount: '1',
      }),
      400,
      'NEGATIVE_ASSETS',
      /ETH/,
    )
    const bySpot = { currency: 'ETH', from: 'margin', to: 'spot', amount: '4', currency_pair: 'ETH_USDT' }
    ok(await client.post('/wallet/transfers', bySpot))
    ok(
      await client.post('/withdrawals/push', {
        receive_uid: receiver.user_id,
        currency: 'USDT',
        amount: '1',
      }),
    )
  })

  test('what is seen again after a restart is credited once', async () => {
    const { user_id } = await platform.user()
    await deposit(platform, user_id, '1', 'BTC', 'BTC')
    await mine(platform, 'BTC', 2)
    assert.equal(await platform.balance(user_id, 'BTC'), '1')
    platform = await platform.restart()
    await mine(platform, 'BTC', 1)
    await reorg('BTC', 2)
    platform = await platform.restart()
    await mine(platform, 'BTC', 10)
    assert.equal(await platform.balance(user_id, 'BTC'), '1')
    assert.equal((await platform.operator.ok('GET', `/deposits?user_id=${user_id}`)).length, 1)
  })

  test('a payment that names a user and an address goes nowhere when they differ', async () => {
    const [{ user_id, client }, other] = [await platform.user(), await platform.user()]
    const addressOf = async (of: typeof client) =>
      ok(await of.get('/wallet/deposit_address', { currency: 'ETH' })).address
    const pay = async (address: string) =>
      platform.operator.call('POST', '/chains/ETH/deposits', {
        user_id,
        address,
        currency: 'ETH',
        amount: '1',
      })
    refused(
      await pay(await addressOf(other.client)),
      400,
      'INVALID_PARAM_VALUE',
      /not the deposit address of user/,
    )
    refused(await pay(outside('evm')), 400, 'INVALID_PARAM_VALUE', /not the deposit address of user/)
    const own = await addressOf(client)
    assert.equal(ok(await pay(own.toLowerCase())).address, own)
    assert.equal((await platform.operator.ok('GET', `/deposits?user_id=${user_id}`)).length, 1)
    assert.equal((await platform.operator.ok('GET', `/deposits?user_id=${other.user_id}`)).length, 0)
  })

  test('a payment in a block is not told otherwise: a reorganisation alone takes it out', async () => {
    const { user_id } = await platform.user()
    const { txid } = await deposit(platform, user_id, '2')
    const set = (state: string) =>
      platform.operator.call('PATCH', `/chains/ETH/transactions/${txid}`, { state })
    for (const blocks of [1, 20]) {
      await mine(platform, 'ETH', blocks)
      for (const state of ['failed', 'pending', 'lost'])
        refused(
          await set(state),
          400,
          'INVALID_PARAM_VALUE',
          /in block \d+ already; POST \/chains\/ETH\/reorg/,
        )
    }
    assert.equal(await platform.balance(user_id, 'ETH'), '2')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).reserves_match, true)
    await reorg('ETH', 25, [txid])
    assert.equal(await platform.balance(user_id, 'ETH'), '0')
    // In no block it may fail, and is mined without effect.
    ok(await set('pending'))
    assert.equal(ok(await set('failed')).ok, false)
    await mine(platform, 'ETH', 30)
    assert.equal(ok(await set('failed')).state, 'mined')
    assert.equal(await platform.balance(user_id, 'ETH'), '0')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).reserves_match, true)
  })

  test('blocks come by the clock, and a month of them costs nothing', async () => {
    await platform.operator.ok('PATCH', '/chains/TRX', { auto_mine_seconds: 3 })
    const { client, user_id } = await platform.user()
    await deposit(platform, user_id, '50', 'TRX', 'TRX')
    assert.equal((await newestDeposit(client)).status, 'PEND')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 6 })
    assert.equal((await newestDeposit(client)).status, 'TRACK')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3 * 20 })
    assert.equal((await newestDeposit(client)).status, 'DEP_CREDITED')
    const before = (await platform.operator.ok('GET', '/chains/TRX')).height
    const batches = async (): Promise<number> =>
      Number((await platform.operator.ok('GET', '/status')).sequence)
    const first = await batches()
    await platform.operator.ok('POST', '/clock', { advance_seconds: 25 * 86_400 })
    // What contracts do each minute, and little else: 28,800 blocks a day are not mined one by one.
    const count = (await batches()) - first
    assert.ok(count < 25 * 1_440 * 2, `${count} batches`)
    assert.ok((await platform.operator.ok('GET', '/chains/TRX')).height - before >= 25 * 28_800)
    const [done] = ok(
      await client.get('/wallet/deposits', { from: Math.floor(platform.now()) - 26 * 86_400 }),
    )
    assert.equal(done.status, 'DONE')
  })

  test('lists by window, currency and page, and says which window it took', async () => {
    const { client, user_id } = await platform.user()
    for (const amount of ['1', '2', '3']) await deposit(platform, user_id, amount)
    await deposit(platform, user_id, '0.5', 'BTC', 'BTC')
    const reply = await client.get('/wallet/deposits', { limit: 2, offset: 1 })
    assert.deepEqual(
      ok(reply).map((one: { amount: string }) => one.amount),
      ['3', '2'],
    )
    assert.equal(reply.headers.get('x-pagination-total'), '4')
    assert.equal(reply.headers.get('x-pagination-limit'), '2')
    assert.equal(reply.headers.get('x-pagination-offset'), '1')
    const now = Math.floor(platform.now())
    const applied = Number(reply.headers.get('x-applied-from'))
    assert.ok(Math.abs(applied - (now - 7 * 86_400)) < 5)
    const eth = await client.get('/wallet/deposits', { currency: 'ETH' })
    assert.equal(ok(eth).length, 3)
    assert.equal(eth.headers.get('x-pagination-total'), '3')
    const millis = await client.get('/wallet/deposits', { from: (now - 100) * 1000, to: (now + 10) * 1000 })
    assert.equal(ok(millis).length, 4)
    const past = await client.get('/wallet/deposits', { from: now - 5000, to: now - 4000 })
    assert.deepEqual(ok(past), [])
    assert.equal(past.headers.get('x-pagination-total'), '0')
    const ahead = await client.get('/wallet/deposits', { to: now + 60 * 86_400 })
    assert.equal(ok(ahead).length, 4)
    assert.equal(ahead.headers.get('x-applied-to'), String(now + 60 * 86_400))
    for (const bad of [
      { from: now, to: now - 1 },
      { from: now - 31 * 86_400, to: now },
      { limit: 501 },
      { limit: 0 },
      { offset: -1 },
      { from: 'x' },
    ])
      refused(await client.get('/wallet/deposits', bad), 400, 'INVALID_PARAM_VALUE')
    refused(await client.get('/wallet/deposits', { currency: 'NOPE' }), 400, 'INVALID_CURRENCY')
  })
})
