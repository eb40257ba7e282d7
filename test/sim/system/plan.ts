import { Random } from '../random.ts'

/** How a request travels: once, twice at the same moment, or so late that its signature has expired. */
export type Way = 'once' | 'twice' | 'late'
/**
 * One thing that happens. Everything about it follows from its numbers and from what has happened before, so that a
 * list of steps can be kept in a file, run again, and made shorter.
 */
export interface Step {
  readonly act: Act
  readonly who: number
  readonly n: readonly number[]
  readonly way: Way
}
/** How often each happens, in ten thousand. */
const WEIGHTS = {
  place: 2_798,
  amend: 830,
  cancel: 830,
  transfer: 730,
  sub: 400,
  withdraw: 200,
  deposit: 130,
  mine: 100,
  credit: 300,
  unified: 440,
  debt: 240,
  contracts: 420,
  stray: 1_000,
  any: 800,
  money: 500,
  scene: 80,
  dear: 3,
  price: 110,
  clock: 120,
  evict: 50,
  join: 60,
} as const
/** What costs as much as hundreds of the others, among each other. */
const RARE = {
  stop: 5,
  kill: 4,
  crash: 8,
  reconfigure: 4,
  takeover: 4,
  agents: 1,
  reset: 2,
  long: 1,
} as const
/** Much dearer than a start of the platform and its look at everything: not in short histories. */
const RARE_LATE = { ...RARE, crowd: 1 } as const
/** It happens often at first, so that a short history has its share, and seldom later, so that long ones can be afforded. */
const RARE_OFTEN = 0.02
const OFTEN_STEPS = 400
const RARE_LATER = 0.000_5
type Weights = Readonly<Record<string, number>>
export type Act = keyof typeof WEIGHTS | keyof typeof RARE_LATE
const NUMBERS = 8
const NUMBER_MAX = 2 ** 30

/** Steps of a seed, one after the other, without an end: a longer history begins as a shorter one does. */
export function* steps(seed: number): Generator<Step, never> {
  const random = new Random(seed)
  const draw = (weights: Weights): Act => {
    let ticket = random.below(Object.values(weights).reduce((sum, weight) => sum + weight, 0))
    for (const [act, weight] of Object.entries(weights)) {
      ticket -= weight
      if (ticket < 0) return act as Act
    }
    throw new RangeError('no act is left')
  }
  for (let i = 0; ; i++) {
    const early = i < OFTEN_STEPS
    yield {
      act: draw(random.chance(early ? RARE_OFTEN : RARE_LATER) ? (early ? RARE : RARE_LATE) : WEIGHTS),
      who: random.below(NUMBER_MAX),
      n: Array.from({ length: NUMBERS }, () => random.below(NUMBER_MAX)),
      way: random.chance(0.05) ? 'twice' : random.chance(0.03) ? 'late' : 'once',
    }
  }
}
export function plan(seed: number, count: number): Step[] {
  const all = steps(seed)
  return Array.from({ length: count }, () => all.next().value)
}
