import type { State } from '../core/state.ts'
import { addressBlock } from '../http/words.ts'
import { refuse } from '../labels.ts'
import type { AnyEndpoint, LiveDesk } from './endpoint.ts'
import { tieredRequests } from './fill-ratio.ts'
import type { Allowance, Limiter } from './limiter.ts'
import type { LimitRule } from './limits.ts'
import type { Passage } from './passage.ts'

/** What the names of the windows of people in browsers begin with: an open page must not cost a bot its limit. */
const CONSOLE = 'console '

/** What is counted together: several endpoints under one name, else each by itself. */
const nameOf = ({ bucket }: LimitRule, { method, path }: AnyEndpoint): string => bucket ?? `${method} ${path}`

interface Window {
  readonly name: string
  readonly bucket: string
  /** So many pass in it. */
  readonly requests: number
}
/** Whose window of a rule it is. */
function windowOf(passage: Passage, rule: LimitRule, own: string, state: State): Window {
  const { caller, session } = passage
  const name = session === undefined && passage.route!.console !== true ? own : `${CONSOLE}${own}`
  const who =
    rule.basis === 'ip' ? addressBlock(passage.ip) : String(caller?.user.user_id ?? session!.subject)
  const requests =
    rule.tiered === true && caller !== undefined
      ? tieredRequests(state, state.futures.activity, caller.user)
      : rule.requests
  return { name, bucket: `${name} ${who}`, requests }
}

/** A rule, and what of a request counts in its windows. */
interface Counted {
  readonly rule: LimitRule
  readonly own: string
  readonly markets: readonly string[]
  readonly cost: number
}
/** Counts requests in the windows of their rules. */
export class Windows {
  private readonly desk: LiveDesk
  private readonly limiter: Limiter

  constructor(desk: LiveDesk, limiter: Limiter) {
    this.desk = desk
    this.limiter = limiter
  }
  /** In the windows of its endpoint, where it has any, and in that of another rule. */
  count(passage: Passage, endpoint: AnyEndpoint | undefined, body: unknown, beside?: LimitRule): void {
    const own = endpoint === undefined ? undefined : this.countedIn(passage, endpoint, body)
    if (beside === undefined) {
      if (own !== undefined) this.countAll(passage, [own])
      return
    }
    const other = { rule: beside, own: beside.bucket!, markets: NO_MARKET, cost: 1 }
    this.countAll(passage, own === undefined ? [other] : [other, own])
  }
  /** Who may not do this is told what is left all the same; nothing is counted. Of limits by market that of no market. */
  show(passage: Passage): void {
    const { endpoint } = passage.route!
    const { limit: rule } = endpoint
    if (rule === null) return
    const { limiter, desk } = this
    const { bucket, requests } = windowOf(passage, rule, nameOf(rule, endpoint), desk.core.state)
    passage.allowance = limiter.peek(`${bucket} ${NO_MARKET[0]}`, requests, rule.seconds, desk.clock.peek())
  }
  private countedIn(passage: Passage, endpoint: AnyEndpoint, body: unknown): Counted | undefined {
    const { limit: rule } = endpoint
    if (rule === null) return undefined
    const markets = rule.basis === 'uid+market' ? this.marketsOf(passage, endpoint, body) : NO_MARKET
    return { rule, own: nameOf(rule, endpoint), markets, cost: endpoint.cost?.(body) ?? 1 }
  }
  /** Of several windows the one with the least room is told. It counts in all of them, or, refused by one, in none. */
  private countAll(passage: Passage, all: readonly Counted[]): void {
    const { limiter, desk } = this
    const now = desk.clock.peek()
    const each = (ask: 'peek' | 'admit'): void => {
      for (const { rule, own, markets, cost } of all) {
        const { name, bucket, requests } = windowOf(passage, rule, own, desk.core.state)
        for (const market of markets)
          this.tell(passage, limiter[ask](`${bucket} ${market}`, requests, rule.seconds, now, cost))
        if (passage.allowance?.allowed === false) refuseNow(passage.allowance, rule, name, now)
      }
    }
    // One that is full refuses before the others have counted anything.
    if (all.length > 1 || all[0]!.markets.length > 1) each('peek')
    each('admit')
  }
  /** The first that refuses, or the one with the least room. */
  private tell(passage: Passage, allowance: Allowance): void {
    const told = passage.allowance
    if (told?.allowed === false) return
    if (told === undefined || !allowance.allowed || allowance.remain < told.remain)
      passage.allowance = allowance
  }

  /** As the platform spells them: a name that the caller makes up, or none, opens no bucket of its own. */
  private marketsOf({ checked, query }: Passage, endpoint: AnyEndpoint, body: unknown): readonly string[] {
    const { world } = this.desk.core.state
    const named = checked?.fault?.markets ?? endpoint.markets?.(body, query) ?? []
    if (named.length === 0) return NO_MARKET
    if (named.length === 1) return [world.findMarket(named[0]!)?.id ?? UNKNOWN_MARKET]
    return [...new Set(named.map((name) => world.findMarket(name)?.id ?? UNKNOWN_MARKET))]
  }
}
function refuseNow(
  { limit, resetAt }: Allowance,
  { seconds, label }: LimitRule,
  name: string,
  now: number,
): never {
  const wait = ((resetAt - now) / 1e6).toFixed(1)
  return refuse(
    label,
    `Request Rate Limit Exceeded: ${limit} requests in ${seconds} s for ${name}; try again in ${wait} s`,
  )
}

const NO_MARKET: readonly string[] = ['']
/** Not a name of any market, but the same bucket as that of no name at all. */
const UNKNOWN_MARKET = ''
