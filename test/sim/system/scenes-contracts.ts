import { COARSE, type Answer } from './house.ts'
import type { Guest, Scene, Stage } from './stage.ts'

/** The one whose price moves less. */
const QUIET = 'ETH_USDT'
const LOUD = 'SOL_USDT'
const AUTO = '/futures/usdt/autoorder/v1'
const position = (contract: string, what: string): string => `/futures/usdt/positions/${contract}/${what}`

/** Somebody who has bought so many contracts, from whoever stands by. */
async function holder(
  stage: Stage,
  contract: string,
  size: number,
  leverage: number,
  funds = '20000',
): Promise<Guest> {
  const guest = await stage.guest({ futures: funds })
  await guest.ask(position(contract, 'leverage'), { leverage: String(leverage) })
  await stage.cast.standBy()
  await guest.contract(contract, size, '0', { tif: 'ioc' })
  return guest
}
const over = async (...guests: readonly Guest[]): Promise<void> => {
  for (const guest of guests) await guest.delete('/futures/usdt/orders', { contract: QUIET })
}
/** A dated contract that still trades, the latest. */
const dated = ({ house }: Stage): string | undefined =>
  house.state.world.allContracts
    .filter(({ group, settling, config }) => group === 'delivery' && !settling && config.status === 'trading')
    .map(({ name }) => name)
    .sort()
    .at(-1)

/** Contracts: what only many orders, a position or a falling price lead to. */
export const CONTRACT_SCENES: Readonly<Record<string, Scene>> = {
  'another risk limit': async (stage) => {
    const guest = await stage.guest({ futures: '2000000' })
    await guest.ask(position(QUIET, 'leverage'), { leverage: '1' })
    await guest.contract(QUIET, 20_000, stage.mark(QUIET, 0.95))
    await guest.ask(position(QUIET, 'risk_limit'), { risk_limit: '1000000' })
    await guest.ask(position(QUIET, 'risk_limit'), { risk_limit: '500000' })
    await over(guest)
  },
  'closing at a bad price, and twice': async (stage) => {
    const one = await holder(stage, QUIET, 100, 10)
    await one.contract(QUIET, -5, stage.mark(QUIET, 0.85), { reduce_only: true })
    for (const times of [1.02, 1.03]) await one.contract(QUIET, 0, stage.mark(QUIET, times), { close: true })
    await over(one)
  },
  'one contract order after the other': async (stage) => {
    const one = await holder(stage, QUIET, 50, 5)
    const change = (by: string): Promise<unknown> => one.ask(position(QUIET, 'margin'), { change: by })
    await change('10')
    await change('-5')
    await change('-5000')
    const { body } = await one.contract(QUIET, 5, stage.mark(QUIET, 0.95))
    await one.put(`/futures/usdt/orders/${body.id}`, { price: stage.mark(QUIET, 0.94) })
    await one.ask('/futures/usdt/dual_mode', { dual_mode: 'true' })
    await one.delete(`/futures/usdt/orders/${body.id}`)
    await one.contract(QUIET, 2_000_000, stage.mark(QUIET, 0.95))
    const waits = (): Promise<Answer> =>
      one.post('/futures/usdt/price_orders', {
        initial: { contract: QUIET, size: 1, price: stage.mark(QUIET, 0.9) },
        trigger: { price: stage.mark(QUIET, 0.9), rule: 2, price_type: 2 },
      })
    const made = await waits()
    await one.put(`/futures/usdt/price_orders/${made.body.id}`, { trigger_price: stage.mark(QUIET, 0.88) })
    await one.delete(`/futures/usdt/price_orders/${made.body.id}`)
    await waits()
    await one.delete('/futures/usdt/price_orders', { contract: QUIET })
    const trail = await one.post(`${AUTO}/trail/create`, {
      contract: QUIET,
      amount: '-5',
      price_type: 2,
      price_offset: '3%',
    })
    await one.post(`${AUTO}/trail/stop`, { id: trail.body?.data?.id })
  },
  'both sides at once': async (stage) => {
    const guest = await stage.guest({ futures: '5000' })
    await guest.contract(QUIET, 5, stage.mark(QUIET, 0.95))
    await guest.ask('/futures/usdt/dual_mode', { dual_mode: 'true' })
    await over(guest)
    await guest.ask('/futures/usdt/dual_mode', { dual_mode: 'true' })
    await stage.cast.standBy()
    for (const size of [5, -5]) await guest.contract(QUIET, size, '0', { tif: 'ioc' })
    await guest.ask(position(QUIET, 'risk_limit'), { risk_limit: '1000000' })
    await guest.ask(position(QUIET, 'margin'), { change: '1' })
  },
  'more than there is money for': async (stage) => {
    const guest = await stage.guest({ futures: '10' })
    await guest.contract(QUIET, 5000, stage.mark(QUIET, 0.98))
    await guest.ask(position(QUIET, 'margin'), { change: '100' })
  },
  chases: async (stage) => {
    const [guest, maker] = [await stage.guest({ futures: '20000' }), await stage.guest({ futures: '900000' })]
    await maker.contract(QUIET, 10, stage.mark(QUIET, 0.999))
    await maker.contract(QUIET, -10, stage.mark(QUIET, 1.001))
    const chase = (amount: string) =>
      guest.post(`${AUTO}/chase/create`, { contract: QUIET, amount, price_limit: '0' })
    const { body } = await chase('5')
    await maker.contract(QUIET, 1, stage.mark(QUIET, 0.9995))
    await stage.clock(2)
    await guest.post(`${AUTO}/chase/stop`, { id: body?.id })
    for (const amount of ['3', '-3']) await chase(amount)
    await stage.clock(1)
    await guest.post(`${AUTO}/chase/stop_all`, { contract: QUIET })
    await over(guest, maker)
  },
  trails: async (stage) => {
    const guest = await stage.guest({ futures: '20000' })
    const trail = (amount: string, price_offset: string) =>
      guest.post(`${AUTO}/trail/create`, { contract: LOUD, amount, price_type: 2, price_offset })
    const { body } = await trail('-5', '3%')
    await stage.prices({ SOL: stage.index('SOL', 1.01) })
    await guest.post(`${AUTO}/trail/update`, { id: body?.data?.id, price_offset: '2%' })
    await trail('5', '10%')
    await stage.prices({ SOL: stage.index('SOL', 0.97) })
    await guest.post(`${AUTO}/trail/stop_all`, { contract: LOUD })
  },
  'while it is liquidated': async (stage) => {
    const one = await holder(stage, LOUD, 40, 40, '2000')
    const before = stage.index('SOL')
    // In the same turn: what the price begins is not over when one of the orders comes.
    const moved = stage.prices({ SOL: stage.index('SOL', 0.9) })
    const asked: Promise<unknown>[] = []
    for (let i = 0; i < 8; i++) {
      asked.push(one.contract(LOUD, 1, stage.mark(LOUD, 0.9)))
      await Promise.resolve()
    }
    await Promise.all([moved, ...asked])
    await stage.prices({ SOL: before })
  },
  'a dated contract is delisted': async (stage) => {
    const contract = dated(stage)
    if (contract === undefined) return
    const path = '/delivery/usdt/orders'
    const guests = [await stage.guest({ USDT: '9000' }), await stage.guest({ USDT: '9000' })] as const
    for (const guest of guests)
      await guest.post('/wallet/transfers', {
        currency: 'USDT',
        from: 'spot',
        to: 'delivery',
        settle: 'usdt',
        amount: '8000',
      })
    const { state } = stage.house
    const mark = Number(state.futures.markOf(`delivery/usdt/${contract}`)) / 1e18
    const price = (times: number): string => (mark * times).toFixed(1)
    await guests[0].post(path, { contract, size: -20, price: price(1) })
    await guests[1].post(path, { contract, size: 10, price: price(1) })
    const now = Math.floor(stage.house.now)
    await stage.operate('PATCH', `/contracts/delivery/usdt/${contract}`, {
      delisting_time: now + 5,
      delisted_time: now + 90,
    })
    await stage.clock(10)
    await guests[0].post(path, { contract, size: -1, price: price(1) })
    await guests[1].post(path, { contract, size: -1, price: price(1.01), reduce_only: true })
    await stage.clock(100)
    await guests[0].post(path, { contract, size: -1, price: price(1) })
  },
  'an order below the least size': async (stage) => {
    const guest = await stage.guest({ BTC: '1' })
    await guest.post('/wallet/transfers', {
      currency: 'BTC',
      from: 'spot',
      to: 'futures',
      settle: 'btc',
      amount: '0.5',
    })
    const order = { contract: 'BTC_USD', price: stage.index('BTC', 0.95) }
    for (const size of [1, 10]) await guest.post('/futures/btc/orders', { ...order, size })
    await guest.delete('/futures/btc/orders', { contract: 'BTC_USD' })
  },
}

/** Orders at prices that a coarser tick does not have. */
export const crosswise: Scene = async (stage) => {
  const guest = await stage.guest({ BTC: '1', USDT: '100' })
  const [currency, amount, settle] = ['BTC', '0.5', 'btc']
  await guest.post('/wallet/transfers', { currency, from: 'spot', to: 'futures', settle, amount })
  const { pair, contract } = COARSE
  await guest.post('/futures/btc/orders', { contract, size: 5, price: '57000.1' })
  await guest.post('/spot/orders', { currency_pair: pair, side: 'buy', amount: '20', price: '0.4501' })
}
