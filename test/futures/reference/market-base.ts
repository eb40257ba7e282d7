import type { ContractConfig, TierConfig } from '../../../src/core/tables/world/contracts.ts'
import { random } from '../../spot/compare.ts'
import { BTC_USD, BTC_USDT, CONTRACTS, DATED, ETH_USDT } from '../world.ts'
import { Beside } from './compare.ts'
import { availableOf, leverageOf, valueUp } from './margin.ts'
import { max } from './numbers.ts'

/** Ends after a few minutes; the other dated one is there to the end. */
const NEAR = 'delivery/usdt/BTC_USDT_20231114'
export const IDS = [
  BTC_USDT,
  BTC_USDT,
  BTC_USDT,
  BTC_USDT,
  ETH_USDT,
  ETH_USDT,
  BTC_USD,
  BTC_USD,
  NEAR,
  DATED,
] as const
export const EACH = [BTC_USDT, ETH_USDT, BTC_USD, NEAR, DATED] as const
export type Id = (typeof IDS)[number]
/** Tiers so low that a few thousand contracts are in the upper ones. */
const lower = (tiers: readonly TierConfig[], by: number): TierConfig[] =>
  tiers.map((tier) => ({ ...tier, risk_limit: String(Number(tier.risk_limit) / by) }))
const small = (config: ContractConfig, by: number): ContractConfig => ({
  ...config,
  tiers: lower(config.tiers, by),
  funding_interval: 120,
  order_size_min: 2,
  order_size_max: 150_000,
  market_order_size_max: '100000',
  orders_limit: 6,
})
const CONFIGS: readonly ContractConfig[] = [
  small(CONTRACTS.BTC_USDT, 100),
  small(CONTRACTS.ETH_USDT, 100),
  small(CONTRACTS.BTC_USD, 20),
  { ...small(CONTRACTS.DATED, 100), name: 'BTC_USDT_20231114', expire_time: 1_700_000_220 },
  small(CONTRACTS.DATED, 100),
]

/** The engine and the reference, and what all that chance does with them has in common. */
export class MarketBase extends Beside {
  protected readonly below: (below: number) => number

  constructor(seed: number) {
    super(CONFIGS)
    this.below = random(seed)
  }
  protected pick<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!
  }
  protected chance(one: number): boolean {
    return this.below(one) === 0
  }
  /** Somebody; often whose positions are being liquidated at this moment. */
  protected somebody(): number {
    const pending = this.reference.world.due.filter(({ kind }) => kind === 'futures.liquidate')
    return pending.length > 0 && this.chance(2)
      ? Number(this.pick(pending).of.split('/')[0])
      : this.pick(this.traders)
  }
  drain(): void {
    for (let steps = 0; this.oneDue(); steps++) if (steps > 2_000) throw new Error('due work without end')
  }
  protected named(
    user: number,
    id: Id,
  ): { user_id: number; group: string; settle: string; contract: string } {
    return { ...this.path(user, id), contract: this.contract(id).name }
  }
  protected tick(id: Id, price: number): string {
    return id === ETH_USDT ? price.toFixed(2) : price.toFixed(1)
  }
  protected near(id: Id): string {
    const away = this.pick([0.0005, 0.0005, 0.001, 0.002, 0.01, 0.21])
    return this.tick(id, Number(this.mark(id)) * (1 + away * (this.below(2001) / 1000 - 1)))
  }
  /** Often as much as the money of its owner carries, or a little more. */
  protected anySize(user: number, id: Id): number {
    const sign = this.chance(2) ? 1 : -1
    const { world } = this.reference
    const c = world.contract(id)
    const row = world.positionsOf(user, c)[0]!
    const [cash, one] = [
      Number(max(0n, availableOf(world, user, c.account).own)),
      Number(valueUp(c, 1n, world.priceOf(id).mark)),
    ]
    const most = Math.floor(
      (cash / one) * (Number(leverageOf(row)) / 1e18) * this.pick([0.02, 0.1, 0.5, 0.8, 1.1]),
    )
    if (most > 2 && most < 140_000 && !this.chance(3)) return sign * most
    const size = 1 + this.below(this.pick([5, 300, 2_000, 5_000, 20_000]))
    return sign * (id === BTC_USD ? size * 7 : id === ETH_USDT ? Math.ceil(size / 3) : size)
  }
  protected isDual(user: number, id: Id): boolean {
    return this.reference.world.isDual(user, this.contract(id).account)
  }
}
