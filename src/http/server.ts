import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { addressBlock, refuseRequest } from './words.ts'
import { ConfigError } from '../config.ts'
import { Connection, UNANSWERED_MAX } from './connection.ts'
import { Crowd } from './crowd.ts'
import { ServedMessage, plainReply, refuseUpgrade, type Upgrade } from './upgrade.ts'
import type { Warn } from './warn.ts'

export interface ServerOptions {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void
  /** Requests for a WebSocket. */
  readonly upgrade?: Upgrade
  readonly warn: Warn
  /** Connections at once, and of them from one address. */
  readonly connections: number
  readonly addressConnections: number
  /** A request must have arrived within this; its head in a third of it. */
  readonly requestMs: number
  /** How long an idle connection is kept: longer than the pools of clients and proxies keep theirs. */
  readonly idleMs?: number
  /** How long a client may leave its replies unread. */
  readonly unreadMs?: number
  /** Is told of each connection that ends, and of each client that was cut. */
  readonly left?: (address: string) => void
  readonly cut?: (total: number) => void
}
const IDLE_MS = 65_000
const UNREAD_MS = 10_000
/** What was refused may still be on its way: so long the connection stays, for the client to read why. */
const LINGER_MS = 1_000
const CONNECTION = Symbol('connection')
const ADDRESS = Symbol('address')
type Known = Socket & { [CONNECTION]?: Connection; [ADDRESS]?: string }

/**
 * The HTTP server itself. What its parser refuses is answered in JSON too; what a connection may hold is bounded, in
 * time, requests and bytes; and it stops without losing replies.
 */
export class HttpServer {
  private readonly server: Server
  private readonly options: ServerOptions
  private readonly all = new Set<Connection>()
  private readonly crowd: Crowd
  private sweeper: NodeJS.Timeout | undefined
  private closing = false
  private emptied: (() => void) | undefined
  /** Connections that were cut for not reading. */
  cut = 0

  constructor(options: ServerOptions) {
    this.options = options
    const { requestMs, idleMs = IDLE_MS, connections, addressConnections, warn } = options
    this.crowd = new Crowd(connections, addressConnections, warn)
    this.server = createServer(
      {
        keepAliveTimeout: idleMs,
        headersTimeout: Math.ceil(requestMs / 3),
        requestTimeout: requestMs,
        connectionsCheckingInterval: Math.min(5_000, Math.ceil(requestMs / 6)),
        // Looked at in front of the gateway, which answers in JSON.
        requireHostHeader: false,
        IncomingMessage: ServedMessage,
      },
      (request, response) => this.take(request, response, options.serve),
    )
    this.server.on('connection', (socket: Known) => this.connected(socket))
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
      this.take(request, response, options.serve),
    )
    this.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.take(request, response, refuseExpectation),
    )
    const { upgrade } = options
    if (upgrade !== undefined)
      this.server.on('upgrade', (request, socket: Known, head) =>
        this.upgrade(() => upgrade(request, socket, head), request, socket),
      )
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket: Known) => this.broken(error, socket))
  }
  get connections(): number {
    return this.all.size
  }
  /** Connections that were turned away. */
  get refused(): number {
    return this.crowd.refused
  }
  /** All connections are of one proxy, or a few: those of an address are no longer counted. */
  unboundAddresses(): void {
    this.crowd.unboundAddresses()
  }
  listen(host: string, port: number, setting = 'KONTOR_PORT'): Promise<number> {
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port, setting))
      this.server.once('error', failed)
      this.server.listen(port, host, () => {
        this.server.off('error', failed)
        // No descriptor left for the next connection, for example: whoever is connected goes on.
        this.server.on('error', (error) => this.crowd.turnedAway(error.message))
        this.startSweeping()
        resolve((this.server.address() as AddressInfo).port)
      })
    })
  }
  /** Instead of listening: somebody else accepts the connections, and hands them over. */
  open(): void {
    // This starts the watch over slow requests, which is else begun by listening.
    this.server.emit('listening')
    this.startSweeping()
  }
  /** Takes a connection that nobody has read from yet. */
  adopt(socket: Known, address: string): void {
    if (this.closing) {
      socket.destroy()
      this.options.left?.(address)
      return
    }
    socket[ADDRESS] = address
    socket.allowHalfOpen = true
    this.server.emit('connection', socket)
    socket.resume()
  }
  /**
   * Takes no new connections, lets the requests under way finish, then closes. Their replies say that the
   * connection ends with them, so that no client sends another request into a closing one.
   */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.closing = true
      clearInterval(this.sweeper)
      for (const { replies } of this.all) for (const response of replies) response.shouldKeepAlive = false
      if (this.server.listening) this.server.close(() => resolve())
      else if (this.all.size === 0) resolve()
      else this.emptied = resolve
      this.server.closeIdleConnections()
      const impatient = setTimeout(() => {
        this.server.closeAllConnections()
        for (const { given, socket } of this.all) if (given) socket.destroy()
      }, IMPATIENT_MS)
      impatient.unref()
    })
  }

  private startSweeping(): void {
    const { unreadMs = UNREAD_MS } = this.options
    this.sweeper = setInterval(() => this.sweep(unreadMs), Math.ceil(unreadMs / 5)).unref()
  }
  private connected(socket: Known): void {
    const address = socket[ADDRESS] ?? addressBlock(socket.remoteAddress ?? '')
    if (!this.crowd.enter(address)) {
      socket.destroy()
      return
    }
    const connection = new Connection(socket, address)
    socket[CONNECTION] = connection
    this.all.add(connection)
    socket.on('close', () => this.gone(connection))
  }
  private gone(connection: Connection): void {
    this.all.delete(connection)
    connection.closed()
    this.crowd.leave(connection.address)
    this.options.left?.(connection.address)
    if (this.all.size === 0) this.emptied?.()
  }
  private take(request: IncomingMessage, response: ServerResponse, serve: ServerOptions['serve']): void {
    const connection = (request.socket as Known)[CONNECTION]
    if (connection?.take(response) !== true) return
    if (this.closing) response.shouldKeepAlive = false
    response.on('close', () => this.answered(connection, response))
    if (connection.full) {
      connection.over = true
      refuseRequest(
        response,
        429,
        'TOO_MANY_REQUESTS',
        `${UNANSWERED_MAX} requests of this connection are unanswered; wait for replies, or use more connections`,
        ['Retry-After', 1, 'Connection', 'close'],
      )
    } else connection.start(() => serve(request, response))
  }
  /** From here on the connection is somebody else's, though it still counts. Replies to earlier requests come first. */
  private upgrade(give: () => void, request: IncomingMessage, socket: Known): void {
    const connection = socket[CONNECTION]
    // Nobody else listens to it until it is taken.
    socket.on('error', ignored)
    if (connection === undefined) {
      socket.destroy()
      return
    }
    // What was refused before it ends the connection.
    if (connection.over) return
    connection.over = true
    connection.whenAnswered(() => {
      connection.given = true
      if (socket.destroyed || !socket.writable) socket.destroy()
      else if (this.closing) refuseUpgrade(request, socket, 503, 'TOO_BUSY', 'the platform is stopping')
      else give()
    })
  }
  private answered(connection: Connection, response: ServerResponse): void {
    connection.answered(response)
    const { farewell } = connection
    if (farewell !== undefined && !connection.owed) this.sayFarewell(connection, farewell)
  }

  private sweep(unreadMs: number): void {
    const now = performance.now()
    for (const connection of this.all)
      if (!connection.given && connection.stuck(now, unreadMs)) {
        this.cut++
        connection.socket.destroy()
        this.options.cut?.(this.cut)
      }
  }

  /** What the parser refuses, or waited for in vain. Replies to earlier requests come first. */
  private broken(error: NodeJS.ErrnoException, socket: Known): void {
    const connection = socket[CONNECTION]
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    const silent = late && socket.bytesRead === 0
    if (error.code === 'ECONNRESET' || !socket.writable || connection === undefined || silent) {
      socket.destroy()
      return
    }
    if (connection.farewell !== undefined) return
    connection.over = true
    const farewell = late
      ? plainReply(
          undefined,
          408,
          'BAD_REQUEST',
          'the request did not arrive in time; send it whole, at once',
        )
      : plainReply(undefined, 400, 'BAD_REQUEST', parserMessage(error))
    connection.farewell = farewell
    if (!connection.owed) this.sayFarewell(connection, farewell)
  }
  private sayFarewell({ socket, replies }: Connection, farewell: string): void {
    // A reply has begun already: anything more would be read as part of it.
    for (const reply of replies) if (reply.headersSent) socket.destroy()
    if (socket.destroyed) return
    socket.end(farewell)
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
}

const ignored = (): void => undefined

export function listenError(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  setting: string,
): Error {
  const hostSetting = setting === 'KONTOR_PORT' ? 'KONTOR_HOST' : setting
  if (error.code === 'EADDRINUSE')
    return new ConfigError(
      `${setting} ${port} is in use on ${host}: stop the other process, or choose another port (--port 0 picks a free one); a second platform needs a --data of its own too, or --memory`,
    )
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new ConfigError(`${hostSetting} ${host} is not an address of this machine`)
  if (error.code === 'EACCES') return new ConfigError(`${setting} ${port} may not be used by this user`)
  return error
}
function parserMessage({ code, message }: NodeJS.ErrnoException): string {
  return code === 'HPE_HEADER_OVERFLOW'
    ? 'the headers are over 16 KiB; send fewer or shorter ones'
    : `this is not a well-formed HTTP request: ${message}`
}
function refuseExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const message = `Expect: ${String(headers.expect).slice(0, 80)} can't be met; leave it out, or send 100-continue`
  refuseRequest(response, 417, 'BAD_REQUEST', message, ['Connection', 'close'])
}
/** Longer than any request takes by itself; only a fault that was asked for is slower. */
const IMPATIENT_MS = 10_000
