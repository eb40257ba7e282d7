import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { Refusal, notFound, refuse } from '../labels.ts'
import type { Log } from '../runtime/log.ts'
import { AuthenticationFailure } from './authenticate.ts'
import { Bodies, BrokenOff, hasBody } from './bodies.ts'
import { Door } from './door.ts'
import type { AnyEndpoint, Call, LiveDesk, Method } from './endpoint.ts'
import type { ReportedRequest } from './fault-report.ts'
import type { Faults } from './faults.ts'
import { readFields, refuseUnknown, type Fields, type Unknown } from './fields.ts'
import { Proposed, guardedCall } from './guarded.ts'
import {
  VENDOR_PREFIX,
  accepts,
  addressBlock,
  clientIp,
  isJsonType,
  microsNow,
  parseJson,
  replyAndLinger,
  traceId,
} from './http.ts'
import { Limiter, type Allowance } from './limiter.ts'
import type { Metrics } from './metrics.ts'
import {
  EndpointCall,
  NOTHING,
  decodeSegment,
  noteIgnored,
  parseQuery,
  readBodyField,
  type Passage,
  type Route,
} from './passage.ts'
import { kept, keptBody, type RequestLog } from './request-log.ts'
import { Router } from './router.ts'

export interface GatewayOptions {
  readonly desk: LiveDesk
  readonly endpoints: readonly { readonly prefix: string; readonly list: readonly AnyEndpoint[] }[]
  readonly limiter: Limiter
  readonly door: Door
  readonly bodies: Bodies
  readonly faults: Faults
  /** Left out in live mode. */
  readonly requests: RequestLog | undefined
  readonly metrics: Metrics
  readonly log: Log
  readonly trustProxy: number
  readonly ready: () => boolean
}
/**
 * From the socket to the handler and back. The order of the checks is the order of the methods called in
 * `serve`: route, negotiation, authentication, permission, rate limit, parameters, rules.
 */
export class Gateway {
  private readonly options: GatewayOptions
  private readonly router = new Router<Route>()
  private readonly headerNames: {
    trace: string
    remain: string
    limit: string
    reset: string
    ignored: string
  }

  constructor(options: GatewayOptions) {
    this.options = options
    const { desk } = options
    for (const { prefix, list } of options.endpoints)
      for (const endpoint of list) {
        if (endpoint.sandboxOnly === true && desk.mode === 'live') continue
        const path = prefix + endpoint.path
        this.router.add(endpoint.method, path, { endpoint, path })
      }
    const vendor = `X-${VENDOR_PREFIX}`
    this.headerNames = {
      trace: `${vendor}-Trace-ID`,
      remain: `${vendor}-RateLimit-Requests-Remain`,
      limit: `${vendor}-RateLimit-Limit`,
      reset: `${vendor}-RateLimit-Reset-Timestamp`,
      ignored: `${vendor}-Ignored`,
    }
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const passage: Passage = {
      request,
      response,
      inTime: microsNow(),
      method: (request.method ?? 'GET') as Method,
      path: mark === -1 ? url : url.slice(0, mark),
      rawQuery: mark === -1 ? '' : url.slice(mark + 1),
      ip: clientIp(request, this.options.trustProxy),
      route: undefined,
      caller: undefined,
      signed: undefined,
      operator: undefined,
      allowance: undefined,
      dropReply: false,
      ignored: undefined,
      body: undefined,
      headers: [],
    }
    try {
      await this.pass(passage)
    } catch (error) {
      // A small body usually came with the head: it is let in, so that the connection can go on.
      if (!request.complete && !(error instanceof BrokenOff)) {
        request.resume()
        await turn()
      }
      this.refusal(passage, error)
    }
  }

  private async pass(passage: Passage): Promise<void> {
    const match = this.router.find(passage.method, passage.path)
    if ('allow' in match) {
      this.noRoute(passage, match.allow)
      return
    }
    passage.route = match.route
    const { endpoint } = match.route
    if (!this.options.ready()) refuse('TOO_BUSY', 'the platform is starting; try again in a second')
    this.negotiate(passage, endpoint)
    const { door } = this.options
    door.look(passage, endpoint)
    const query = parseQuery(passage.rawQuery)
    const open = endpoint.access.kind === 'public'
    if (open) this.limit(passage, endpoint, undefined, query)
    const body = await this.body(passage, endpoint)
    passage.body = body
    door.admit(passage, endpoint, body)
    const json = this.readJson(endpoint, body)
    if (!open) this.limit(passage, endpoint, json.value, query)
    const run = this.prepare(passage, endpoint, match.params, query, json)
    // An operator must be able to take a fault back.
    if (this.options.faults.active && endpoint.access.kind !== 'operator') await this.misbehave(passage, run)
    const reply = await run()
    this.respond(passage, endpoint.status, endpoint.reply === null ? undefined : reply)
  }

  /** Nobody reads what a stranger sends along, unless the endpoint takes a body. */
  private body({ request, response, ip }: Passage, endpoint: AnyEndpoint): Promise<Buffer | undefined> {
    if (endpoint.access.kind === 'public' && endpoint.body === undefined) return NO_BODY
    return this.options.bodies.read(request, response, addressBlock(ip))
  }

  /** What the sandbox's fault rules say about this request. */
  private async misbehave(passage: Passage, run: () => Promise<unknown>): Promise<void> {
    const plan = await this.options.faults.apply(this.reported(passage))
    passage.dropReply = plan.dropReply
    if (plan.duplicate) await run().catch(() => undefined)
  }

  private reported(passage: Passage): ReportedRequest {
    const { method, path, rawQuery, body, caller, signed, ip, inTime } = passage
    const userId = caller?.user.user_id ?? signed?.key.user_id
    const at = this.options.desk.clock.peek()
    return { method, path, query: rawQuery, body, userId, key: signed?.key.key, ip, arrived: inTime, at }
  }

  private noRoute(passage: Passage, allow: readonly string[]): void {
    if (allow.length === 0)
      notFound('NOT_FOUND', `${passage.path} is not an address of this platform; /docs lists them all`)
    passage.headers.push('Allow', allow.join(', '))
    refuse('METHOD_NOT_ALLOWED', `${passage.method} is not allowed here; use ${allow.join(' or ')}`)
  }

  private negotiate({ request }: Passage, endpoint: AnyEndpoint): void {
    const { accept, 'content-type': type } = request.headers
    if (!accepts(accept, 'application/json'))
      refuse('NOT_ACCEPTABLE', `Accept: ${accept ?? ''} excludes application/json, the only type there is`)
    const reads = endpoint.method !== 'GET' && endpoint.method !== 'DELETE'
    if (reads && type !== undefined && !isJsonType(type) && hasBody(request))
      refuse('INVALID_CONTENT_TYPE', `Content-Type: ${type} is not supported; send application/json`)
  }

  /** The body as JSON; a fault in it is told only after the rate limit. */
  private readJson(endpoint: AnyEndpoint, body: Buffer | undefined): { value: unknown; fault: unknown } {
    const read =
      endpoint.access.kind === 'operator' ||
      (endpoint.body !== undefined && endpoint.method !== 'GET' && endpoint.method !== 'DELETE')
    if (!read || body === undefined) return { value: undefined, fault: undefined }
    try {
      return { value: parseJson(body), fault: undefined }
    } catch (fault) {
      return { value: undefined, fault }
    }
  }

  private limit(passage: Passage, endpoint: AnyEndpoint, body: unknown, query: Record<string, string>): void {
    const { limit: rule } = endpoint
    if (rule === null) return
    const { limiter, desk } = this.options
    const name = rule.bucket ?? `${endpoint.method} ${endpoint.path}`
    const who = rule.basis === 'ip' ? addressBlock(passage.ip) : String(passage.caller!.user.user_id)
    const markets = rule.basis === 'uid+market' ? this.marketsOf(endpoint, body, query) : NO_MARKET
    const now = desk.clock.peek()
    for (const market of markets) {
      const allowance = limiter.admit(`${name} ${who} ${market}`, rule.requests, rule.seconds, now)
      if (
        passage.allowance === undefined ||
        allowance.remain < passage.allowance.remain ||
        !allowance.allowed
      )
        passage.allowance = allowance
      if (!allowance.allowed) {
        const wait = ((allowance.resetAt - now) / 1e6).toFixed(1)
        refuse(
          rule.label,
          `Request Rate Limit Exceeded: ${allowance.limit} requests in ${rule.seconds} s for ${name}; try again in ${wait} s`,
        )
      }
    }
  }

  /** As the platform spells them: a name that the caller makes up, or none, opens no bucket of its own. */
  private marketsOf(endpoint: AnyEndpoint, body: unknown, query: Record<string, string>): Iterable<string> {
    const { world } = this.options.desk.core.state
    const named = endpoint.markets?.(body, query) ?? []
    if (named.length === 0) return NO_MARKET
    if (named.length === 1) return [world.findMarket(named[0]!)?.id ?? UNKNOWN_MARKET]
    return new Set(named.map((name) => world.findMarket(name)?.id ?? UNKNOWN_MARKET))
  }

  /** Operators' mistakes are refused. Clients send what other platforms read: the sandbox tells them what it ignores. */
  private unknown(passage: Passage, endpoint: AnyEndpoint): Unknown | undefined {
    if (endpoint.access.kind === 'operator') return refuseUnknown
    if (this.options.desk.mode === 'live') return undefined
    return (prefix, member) => noteIgnored(passage, prefix, member)
  }

  /** Reads all parameters at once; what comes out runs the rules, and may run twice under a fault. */
  private prepare(
    passage: Passage,
    endpoint: AnyEndpoint,
    params: Readonly<Record<string, string>>,
    query: Record<string, string>,
    json: { value: unknown; fault: unknown },
  ): () => Promise<unknown> {
    if (json.fault !== undefined) throw json.fault as Error
    const decoded: Record<string, string> = {}
    for (const [name, value] of Object.entries(params)) decoded[name] = decodeSegment(name, value)
    const unknown = this.unknown(passage, endpoint)
    const field = endpoint.body ?? (endpoint.access.kind === 'operator' ? NOTHING : undefined)
    const body: unknown = field === undefined ? undefined : readBodyField(field, json.value, unknown)
    const call = new EndpointCall(
      this.options.desk,
      passage,
      readFields((endpoint.params ?? {}) as Fields, decoded),
      readFields((endpoint.query ?? {}) as Fields, query, '', unknown),
      body,
    ) as unknown as Call<never, never, never>
    const guarded = guardedCall(endpoint, call)
    const once = passage.signed?.key.replay_protection === true && endpoint.once?.(body) === true
    return once
      ? () => this.options.door.once(passage).then(() => endpoint.handle(guarded))
      : () => endpoint.handle(guarded)
  }

  private refusal(passage: Passage, error: unknown): void {
    if (error instanceof Proposed) {
      this.respond(passage, 202, error.body)
      return
    }
    if (error instanceof Refusal) {
      const detail = error instanceof AuthenticationFailure ? error.detail : undefined
      this.respond(passage, error.status, { label: error.label, message: error.message, ...detail })
      return
    }
    if (error instanceof BrokenOff) {
      this.options.metrics.request(passage.route, CLIENT_GONE, microsNow() - passage.inTime)
      const { method, path, ip } = passage
      this.options.log.debug('a client broke off its request', { method, path, ip })
      return
    }
    this.options.log.error('a request failed unexpectedly', {
      method: passage.method,
      path: passage.path,
      error,
    })
    this.respond(passage, 500, {
      label: 'SERVER_ERROR',
      message: 'Internal server error: this is a defect of the platform, and it has been logged',
    })
  }

  private respond(passage: Passage, status: number, body: unknown): void {
    const { request, response, inTime, headers } = passage
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
    const text = body === undefined ? '' : JSON.stringify(body)
    const { report } = this.options.faults
    if (report.active && passage.operator === undefined) report.see(this.reported(passage), status)
    if (this.options.requests !== undefined) this.note(this.options.requests, passage, status, micros, text)
    if (passage.dropReply) {
      request.socket.destroy()
      return
    }
    if (response.headersSent || response.destroyed) return
    const { complete } = request
    if (!complete) headers.push('Connection', 'close')
    const clientId = request.headers['x-client-request-id']
    if (typeof clientId === 'string' && /^[\x20-\x7e]{1,64}$/.test(clientId))
      headers.push('X-Client-Request-Id', clientId)
    if (passage.allowance !== undefined) this.tellAllowance(headers, passage.allowance, status)
    if (passage.ignored !== undefined) headers.push(this.headerNames.ignored, passage.ignored.join(', '))
    headers.push(this.headerNames.trace, traceId())
    headers.push('X-In-Time', inTime, 'X-Out-Time', Math.max(inTime, microsNow()))
    if (body !== undefined)
      headers.push('Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text))
    response.writeHead(status, headers as string[])
    if (complete) response.end(text)
    else replyAndLinger(request, response, text)
  }

  /** Members one by one: this is done for every request of a sandbox. */
  private note(log: RequestLog, passage: Passage, status: number, micros: number, text: string): void {
    const { method, path, rawQuery, ip, caller, signed, operator, body, dropReply, ignored } = passage
    if (path === REQUESTS_PATH) return
    log.add({
      id: log.next,
      at: this.options.desk.clock.peek(),
      micros,
      method,
      path: kept(path),
      query: kept(rawQuery),
      ip,
      userId: caller?.user.user_id ?? signed?.key.user_id,
      key: signed?.key.key,
      operator,
      status,
      dropped: dropReply,
      ignored,
      body: keptBody(body),
      bodyLength: body?.length ?? 0,
      reply: kept(text),
      replyLength: text.length,
    })
  }

  private tellAllowance(headers: (string | number)[], allowance: Allowance, status: number): void {
    const { remain, limit, reset } = this.headerNames
    const seconds = allowance.resetAt / 1e6
    // Over the limit: the second in which the next request passes; else the present one.
    const at = allowance.allowed ? Math.floor(seconds) : Math.ceil(seconds)
    headers.push(remain, allowance.remain, limit, allowance.limit, reset, at)
    if (status !== 429) return
    const wait = seconds - this.options.desk.clock.peek() / 1e6
    headers.push('Retry-After', Math.max(1, Math.ceil(wait)))
  }
}

const NO_BODY = Promise.resolve(undefined)
/** What looks at the log is not written into it. */
const REQUESTS_PATH = '/operator/v1/requests'
const NO_MARKET: readonly string[] = ['']
/** Not a name of any market, but the same bucket as that of no name at all. */
const UNKNOWN_MARKET = ''
/** As proxies count it: the client was gone before its request was whole. */
const CLIENT_GONE = 499
