import { Crash } from '../test/unified/crash.ts'

/**
 * How fast accounts are looked at again after a price tick, and whom a tick does not concern. Then a crash of the
 * market: 10,000 leveraged accounts of four kinds, and an evaluation that shares no code with the risk engine
 * says who must be liquidated and who must not be touched.
 */
const ACCOUNTS = 10_000
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
  const accounts = args[0] === undefined ? ACCOUNTS : Number(args[0])
  const crash = new Crash(accounts)
  const { engine } = crash
  const first = crash.look()
  console.log(
    `${accounts} accounts in debt; first look: ${first.looks} in ${first.ms.toFixed(0)} ms (${rate(first.looks, first.ms)})`,
  )
  console.log(
    'after a price tick, accounts re-evaluated (the others are within their bounds and cost nothing):',
  )
  for (const [text, prices] of TICKS) {
    engine.prices(prices)
    const { looks, ms, found } = crash.look()
    console.log(
      `  ${text}: ${looks} of ${accounts} in ${ms.toFixed(1)} ms (${rate(looks, ms)}), ${found} of them at a new level`,
    )
  }
  const all = crash.lookAtAll()
  console.log(
    `  every account due at once: ${all.looks} in ${all.ms.toFixed(0)} ms (${rate(all.looks, all.ms)})`,
  )
  concerned(crash)
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
    console.log(`  BTC ${btc}, ETH ${eth}: ${below} liquidated in ${ms.toFixed(0)} ms (${rate(below, ms)})`)
  }
  console.log(`  the insurance fund paid ${crash.insured / 10n ** 18n} USDT for debts without collateral`)
  return Promise.resolve()
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
