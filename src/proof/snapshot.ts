import { createHmac } from 'node:crypto'
import { isPlatform } from '../core/ledger/accounts.ts'
import type { Account } from '../core/ledger/ledger.ts'
import { format, type Amount } from '../money/amount.ts'
import {
  commonRoot,
  leafOf,
  levelAbove,
  pathOf,
  type CurrencyRoot,
  type InclusionProof,
  type SumNode,
} from './liabilities.ts'

/** Hashes between two turns of the event loop: some 10 ms. */
const SLICE = 5_000

interface Tree {
  readonly root: CurrencyRoot
  /** What users owe who owe more than they have: not in the tree, where it would hide what others are owed. */
  readonly owed: Amount
  readonly places: ReadonlyMap<number, number>
  readonly levels: readonly (readonly SumNode[])[]
}
/** Net balances at one moment: currency → user → balances less debts. */
export type Balances = ReadonlyMap<string, ReadonlyMap<number, bigint>>
export function netBalances(accounts: Iterable<Account>): Balances {
  const currencies = new Map<string, Map<number, bigint>>()
  for (const { owner, currency, amount } of accounts) {
    if (isPlatform(owner)) continue
    let users = currencies.get(currency)
    if (users === undefined) currencies.set(currency, (users = new Map<number, bigint>()))
    users.set(owner, (users.get(owner) ?? 0n) + amount)
  }
  return currencies
}

/** All trees of one moment. The salt is secret: without it a leaf can't be guessed from a balance. */
export class LiabilitySnapshot {
  readonly root: string
  readonly sequence: number
  private readonly trees: readonly Tree[]
  private readonly salt: string

  private constructor(trees: readonly Tree[], sequence: number, salt: string) {
    this.trees = trees
    this.sequence = sequence
    this.salt = salt
    this.root = commonRoot(trees.map(({ root }) => root))
  }
  static async of(balances: Balances, sequence: number, salt: string): Promise<LiabilitySnapshot> {
    const trees: Tree[] = []
    for (const currency of [...balances.keys()].sort())
      trees.push(await grow(currency, balances.get(currency)!, salt))
    return new LiabilitySnapshot(trees, sequence, salt)
  }
  get currencies(): (CurrencyRoot & { readonly owed_by_users: string; readonly user_liabilities: string })[] {
    return this.trees.map(({ root, owed, levels }) => ({
      ...root,
      owed_by_users: format(owed),
      user_liabilities: format((sumOf(levels) - owed) as Amount),
    }))
  }
  proof(userId: number): InclusionProof {
    const balances = this.trees.flatMap(({ root: { currency }, places, levels }) => {
      const place = places.get(userId)
      if (place === undefined) return []
      const nonce = nonceOf(this.salt, currency, userId)
      return [{ currency, balance: format(levels[0]![place]!.sum), nonce, path: pathOf(levels, place) }]
    })
    return {
      version: 1,
      user_id: userId,
      root: this.root,
      currencies: this.trees.map(({ root }) => root),
      balances,
    }
  }
}
const EMPTY: SumNode = { hash: '0'.repeat(64), sum: 0n as Amount }
const topOf = (levels: readonly (readonly SumNode[])[]): SumNode => levels.at(-1)?.[0] ?? EMPTY
const sumOf = (levels: readonly (readonly SumNode[])[]): bigint => topOf(levels).sum
const nonceOf = (salt: string, currency: string, userId: number): string =>
  createHmac('sha256', salt).update(`${currency}\n${userId}`).digest('hex')

async function grow(currency: string, users: ReadonlyMap<number, bigint>, salt: string): Promise<Tree> {
  const places = new Map<number, number>()
  const leaves: SumNode[] = []
  let owed = 0n
  for (const [userId, net] of [...users].sort(([a], [b]) => a - b)) {
    if (net < 0n) owed -= net
    if (net <= 0n) continue
    places.set(userId, leaves.length)
    leaves.push(leafOf(currency, userId, nonceOf(salt, currency, userId), net as Amount))
    if (leaves.length % SLICE === 0) await pause()
  }
  const levels: SumNode[][] = [leaves]
  while (levels.at(-1)!.length > 1) {
    levels.push(levelAbove(levels.at(-1)!))
    await pause()
  }
  const { hash, sum } = topOf(levels)
  return {
    root: { currency, hash, sum: format(sum), users: leaves.length },
    owed: owed as Amount,
    places,
    levels,
  }
}
/** Others get their turn: a tree of a million leaves takes seconds. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
