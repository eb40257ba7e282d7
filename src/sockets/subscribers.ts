import { pushFrame } from './envelope.ts'
import { withoutLongDigits } from './long-digits.ts'
import type { Covered } from './payloads.ts'

/** Who gets the frames of a private subscription. */
export interface Listener {
  push(channel: string, userId: number, text: string): void
}
/** What one connection wants of one channel, of one account. */
export interface PrivateSubscription {
  readonly listener: Listener
  readonly channel: string
  readonly userId: number
  /** Of contracts: the group and settle currency of the connection's address, group/settle. */
  readonly scope: string
  /** Numbers of contracts are written as texts. */
  readonly texts: boolean
  all: boolean
  readonly names: Set<string>
}
/** One thing that an account is told. */
export interface Told {
  readonly scope: string
  /** A market; empty: it belongs to none, and everybody of its scope is told. */
  readonly market: string
  /** JSON; `texts` as above. */
  text(texts: boolean): string
}

/** Everybody who listens to what happens to accounts, by channel and account. */
export class Subscribers {
  private readonly now: () => number
  private readonly channels = new Map<string, Map<number, Set<PrivateSubscription>>>()

  constructor(now: () => number) {
    this.now = now
  }
  get size(): number {
    return this.channels.size
  }
  /** Undefined: nobody listens there. */
  of(channel: string): ReadonlyMap<number, ReadonlySet<PrivateSubscription>> | undefined {
    return this.channels.get(channel)
  }
  add(subscription: PrivateSubscription): void {
    const { channel, userId } = subscription
    let users = this.channels.get(channel)
    if (users === undefined) this.channels.set(channel, (users = new Map<number, Set<PrivateSubscription>>()))
    let set = users.get(userId)
    if (set === undefined) users.set(userId, (set = new Set()))
    set.add(subscription)
  }
  /** False: it was not there. */
  remove(subscription: PrivateSubscription): boolean {
    const { channel, userId } = subscription
    const users = this.channels.get(channel)
    const set = users?.get(userId)
    if (set?.delete(subscription) !== true) return false
    if (set.size === 0) users!.delete(userId)
    if (users!.size === 0) this.channels.delete(channel)
    return true
  }
  clear(): void {
    this.channels.clear()
  }

  /** One frame for each connection, with what it asked for; the same text for those who asked for the same. */
  tell(channel: string, told: ReadonlyMap<number, readonly Told[]>): void {
    for (const [userId, records] of told) {
      const made = new Map<string, string>()
      for (const { listener, scope, texts, all, names } of this.channels.get(channel)?.get(userId) ?? []) {
        const mine = records.filter(
          (one) => one.scope === scope && (all || one.market === '' || names.has(one.market)),
        )
        if (mine.length === 0) continue
        const result = `[${mine.map((one) => one.text(texts)).join(',')}]`
        let text = made.get(result)
        if (text === undefined)
          made.set(result, (text = pushFrame(this.now(), channel, withoutLongDigits(result))))
        listener.push(channel, userId, text)
      }
    }
  }
}

/** Adds to what a subscription covers; beside the word for all of them single names add nothing. */
export function cover(subscription: PrivateSubscription, covered: Covered): void {
  if (covered.all) subscription.all = true
  else for (const name of covered.names) subscription.names.add(name)
}
/** How many it would cover more. */
export function added(subscription: PrivateSubscription | undefined, { all, names }: Covered): number {
  if (all) return subscription?.all === true ? 0 : 1
  return names.filter((name) => subscription?.names.has(name) !== true).length
}
/** Takes from it; true: nothing is left. */
export function uncover(subscription: PrivateSubscription, covered: Covered): boolean {
  if (covered.all) subscription.all = false
  for (const name of covered.names) subscription.names.delete(name)
  return !subscription.all && subscription.names.size === 0
}
