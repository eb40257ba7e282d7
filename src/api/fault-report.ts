import { createHash } from 'node:crypto'
import type { FaultStep } from './faults.ts'

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
  readonly caller: string
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
      caller,
      then: [],
      more: 0,
    }
    this.kept.push(fault)
    const watched = this.open.get(caller)
    if (watched === undefined) this.open.set(caller, [fault])
    else watched.push(fault)
    if (this.kept.length > FAULTS_KEPT) this.forget(this.kept.shift()!)
  }
  /** Every request that was answered, or kept from its answer, while somebody is watched. */
  see(request: ReportedRequest, status: number): void {
    const watched = this.open.get(callerOf(request))
    if (watched === undefined) return
    const digest = digestOf(request)
    for (const fault of [...watched]) {
      const afterMs = Math.round((request.arrived - fault.request.arrived) / 1000)
      // The request that met the fault is answered too; what came before it is no sequel. (A millisecond's parts may
      // go back.)
      if (request.arrived === fault.request.arrived && digest === fault.digest) continue
      if (afterMs < 0) continue
      if (afterMs > WATCH_MS) {
        this.forget(fault)
        continue
      }
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
/** What its author should think about; empty where nothing is wrong with it. */
export function adviceOn({ step, request, then }: InjectedFault, outcome: Outcome): string {
  const writes = request.method !== 'GET'
  const retries = then.filter(({ what }) => what === 'same_request')
  if (writes && step.effect === 'drop_reply' && outcome.startsWith('retried'))
    return 'it had been carried out; it was sent again without looking it up first'
  if (writes && step.effect === 'drop_reply' && (outcome === 'silent' || outcome === 'went_on'))
    return 'it had been carried out; the caller never looked it up'
  if (retries.length >= 3 && retries.at(-1)!.afterMs - retries[0]!.afterMs < 200 * (retries.length - 1))
    return `sent again ${retries.length} times within ${retries.at(-1)!.afterMs} ms; wait longer each time`
  return ''
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
