import { TRON } from './outside.ts'
import type { Scene } from './stage.ts'

const stop = {
  market: 'ETH_USDT',
  trigger: { price: '9000', rule: '>=', expiration: 3600 },
  put: {
    type: 'limit',
    side: 'buy',
    price: '2000',
    amount: '0.05',
    account: 'normal',
    time_in_force: 'gtc',
  },
}

/** Accounts, keys, orders in spot and what operators do with them. */
export const ACCOUNT_SCENES: Readonly<Record<string, Scene>> = {
  'frozen while money is on its way': async (stage) => {
    const guest = await stage.guest({ USDT: '500' })
    const saved = { ...TRON, verified: true, verified_at: 1_799_000_000 }
    await stage.operate('POST', `/users/${guest.user}/saved_addresses`, saved)
    const { body } = await guest.post('/withdrawals', { ...TRON, amount: '50' })
    await stage.operate('POST', `/withdrawals/${body.id}/divert`, { status: 'MANUAL', reason: 'sim' })
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 2 })
    await stage.operate('POST', `/withdrawals/${body.id}/approve`, { reason: 'sim' })
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 1 })
    await stage.operate('POST', `/withdrawals/${body.id}/approve`, { reason: 'sim' })
  },
  'a key that is locked': async (stage) => {
    const guest = await stage.guest({ USDT: '100' })
    const path = `/users/${guest.user}/keys/${guest.credential.key}`
    await stage.operate('PATCH', path, { state: 3 })
    await guest.get('/spot/accounts')
    await stage.operate('PATCH', path, { state: 1 })
    // From here on a request that comes twice is carried out once.
    await stage.operate('PATCH', path, { replay_protection: true })
    await Promise.all([1, 2].map(() => guest.spot('buy', '0.01', '2000', { text: 't-once' })))
    await stage.operate('PATCH', path, { replay_protection: false })
  },
  'who would trade with himself': async (stage) => {
    const main = await stage.guest({ USDT: '10000', ETH: '2' })
    const sub = await stage.guest({ USDT: '10000', ETH: '2' }, main)
    const { body } = await main.post('/account/stp_groups', { name: 'sim' })
    await main.post(`/account/stp_groups/${body.id}/users`, [main.user, sub.user])
    const price = stage.index('ETH')
    await main.spot('sell', '0.5', price)
    await sub.spot('buy', '0.7', price, { stp_act: ['cn', 'co', 'cb'][stage.n[3]! % 3] })
    await main.delete(`/account/stp_groups/${body.id}/users`, { user_id: String(sub.user) })
    await sub.spot('buy', '0.1', price)
  },
  'from one sub-account to another': async (stage) => {
    const main = await stage.guest({ USDT: '1000' })
    const [one, two] = [await stage.guest({ USDT: '1000' }, main), await stage.guest({}, main)]
    const move = (sub_account_to_type: string, amount: string) =>
      main.post('/wallet/sub_account_to_sub_account', {
        currency: 'USDT',
        amount,
        sub_account_from: one.user,
        sub_account_from_type: 'spot',
        sub_account_to: two.user,
        sub_account_to_type,
      })
    await move('spot', '10')
    await move('futures', '20')
    await stage.operate('PATCH', `/users/${two.user}`, { futures_ceiling: '50' })
    await move('futures', '40')
    const named = { currency: 'USDT', amount: '1', direction: 'to', sub_account: String(two.user) }
    await main.post('/wallet/sub_account_transfers', { ...named, client_order_id: 'no such name!' })
    await main.post('/wallet/sub_account_transfers', { ...named, client_order_id: 'a-good-one' })
  },
  'a sub-account, its keys and its lock': async (stage) => {
    const main = await stage.guest({ USDT: '100' })
    const sub = await stage.guest({ USDT: '100' }, main)
    const path = `/sub_accounts/${sub.user}`
    await main.post(`${path}/lock`, {})
    await sub.spot('buy', '0.01', '2000')
    await main.post('/wallet/sub_account_transfers', {
      currency: 'USDT',
      amount: '1',
      direction: 'to',
      sub_account: String(sub.user),
    })
    await main.post(`${path}/unlock`, {})
    const key = { name: 'second', mode: 1, perms: [{ name: 'spot' }], ip_whitelist: [] }
    const { body } = await main.post(`${path}/keys`, key)
    await main.put(`${path}/keys/${body.key}`, { ...key, name: 'other' })
    await main.delete(`${path}/keys/${body.key}`)
  },
  'small balances': async (stage) => {
    await stage.prices({ GT: '8' })
    const guest = await stage.guest({ ETH: '0.0001', SOL: '0.001', USDT: '5' })
    await guest.get('/wallet/small_balance')
    await guest.post('/wallet/small_balance', { currency: ['ETH'] })
    await guest.post('/wallet/small_balance', { is_all: true })
    await guest.post('/wallet/small_balance', { is_all: true })
  },
  'an operator takes an order away': async (stage) => {
    const guest = await stage.guest({ USDT: '1000' })
    const { body } = await guest.spot('buy', '0.01', stage.index('ETH', 0.8))
    await stage.operate('DELETE', `/orders/${body.id}`)
    await stage.operate('DELETE', `/orders/${body.id}`)
  },
  'all that waits cancelled': async (stage) => {
    const guest = await stage.guest({ USDT: '10000', ETH: '1' })
    for (let i = 0; i < 3; i++) await guest.post('/spot/price_orders', stop)
    await guest.delete('/spot/price_orders', { market: 'ETH_USDT' })
    for (const side of ['buy', 'sell'])
      await guest.post('/spot/pov_orders', {
        currency_pair: 'ETH_USDT',
        side,
        amount: '0.5',
        participation_rate: '0.1',
        ttl: '3600',
        limit_price: stage.index('ETH', side === 'buy' ? 1.05 : 0.95),
      })
    await guest.delete('/spot/pov_orders', { currency_pair: 'ETH_USDT' })
  },
  'one order after the other': async (stage) => {
    const guest = await stage.guest({ USDT: '100000', ETH: '1' })
    const waits = await guest.post('/spot/price_orders', stop)
    await guest.delete(`/spot/price_orders/${waits.body.id}`)
    const pov = await guest.post('/spot/pov_orders', {
      currency_pair: 'ETH_USDT',
      side: 'buy',
      amount: '0.5',
      participation_rate: '0.1',
      ttl: '3600',
      limit_price: stage.index('ETH', 1.05),
    })
    await guest.delete(`/spot/pov_orders/${pov.body.id}`)
    await guest.spot('buy', '99999999', stage.index('ETH', 0.9))
    await guest.spot('buy', '0.01', stage.index('ETH', 30))
    await guest.delete('/spot/orders/t-nobody', { currency_pair: 'ETH_USDT' })
  },
  'batches that are no good': async (stage) => {
    const guest = await stage.guest({ USDT: '1000' })
    const order = (i: number, currency_pair = 'ETH_USDT') => ({
      text: `t-${i}`,
      currency_pair,
      side: 'buy',
      amount: '0.01',
      price: '2000',
    })
    const pairs = ['ETH_USDT', 'SOL_USDT', 'XRP_USDT', 'DOGE_USDT', 'GT_USDT']
    await guest.post(
      '/spot/batch_orders',
      pairs.map((pair, i) => order(i, pair)),
    )
    await guest.post(
      '/spot/batch_orders',
      Array.from({ length: 11 }, (_, i) => order(i)),
    )
    await guest.post('/spot/batch_orders', [order(1), { ...order(2), account: 'unified' }])
  },
  'a currency that nobody may withdraw': async (stage) => {
    const guest = await stage.guest({ DOGE: '1000' })
    await stage.operate('PATCH', '/currencies/DOGE', { withdraw_enabled: false })
    const address = 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'
    await guest.post('/withdrawals', { currency: 'DOGE', chain: 'DOGE', amount: '100', address })
    await stage.operate('PATCH', '/currencies/DOGE', { withdraw_enabled: true })
  },
  'all markets halted': async (stage) => {
    const guest = await stage.guest({ USDT: '1000', futures: '1000' })
    await guest.post('/spot/price_orders', stop)
    await stage.operate('POST', '/markets/halt', { reason: 'sim' })
    await guest.spot('buy', '0.01', '2000')
    await guest.contract('ETH_USDT', 1, '2000')
    await stage.operate('POST', '/markets/resume', { reason: 'sim' })
  },
  'a currency comes and goes': async (stage) => {
    await stage.operate('POST', '/currencies/PEPU/delist', { reason: 'sim' })
    await stage.operate('POST', '/currencies/PEPU/remove')
    const guest = await stage.guest()
    await stage.credit(guest, { account: 'spot', currency: 'PEPU', amount: '1' })
    await stage.operate('POST', '/currencies/PEPU/relist', { reason: 'sim' })
  },
  'operators come and go': async (stage) => {
    const name = `colleague_${stage.n[0]!}`
    const { body } = await stage.operate('POST', '/operators', { name, role: 'operator', token_days: 30 })
    const other = await stage.house.operate('POST', '/operators/me/token', { name }, body.token)
    await stage.house.operate('GET', '/status', undefined, other.body.token)
    await stage.operate('POST', `/operators/${name}/expire_token`, { hours: 1 })
    if (stage.n[3]! % 2 === 0) await stage.operate('DELETE', `/operators/${name}`)
  },
  'a price for a time': async (stage) => {
    const expires = Math.floor(stage.house.now) + 30
    await stage.operate('PUT', '/prices', { XRP: '0.6', expires })
    await stage.clock(40)
  },
  'old trades are forgotten': async (stage) => {
    await stage.house.tidy()
  },
}
