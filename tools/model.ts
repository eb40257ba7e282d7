import { COSTS, TAKEN, type Taken } from './model/costs.ts'
import { capacity, most, needed, shareOut, simulate } from './model/fleet.ts'

/**
 * `npm run model [-- --seed 1 --requests 60000 --network 100 …]`: what a core carries by its measured costs, and what 1, 4, 16
 * and 64 machines would, before and after the split that docs/scale.md describes. A model: no code of the split exists.
 */
const MACHINES = [1, 4, 16, 64]
const LOADS = [0.5, 0.8]

const asked = options(process.argv.slice(2))
const taken: Taken = {
  ...TAKEN,
  ...Object.fromEntries(Object.entries(asked).filter(([name]) => name in TAKEN)),
}
const { seed = 1, requests = 60_000 } = asked
const whole = (value: number): string => (value === Infinity ? '–' : Math.round(value).toLocaleString('en'))
const ms = (micros: number): string => (micros / 1000).toFixed(1)

console.log(
  `seed ${seed}, ${whole(requests)} requests a run; taken: ${Object.entries(taken)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')}\n`,
)
console.log('One core, each kind alone, requests a second:')
const perSecond = (micros: number): string => whole(1e6 / micros)
for (const kind of ['transfer', 'order'] as const)
  console.log(
    `  ${kind.padEnd(9)} core's thread ${perSecond(COSTS.core[kind])}, follower on PostgreSQL ${perSecond(COSTS.follower[kind])}, one gateway ${perSecond(COSTS.gateway[kind])}`,
  )
console.log(
  `  read      core's thread ${perSecond(COSTS.core.read)}, one gateway ${perSecond(COSTS.gateway.read)}`,
  `\n  frames    one gateway ${perSecond(COSTS.frame.alone)} alone, ${perSecond(COSTS.frame.together)} when they leave together\n`,
)
const HEAD = [
  'machines',
  'with work',
  'cores that write',
  'gateways',
  'most a second',
  'what ends it',
  'load',
  'served a second',
  'p50 ms',
  'p99 ms',
  'p99 of orders ms',
]
const row = (cells: readonly (string | number)[]): void => console.log(`| ${cells.join(' | ')} |`)
function table(title: string, given: Taken, kinds: (machines: number) => readonly boolean[]): void {
  console.log(`${title}\n`)
  row(HEAD)
  row(HEAD.map(() => '---'))
  for (const machines of MACHINES)
    for (const split of kinds(machines)) {
      const fleet = needed(shareOut(machines, given, split), given)
      const { rate, part } = most(capacity(fleet, given))
      const parts = fleet.markets === 0 ? '1' : `${fleet.ledgers} + ${fleet.markets}`
      for (const load of LOADS) {
        const run = simulate(fleet, given, { rate: rate * load, requests, seed })
        const times = [run.p50, run.p99, run.orderP99].map(ms)
        row([
          machines,
          fleet.used,
          parts,
          fleet.gateways,
          whole(rate),
          part,
          `${load * 100} %`,
          whole(run.served),
          ...times,
        ])
      }
    }
  console.log('')
}
table('One core that writes, as built:', taken, () => [false])
table(`Split (ledgers + markets), orders fall on markets as 1/n^${taken.skew}:`, taken, (machines) =>
  machines === 1 ? [] : [true],
)
table('Split, every market as busy as the next:', { ...taken, skew: 0 }, (machines) =>
  machines === 1 ? [] : [true],
)

function options(args: readonly string[]): Record<string, number> {
  const known = ['seed', 'requests', ...Object.keys(TAKEN)]
  const given: Record<string, number> = {}
  for (let i = 0; i < args.length; i += 2) {
    const name = args[i]!.replace(/^--/, '')
    const value = Number(args[i + 1])
    if (!known.includes(name) || !Number.isFinite(value)) {
      console.error(`usage: npm run model -- [${known.map((one) => `--${one} NUMBER`).join('] [')}]`)
      process.exit(2)
    }
    given[name] = value
  }
  return given
}
