import { after, before, describe, test } from 'node:test'
import { ok, refused, type Reply } from '../support/client.ts'
import { signedIn } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, deposit, holder, mine, outside, proveBalanced, save } from '../support/wallet.ts'

/** Labels that calls of operators and of the console share with those of accounts, told by each of them. */
describe('labels of operators and of the console, by every call that has them', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0, send_delay_seconds: 3_600 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const freeze = (userId: number, state: number): Promise<unknown> =>
    platform.operator.ok('PATCH', `/users/${userId}`, { state })

  test("withdrawals on a user's behalf", async () => {
    const { user_id, client } = await holder(platform)
    const ask = (more: object = {}): Promise<Reply> =>
      platform.operator.call('POST', `/users/${user_id}/withdrawals`, {
        currency: 'ETH',
        chain: 'ETH',
        amount: '1',
        address: ETH_OUTSIDE,
        ...more,
      })
    refused(await ask({ amount: '0.000001' }), 400, 'AMOUNT_TOO_LITTLE')
    refused(await ask({ amount: '100000' }), 400, 'WITHDRAWAL_OVER_LIMIT')
    refused(await ask({ address: outside('evm', 'else') }), 400, 'ADDRESS_NOT_USED')
    const once = { withdraw_order_id: 'by.operator' }
    ok(await ask(once), 201)
    refused(await ask(once), 400, 'DUPLICATE_REQUEST')
    const poor = await holder(platform, { amount: '1' })
    const theirs = `/users/${poor.user_id}/withdrawals`
    const body = { currency: 'ETH', chain: 'ETH', amount: '2', address: ETH_OUTSIDE }
    refused(await platform.operator.call('POST', theirs, body), 400, 'BALANCE_NOT_ENOUGH')
    const { address } = ok(await poor.client.get('/wallet/deposit_address', { currency: 'ETH' }))
    await save(platform, user_id, { currency: 'ETH', chain: 'ETH', address })
    await freeze(poor.user_id, 2)
    refused(await ask({ address }), 400, 'RISK_ERROR', /frozen/)
    await freeze(poor.user_id, 1)
    ok(await client.get('/wallet/withdrawals'))
  })

  test('a family that owes: nothing leaves it, and nobody accepts what it sent before', async () => {
    const { user_id, client } = await holder(platform, { currency: 'USDT', chain: 'ETH', amount: '1000' })
    const receiver = await platform.user()
    await platform.operator.ok('PATCH', `/users/${receiver.user_id}`, { push_acceptance: 'manual' })
    const push = { receive_uid: receiver.user_id, currency: 'USDT', amount: '5' }
    const { id } = ok(await client.post('/withdrawals/push', push))
    const browser = await signedIn(platform, { user_id: receiver.user_id })
    const accept = (): Promise<Reply> => browser.post(`/v1/pushes/${String(id)}/accept`)
    await freeze(user_id, 2)
    refused(await accept(), 400, 'RISK_ERROR', /frozen/)
    await freeze(user_id, 1)
    const { txid } = await deposit(platform, user_id, '1')
    await mine(platform, 'ETH', 30)
    const away = { currency: 'ETH', from: 'spot', to: 'margin', amount: '1', currency_pair: 'ETH_USDT' }
    ok(await client.post('/wallet/transfers', away))
    await platform.operator.ok('POST', '/chains/ETH/reorg', { depth: 30, drop: [txid] })
    refused(await accept(), 400, 'NEGATIVE_ASSETS', /ETH/)
    const out = { currency: 'USDT', chain: 'ETH', amount: '50', address: ETH_OUTSIDE }
    const asked = await platform.operator.call('POST', `/users/${user_id}/withdrawals`, out)
    refused(asked, 400, 'NEGATIVE_ASSETS', /ETH/)
  })

  test('what is being delisted, or has come to its end', async () => {
    const markets: { id: string; base: string }[] = await platform.operator.ok('GET', '/markets')
    const of = markets.filter(({ id }) => id.split('_').includes('DOGE')).map(({ id }) => id)
    for (const id of of) await platform.operator.ok('POST', `/markets/${id}/delist`, { reason: 'test' })
    await platform.operator.ok('POST', '/currencies/DOGE/delist', { reason: 'test' })
    const halt = await platform.operator.call('POST', `/markets/${of[0]!}/halt`, { reason: 'test' })
    refused(halt, 400, 'TRADE_RESTRICTED', /withdraw_only/)
    const dated: { group: string; settle: string; name: string; expire_time: number }[] = (
      (await platform.operator.ok('GET', '/contracts')) as never[]
    ).filter(({ group }) => group === 'delivery')
    const [first] = dated.sort((a, b) => a.expire_time - b.expire_time)
    const { settle, name, expire_time } = first!
    await platform.operator.ok('POST', '/clock', { now: expire_time + 60 })
    const path = `/contracts/delivery/${settle}/${name}`
    refused(
      await platform.operator.call('PATCH', path, { orders_limit: 50 }),
      400,
      'CONTRACT_IN_DELISTING',
      /end/,
    )
  })

  test('trades are played again by market agents alone', async () => {
    const csv = '1000,0.6,100,buy'
    const replay = await platform.operator.call('POST', '/agents/replay', { currency_pair: 'XRP_USDT', csv })
    refused(replay, 403, 'REQUEST_FORBIDDEN', /KONTOR_AGENTS/)
  })
})
