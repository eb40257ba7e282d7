import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answer } from '../api/serve.ts'
import type { GatewayConfig } from '../config.ts'
import { addressIn } from '../config.ts'
import { SAFE, send } from '../docs/sending.ts'
import { Bodies, BODY_MAX, BodyRoom } from '../http/bodies.ts'
import { connectionBounds, urlOf } from '../http/doors.ts'
import { HttpServer } from '../http/server.ts'
import { refuseUpgrade } from '../http/upgrade.ts'
import { microsNow } from '../http/words.ts'
import { UNKNOWN_FATE, type Label } from '../labels.ts'
import type { Log } from '../runtime/log.ts'
import { CoreConnection } from './core-connection.ts'
import { Held, HELD_BOUNDS, type HeldBounds } from './held.ts'
import { SOCKETS_MAX, type Settings } from './protocol.ts'
import { changesNothing, type Asked } from './relay.ts'
import { speaking, type Speaking } from './speaking.ts'

/** A head, and what came behind it before anybody read on. */
const HEAD_BYTES = 4 * 1024
const BEHIND_BYTES = 64 * 1024
/** A core that is no longer the active one may still have replies on their way. */
const GRACE_MS = 2_000
/** Sockets of a core that moves hear the answers to what they asked, and are closed. */
const SOCKETS_MS = 1_000
/** Addresses that cores tell of are tried too, so many at most. */
const CORES_MAX = 16
const MOVED = 'the platform moved; connect again, and subscribe again'

/**
 * A gateway on a machine of its own: listens, has a line to every core, and asks the active one. While there is none it
 * holds what comes for a while; what was sent and not answered is of unknown fate, and is told so.
 */
export class RemoteGateway {
  private readonly config: GatewayConfig
  private readonly log: Log
  private readonly lines = new Map<string, CoreConnection>()
  private readonly server: HttpServer
  private readonly bodies = new Bodies(new BodyRoom())
  private readonly held: Held
  private current: CoreConnection | undefined
  private stopping = false
  private firstReady: (() => void) | undefined
  /** Resolves when a core can be asked for the first time. */
  readonly ready = new Promise<void>((resolve) => (this.firstReady = resolve))
  url = ''

  constructor(config: GatewayConfig, log: Log, bounds: HeldBounds = HELD_BOUNDS) {
    this.config = config
    this.log = log
    this.held = new Held(bounds)
    const { sockets, trustProxy = 0 } = config
    this.server = new HttpServer({
      serve: (request, response) => this.serve(request, response),
      upgrade: (request, socket, head) => this.upgrade(request, socket, head),
      warn: (message, fields) => log.warn(message, fields),
      ...connectionBounds({ sockets, trustProxy }),
      requestMs: sockets.requestSeconds * 1000,
    })
  }
  async start(): Promise<void> {
    const { host, port, cores } = this.config
    this.url = urlOf(host, await this.server.listen(host, port))
    for (const core of cores) this.connect(core)
  }
  /** Nobody new gets in; what is under way is finished. */
  async stop(): Promise<void> {
    this.stopping = true
    const shut = [...this.lines.values()].map((line) => line.speaking?.sockets.shut())
    await Promise.all([...shut, this.server.close()])
    for (const line of this.lines.values()) line.stop()
  }

  private connect(address: string): void {
    const { certs, node } = this.config
    this.lines.set(
      address,
      new CoreConnection({
        address,
        certs,
        node,
        log: this.log,
        welcome: (line, settings) => this.welcome(line, settings),
        changed: () => this.choose(),
        lost: (speaking, asked) => this.lost(speaking, asked),
        back: (asked) => this.again(asked),
        figures: () => [this.server.cut, this.server.connections],
      }),
    )
  }
  private welcome(line: CoreConnection, told: Settings): Speaking {
    const { trustProxy = told.trustProxy, host } = this.config
    // Behind a proxy all connections are the proxy's.
    if (trustProxy > 0) this.server.unboundAddresses()
    return speaking({ ...told, trustProxy }, line.relay!, this.bodies, host)
  }

  /** The active core: of two that say so the one of the later term, which alone can write. */
  private choose(): void {
    let best: CoreConnection | undefined
    for (const line of this.lines.values())
      if (line.speaking !== undefined && line.active && !line.paused && isBefore(best, line, this.current))
        best = line
    const before = this.current
    if (best === undefined) this.follow()
    if (best === before) return
    this.current = best
    if (before !== undefined) this.leave(before)
    if (best === undefined) return
    this.log.info('this core is asked from here on', { core: best.parts.address, held: this.held.size })
    for (const line of this.lines.values()) if (line !== best) moved(line.speaking)
    this.firstReady?.()
    this.held.release()
  }
  private leave(line: CoreConnection): void {
    const { speaking, relay } = line
    if (line.paused) {
      setTimeout(() => moved(speaking), SOCKETS_MS)
      return
    }
    // Lost by itself, or another has its office: replies that are on their way may still come.
    setTimeout(() => {
      if (line.relay === relay && this.current !== line) line.drop('another core is the active one')
    }, GRACE_MS)
  }
  /** A core that is not on the list may be the active one. */
  private follow(): void {
    for (const { active, at } of [...this.lines.values()])
      if (!active && at !== undefined && !this.lines.has(at) && addressIn(at) !== undefined)
        if (this.lines.size < CORES_MAX) this.connect(at)
  }
  private lost(speaking: Speaking | undefined, all: Asked[]): void {
    moved(speaking)
    void speaking?.sockets.shut()
    for (const asked of all) {
      const safe = changesNothing(asked) && !asked.again
      if (asked.sent && !safe) reply(asked, 503, 'SERVER_ERROR', UNKNOWN_FATE)
      else {
        if (asked.sent) asked.again = true
        asked.sent = false
        this.again(asked)
      }
    }
  }
  /** It was not carried out, or changes nothing. */
  private again(asked: Asked): void {
    const { request, response } = asked
    if (response.destroyed || response.writableEnded) return
    const relay = this.current?.relay
    if (relay !== undefined) relay.take(asked)
    else
      this.held.add({
        // A body that is being read may be here as a whole.
        bytes: bytesOf(request, asked.body === undefined ? BEHIND_BYTES : BODY_MAX),
        client: response,
        go: () => this.again(asked),
        refuse: (why) => reply(asked, 503, 'TOO_BUSY', why),
      })
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    if (this.health(request, response)) return
    const { current } = this
    if (current === undefined)
      this.held.add({
        bytes: bytesOf(request, BEHIND_BYTES),
        client: response,
        go: () => this.serve(request, response),
        refuse: (why) => refuse(request, response, why),
      })
    else if (current.relay!.full)
      refuse(request, response, 'the platform is at capacity; send it again in a second')
    else current.speaking!.serve(request, response)
  }
  private upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { current } = this
    const no = (why: string): void => refuseUpgrade(request, socket, 503, 'TOO_BUSY', why, ['Retry-After', 1])
    if (this.stopping) no('the platform is stopping')
    else if (current === undefined)
      this.held.add({
        bytes: HEAD_BYTES,
        client: socket,
        go: () => this.upgrade(request, socket, head),
        refuse: no,
      })
    else if (
      current.speaking!.sockets.size + current.relay!.desk.unjudged >= SOCKETS_MAX ||
      current.relay!.full
    )
      no('there are too many sockets; connect again in a second')
    else current.speaking!.upgrade(request, socket, head)
  }
  /** Alive by itself; ready while there is somebody to ask, or one who moves will be there in a moment. */
  private health({ method, url = '/' }: IncomingMessage, response: ServerResponse): boolean {
    if (method !== 'GET' && method !== 'HEAD') return false
    const [path] = url.split('?', 1)
    if (path === '/healthz') tell(response, 200, { status: 'ok' })
    else if (path !== '/readyz') return false
    else if (this.stopping) tell(response, 503, { label: 'TOO_BUSY', message: 'this gateway is stopping' })
    else if (this.current !== undefined) return false
    else if ([...this.lines.values()].some(({ paused }) => paused)) tell(response, 200, { status: 'ready' })
    else tell(response, 503, { label: 'TOO_BUSY', message: 'not ready: no core can be asked' })
    return true
  }
}

/** Whether the second is to be asked rather than the first. */
function isBefore(
  first: CoreConnection | undefined,
  second: CoreConnection,
  current: CoreConnection | undefined,
): boolean {
  if (first === undefined) return true
  if (first.epoch !== second.epoch) return second.epoch > first.epoch
  return first !== current && (second === current || second.since > first.since)
}
/** Whoever listens must know that something may have been left out. */
const moved = (speaking: Speaking | undefined): void => speaking?.sockets.closeAll(1012, MOVED)

function bytesOf({ headers }: IncomingMessage, most: number): number {
  const length = headers['content-length']
  const body =
    length === undefined && headers['transfer-encoding'] === undefined ? 0 : Number(length ?? Infinity)
  return HEAD_BYTES + Math.min(most, body)
}
function tell(response: ServerResponse, status: number, body: object): void {
  send(response, status, Buffer.from(JSON.stringify(body)), ['Content-Type', 'application/json', ...SAFE])
}
function reply(
  { request, response, plain }: Pick<Asked, 'request' | 'response'> & { plain: { inTime: number } },
  status: number,
  label: Label,
  message: string,
): void {
  const text = JSON.stringify({ label, message })
  // Of what may have been carried out nobody is told to send it again.
  const headers = label === 'TOO_BUSY' ? ['Retry-After', 1] : []
  void answer(request, response, plain.inTime, { status, headers, text, drop: false })
}
const refuse = (request: IncomingMessage, response: ServerResponse, why: string): void =>
  reply({ request, response, plain: { inTime: microsNow() } }, 503, 'TOO_BUSY', why)
