import { RiskWatch } from '../src/core/unified/watch.ts'
import { transferable } from '../src/core/unified/loans.ts'
import { figuresOf } from '../src/core/unified/portfolio.ts'
import { mustLiquidate } from '../src/core/unified/levels.ts'
import { format } from '../src/money/amount.ts'
import { Lender } from '../test/unified/setup.ts'

/**
 * How fast accounts are looked at again after a price tick, and whom a tick does not concern. Then a crash:
 * 10,000 leveraged accounts, those below maintenance liquidated through the book.
 */
const ACCOUNTS = 10_000
const rate = (count: number, ms: number): string => `${((count / ms) * 1000).toFixed(0)}/s`

export function run(args: readonly string[]): Promise<void> {
  const accounts = args[0] === undefined ? ACCOUNTS : Number(args[0])
  const engine = new Lender()
  engine.prices({ BTC: '60000', ETH: '3000' })
  const maker = engine.user({ USDT: '2000000000' })
  for (const fund of ['pool', 'insurance'] as const)
    engine.must('lending.fund', { currency: 'USDT', fund, amount: '100000000', actor: null })
  const watch = new RiskWatch(engine.state)
  const users: number[] = []
  for (let i = 0; i < accounts; i++) {
    const user = engine.unified(i % 2 === 0 ? { BTC: '0.1', USDT: '10' } : { ETH: '2', USDT: '10' })
    engine.loan(user, 'borrow', 'USDT', String(1_000 + ((i * 7919) % 4_300)))
    const out = transferable(engine.state, user, 'unified', 'USDT')
    const to = { to: 'futures', currency_pair: null, settle: 'usdt' } as const
    engine.must('transfer.create', {
      user_id: user,
      currency: 'USDT',
      from: 'spot',
      amount: format(out),
      ...to,
    })
    users.push(user)
  }
  const look = (): { ms: number; looks: number; found: number } => {
    const before = watch.looks
    const start = performance.now()
    let count = 0
    for (;;) {
      const { found, more } = watch.suspects(500)
      count += found.length
      if (found.length > 0) engine.must('margin.check', { accounts: found })
      if (!more) break
    }
    return { ms: performance.now() - start, looks: watch.looks - before, found: count }
  }
  const first = look()
  console.log(`${accounts} accounts in debt: first look at all ${rate(first.looks, first.ms)}`)
  for (const [text, prices] of [
    ['0.1 % down in BTC', { BTC: '59940' }],
    ['2 % down in BTC', { BTC: '58800' }],
    ['2 % down in ETH', { ETH: '2940' }],
    ['0.1 % down in SOL, which nobody holds', { SOL: '149' }],
  ] as const) {
    engine.prices(prices)
    const tick = look()
    console.log(
      `  ${text}: ${tick.looks} accounts re-evaluated in ${tick.ms.toFixed(1)} ms (${rate(tick.looks, tick.ms)}), ${tick.found} below maintenance`,
    )
  }
  crash(engine, watch, users, maker, look)
  return Promise.resolve()
}

function crash(
  engine: Lender,
  watch: RiskWatch,
  users: readonly number[],
  maker: number,
  look: () => { ms: number; looks: number; found: number },
): void {
  for (let i = 0; i < 40; i++) engine.place(maker, 'buy', '100', '42000')
  for (let i = 0; i < 40; i++) engine.place(maker, 'buy', '1000', '2100', { currency_pair: 'ETH_USDT' })
  engine.prices({ BTC: '42000', ETH: '2100' })
  const below = users.filter((user) => mustLiquidate(figuresOf(engine.state, user, 'unified')))
  const fund = engine.state.ledger.balance(0, 'insurance', 'USDT')
  const start = performance.now()
  const tick = look()
  engine.due(engine.at + 60e6)
  const ms = performance.now() - start
  const left = users.filter((user) => mustLiquidate(figuresOf(engine.state, user, 'unified'))).length
  engine.state.ledger.check()
  const paid = (fund - engine.state.ledger.balance(0, 'insurance', 'USDT')) / 10n ** 18n
  console.log(
    `  crash to 70 %: ${below.length} accounts below maintenance, ${tick.found} found, liquidated in ${ms.toFixed(0)} ms (${rate(tick.found, ms)}), ${left} left below; insurance paid ${paid} USDT, the ledger balances`,
  )
  if (tick.found !== below.length || left !== 0) throw new TypeError('the watch missed an account')
  if (watch.looks === 0) throw new TypeError('nothing was looked at')
}
