import { CONSOLE_PATH, type PlainReply, type PlainRequest } from '../http/exchange.ts'
import { VENDOR_PREFIX, accepts, isJsonType, microsNow } from '../http/words.ts'
import { Refusal, notFound, refuse } from '../labels.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { StoreAway, StoreLost } from '../store/store.ts'
import { AuthenticationFailure, authorize } from './authenticate.ts'
import { Door } from './door.ts'
import type { AnyEndpoint, Call, KeyAccess, LiveDesk, Method } from './endpoint.ts'
import type { ReportedRequest } from './fault-report.ts'
import type { Faults } from './faults.ts'
import { Proposed, guardedCall } from './guarded.ts'
import type { Allowance, Limiter } from './limiter.ts'
import type { LimitRule } from './limits.ts'
import { MeantPaths } from './meant-path.ts'
import { EndpointCall, header, parseQuery, type Checked, type Passage, type Route } from './passage.ts'
import { readCall, readJson, readParts, wantsBody, type ReadBody } from './reading.ts'
import { replyText } from './reply-text.ts'
import type { RequestLog, Witness } from './request-log.ts'
import { Router } from './router.ts'
import { Windows } from './windows.ts'

/** Routes by method and path. */
export interface Endpoints {
  readonly prefix: string
  readonly list: readonly AnyEndpoint[]
  /** Called by people in a browser: see door.ts. */
  readonly console?: boolean
}
export interface PipelineOptions {
  readonly desk: LiveDesk
  readonly endpoints: readonly Endpoints[]
  readonly limiter: Limiter
  readonly door: Door
  readonly faults: Faults
  /** Left out in live mode. */
  readonly requests: RequestLog | undefined
  readonly witness?: Witness | undefined
  readonly metrics: Metrics
  readonly log: Log
  readonly ready: () => boolean
}
/** The parameters of a call that is no request of HTTP. */
export interface GivenCall {
  readonly body: unknown
  /** The others; read when it is their turn. */
  readonly named: () => {
    readonly params: Readonly<Record<string, unknown>>
    readonly query: Readonly<Record<string, unknown>>
  }
}
/** What a client is told of a refusal. */
export function toldOf(error: Refusal): Record<string, unknown> {
  const detail = error instanceof AuthenticationFailure ? error.detail : undefined
  return { label: error.label, message: error.message, ...detail }
}
/** Clients of contracts read the message or `detail`: both say the same. */
const CONTRACTS = /^\/api\/v4\/(futures|delivery)\//
const [DATED, PERPETUAL] = ['/api/v4/delivery/', '/api/v4/futures/']
const toldAt = (path: string, error: Refusal): string =>
  JSON.stringify(CONTRACTS.test(path) ? { ...toldOf(error), detail: error.message } : toldOf(error))
/** What is told of everything else. */
export const DEFECT = new Refusal(
  'SERVER_ERROR',
  'Internal server error: this is a defect of the platform, and it has been logged',
)
const AWAY = new Refusal('TOO_BUSY', 'the database does not answer at the moment; send it again in a second')
const UNSURE = new Refusal(
  'SERVER_ERROR',
  'the database did not answer; whether this request took effect is known when it does',
  503,
)
export function routerOf(endpoints: readonly Endpoints[], mode: LiveDesk['mode']): Router<Route> {
  const router = new Router<Route>()
  for (const { prefix, list, console = false } of endpoints)
    for (const endpoint of list) {
      if (endpoint.sandboxOnly === true && mode === 'live') continue
      const path = prefix + endpoint.path
      addRoute(router, prefix, endpoint, { endpoint, path, console })
    }
  return router
}
/** Perpetual contracts were settled in BTC alone once: paths that name no settle currency are those of btc for ever. */
export function addRoute<R>(router: Router<R>, prefix: string, endpoint: AnyEndpoint, route: R): void {
  const { method, path } = endpoint
  router.add(method, prefix + path, route)
  const settled = '/futures/{settle}'
  if (!path.startsWith(`${settled}/`)) return
  router.add(method, `${prefix}/futures${path.slice(settled.length)}`, route, { settle: 'btc' })
}
/**
 * From a plain request to the handler and back; it knows no socket. The order of the checks is the order of the methods
 * called in `look` and `finish`: route, negotiation, authentication, permission, rate limit, parameters, rules. What
 * needs no body is in `look`, so that nobody has to read one before.
 */
export class Pipeline {
  private readonly options: PipelineOptions
  private readonly router: Router<Route>
  private readonly windows: Windows
  private readonly meant = new MeantPaths()
  /** What people in browsers call: made when the first of them comes, for many platforms never see one. */
  private pages: Router<Route> | undefined

  constructor(options: PipelineOptions) {
    this.options = options
    this.windows = new Windows(options.desk, options.limiter)
    this.router = this.routerFor(false)
  }
  private routerFor(people: boolean): Router<Route> {
    const { endpoints, desk } = this.options
    return routerOf(
      endpoints.filter(({ console = false }) => console === people),
      desk.mode,
    )
  }

  begin(request: PlainRequest, checked?: Checked): Passage {
    return {
      request,
      inTime: request.inTime,
      method: request.method as Method,
      path: request.path,
      rawQuery: request.rawQuery,
      ip: request.ip,
      checked,
      route: undefined,
      params: NO_PARAMS,
      query: NO_PARAMS,
      atOnce: false,
      caller: undefined,
      signed: undefined,
      operator: undefined,
      session: undefined,
      allowance: undefined,
      dropReply: false,
      ignored: undefined,
      body: undefined,
      headers: [],
    }
  }
  /** All checks that need no body. A reply: it ends here. */
  look(passage: Passage): PlainReply | undefined {
    try {
      const router = passage.path.startsWith(CONSOLE_PATH)
        ? (this.pages ??= this.routerFor(true))
        : this.router
      const match = router.find(passage.method, passage.path)
      if ('allow' in match) return this.noRoute(passage, match.allow, router)
      passage.route = match.route
      passage.params = match.params
      const { endpoint } = match.route
      if (match.route.console === true) passage.headers.push(...CONSOLE_HEADERS)
      if (!this.options.ready()) refuse('TOO_BUSY', STARTING)
      this.negotiate(passage, endpoint)
      this.options.door.look(passage, endpoint)
      passage.query = parseQuery(passage.rawQuery)
      if (endpoint.access.kind === 'public') this.windows.count(passage, endpoint, undefined)
      return undefined
    } catch (error) {
      return this.refuse(passage, error)
    }
  }
  /** After `look`: whether somebody should read the body. */
  wantsBody({ route }: Passage): boolean {
    return wantsBody(route!.endpoint)
  }
  /** Everything else. */
  async finish(passage: Passage, body: Buffer | undefined): Promise<PlainReply> {
    const leave = await this.options.witness?.turn()
    try {
      const { endpoint } = passage.route!
      passage.body = body
      const { unsure } = this.options.desk.core
      if (unsure !== undefined) await unsure
      this.options.door.admit(passage, endpoint, body)
      const json = passage.checked?.fault === undefined ? readJson(endpoint, body) : NOT_READ
      if (endpoint.access.kind !== 'public') this.windows.count(passage, endpoint, json.value)
      const run = this.prepare(passage, endpoint, json)
      // An operator must be able to take a fault back, and whoever looks at a page to see that there is one.
      if (
        this.options.faults.active &&
        endpoint.access.kind !== 'operator' &&
        passage.route!.console !== true
      )
        await this.misbehave(passage, run)
      // A stage at a time: all requests that came together are read before the first of them is carried out (0084).
      await SETTLED
      this.options.door.admitStill(passage, endpoint, body)
      const reply = await run()
      const text = endpoint.reply === null ? undefined : replyText(endpoint.reply, reply)
      return this.respond(passage, endpoint.status, text)
    } catch (error) {
      if (passage.caller !== undefined && passage.allowance === undefined) this.windows.show(passage)
      return this.refuse(passage, error)
    } finally {
      leave?.()
    }
  }
  /** Both at once, of a request that is there as a whole. */
  pass(passage: Passage, body: Buffer | undefined): PlainReply | Promise<PlainReply> {
    passage.atOnce = true
    const { unsure } = this.options.desk.core
    if (unsure === undefined) return this.look(passage) ?? this.finish(passage, body)
    return unsure.then(
      () => this.look(passage) ?? this.finish(passage, body),
      (error: unknown) => this.refuse(passage, error),
    )
  }
  /** The answer to whatever was thrown. */
  refuse(passage: Passage, error: unknown): PlainReply {
    if (error instanceof Proposed) return this.respond(passage, 202, JSON.stringify(error.body))
    if (error instanceof Refusal) return this.respond(passage, error.status, toldAt(passage.path, error))
    // It comes back, or the process ends: neither is a defect, and nobody need guess.
    if (error instanceof StoreAway || error instanceof StoreLost) {
      const { method, path } = passage
      this.options.log.warn('a request found no database', { method, path, error })
      const away = method === 'GET' ? AWAY : UNSURE
      return this.respond(passage, away.status, toldAt(path, away))
    }
    this.options.log.error('a request failed unexpectedly', {
      method: passage.method,
      path: passage.path,
      error,
    })
    return this.respond(passage, DEFECT.status, toldAt(passage.path, DEFECT))
  }
  /**
   * A call that came over a line which knows its caller: permission, limit and parameters, as of any request. What comes
   * out carries it out; a refusal is thrown. `limited`: it counts in its endpoint's windows; `window`: in another one.
   */
  check(passage: Passage, given: GivenCall, limited: boolean, window?: LimitRule): () => Promise<unknown> {
    const { endpoint } = passage.route!
    const { desk, ready } = this.options
    if (!ready()) refuse('TOO_BUSY', STARTING)
    authorize(passage.caller!, endpoint.access as KeyAccess, passage.method, passage.ip, desk.core.state)
    this.windows.count(passage, limited ? endpoint : undefined, given.body, window)
    const named = given.named()
    const { path, query, body } = readParts(endpoint, named.params, named.query, given.body, undefined)
    const call = new EndpointCall(desk, passage, path, query, body) as unknown as Call<never, never, never>
    return () => endpoint.handle(call)
  }
  /** The client went away before its request was whole: nobody is left to be answered. */
  brokenOff(passage: Passage): void {
    const { method, path, ip, inTime, route } = passage
    this.options.metrics.request(route, CLIENT_GONE, microsNow() - inTime)
    this.options.log.debug('a client broke off its request', { method, path, ip })
  }

  /** What the sandbox's fault rules say about this request. */
  private async misbehave(passage: Passage, run: () => Promise<unknown>): Promise<void> {
    const { faults } = this.options
    const request = this.reported(passage)
    const plan = await faults.apply(request)
    passage.dropReply = plan.dropReply
    if (plan.duplicate)
      await run().then(
        () => faults.report.ranTwice(request),
        () => undefined,
      )
  }

  private reported(passage: Passage): ReportedRequest {
    const { method, path, rawQuery, body, caller, signed, ip, inTime } = passage
    const userId = caller?.user.user_id ?? signed?.key.user_id
    const at = this.options.desk.clock.peek()
    return { method, path, query: rawQuery, body, userId, key: signed?.key.key, ip, arrived: inTime, at }
  }

  private noRoute(passage: Passage, allow: readonly string[], router: Router<Route>): never {
    // A call that perpetual contracts alone have is not there, though another one may have its path.
    if (passage.path.startsWith(DATED) && allow.length > 0) {
      const twin = PERPETUAL + passage.path.slice(DATED.length)
      if ('route' in router.find(passage.method, twin))
        notFound(
          'NOT_FOUND',
          `dated contracts have no ${passage.method} ${passage.path}; /docs lists what they have`,
        )
    }
    if (allow.length === 0) {
      const meant = this.meant.find(router, passage.path)
      notFound(
        'NOT_FOUND',
        `${passage.path} is not an address of this platform; ${meant === undefined ? '' : `did you mean ${meant}? `}/docs lists them all`,
      )
    }
    passage.headers.push('Allow', allow.join(', '))
    refuse('METHOD_NOT_ALLOWED', `${passage.method} is not allowed here; use ${allow.join(' or ')}`)
  }

  private negotiate({ request }: Passage, endpoint: AnyEndpoint): void {
    const accept = header(request.headers['accept'])
    const type = header(request.headers['content-type'])
    if (!accepts(accept, 'application/json'))
      refuse('NOT_ACCEPTABLE', `Accept: ${accept ?? ''} excludes application/json, the only type there is`)
    if (type !== undefined && request.hasBody && readsBody(endpoint.method) && !isJsonType(type))
      refuse('INVALID_CONTENT_TYPE', `Content-Type: ${type} is not supported; send application/json`)
  }

  /** Reads all parameters at once; what comes out runs the rules, and may run twice under a fault. */
  private prepare(passage: Passage, endpoint: AnyEndpoint, json: ReadBody): () => Promise<unknown> {
    const { desk, door } = this.options
    const fault = passage.checked?.fault
    if (fault !== undefined) {
      passage.ignored = fault.ignored
      throw new Refusal(fault.label, fault.message, fault.status)
    }
    const { path, query, body } = readCall(endpoint, desk.mode, passage.params, passage.query, json, passage)
    const call = new EndpointCall(desk, passage, path, query, body) as unknown as Call<never, never, never>
    const guarded = guardedCall(endpoint, call)
    const once = passage.signed?.key.replay_protection === true && endpoint.once?.(body) === true
    return once
      ? () => door.once(passage).then(() => endpoint.handle(guarded))
      : () => endpoint.handle(guarded)
  }

  private respond(passage: Passage, status: number, text: string | undefined): PlainReply {
    const { inTime, headers } = passage
    const micros = Math.max(0, microsNow() - inTime)
    this.options.metrics.request(passage.route, status, micros)
    if (this.options.log.verbose) {
      const { method, path, ip, caller, operator, ignored } = passage
      this.options.log.debug('request', {
        method,
        path,
        status,
        micros,
        ip,
        user_id: caller?.user.user_id,
        operator,
        ignored,
      })
    }
    const { report } = this.options.faults
    const { route } = passage
    // What pages ask for by themselves would push out what people look for; and passwords are kept nowhere.
    const logged = route === undefined ? !passage.path.startsWith('/console/') : route.console !== true
    if (report.active && logged && passage.operator === undefined) report.see(this.reported(passage), status)
    if (this.options.requests !== undefined && logged)
      this.note(this.options.requests, passage, status, micros, text ?? '')
    if (this.options.witness !== undefined && logged) this.show(this.options.witness, passage, status, text)
    if (passage.allowance !== undefined) this.tellAllowance(headers, passage.allowance, status)
    if (passage.ignored !== undefined) headers.push(HEADERS.ignored, passage.ignored.join(', '))
    return { status, headers, text, drop: passage.dropReply }
  }

  /** Members one by one: this is done for every request of a sandbox. */
  private note(log: RequestLog, passage: Passage, status: number, micros: number, text: string): void {
    const { method, path, rawQuery, ip, caller, signed, operator, body, dropReply, ignored } = passage
    if (path === REQUESTS_PATH) return
    log.add({
      at: this.options.desk.clock.peek(),
      micros,
      method,
      path,
      query: rawQuery,
      ip,
      userId: caller?.user.user_id ?? signed?.key.user_id,
      key: signed?.key.key,
      operator,
      status,
      timestamp: header(passage.request.headers['timestamp']),
      remain: passage.allowance?.remain,
      limit: passage.allowance?.limit,
      dropped: dropReply,
      ignored,
      body,
      reply: text,
    })
  }

  private show(witness: Witness, passage: Passage, status: number, text: string | undefined): void {
    const { operator, body, dropReply: dropped } = passage
    const { method, path, query, userId, key, arrived, at } = this.reported(passage)
    witness.see({
      method,
      path,
      query,
      userId,
      key,
      operator,
      body,
      at,
      arrived,
      status,
      reply: text ?? '',
      dropped,
    })
  }

  private tellAllowance(headers: (string | number)[], allowance: Allowance, status: number): void {
    const { remain, limit, reset } = HEADERS
    const seconds = allowance.resetAt / 1e6
    // Over the limit: the second in which the next request passes; else the present one.
    const at = allowance.allowed ? Math.floor(seconds) : Math.ceil(seconds)
    headers.push(remain, allowance.remain, limit, allowance.limit, reset, at)
    // Who refused it may have said it already.
    if (status !== 429 || headers.includes('Retry-After')) return
    const wait = seconds - this.options.desk.clock.peek() / 1e6
    headers.push('Retry-After', Math.max(1, Math.ceil(wait)))
  }
}

const VENDOR = `X-${VENDOR_PREFIX}`
const HEADERS = {
  remain: `${VENDOR}-RateLimit-Requests-Remain`,
  limit: `${VENDOR}-RateLimit-Limit`,
  reset: `${VENDOR}-RateLimit-Reset-Timestamp`,
  ignored: `${VENDOR}-Ignored`,
}
const readsBody = (method: Method): boolean => method !== 'GET' && method !== 'DELETE'
/** What people see of their accounts stays with them. */
const CONSOLE_HEADERS = [
  'Cache-Control',
  'no-store',
  'X-Content-Type-Options',
  'nosniff',
  'Cross-Origin-Resource-Policy',
  'same-origin',
] as const
const STARTING = 'the platform is starting; try again in a second'
const NO_PARAMS: Record<string, string> = {}
const NOT_READ: ReadBody = { value: undefined, more: false, fault: undefined }
/** What looks at the log is not written into it. */
const REQUESTS_PATH = '/operator/v1/requests'
const SETTLED = Promise.resolve()
/** As proxies count it: the client was gone before its request was whole. */
const CLIENT_GONE = 499
