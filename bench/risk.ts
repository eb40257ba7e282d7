import { PLAIN } from '../src/core/spot/place.ts'
import { borrowable, transferable } from '../src/core/unified/loans.ts'
import { format, type Amount } from '../src/money/amount.ts'
import { Engine } from '../test/spot/engine.ts'
import { Crash } from '../test/unified/crash.ts'
import { plunge } from './plunge.ts'
import type { Row, Table } from './results.ts'

/**
 * How fast accounts are looked at again after a price tick, and whom a tick does not concern. Then a crash of the
 * market: 10,000 leveraged accounts of four kinds, and an evaluation that shares no code with the risk engine
 * says who must be liquidated and who must not be touched.
 */
const ACCOUNTS = 10_000
const NONE = { usdt_futures: null, options: null, spot_hedge: null, use_funding: null }
const rate = (count: number, ms: number): string =>
  ms === 0 || count === 0 ? '-' : `${((count / ms) * 1000).toFixed(0)}/s`

const TICKS: readonly (readonly [text: string, prices: Readonly<Record<string, string>>])[] = [
  ['BTC 0.1 % down', { BTC: '59940' }],
  ['BTC 1 % down', { BTC: '59400' }],
  ['BTC 4 % down', { BTC: '57600' }],
  ['ETH 4 % down', { ETH: '2880' }],
  ['BTC and ETH 6 % down', { BTC: '56400', ETH: '2820' }],
  ['SOL, which nobody holds, 30 % down', { SOL: '105' }],
  ['all back up', { BTC: '60000', ETH: '3000' }],
]

export function run(args: readonly string[]): Promise<void> {
  look(args[0] === undefined ? ACCOUNTS : Number(args[0]))
  return Promise.resolve()
}
export const measured = (quick: boolean): Promise<Table[]> => Promise.resolve(look(quick ? 400 : ACCOUNTS))

function look(accounts: number): Table[] {
  const plunged = plunge(accounts)
  const seen: Row[] = []
  const looked = (name: string, count: number, ms: number): void => {
    seen.push({
      name,
      figures: { ...(ms > 0 && count > 0 && { rate: (count / ms) * 1000 }), milliseconds: ms, count },
    })
  }
  const crash = new Crash(accounts)
  const { engine } = crash
  const first = crash.look()
  console.log(
    `${accounts} accounts in debt; first look: ${first.looks} in ${first.ms.toFixed(0)} ms (${rate(first.looks, first.ms)})`,
  )
  looked('first look at everybody', first.looks, first.ms)
  console.log(
    'after a price tick, accounts re-evaluated (the others are within their bounds and cost nothing):',
  )
  for (const [text, prices] of TICKS) {
    engine.prices(prices)
    const { looks, ms, found } = crash.look()
    looked(text, looks, ms)
    console.log(
      `  ${text}: ${looks} of ${accounts} in ${ms.toFixed(1)} ms (${rate(looks, ms)}), ${found} of them at a new level`,
    )
  }
  const all = crash.lookAtAll()
  console.log(
    `  every account due at once: ${all.looks} in ${all.ms.toFixed(0)} ms (${rate(all.looks, all.ms)})`,
  )
  looked('everybody at once', all.looks, all.ms)
  concerned(crash)
  const falls: Row[] = []
  console.log(
    'a crash; checked after each fall: all below maintenance were liquidated, none above it was touched,',
  )
  console.log(
    "the insurance fund changed by its recorded steps alone, the pools' claims are the users' debts:",
  )
  for (const [btc, eth] of [
    ['53000', '2600'],
    ['47000', '2300'],
    ['36000', '1800'],
  ] as const) {
    const { below, ms } = crash.fall(btc, eth)
    falls.push({
      name: `BTC at ${btc}, ETH at ${eth}`,
      figures: { ...(below > 0 && { rate: (below / ms) * 1000 }), milliseconds: ms, count: below },
    })
    console.log(`  BTC ${btc}, ETH ${eth}: ${below} liquidated in ${ms.toFixed(0)} ms (${rate(below, ms)})`)
  }
  const turns = longestTurns()
  console.log(`  the insurance fund paid ${crash.insured / 10n ** 18n} USDT for debts without collateral`)
  return [
    { title: `Accounts in debt looked at again, of ${accounts}`, rows: seen },
    { title: 'Accounts liquidated in a fall', rows: falls },
    { title: 'Contracts in a fall', rows: plunged },
    { title: 'Longest single turns of one account in debt with as many orders as it may have', rows: turns },
  ]
}

/**
 * How long one account can keep everybody else waiting: the longest single turn of what it may ask for with as many
 * orders open as it may have, in debt, in every market.
 */
function longestTurns(): Row[] {
  const engine = new Engine()
  const { state } = engine
  const user_id = engine.user({ USDT: '100000000' })
  engine.must('lending.begin', { seed: true })
  engine.must('margin.mode', { user_id, mode: 'multi_currency', settings: NONE })
  engine.must('margin.loan', {
    user_id,
    scope: 'unified',
    currency: 'BTC',
    type: 'borrow',
    amount: '1',
    repaid_all: false,
    text: null,
    known_id: null,
  })
  const worst = new Map<string, number>()
  const time = <T>(name: string, act: () => T): T => {
    const start = performance.now()
    const result = act()
    worst.set(name, Math.max(worst.get(name) ?? 0, performance.now() - start))
    return result
  }
  const markets = state.world.allMarkets.filter(({ quote }) => quote === 'USDT')
  for (const market of markets) {
    const price = state.prices.of(market.base) as bigint as Amount
    for (let i = 0; i < 1_000; i++) {
      const low = (price * BigInt(500 + (i % 400))) / 1000n
      const amount = (10n ** 19n * 10n ** 18n) / low
      const order = {
        ...PLAIN,
        currency_pair: market.id,
        type: 'limit' as const,
        side: 'buy' as const,
        price: format((low - (low % market.tick)) as Amount),
        amount: format((amount - (amount % market.lot)) as Amount),
        time_in_force: 'gtc' as const,
      }
      time('an order placed', () => engine.run('spot.place', { user_id, order }))
    }
  }
  const open = markets.reduce((sum, { id }) => sum + state.spot.openCount(user_id, id), 0)
  for (const { currency } of state.world.allCurrencies) {
    time('transferable of a currency', () => transferable(state, user_id, 'unified', currency))
    time('borrowable of a currency', () => borrowable(state, user_id, 'unified', currency))
  }
  const which = { user_id, currency_pair: null, side: null, account: null }
  const { rest, ...first } = time('a portion of cancel-all', () => engine.must('spot.cancel_all', which))
  for (let { due_id } = first; due_id !== 0;)
    ({ due_id } = time('a portion of cancel-all', () => engine.must('spot.cancel_next', { due_id, rest })))
  console.log(`longest single turns of one account in debt with ${open} open orders:`)
  for (const [name, ms] of worst) console.log(`  ${name}: ${ms.toFixed(1)} ms`)
  return [...worst].map(([name, milliseconds]) => ({ name, figures: { milliseconds } }))
}

/** A tick of one currency looks at its holders alone, even when it crosses everybody's bounds. */
function concerned(crash: Crash): void {
  const { engine } = crash
  const holders = crash.users.filter(
    (user) =>
      engine.state.ledger.balance(user, 'spot', 'ETH') !== 0n ||
      engine.state.ledger.balance(user, 'debt.unified', 'ETH') !== 0n,
  ).length
  engine.prices({ ETH: '30000' })
  const { looks } = crash.look()
  engine.prices({ ETH: '3000' })
  const back = crash.look().looks
  if (looks > 2 * holders) throw new TypeError('a tick of ETH made accounts without ETH be looked at')
  console.log(
    `  ETH ten times up and back: ${looks} and ${back} looks; ${holders} of ${crash.users.length} accounts hold ETH`,
  )
}
