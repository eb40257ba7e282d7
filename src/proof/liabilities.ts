import { createHash } from 'node:crypto'
import { format, parseAmount, type Amount } from '../money/amount.ts'

/**
 * Merkle-sum trees over what the platform owes: one tree for each currency, one leaf for each user. Every node
 * commits to its sum, and no sum is below zero, so that nobody can hide a liability behind a negative one.
 * This file is all that a verifier needs; it knows nothing of the platform.
 */
export interface SumNode {
  readonly hash: string
  readonly sum: Amount
}
/** A neighbour on the way up, and the side on which it stands. */
export interface Step {
  readonly side: 'left' | 'right'
  readonly hash: string
  readonly sum: string
}
export interface CurrencyRoot {
  readonly currency: string
  readonly hash: string
  /** The total of all leaves. */
  readonly sum: string
  readonly users: number
}
export interface ProvenBalance {
  readonly currency: string
  readonly balance: string
  readonly nonce: string
  readonly path: readonly Step[]
}
export interface InclusionProof {
  readonly version: 1
  readonly user_id: number
  /** The one value to publish: it commits to every tree. */
  readonly root: string
  readonly currencies: readonly CurrencyRoot[]
  readonly balances: readonly ProvenBalance[]
}

const hash = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex')

export const leafOf = (currency: string, userId: number, nonce: string, balance: Amount): SumNode => ({
  hash: hash('kontor liability leaf', currency, String(userId), nonce, format(balance)),
  sum: balance,
})
export const join = (left: SumNode, right: SumNode): SumNode => ({
  hash: hash('kontor liability node', left.hash, format(left.sum), right.hash, format(right.sum)),
  sum: (left.sum + right.sum) as Amount,
})
export const commonRoot = (currencies: readonly CurrencyRoot[]): string =>
  hash(
    'kontor liabilities',
    ...currencies.map(({ currency, hash: top, sum, users }) => `${currency} ${top} ${sum} ${users}`),
  )

/** One level up. A node without a neighbour goes up as it is: copying it would count it twice. */
export function levelAbove(level: readonly SumNode[]): SumNode[] {
  const above: SumNode[] = []
  for (let i = 0; i < level.length; i += 2) {
    const right = level[i + 1]
    above.push(right === undefined ? level[i]! : join(level[i]!, right))
  }
  return above
}
export function pathOf(levels: readonly (readonly SumNode[])[], leaf: number): Step[] {
  const path: Step[] = []
  let index = leaf
  for (const level of levels) {
    const sibling = level[index ^ 1]
    if (sibling !== undefined)
      path.push({ side: index % 2 === 1 ? 'left' : 'right', hash: sibling.hash, sum: format(sibling.sum) })
    index >>= 1
  }
  return path
}

/** What is wrong with a proof, in words; an empty list is a good one. */
export function faultsOf(given: unknown, expectedRoot?: string): string[] {
  const proof = readProof(given)
  if (typeof proof === 'string') return [proof]
  const faults: string[] = []
  const root = commonRoot(proof.currencies)
  if (root !== proof.root) faults.push(`root: the currencies give ${root}, the proof says ${proof.root}`)
  if (expectedRoot !== undefined && expectedRoot !== proof.root)
    faults.push(`root: ${proof.root} is not the expected ${expectedRoot}`)
  const tops = new Map(proof.currencies.map((top) => [top.currency, top]))
  if (tops.size !== proof.currencies.length) faults.push('currencies: one is there twice')
  const seen = new Set<string>()
  for (const balance of proof.balances) {
    if (seen.has(balance.currency)) faults.push(`${balance.currency}: there are two balances`)
    seen.add(balance.currency)
    const top = tops.get(balance.currency)
    const fault = top === undefined ? 'there is no tree for it' : climb(proof.user_id, balance, top)
    if (fault !== undefined) faults.push(`${balance.currency}: ${fault}`)
  }
  return faults
}
function climb(userId: number, proven: ProvenBalance, top: CurrencyRoot): string | undefined {
  const balance = canonical(proven.balance)
  if (balance === undefined) return `balance ${proven.balance} is no amount from 0 on`
  // A path can't be longer than the tree is high.
  if (proven.path.length > Math.ceil(Math.log2(Math.max(top.users, 1)))) return 'the path is too long'
  let node = leafOf(proven.currency, userId, proven.nonce, balance)
  for (const { side, hash: neighbour, sum: text } of proven.path) {
    const sum = canonical(text)
    if (sum === undefined) return `a sum of ${text} on the path is no amount from 0 on`
    const other: SumNode = { hash: neighbour, sum }
    node = side === 'left' ? join(other, node) : join(node, other)
  }
  if (node.hash !== top.hash) return 'the path does not lead to the root'
  return format(node.sum) === top.sum ? undefined : `the path adds up to ${format(node.sum)}, not ${top.sum}`
}
/** An amount from zero on in its one spelling: two spellings would be two hashes. */
function canonical(text: string): Amount | undefined {
  const amount = parseAmount(text)
  return amount !== undefined && amount >= 0n && format(amount) === text ? amount : undefined
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isHex = (value: unknown): boolean => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
/** A text is what is wrong with the form. */
function readProof(value: unknown): InclusionProof | string {
  if (!isRecord(value)) return 'a proof is a JSON object'
  if (value['version'] !== 1) return 'version: only 1 is known'
  if (!Number.isSafeInteger(value['user_id'])) return 'user_id must be a whole number'
  if (!isHex(value['root'])) return 'root must be 64 hex digits'
  const { currencies, balances } = value
  if (!Array.isArray(currencies) || !Array.isArray(balances)) return 'currencies and balances must be lists'
  for (const top of currencies as unknown[])
    if (
      !isRecord(top) ||
      typeof top['currency'] !== 'string' ||
      !isHex(top['hash']) ||
      typeof top['sum'] !== 'string' ||
      canonical(top['sum']) === undefined ||
      !Number.isSafeInteger(top['users'])
    )
      return 'currencies: each has currency, hash, sum (not below 0) and users'
  for (const balance of balances as unknown[])
    if (
      !isRecord(balance) ||
      typeof balance['currency'] !== 'string' ||
      typeof balance['balance'] !== 'string' ||
      !isHex(balance['nonce']) ||
      !Array.isArray(balance['path']) ||
      !(balance['path'] as unknown[]).every(isStep)
    )
      return 'balances: each has currency, balance, nonce and path'
  return value as unknown as InclusionProof
}
const isStep = (step: unknown): boolean =>
  isRecord(step) &&
  (step['side'] === 'left' || step['side'] === 'right') &&
  isHex(step['hash']) &&
  typeof step['sum'] === 'string'
