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
/** How often each happens, in a thousand. */
const WEIGHTS = {
  place: 290,
  amend: 70,
  cancel: 70,
  transfer: 80,
  sub: 70,
  withdraw: 40,
  deposit: 40,
  mine: 40,
  credit: 30,
  stray: 190,
  price: 15,
  clock: 25,
  evict: 20,
  stop: 6,
  kill: 9,
  reconfigure: 5,
} as const
export type Act = keyof typeof WEIGHTS
export const ACTS = Object.keys(WEIGHTS) as Act[]
const NUMBERS = 8
const NUMBER_MAX = 2 ** 30

export function plan(seed: number, count: number): Step[] {
  const random = new Random(seed)
  const total = ACTS.reduce((sum, act) => sum + WEIGHTS[act], 0)
  const draw = (): Act => {
    let ticket = random.below(total)
    for (const act of ACTS) {
      ticket -= WEIGHTS[act]
      if (ticket < 0) return act
    }
    throw new RangeError('no act is left')
  }
  return Array.from({ length: count }, () => ({
    act: draw(),
    who: random.below(NUMBER_MAX),
    n: Array.from({ length: NUMBERS }, () => random.below(NUMBER_MAX)),
    way: random.chance(0.05) ? 'twice' : random.chance(0.03) ? 'late' : 'once',
  }))
}
