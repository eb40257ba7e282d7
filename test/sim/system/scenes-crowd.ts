import { TRON } from './outside.ts'
import { saveAddress, type Guest, type Scene, type Stage } from './stage.ts'

/** More than begin to be liquidated in one command, and together more loans than one command charges. */
const HEADS = 53
const LOANS = ['USDT', 'USDC', 'SOL', 'XRP', 'DOGE'] as const
/** More trails, each with an extreme of its own, than one command brings on. */
const TRAILS = 102
const LOUD = 'SOL_USDT'
const QUIET = 'ETH_USDT'
const HOLDS = ['REVIEW', 'MANUAL', 'VERIFY', 'FVERIFY', 'DMOVE', 'LOCKED'] as const
/** More than one command ends: what is left goes on in portions. */
const MANY = 120

/** Somebody with more orders than one command ends, far from where anybody trades. */
async function manyOrders(stage: Stage): Promise<Guest> {
  const guest = await stage.guest({ USDT: '200000' })
  const price = stage.index('ETH', 0.7)
  await guest.many('/spot/batch_orders', MANY, (i) => ({
    text: `t-${i}`,
    currency_pair: 'ETH_USDT',
    side: 'buy',
    amount: '0.01',
    price,
  }))
  return guest
}
/** Somebody with more orders than one command ends. */
async function manyContractOrders(stage: Stage): Promise<Guest> {
  const guest = await stage.guest({ futures: '200000' })
  for (const contract of [QUIET, LOUD]) {
    const price = stage.mark(contract, 0.85)
    await guest.many('/futures/usdt/batch_orders', MANY / 2, () => ({ contract, size: 1, price }))
  }
  return guest
}

/** What only many of something lead to. */
export const MANY_SCENES: Readonly<Record<string, Scene>> = {
  'all of many orders cancelled': async (stage) => {
    const guest = await manyOrders(stage)
    await guest.delete('/spot/orders', { currency_pair: 'ETH_USDT' })
  },
  'a countdown over many orders': async (stage) => {
    const guest = await manyOrders(stage)
    await guest.post('/spot/countdown_cancel_all', { timeout: 5, currency_pair: 'ETH_USDT' })
    await stage.clock(6)
  },
  'frozen with many orders': async (stage) => {
    const guest = await manyOrders(stage)
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 2 })
    await guest.spot('buy', '0.01', '2000')
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 1 })
  },
  'all of many contract orders cancelled': async (stage) => {
    const guest = await manyContractOrders(stage)
    await guest.delete('/futures/usdt/orders')
  },
  'a countdown over many contract orders': async (stage) => {
    const guest = await manyContractOrders(stage)
    await guest.post('/futures/usdt/countdown_cancel_all', { timeout: 5 })
    await stage.clock(6)
  },
  'frozen with many contract orders': async (stage) => {
    const guest = await manyContractOrders(stage)
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 2 })
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 1 })
  },
  'a hundred orders, and one more': async (stage) => {
    const guest = await stage.guest({ futures: '200000' })
    const price = stage.mark(QUIET, 0.85)
    await guest.many('/futures/usdt/batch_orders', 100, () => ({ contract: QUIET, size: 1, price }))
    await guest.contract(QUIET, 1, price)
    await guest.delete('/futures/usdt/orders', { contract: QUIET })
  },
  'many wait for the same price': async (stage) => {
    const guest = await stage.guest({ futures: '50000' })
    const [contract, price] = [LOUD, stage.index('SOL', 1.03)]
    for (let i = 0; i < 55; i++)
      await guest.post('/futures/usdt/price_orders', {
        initial: { contract, size: 1, price: '0', tif: 'ioc' },
        trigger: { strategy_type: 0, price_type: 2, price, rule: 1, expiration: 86_400 },
      })
    await stage.prices({ SOL: stage.index('SOL', 1.04) })
  },
  'every way through the holds': async (stage) => {
    const guest = await stage.guest({ USDT: '5000' })
    await saveAddress(stage, guest)
    const asked = async (): Promise<string> =>
      (await guest.post('/withdrawals', { ...TRON, amount: '10' })).body.id as string
    const decide = (id: string, verb: string, status?: string): Promise<unknown> =>
      stage.operate('POST', `/withdrawals/${id}/${verb}`, { reason: 'sim', ...(status && { status }) })
    const walking = await asked()
    for (const from of HOLDS)
      for (const to of HOLDS) {
        await decide(walking, 'divert', from)
        await decide(walking, 'divert', to)
      }
    for (const from of [undefined, ...HOLDS])
      for (const end of ['approve', 'reject', 'cancel', 'invalid']) {
        const id = await asked()
        if (from !== undefined) await decide(id, 'divert', from)
        if (end === 'cancel') await guest.delete(`/withdrawals/${id}`)
        else if (end === 'invalid') await decide(id, 'divert', 'INVALID')
        else await decide(id, end)
      }
  },
  'a chain is paused with many on their way': async (stage) => {
    const guest = await stage.guest({ USDT: '5000' })
    await saveAddress(stage, guest)
    for (let i = 0; i < MANY; i++) await guest.post('/withdrawals', { ...TRON, amount: '5' })
    await stage.operate('PATCH', `/chains/${TRON.chain}`, { paused: true })
    await stage.operate('PATCH', `/chains/${TRON.chain}`, { paused: false })
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 2 })
    await stage.operate('PATCH', `/users/${guest.user}`, { state: 1 })
  },
}

/** Many who hold the same contract when its price falls, many who owe when the hour is full, and many who trail. */
export const crowd: Scene = async (stage) => {
  const maker = await stage.guest({ futures: '5000000' })
  const price = stage.mark(LOUD)
  await maker.contract(LOUD, -10 * HEADS, price)
  for (let i = 0; i < HEADS; i++) {
    const guest = await stage.guest({ ETH: '2', futures: '100' })
    await guest.ask(`/futures/usdt/positions/${LOUD}/leverage`, { leverage: '30' })
    await guest.contract(LOUD, 5, price)
    await guest.put('/unified/unified_mode', { mode: 'multi_currency' })
    for (const currency of LOANS)
      await guest.post('/unified/loans', { currency, type: 'borrow', amount: '20' })
  }
  const before = Number(stage.index('SOL'))
  for (let i = 0; i < TRAILS; i++) {
    await stage.prices({ SOL: (before - i / 100).toFixed(2) })
    await maker.post('/futures/usdt/autoorder/v1/trail/create', {
      contract: LOUD,
      amount: '-1',
      price_type: 2,
      price_offset: '50%',
    })
  }
  await stage.prices({ SOL: (before + 1).toFixed(2) })
  await stage.prices({ SOL: (before * 0.9).toFixed(2) })
  await stage.prices({ SOL: before.toFixed(2) })
  await maker.delete('/futures/usdt/orders', { contract: LOUD })
  await maker.post('/futures/usdt/autoorder/v1/trail/stop_all', { contract: LOUD })
  await stage.clock(3_600)
}

/** Everything that can be asked of market agents, in markets that the model does not follow. */
export const agents: Scene = async (stage) => {
  const now = Math.floor(stage.house.now / 60) * 60
  const seconds = 20
  for (const [path, body] of [
    ['scenario', { name: 'crash', currency_pair: 'SOL_USDT', seconds }],
    ['scenario', { name: 'thin_book', settle: 'usdt', contract: 'ETH_USDT', seconds }],
    ['replay', { currency_pair: 'XRP_USDT', csv: '0,0.5,10,buy\n3,0.51,10,sell', speed: 1 }],
    [
      'candles',
      {
        currency_pair: 'DOGE_USDT',
        interval: 60,
        candles: [[now, '0.15', '0.16', '0.14', '0.15', '900']],
      },
    ],
  ] as const)
    await stage.operate('POST', `/agents/${path}`, body)
  await stage.clock(30 + (stage.n[3]! % 120))
}
