import { createHash } from 'node:crypto'
import type { FaultStep } from './fault-steps.ts'

/** A request as the report sees it. */
export interface ReportedRequest {
  readonly method: string
  readonly path: string
  /** Of a call over a socket, which is told by it; method and path are those of the request that it stands for. */
  readonly channel?: string
  readonly query: string
  readonly body: Buffer | undefined
  readonly userId: number | undefined
  readonly key: string | undefined
  readonly ip: string
  /** Microseconds of the real time at which it arrived: how soon a client acts has nothing to do with a moved clock. */
  readonly arrived: number
  /** Microseconds of the platform's clock. */
  readonly at: number
}
/** What a caller did after a fault, one request at a time. */
export interface Sequel {
  readonly afterMs: number
  readonly method: string
  readonly path: string
  readonly status: number
  readonly what: 'same_request' | 'similar' | 'lookup' | 'other'
}
export interface InjectedFault {
  readonly id: number
  readonly step: FaultStep
  readonly request: Omit<ReportedRequest, 'body' | 'query'>
  /** Of method, path, query and body: who sends the same again, retries. */
  readonly digest: string
  /** The same without the ids that its client gave it; undefined: it moves no money. */
  readonly intent: string | undefined
  readonly caller: string
  /** How often this very request took effect: by itself, delivered twice, or sent again. */
  carriedOut: number
  /** How often others took effect, before the client looked, that differ from it in the client's own ids alone. */
  alike: number
  readonly then: Sequel[]
  /** Requests of the caller that came after those that are kept. */
  more: number
}
export type Outcome =
  | 'waiting'
  | 'silent'
  | 'retried'
  | 'looked_up'
  | 'looked_up_then_retried'
  | 'retried_then_looked_up'
  | 'went_on'

/** What became of the money that a request was to move; `maybe_twice`: a second one was the same but for an id of the client's own. */
export type Money = 'none' | 'once' | 'twice' | 'maybe_twice'

const FAULTS_KEPT = 200
/** Requests that are told for one fault; later ones are counted. */
const SEQUELS_KEPT = 20
/** So long a caller's next requests belong to what happened. */
const WATCH_MS = 600_000
/** Who has done nothing for so long has given up. */
const SILENT_MS = 60_000

/**
 * What clients did after each injected fault. Requests without a signature are told apart by address. In memory: a
 * restart or a reset forgets it.
 */
export class FaultReport {
  private kept: InjectedFault[] = []
  private readonly open = new Map<string, InjectedFault[]>()
  private last = 0

  /** Whether anybody is watched: nothing else is done for requests of a sandbox without faults. */
  get active(): boolean {
    return this.open.size > 0
  }
  get injected(): number {
    return this.last
  }
  list(): readonly InjectedFault[] {
    return this.kept
  }
  clear(): void {
    this.kept = []
    this.open.clear()
    this.last = 0
  }
  add(step: FaultStep, target: ReportedRequest): void {
    const { body: _body, query: _query, ...request } = target
    const caller = callerOf(request)
    const fault: InjectedFault = {
      id: ++this.last,
      step,
      request: { ...request, path: cut(request.path) },
      digest: digestOf(target),
      intent: intentOf(target),
      caller,
      carriedOut: 0,
      alike: 0,
      then: [],
      more: 0,
    }
    this.kept.push(fault)
    const watched = this.open.get(caller)
    if (watched === undefined) this.open.set(caller, [fault])
    else watched.push(fault)
    if (this.kept.length > FAULTS_KEPT) this.forget(this.kept.shift()!)
  }
  /** A fault had it carried out once more, before its own turn. */
  ranTwice(request: ReportedRequest): void {
    const digest = digestOf(request)
    for (const fault of this.open.get(callerOf(request)) ?? [])
      if (fault.request.arrived === request.arrived && fault.digest === digest) fault.carriedOut++
  }
  /** Every request that was answered, or kept from its answer, while somebody is watched. */
  see(request: ReportedRequest, status: number): void {
    const watched = this.open.get(callerOf(request))
    if (watched === undefined) return
    const digest = digestOf(request)
    const done = status < 300
    const intent = done ? intentOf(request) : undefined
    for (const fault of [...watched]) {
      const afterMs = Math.round((request.arrived - fault.request.arrived) / 1000)
      const same = digest === fault.digest
      // The request that met the fault is answered too; what came before it is no sequel. (A millisecond's parts may
      // go back.)
      if (request.arrived === fault.request.arrived && same) {
        if (done) fault.carriedOut++
        continue
      }
      if (afterMs < 0) continue
      if (afterMs > WATCH_MS) {
        this.forget(fault)
        continue
      }
      if (done && same) fault.carriedOut++
      else if (intent !== undefined && intent === fault.intent && !knows(fault)) fault.alike++
      if (fault.then.length === SEQUELS_KEPT) {
        fault.more++
        continue
      }
      const { method } = request
      const path = request.channel ?? cut(request.path)
      fault.then.push({ afterMs, method, path, status, what: whatIs(fault, request, digest) })
    }
  }
  private forget(fault: InjectedFault): void {
    const left = (this.open.get(fault.caller) ?? []).filter((other) => other !== fault)
    if (left.length === 0) this.open.delete(fault.caller)
    else this.open.set(fault.caller, left)
  }
}

/** What it amounts to; `now` is the real time in microseconds. */
export function outcomeOf({ then, request }: InjectedFault, now: number): Outcome {
  const retry = then.findIndex(({ what }) => what === 'same_request')
  const lookup = then.findIndex(({ what }) => what === 'lookup')
  if (retry !== -1 && lookup !== -1)
    return lookup < retry ? 'looked_up_then_retried' : 'retried_then_looked_up'
  if (retry !== -1) return 'retried'
  if (lookup !== -1) return 'looked_up'
  if (then.length > 0) return 'went_on'
  return now - request.arrived > SILENT_MS * 1000 ? 'silent' : 'waiting'
}
/** Who has looked, or was told that the very same took effect, knows what became of it: whatever comes after that is meant. */
const knows = ({ then }: InjectedFault): boolean =>
  then.some(({ what, status }) => what === 'lookup' || (what === 'same_request' && status < 300))
export function moneyOf({ intent, carriedOut, alike }: InjectedFault): Money {
  if (intent === undefined || carriedOut + alike === 0) return 'none'
  if (carriedOut >= 2) return 'twice'
  return carriedOut + alike === 1 ? 'once' : 'maybe_twice'
}
/** What its author should think about; empty where nothing is wrong with it. */
export function adviceOn(fault: InjectedFault, outcome: Outcome): string {
  const { step, request, then } = fault
  const writes = request.method !== 'GET'
  const money = moneyOf(fault)
  if (money === 'twice')
    return `it was carried out ${fault.carriedOut} times; give it an id of its own (text, client_order_id, withdraw_order_id), and look it up before it is sent again`
  if (money === 'maybe_twice' && step.effect === 'drop_reply')
    return 'it had been carried out, and the same was sent under another id of its own; keep the id when you send it again'
  const retries = then.filter(({ what }) => what === 'same_request')
  if (writes && step.effect === 'drop_reply' && outcome.startsWith('retried'))
    return 'it had been carried out; it was sent again without looking it up first'
  if (writes && step.effect === 'drop_reply' && (outcome === 'silent' || outcome === 'went_on'))
    return 'it had been carried out; the caller never looked it up'
  if (retries.length >= 3 && retries.at(-1)!.afterMs - retries[0]!.afterMs < 200 * (retries.length - 1))
    return `sent again ${retries.length} times within ${retries.at(-1)!.afterMs} ms; wait longer each time`
  return ''
}

/** What pays, orders, moves or lends, each time that it is carried out. Test: every endpoint that knows ids of clients is here. */
const MOVES =
  /^\/api\/v4\/(withdrawals(\/push)?|wallet\/(transfers|sub_account_transfers|sub_account_to_sub_account|small_balance)|spot\/(orders|batch_orders|cross_liquidate_orders|price_orders|pov_orders)|unified\/(loans|quick_repayment)|margin\/(uni\/loans|cross\/(loans|repayments))|(futures|delivery)\/\w+\/(orders|batch_orders|bbo_orders|price_orders|autoorder\/v1\/\w+\/create|(dual_comp\/)?positions\/[^/]+\/margin))$/
export const movesMoney = (method: string, path: string): boolean => method === 'POST' && MOVES.test(path)
/** Members by which clients tell their requests apart. */
const OWN_IDS = new Set(['text', 'client_order_id', 'withdraw_order_id'])
const INTENT_BYTES = 65_536
function intentOf({ method, path, query, body }: ReportedRequest): string | undefined {
  if (!movesMoney(method, path)) return undefined
  const text = body === undefined || body.length > INTENT_BYTES ? '' : body.toString()
  return createHash('sha256')
    .update(`${path}?${query}\n${withoutIds(text)}`)
    .digest('base64')
}
function withoutIds(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), (name, value: unknown) => (OWN_IDS.has(name) ? undefined : value))
  } catch {
    return text
  }
}

/** A path is as long as a client likes. */
const cut = (path: string): string => Buffer.from(path.slice(0, 256)).toString()
const callerOf = ({ key, ip }: Pick<ReportedRequest, 'key' | 'ip'>): string => key ?? `address ${ip}`
function digestOf({ method, path, query, body }: ReportedRequest): string {
  const hash = createHash('sha256').update(`${method} ${path}?${query}\n`)
  if (body !== undefined) hash.update(body)
  return hash.digest('base64')
}
function whatIs(fault: InjectedFault, request: ReportedRequest, digest: string): Sequel['what'] {
  if (digest === fault.digest) return 'same_request'
  const before = fault.request
  if (before.method !== 'GET' && request.method === 'GET' && groupOf(request.path) === groupOf(before.path))
    return 'lookup'
  return request.method === before.method && request.path === before.path ? 'similar' : 'other'
}
/** Withdrawals are looked up in the wallet. */
function groupOf(path: string): string {
  const group = path.split('/')[3] ?? ''
  return group === 'withdrawals' ? 'wallet' : group
}
