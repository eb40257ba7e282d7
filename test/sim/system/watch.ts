import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import type { Account } from '../../../src/core/ledger/ledger.ts'
import type { Deposit } from '../../../src/core/tables/deposits.ts'
import type { ContractPrice } from '../../../src/core/tables/futures/prices.ts'
import type { Position } from '../../../src/core/tables/futures/positions.ts'
import type { CommittedCommand, Commits, Subscription } from '../../../src/machine/stream.ts'

/** Names of accounts whose money may be below zero: debts, and what the platform owes. */
export const MAY_OWE = /^debt\.|^loan|^interest/
const ROWS_MAX = 400_000
const CLEARING = /^(futures|delivery)\.clearing:([^.]+)\.(.+)$/

/** What one step touched, and whether the whole must be looked at because too much happened. */
export interface Touched {
  /** Whose money, or anything else of his. */
  readonly owners: ReadonlySet<number>
  /** Contracts whose prices are others. */
  readonly priced: ReadonlySet<string>
  readonly lost: boolean
}
export const both = (one: Touched, other: Touched): Touched => ({
  owners: new Set([...one.owners, ...other.owners]),
  priced: new Set([...one.priced, ...other.priced]),
  lost: one.lost || other.lost,
})
export type Heard = (command: CommittedCommand) => void

/**
 * Hears what every command changed, as sockets do, and adds up the changes alone: each currency by command, each
 * contract's sizes and what its clearing carries for them.
 */
export class Watch {
  private place: Subscription | undefined
  private state!: State
  private readonly heard: Heard
  /** Accounts that are below zero because a chain took back what had been paid in: they may only rise. */
  readonly owing = new Set<string>()

  constructor(heard: Heard = () => undefined) {
    this.heard = heard
  }
  /** Another process, or another world: all that was heard before is told by a look at the whole. */
  follow(state: State, commits: Commits): void {
    this.state = state
    this.place = commits.subscribe(ROWS_MAX, () => undefined)
  }
  check(): Touched {
    const { batches, lost } = this.place!.take()
    const owners = new Set<number>()
    const priced = new Set<string>()
    for (const { commands } of batches)
      for (const command of commands) {
        this.add(command, owners, priced)
        this.heard(command)
      }
    return { owners, priced, lost }
  }
  private add({ changes }: CommittedCommand, owners: Set<number>, priced: Set<string>): void {
    const { ledger, futures, wallet } = this.state
    const currencies = new Map<string, bigint>()
    /** By contract: sizes, and costs less what clearing carries. */
    const sizes = new Map<string, bigint>()
    const carried = new Map<string, bigint>()
    const more = (sums: Map<string, bigint>, key: string, by: bigint): void =>
      void sums.set(key, (sums.get(key) ?? 0n) + by)
    /** From whom a chain has taken what. */
    const taken = new Set<string>()
    for (const { table, before, after } of changes) {
      const { user_id } = (after ?? before) as { user_id?: number }
      if (user_id !== undefined) owners.add(user_id)
      if (table === (futures.prices as unknown)) priced.add(((after ?? before) as ContractPrice).id)
      if (table === (wallet.deposits.table as unknown)) {
        const [was, is] = [before, after] as [Deposit | undefined, Deposit | undefined]
        if (was?.booked === 'user' && is?.booked === 'none') taken.add(`${is.user_id} spot ${is.currency}`)
      }
    }
    for (const { table, before, after } of changes)
      if (table === (ledger.accounts as unknown)) {
        const [was, is] = [before, after] as [Account | undefined, Account | undefined]
        const { owner, name, currency } = (is ?? was)!
        const by = (is?.amount ?? 0n) - (was?.amount ?? 0n)
        more(currencies, currency, by)
        if (owner === 0) {
          const [, group, settle, contract] = CLEARING.exec(name) ?? []
          if (contract !== undefined) more(carried, `${group}/${settle}/${contract}`, by)
        } else {
          owners.add(owner)
          const key = `${owner} ${name} ${currency}`
          if (is === undefined || is.amount >= 0n) this.owing.delete(key)
          else if (taken.has(key)) this.owing.add(key)
          else if (!MAY_OWE.test(name)) assert.ok(this.owing.has(key) && by >= 0n, `${key}: ${is.amount}`)
        }
      } else if (table === (futures.positions.table as unknown)) {
        const [was, is] = [before, after] as [Position | undefined, Position | undefined]
        const { contract } = (is ?? was)!
        more(sizes, contract, (is?.size ?? 0n) - (was?.size ?? 0n))
        const cost = (is?.cost ?? 0n) - (was?.cost ?? 0n)
        const inverse = this.state.world.findContract(contract)?.terms.kind === 'inverse'
        more(carried, contract, inverse ? -cost : cost)
      }
    for (const [currency, sum] of currencies) assert.equal(sum, 0n, `a command's changes of ${currency}`)
    for (const [contract, sum] of sizes) assert.equal(sum, 0n, `a command's sizes of ${contract}`)
    for (const [contract, sum] of carried) assert.equal(sum, 0n, `a command's clearing of ${contract}`)
  }
}
