import { availableOf, leverageOf, valueUp } from '../../futures/reference/margin.ts'
import { max } from '../../futures/reference/numbers.ts'
import type { Order, Position, World } from '../../futures/reference/world.ts'
import type { Random } from '../random.ts'
import type { Call } from './house.ts'

/** A call about contracts, and the command that it leads to. */
export interface Said {
  readonly call: Call
  readonly command: string
  readonly input: object
}
export interface Around {
  readonly world: World
  readonly user: number
  readonly random: Random
  /** Name of the contract. */
  readonly name: string
  /** Orders of his that both know: those that are open, and some that are or were. */
  readonly open: readonly Order[]
  readonly known: readonly number[]
  /** Contracts that he holds and orders at most; undefined: what his money carries. */
  readonly cap?: number
}
export const ACCOUNT = { group: 'futures', settle: 'usdt' } as const
const BASE = '/futures/usdt'
/** Worth less than the first tier of risk is, so that it is margin that ends it. */
export const MOST = 900_000
export type Body = Readonly<Record<string, unknown>>

/** What all calls of a trader have in common. */
export class CallsBase {
  protected readonly around: Around
  protected readonly id: string

  constructor(around: Around) {
    this.around = around
    this.id = `${ACCOUNT.group}/${ACCOUNT.settle}/${around.name}`
  }
  protected get random(): Random {
    return this.around.random
  }
  protected get world(): World {
    return this.around.world
  }
  protected get dual(): boolean {
    return this.world.isDual(this.around.user, 'futures/usdt')
  }
  protected get rows(): Position[] {
    return this.world.positionsOf(this.around.user, this.world.contract(this.id))
  }
  protected get mark(): number {
    return Number(this.world.priceOf(this.id).mark) / 1e18
  }
  protected said(
    command: string,
    method: string,
    path: string,
    input: object,
    more: Partial<Call> = {},
  ): Said {
    const { user, name } = this.around
    return {
      command: `futures.${command}`,
      call: { method, path: `${BASE}${path}`, ...more },
      input: { user_id: user, ...ACCOUNT, contract: name, ...input },
    }
  }
  protected near(far = this.random.pick([0.0005, 0.0005, 0.001, 0.002, 0.01, 0.21])): string {
    return (this.mark * (1 + far * (this.random.below(2001) / 1000 - 1))).toFixed(1)
  }
  /** As much as the money of its owner carries, on either side. */
  protected most(): number {
    const { world } = this
    const c = world.contract(this.id)
    const cash = Number(max(0n, availableOf(world, this.around.user, c.account).own))
    const one = Number(valueUp(c, 1n, world.priceOf(this.id).mark))
    const leverage = Number(leverageOf(this.rows[0]!)) / 1e18
    return (this.random.pick([1, -1]) * Math.min(MOST * 1e18, cash * leverage)) / one
  }
  protected capped(cap: number): number {
    const { random } = this
    const taken = this.around.open.reduce((sum, { left }) => sum + Number(left), 0)
    const [{ size }] = this.rows as [Position]
    const room = Math.max(1, cap - taken - Math.abs(Number(size)))
    return random.pick([1, -1]) * (1 + random.below(room))
  }
  /** Often that, or a little more. */
  protected size(): number {
    const { random } = this
    const { cap } = this.around
    // What an isolated position may lose is its margin: it needs no cap.
    if (cap !== undefined && this.rows[0]!.leverage === 0n) return this.capped(cap)
    const most = Math.trunc(this.most() * random.pick([0.05, 0.2, 0.5, 0.8, 1.1]))
    if (Math.abs(most) > 2 && random.chance(0.7)) return most
    return random.pick([1, -1]) * (1 + random.below(random.pick([5, 300, 2_000, 20_000])))
  }
}
