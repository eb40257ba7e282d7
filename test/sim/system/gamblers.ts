import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import { reduceWorst } from '../../futures/reference/liquidation.ts'
import { availableOf, isCross, orderMargins, unitOf, valueUp } from '../../futures/reference/margin.ts'
import type { Reference } from '../../futures/reference/reference.ts'
import { besidesContracts } from '../../futures/reference/shared.ts'
import { Random } from '../random.ts'
import type { Member } from './cast.ts'
import { Debts, type Contracts, type DebtTold, type Debtor } from './debts.ts'
import type { Holders } from './holders.ts'
import type { House } from './house.ts'
import type { Model } from './model.ts'
import { toldOf, type Looked, type Told } from './overheard-debts.ts'
import type { UnifiedModel } from './unified-model.ts'

const ACCOUNT = 'futures/usdt'
/** What may be ordered with what is there, at the least leverage. */
const LEVERAGE = { multi_currency: 17, portfolio: 5 } as const

/** Holders who hold so much that they are liquidated as a whole: positions reduced, loans repaid, coins sold. */
export class Gamblers {
  private readonly house: House
  private readonly holders: Holders
  private readonly reference: () => Reference
  private readonly debts: Debts
  private readonly debtors = new Map<number, Debtor>()

  constructor(
    house: House,
    holders: Holders,
    reference: () => Reference,
    model: () => UnifiedModel,
    spot: Model,
    note: (what: string) => void,
  ) {
    this.house = house
    this.holders = holders
    this.reference = reference
    this.debts = new Debts(model, spot, (what) => note(`gamblers: ${what}`))
  }
  begin(): void {
    for (const { user } of this.holders.gamblers) {
      const none = (): never => assert.fail('it has no spot orders')
      const account = this.holders.synced(user)
      const contracts = this.contracts(user)
      this.debtors.set(user, { user, account, level: 'normal', open: () => [], resting: none, contracts })
    }
  }
  private contracts(user: number): Contracts {
    return {
      figures: () => {
        const { world } = this.reference()
        this.holders.synced(user, true)
        const unit = unitOf(world, user, ACCOUNT)
        const beside = besidesContracts(world, user, ACCOUNT, 0n)!
        return {
          pnl: unit.pnl,
          initial: unit.initial - beside.initial + orderMargins(world, user, ACCOUNT).all,
          maintenance: unit.maintenance - beside.maintenance,
        }
      },
      reduce: () => {
        const { world } = this.reference()
        this.holders.synced(user, true)
        const sizes = (): bigint =>
          world.held(user, ACCOUNT).reduce((sum, { size }) => sum + (size < 0n ? -size : size), 0n)
        const before = sizes()
        const rows = world.held(user, ACCOUNT).filter(isCross)
        if (rows.length > 0) reduceWorst(world, rows, 0)
        this.holders.synced(user)
        return before - sizes()
      },
    }
  }
  isOne(user: unknown): boolean {
    return this.debtors.has(user as number)
  }
  /** Whether something will be done to one of them by and by: he is being liquidated, or nobody has looked at him yet. */
  get anyWaits(): boolean {
    for (const debtor of this.debtors.values()) {
      if (debtor.level === 'locked') return true
      this.holders.synced(debtor.user)
      if (this.debts.levelOf(debtor) !== debtor.level) return true
    }
    return false
  }
  /** What a recorded command did to them. */
  carryOut(told: Told, input: Readonly<Record<string, unknown>>): void {
    const { item, at } = told
    const given = item?.input ?? input
    if (item?.command === 'margin.recheck') return
    if (item?.command === 'margin.liquidate') {
      this.reference().step(at, () =>
        this.judged(given['user_id'] as number, told, (one, mine) =>
          this.debts.liquidate(one, mine, given['tries'] as number),
        ),
      )
      return
    }
    const users =
      item?.command === 'lending.hour'
        ? [...this.debtors.values()].filter(({ account }) => account.owes).map(({ user }) => user)
        : (given['accounts'] as readonly Looked[]).map(({ user_id }) => user_id)
    for (const user of users)
      if (this.isOne(user)) this.judged(user, told, (one, mine) => this.debts.look(one, mine))
  }
  private judged(user: number, told: Told, act: (debtor: Debtor, told: DebtTold) => void): void {
    const debtor = this.debtors.get(user)!
    this.holders.synced(user)
    const mine = toldOf(told, user)
    act(debtor, mine)
    this.holders.synced(user, true)
    assert.deepEqual(mine.steps, [], `nothing else is done to ${user}`)
  }

  /** Somebody who may take more, and about as much as he may take; undefined: nobody now. */
  takes(who: number, seed: number, contract: string): { by: Member; size: number } | undefined {
    const by = this.holders.gamblers[who % this.holders.gamblers.length]!
    const { world } = this.reference()
    const { level, account } = this.debtors.get(by.user)!
    const available = availableOf(world, by.user, ACCOUNT).cross
    if (level === 'locked' || available <= 0n) return undefined
    const random = new Random(seed)
    const c = world.contract(contract)
    const one = Number(valueUp(c, 1n, world.priceOf(contract).mark))
    const leverage = LEVERAGE[account.mode as keyof typeof LEVERAGE]
    const most = (Number(available) * leverage) / one
    const count = Math.trunc(most * random.pick([0.3, 0.7, 0.9, 0.95, 1.3]))
    return count === 0 ? undefined : { by, size: random.pick([1, -1]) * count }
  }
  /** The way that the price must go to ruin one of them, 0: he holds nothing. */
  ruinedBy(who: number): number {
    const { user } = this.holders.gamblers[who % this.holders.gamblers.length]!
    const [row] = this.reference().world.held(user, ACCOUNT)
    return row === undefined ? 0 : row.size > 0n ? -1 : 1
  }
  async check(state: State): Promise<void> {
    for (const debtor of this.debtors.values()) {
      this.holders.synced(debtor.user)
      // The watcher comes after what it looks at.
      if (debtor.level !== 'locked' && this.debts.levelOf(debtor) !== debtor.level) {
        await this.house.drain()
        this.holders.synced(debtor.user)
        this.wasLookedAt(debtor)
      }
      assert.equal(state.margin.riskLevelOf(debtor.user, 'unified'), debtor.level, `level of ${debtor.user}`)
    }
  }
  private wasLookedAt(debtor: Debtor): void {
    if (debtor.level === 'locked') return
    assert.equal(debtor.level, this.debts.levelOf(debtor), `nobody has looked at ${debtor.user}`)
  }
}
