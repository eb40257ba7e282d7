import type { Payment } from '../core/deposits/observe.ts'
import type { Outcome } from '../core/withdrawals/send.ts'
import type { ChainTip } from '../core/tables/tips.ts'
import type { Intent } from '../core/tables/withdrawals.ts'

/** What is to be paid: one attempt of one withdrawal. */
export interface PaymentOrder {
  readonly id: number
  /** Counts from 1; a retry after a failure is a new transaction. */
  readonly attempt: number
  readonly currency: string
  /** Net of the platform's fee, a decimal in units of the currency. */
  readonly amount: string
  readonly address: string
  readonly memo: string
}
/** One consistent look at a chain. */
export interface Look {
  /** The highest block that is still as we saw it. */
  readonly fork: number
  readonly tip: { readonly height: number; readonly hash: string }
  /** All payments to our addresses above the fork, and all that wait for a block. */
  readonly payments: readonly Payment[]
}
/** A transaction between our own addresses, signed and not sent. */
export interface SweepOrder {
  /** gas: from the hot wallet to a deposit address, which needs it to send its tokens. */
  readonly kind: 'sweep' | 'gas'
  readonly currency: string
  readonly amount: string
  readonly address: string
  readonly intent: Intent
}
export interface Sighting extends Outcome {
  /** False: the network has never heard of it, or has forgotten it. */
  readonly known: boolean
  /** Of an unknown one: whether another transaction took its place, and so deep that it is dead. Left out: no. */
  readonly displaced?: 'no' | 'shallow' | 'deep'
}

/**
 * A chain, as the platform needs it; simulated and real ones look the same from here. Everything may fail by
 * throwing: the driver tries again later, and nothing is lost, because what was intended is on the disk.
 *
 * Rules for an adapter:
 * - `prepare` signs and sends nothing. The same order may be prepared twice (a crash came between): only what
 *   was recorded is ever broadcast.
 * - `broadcast` may be called again with the same intent and must not pay twice for it.
 * - `look` answers for one moment: a payment never falls between the blocks and the waiting room.
 */
export interface ChainPort {
  readonly chain: string
  /** How often to look, in milliseconds; null for a chain that tells by itself when there is something. */
  readonly pollMs: number | null
  /** The address of a user's deposits; null leaves it to the simulated derivation. */
  depositAddress(userId: number): Promise<string | null>
  /** Everything since the trail, in steps as large as the adapter likes: the driver looks until the tip is reached. */
  look(trail: ChainTip['trail']): Promise<Look>
  /** All our coins on the chain by currency, hot wallet and deposit addresses, as of the block that we followed last. */
  holdings(): Promise<Readonly<Record<string, string>>>
  /** What the hot wallet alone holds at this moment. */
  hotWallet(): Promise<Readonly<Record<string, string>>>
  /** Whether the hot wallet can pay this now, fees included. */
  covers(currency: string, amount: string): Promise<boolean>
  prepare(order: PaymentOrder): Promise<Intent>
  broadcast(intent: Intent): Promise<void>
  find(intent: Intent): Promise<Sighting>
  /** Makes sure that it will never pay anybody; false when that can't be promised. */
  abandon(intent: Intent): Promise<boolean>
  /** A dearer copy of the same payment (same nonce) for one that waits too long; undefined: leave it. */
  bump?(intent: Intent, waitedSeconds: number): Promise<Intent | undefined>
  /** The next transaction that gathers coins in the hot wallet; undefined: none for now. */
  nextSweep?(): Promise<SweepOrder | undefined>
  /** Has every deposit address looked at again. */
  readonly sweeper?: { lookAtAll(): void } | undefined
  close?(): Promise<void>
}

/** The highest block of the trail that the chain still has; adapters use it for `Look.fork`. */
export async function findFork(
  trail: ChainTip['trail'],
  hashAt: (height: number) => Promise<string | undefined> | string | undefined,
  below: number,
): Promise<number> {
  for (let i = trail.length - 1; i >= 0; i--) {
    const [height, hash] = trail[i]!
    if ((await hashAt(height)) === hash) return height
  }
  const oldest = trail[0]?.[0]
  return oldest === undefined ? 0 : Math.max(0, oldest - below)
}
