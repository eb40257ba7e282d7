import type { IncomingMessage, ServerResponse } from 'node:http'
import { mayActAs } from '../core/operators/operators.ts'
import { Refusal, notFound, refuse } from '../labels.ts'
import type { Log } from '../runtime/log.ts'
import { sha256 } from '../runtime/secrets.ts'
import { AuthenticationFailure, Authenticator, authorize } from './authenticate.ts'
import type { AnyEndpoint, Call, Caller, Desk, Method } from './endpoint.ts'
import type { Faults } from './faults.ts'
import { readFields, type Fields } from './fields.ts'
import { Proposed, guardedCall } from './guarded.ts'
import { accepts, clientIp, isJsonType, microsNow, parseJson, readBody, traceId } from './http.ts'
import { Limiter, type Allowance } from './limiter.ts'
import { FAILED_AUTHENTICATIONS } from './limits.ts'
import type { Metrics } from './metrics.ts'
import { Router } from './router.ts'

export interface GatewayOptions {
  readonly desk: Desk
  readonly endpoints: readonly { readonly prefix: string; readonly list: readonly AnyEndpoint[] }[]
  readonly limiter: Limiter
  readonly faults: Faults
  readonly metrics: Metrics
  readonly log: Log
  readonly trustProxy: number
  readonly vendorPrefix: string
  readonly ready: () => boolean
  /** Last use of keys, told to the core from time to time. */
  readonly seen: Map<string, number>
}
interface Route {
  readonly endpoint: AnyEndpoint
  readonly path: string
}
/** One request on its way through the checks. */
interface Passage {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly inTime: number
  readonly method: Method
  readonly path: string
  readonly rawQuery: string
  readonly ip: string
  route: Route | undefined
  caller: Caller | undefined
  operator: string | undefined
  allowance: Allowance | undefined
  dropReply: boolean
  /** Names and values in turn: the form that node writes fastest. */
  readonly headers: (string | number)[]
}

/**
 * From the socket to the handler and back. The order of the checks is the order of the methods called in
 * `serve`: route, negotiation, authentication, permission, rate limit, parameters, rules.
 */
export class Gateway {
  private readonly options: GatewayOptions
  private readonly router = new Router<Route>()
  private readonly authenticator: Authenticator
  private readonly headerNames: { trace: string; remain: string; limit: string; reset: string }

  constructor(options: GatewayOptions) {
    this.options = options
    const { desk, vendorPrefix } = options
    this.authenticator = new Authenticator(desk.core.state, desk.secrets, desk.mode === 'sandbox')
    for (const { prefix, list } of options.endpoints)
      for (const endpoint of list) {
        if (endpoint.sandboxOnly === true && desk.mode === 'live') continue
        const path = prefix + endpoint.path
        this.router.add(endpoint.method, path, { endpoint, path })
      }
    const vendor = `X-${vendorPrefix}`
    this.headerNames = {
      trace: `${vendor}-Trace-ID`,
      remain: `${vendor}-RateLimit-Requests-Remain`,
      limit: `${vendor}-RateLimit-Limit`,
      reset: `${vendor}-RateLimit-Reset-Timestamp`,
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
      operator: undefined,
      allowance: undefined,
      dropReply: false,
      headers: [],
    }
    try {
      await this.pass(passage)
    } catch (error) {
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
    const body = await readBody(passage.request)
    this.identify(passage, endpoint, body)
    const query = parseQuery(passage.rawQuery)
    const json = this.readJson(endpoint, body)
    this.limit(passage, endpoint, json.value, query)
    const run = this.prepare(passage, endpoint, match.params, query, json)
    if (this.options.faults.active) await this.misbehave(passage, run)
    const reply = await run()
    this.respond(passage, endpoint.status, endpoint.reply === null ? undefined : reply)
  }

  /** What the sandbox's fault rules say about this request. */
  private async misbehave(passage: Passage, run: () => Promise<unknown>): Promise<void> {
    const { method, path, caller } = passage
    const plan = await this.options.faults.apply(method, path, caller?.user.user_id)
    passage.dropReply = plan.dropReply
    if (plan.duplicate) await run().catch(() => undefined)
  }

  private noRoute(passage: Passage, allow: readonly string[]): void {
    passage.request.resume()
    if (allow.length === 0)
      notFound('NOT_FOUND', `${passage.path} is not an address of this platform; /docs lists them all`)
    passage.headers.push('Allow', allow.join(', '))
    refuse('METHOD_NOT_ALLOWED', `${passage.method} is not allowed here; use ${allow.join(' or ')}`)
  }

  private negotiate({ request }: Passage, endpoint: AnyEndpoint): void {
    const { accept, 'content-type': type, 'content-length': length } = request.headers
    if (!accepts(accept, 'application/json'))
      refuse('NOT_ACCEPTABLE', `Accept: ${accept ?? ''} excludes application/json, the only type there is`)
    const empty =
      length === '0' || (length === undefined && request.headers['transfer-encoding'] === undefined)
    const reads = endpoint.method !== 'GET' && endpoint.method !== 'DELETE'
    if (reads && !empty && type !== undefined && !isJsonType(type))
      refuse('INVALID_CONTENT_TYPE', `Content-Type: ${type} is not supported; send application/json`)
  }

  private identify(passage: Passage, endpoint: AnyEndpoint, body: Buffer | undefined): void {
    const { access } = endpoint
    if (access.kind === 'public') return
    const { desk, limiter } = this.options
    const { requests, seconds } = FAILED_AUTHENTICATIONS
    const now = desk.clock.peek()
    const bucket = `authentication ${passage.ip}`
    const failures = limiter.peek(bucket, requests, seconds, now)
    if (!failures.allowed) {
      passage.allowance = failures
      refuse(
        'TOO_MANY_REQUESTS',
        `too many failed authentications from ${passage.ip}; wait, and check key and signature`,
      )
    }
    try {
      if (access.kind === 'operator') passage.operator = this.identifyOperator(passage)
      else passage.caller = this.identifyCaller(passage, body, now)
    } catch (error) {
      if (error instanceof AuthenticationFailure) limiter.admit(bucket, requests, seconds, now)
      throw error
    }
    if (access.kind === 'key') authorize(passage.caller!, access, passage.method, passage.ip, desk.core.state)
    else {
      const role = desk.core.state.operators.table.get(passage.operator!)!.role
      if (!mayActAs(role, access.role))
        refuse(
          'FORBIDDEN',
          `operator "${passage.operator!}" has the role ${role}; this call needs ${access.role}`,
        )
    }
  }
  private identifyCaller(passage: Passage, body: Buffer | undefined, now: number): Caller {
    const { headers } = passage.request
    const caller = this.authenticator.identify(
      {
        method: passage.method,
        path: passage.path,
        query: passage.rawQuery,
        body,
        key: header(headers['key']),
        timestamp: header(headers['timestamp']),
        sign: header(headers['sign']),
        ip: passage.ip,
      },
      now / 1e6,
    )
    this.options.seen.set(caller.key.key, Math.floor(now / 1e6))
    return caller
  }
  private identifyOperator({ request }: Passage): string {
    const { authorization } = request.headers
    if (authorization === undefined)
      throw new AuthenticationFailure(
        'MISSING_REQUIRED_HEADER',
        'Missing required header: Authorization; send "Authorization: Bearer <operator token>"',
      )
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    const operator =
      token === undefined ? undefined : this.options.desk.core.state.operators.byToken.get(sha256(token))
    if (operator === undefined)
      throw new AuthenticationFailure('INVALID_CREDENTIALS', 'this is not the token of an operator')
    return operator.name
  }

  /** The body as JSON; a fault in it is told only after the rate limit. */
  private readJson(endpoint: AnyEndpoint, body: Buffer | undefined): { value: unknown; fault: unknown } {
    if (
      endpoint.body === undefined ||
      endpoint.method === 'GET' ||
      endpoint.method === 'DELETE' ||
      body === undefined
    )
      return { value: undefined, fault: undefined }
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
    const who = rule.basis === 'ip' ? passage.ip : String(passage.caller!.user.user_id)
    const markets = rule.basis === 'uid+market' ? (endpoint.markets?.(body, query) ?? ['']) : ['']
    const now = desk.clock.peek()
    for (const market of markets.length === 0 ? [''] : markets) {
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
    const call = new EndpointCall(
      this.options.desk,
      passage,
      readFields((endpoint.params ?? {}) as Fields, decoded),
      readFields((endpoint.query ?? {}) as Fields, query),
      endpoint.body === undefined ? undefined : readBodyField(endpoint, json.value),
    ) as unknown as Call<never, never, never>
    return () => endpoint.handle(guardedCall(endpoint, call))
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
    const micros = microsNow() - inTime
    this.options.metrics.request(passage.route, status, micros)
    if (this.options.log.verbose) {
      const { method, path, ip, caller, operator } = passage
      this.options.log.debug('request', {
        method,
        path,
        status,
        micros,
        ip,
        user_id: caller?.user.user_id,
        operator,
      })
    }
    if (passage.dropReply) {
      request.socket.destroy()
      return
    }
    if (response.headersSent || response.destroyed) return
    if (!request.complete) {
      // The rest of an oversized body is not worth reading.
      headers.push('Connection', 'close')
      request.resume()
    }
    const clientId = request.headers['x-client-request-id']
    if (typeof clientId === 'string' && /^[\x20-\x7e]{1,64}$/.test(clientId))
      headers.push('X-Client-Request-Id', clientId)
    if (passage.allowance !== undefined) this.tellAllowance(headers, passage.allowance, status)
    headers.push(this.headerNames.trace, traceId())
    headers.push('X-In-Time', inTime, 'X-Out-Time', Math.max(inTime, microsNow()))
    const text = body === undefined ? '' : JSON.stringify(body)
    if (body !== undefined)
      headers.push('Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(text))
    response.writeHead(status, headers as string[])
    response.end(text)
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

/** What a handler sees of a request. */
class EndpointCall implements Call<object, object, unknown> {
  readonly desk: Desk
  readonly path: object
  readonly query: object
  readonly body: unknown
  private readonly passage: Passage
  constructor(desk: Desk, passage: Passage, path: object, query: object, body: unknown) {
    this.desk = desk
    this.passage = passage
    this.path = path
    this.query = query
    this.body = body
  }
  get ip(): string {
    return this.passage.ip
  }
  get caller(): Caller {
    if (this.passage.caller === undefined) throw new TypeError('this endpoint has no caller')
    return this.passage.caller
  }
  get operator(): string {
    if (this.passage.operator === undefined) throw new TypeError('this endpoint has no operator')
    return this.passage.operator
  }
  header(name: string): string | undefined {
    return header(this.passage.request.headers[name])
  }
  readonly set = (name: string, value: string | number): void => {
    this.passage.headers.push(name, value)
  }
}

const header = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

function parseQuery(raw: string): Record<string, string> {
  if (raw === '') return {}
  const query: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of new URLSearchParams(raw)) {
    // A list may come as one text with commas or as a repeated parameter.
    const before = query[name]
    query[name] = before === undefined ? value : `${before},${value}`
  }
  return query
}
function decodeSegment(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return refuse(
      'INVALID_PARAM_VALUE',
      `${name}: "${value.slice(0, 80)}" is not a well-formed part of a URL`,
    )
  }
}
/** A request without a body is one with nothing in it: every required parameter is missing. */
const readBodyField = (endpoint: AnyEndpoint, value: unknown): unknown =>
  endpoint.body!.read(value === undefined || value === null ? {} : value, '')
