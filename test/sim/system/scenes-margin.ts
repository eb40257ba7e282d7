import type { Guest, Scene, Stage } from './stage.ts'

const MULTI = { mode: 'multi_currency', settings: { usdt_futures: true } }

/** Somebody in a unified account who has borrowed most of what he may. */
async function debtor(stage: Stage, share: number): Promise<Guest> {
  const guest = await stage.guest({ ETH: '10' })
  await guest.put('/unified/unified_mode', MULTI)
  const { body } = await guest.get('/unified/borrowable', { currency: 'USDT' })
  const amount = (Number(body.amount) * share).toFixed(2)
  await guest.post('/unified/loans', { currency: 'USDT', type: 'borrow', amount })
  return guest
}
/** The price of a currency falls for a while, and comes back. */
async function fall(stage: Stage, currency: string, times: readonly number[], then: () => Promise<unknown>) {
  const before = stage.index(currency)
  for (const one of times) {
    await stage.prices({ [currency]: (Number(before) * one).toFixed(2) })
    await stage.house.settle()
    await then()
  }
  await stage.prices({ [currency]: before })
}
const toMargin = (guest: Guest, amount: string, back = false) =>
  guest.post('/wallet/transfers', {
    currency: 'USDT',
    from: back ? 'margin' : 'spot',
    to: back ? 'spot' : 'margin',
    currency_pair: 'ETH_USDT',
    amount,
  })

/** Unified and isolated margin accounts: near the limit, beyond it, and out of it again. */
export const MARGIN_SCENES: Readonly<Record<string, Scene>> = {
  'near the limit, and the price falls': async (stage) => {
    const guest = await debtor(stage, 0.95)
    // What it has bought would be sold again to whoever stands there.
    await guest.spot('buy', '1', stage.index('ETH', 0.97), { account: 'unified' })
    await guest.spot('sell', '1', stage.index('ETH', 1.04), { account: 'unified' })
    const maker = await stage.guest({ USDT: '100000' })
    await fall(stage, 'ETH', [0.96, 0.9, 0.8], async () => {
      await guest.get('/unified/accounts')
      await maker.spot('buy', '3', stage.index('ETH', 0.99))
      await stage.clock(1)
    })
    await stage.clock(15)
  },
  'more than can be borrowed': async (stage) => {
    const guest = await debtor(stage, 0.5)
    await guest.post('/unified/delta_neutral', { enabled: stage.n[3]! % 2 === 0 })
    await guest.post('/unified/delta_neutral', { enabled: false })
    await guest.spot('buy', '100', stage.index('ETH'), { account: 'unified', auto_borrow: true })
    await guest.spot('buy', '0.5', stage.index('ETH'), { account: 'unified', auto_borrow: true })
  },
  'paid back at once': async (stage) => {
    const guest = await debtor(stage, 0.5)
    await guest.spot('buy', '1', stage.index('ETH', 1.05), { account: 'unified', time_in_force: 'ioc' })
    await stage.clock(30)
    await guest.get('/unified/estimated_quick_repayment')
    await guest.post('/unified/quick_repayment', {
      debt_currencies: ['USDT'],
      available_currencies: ['ETH', 'USDT'],
    })
    await guest.post('/unified/loans', { currency: 'USDT', type: 'repay', repaid_all: true, amount: '1' })
  },
  'contracts on borrowed money': async (stage) => {
    const guest = await stage.guest({ USDT: '700' })
    await guest.put('/unified/unified_mode', MULTI)
    const contract = 'SOL_USDT'
    await guest.ask(`/futures/usdt/positions/${contract}/leverage`, {
      leverage: '0',
      cross_leverage_limit: '20',
    })
    await stage.cast.standBy()
    await guest.contract(contract, 40, '0', { tif: 'ioc' })
    await fall(stage, 'SOL', [0.97, 0.88], () => guest.get('/unified/accounts'))
  },
  'an isolated account falls': async (stage) => {
    const guest = await stage.guest({ USDT: '3000' })
    await toMargin(guest, '1000')
    const loan = { currency: 'USDT', currency_pair: 'ETH_USDT', type: 'borrow' }
    await guest.post('/margin/uni/loans', { ...loan, amount: '7000' })
    await toMargin(guest, '900', true)
    const seller = await stage.guest({ ETH: '3' })
    const price = stage.index('ETH')
    await seller.spot('sell', '2.5', price)
    await guest.spot('buy', '2.5', price, { account: 'margin' })
    await fall(stage, 'ETH', [0.93, 0.85], () => stage.clock(1))
    await stage.clock(15)
  },
}
