import type { Commands } from '../core/commands.ts'
import { ACCOUNT } from '../core/ledger/ledger.ts'
import type { State } from '../core/state.ts'
import { MARGIN_ACCOUNT } from '../core/tables/unified/accounts.ts'
import { SPOT_ORDER } from '../core/tables/exchange/order.ts'
import { fillEvents, orderEvents, priceOrderEvents } from '../events/market-events.ts'
import type { CommandRows } from '../events/rows.ts'
import type { Core } from '../machine/core.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import { FollowedUser, userSnapshot, type UserBalances } from './balances.ts'
import { pushFrame } from './envelope.ts'
import { fillRecord, fillV2Record, orderRecord, orderV2Record, priceOrderRecord } from './records.ts'
import type { PrivateSubscription, Subscribers, Told } from './subscribers.ts'
import { LINGER_MS } from './topics.ts'

/** Balance channels, in the order in which they are told, and whether each record is a frame of its own. */
const BALANCE_CHANNELS: readonly {
  readonly channel: string
  readonly records: (balances: UserBalances) => readonly object[]
  readonly single?: boolean
}[] = [
  { channel: 'spot.balances', records: (balances) => balances.spot() },
  { channel: 'spot.margin_balances', records: (balances) => balances.margin() },
  { channel: 'spot.funding_balances', records: (balances) => balances.funding() },
  { channel: 'spot.cross_balances', records: (balances) => balances.cross() },
  { channel: 'spot.cross_loan', records: (balances) => balances.loans(), single: true },
]
const NEEDS_BALANCES: ReadonlySet<string> = new Set(BALANCE_CHANNELS.map(({ channel }) => channel))

/**
 * What commands did to accounts, told to those who listen. For each command in this order: fills, orders, price orders,
 * balances. So whoever hears that an order has ended has heard of all its fills.
 */
export class PrivateStreams {
  private readonly core: Core<State, Commands>
  private readonly now: () => number
  private readonly ended: () => void
  private readonly channels: Subscribers
  /** Those whose balances somebody listens to. */
  private readonly users = new Map<number, { followed: Promise<FollowedUser>; listeners: number }>()
  private readonly ready = new Map<number, FollowedUser>()

  /** `ended`: nobody wants to know of an account any more. */
  constructor(core: Core<State, Commands>, channels: Subscribers, now: () => number, ended: () => void) {
    this.core = core
    this.channels = channels
    this.now = now
    this.ended = ended
  }
  get idle(): boolean {
    return this.channels.size === 0 && this.users.size === 0
  }
  /** Before a subscription is answered: what it needs to know. `release` with the same channel and account undoes it. */
  async prepare(channel: string, userId: number): Promise<void> {
    if (!NEEDS_BALANCES.has(channel)) return
    let known = this.users.get(userId)
    if (known === undefined) this.users.set(userId, (known = { followed: this.follow(userId), listeners: 0 }))
    known.listeners++
    try {
      await known.followed
    } catch (error) {
      // What could not begin is begun anew by the next.
      if (this.users.get(userId) === known) this.users.delete(userId)
      throw error
    }
  }
  release(channel: string, userId: number): void {
    if (!NEEDS_BALANCES.has(channel)) return
    const known = this.users.get(userId)
    if (known === undefined || --known.listeners > 0) return
    // For a while it is followed on, so that coming and going costs no more than staying.
    setTimeout(() => {
      if (known.listeners > 0 || this.users.get(userId) !== known) return
      this.users.delete(userId)
      this.ready.delete(userId)
      this.ended()
    }, LINGER_MS).unref()
  }
  add(subscription: PrivateSubscription): void {
    this.channels.add(subscription)
  }
  remove(subscription: PrivateSubscription): void {
    if (this.channels.remove(subscription)) this.release(subscription.channel, subscription.userId)
  }
  /** Everything was replaced. */
  clear(): void {
    this.channels.clear()
    this.users.clear()
    this.ready.clear()
  }

  hear(command: CommittedCommand, rows: CommandRows): void {
    if (this.channels.size > 0) {
      this.fills(command, rows)
      this.orders(command, rows)
      this.priceOrders(command, rows)
    }
    if (this.ready.size > 0) this.balances(command, rows)
  }

  private fills(command: CommittedCommand, rows: CommandRows): void {
    const plain = this.channels.of('spot.usertrades')
    const lean = this.channels.of('spot.usertrades_v2')
    if (plain === undefined && lean === undefined) return
    const events = fillEvents(command, rows).filter(
      ({ user_id }) => plain?.has(user_id) === true || lean?.has(user_id) === true,
    )
    if (events.length === 0) return
    const orders = new Map(
      rows.of(SPOT_ORDER).flatMap(({ after }) => (after === undefined ? [] : [[after.id, after]])),
    )
    const byUser = (record: typeof fillRecord) =>
      grouped(events, (event) => JSON.stringify(record(event, orders.get(event.fill.order_id))))
    if (plain !== undefined) this.channels.tell('spot.usertrades', byUser(fillRecord))
    if (lean !== undefined) this.channels.tell('spot.usertrades_v2', byUser(fillV2Record))
  }
  private orders(command: CommittedCommand, rows: CommandRows): void {
    const plain = this.channels.of('spot.orders')
    const lean = this.channels.of('spot.orders_v2')
    if (plain === undefined && lean === undefined) return
    const events = orderEvents(command, rows).filter(
      ({ user_id }) => plain?.has(user_id) === true || lean?.has(user_id) === true,
    )
    if (events.length === 0) return
    const byUser = (record: typeof orderRecord) =>
      grouped(events, (event) => JSON.stringify(record(this.core.state, event)))
    if (plain !== undefined) this.channels.tell('spot.orders', byUser(orderRecord))
    if (lean !== undefined) this.channels.tell('spot.orders_v2', byUser(orderV2Record))
  }
  private priceOrders(command: CommittedCommand, rows: CommandRows): void {
    const channel = 'spot.priceorders'
    const users = this.channels.of(channel)
    if (users === undefined) return
    for (const event of priceOrderEvents(command, rows)) {
      const subscriptions = users.get(event.user_id)
      if (subscriptions === undefined) continue
      const text = pushFrame(this.now(), channel, JSON.stringify(priceOrderRecord(event)))
      for (const { listener, all, names } of subscriptions)
        if (all || names.has(event.market)) listener.push(channel, event.user_id, text)
    }
  }
  private balances(command: CommittedCommand, rows: CommandRows): void {
    const owners = new Set<number>()
    for (const { after } of rows.of(ACCOUNT)) if (after !== undefined) owners.add(after.owner)
    // Its mode decides what is told of it.
    for (const { after } of rows.of(MARGIN_ACCOUNT)) if (after !== undefined) owners.add(after.user_id)
    for (const owner of owners) {
      const balances = this.ready.get(owner)?.hear(command, rows)
      if (balances === undefined) continue
      for (const { channel, records, single } of BALANCE_CHANNELS) {
        const subscriptions = this.channels.of(channel)?.get(owner)
        if (subscriptions === undefined) continue
        const list = records(balances)
        if (list.length === 0) continue
        for (const result of single === true ? list : [list]) {
          const text = pushFrame(this.now(), channel, JSON.stringify(result))
          for (const { listener } of subscriptions) listener.push(channel, owner, text)
        }
      }
    }
  }

  private async follow(userId: number): Promise<FollowedUser> {
    const { sequence, value } = await this.core.snapshot((state) => userSnapshot(state, userId))
    const followed = new FollowedUser(userId, sequence, value)
    // Nobody may want it any more.
    if (this.users.has(userId)) this.ready.set(userId, followed)
    return followed
  }
}

/** What each account is told of, in order. */
function grouped<Event extends { readonly user_id: number; readonly market: string }>(
  events: readonly Event[],
  text: (event: Event) => string,
): Map<number, Told[]> {
  const users = new Map<number, Told[]>()
  for (const event of events) {
    const record = text(event)
    const told = { scope: '', market: event.market, text: () => record }
    const list = users.get(event.user_id)
    if (list === undefined) users.set(event.user_id, [told])
    else list.push(told)
  }
  return users
}
