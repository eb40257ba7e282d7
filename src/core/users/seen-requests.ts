import { refuse } from '../../labels.ts'
import { nextId } from '../counters.ts'
import type { Ctx } from '../state.ts'

const COUNTER = 'seen_request'
const WINDOW = 60e6
/** Within two minutes, for one key; far more than its rate limits let through. */
const KEY_MAX = 5_000
/** Each request forgets this many that are over: memory shrinks faster than it grows. */
const FORGET = 4
const SIGNATURE_LENGTH = 32

export interface OnceOnly {
  readonly key: string
  readonly signature: string
  /** Microseconds. */
  readonly timestamp: number
  /** The real time, where it counts for Timestamps beside the platform's; else null. */
  readonly real: number | null
}
/** The very same signed request passes once; signing it again with another Timestamp makes it another one. */
export function passOnce(ctx: Ctx, input: OnceOnly): null {
  const { state, tx, at } = ctx
  const seen = state.seenRequests
  const signature = input.signature.slice(0, SIGNATURE_LENGTH).toLowerCase()
  if (seen.bySignature.get(signature) !== undefined)
    refuse(
      'DUPLICATE_REQUEST',
      'this very request (the same SIGN and Timestamp) was received before and is not carried out again; if it is meant, sign it anew with another Timestamp',
    )
  // The window closes for a request when it closes for the memory of it, however long its body took to arrive.
  const now = Math.min(at, input.real ?? at)
  if (input.timestamp + WINDOW < now)
    refuse(
      'REQUEST_EXPIRED',
      'the Timestamp of this request expired before it could be carried out; sign it anew',
    )
  forget(ctx, now)
  if (seen.count(input.key) >= KEY_MAX)
    refuse(
      'TOO_MANY_REQUESTS',
      `this key has replay protection, and ${KEY_MAX} of its requests are remembered already; send fewer in a minute`,
    )
  const id = nextId(tx, state.counters, COUNTER)
  tx.put(seen.table, { id, key: input.key, signature, timestamp: input.timestamp })
  return null
}

/** Oldest first, as long as no clock that counts would accept their Timestamp again. */
function forget({ state, tx }: Ctx, now: number): void {
  const { table } = state.seenRequests
  const last = state.counters.get(COUNTER)?.value ?? 0
  const first = last - table.size + 1
  for (let id = first; id < first + FORGET; id++) {
    const oldest = table.get(id)
    if (oldest === undefined || oldest.timestamp + WINDOW >= now) return
    tx.remove(table, id)
  }
}
