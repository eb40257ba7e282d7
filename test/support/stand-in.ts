import type { Socket } from 'node:net'
import { once } from 'node:events'
import { WebSocket, type ClientOptions } from 'ws'
import { Gateways, type Demand } from '../../src/gateway/gateways.ts'
import { Acceptor } from '../../src/http/acceptor.ts'
import { BodyRoom } from '../../src/http/bodies.ts'
import { Cors } from '../../src/http/cors.ts'
import { Front } from '../../src/http/front.ts'
import { Hosts } from '../../src/http/hosts.ts'
import { HttpServer } from '../../src/http/server.ts'
import type { Serve } from '../../src/http/starting.ts'
import { createLog } from '../../src/runtime/log.ts'
import { SocketDoor, type DoorParts } from '../../src/sockets/door.ts'
import type { Attach, Called, Handshake, Pace, ToDoor, Verdict } from '../../src/sockets/line.ts'
import { VERSION } from '../../src/version.ts'
import { until } from './raw.ts'

/** A socket as the stand-in knows it. */
export class Known {
  readonly door: ToDoor
  readonly id: number
  readonly handshake: Handshake
  readonly received: string[] = []
  readonly called: Called[] = []
  readonly behind: number[] = []
  closed: number | undefined
  constructor(door: ToDoor, id: number, handshake: Handshake) {
    this.door = door
    this.id = id
    this.handshake = handshake
  }
  send(text: string): void {
    this.door.send(this.id, text)
  }
  join(topic: number, pace: Pace): void {
    this.door.join(this.id, topic, pace)
  }
}
/** In the desk's place: lets everybody in, answers each frame with itself, and does what a test says. */
export class StandIn {
  readonly doors = new Set<ToDoor>()
  readonly known: Known[] = []
  waiting = new Map<ToDoor, readonly (readonly [number, number])[]>()
  verdict: (handshake: Handshake) => Verdict | Promise<Verdict> = () => ({ accepted: true })
  /** The answer to one who is behind. */
  picture: ((known: Known, topic: number) => string) | undefined
  echo = true
  /** Of each answer to a call. */
  copies = 1

  readonly attach: Attach = (door) => {
    this.doors.add(door)
    const sockets = new Map<number, Known>()
    return {
      open: async (id, handshake) => {
        const verdict = await this.verdict(handshake)
        if (verdict.accepted) {
          const known = new Known(door, id, handshake)
          sockets.set(id, known)
          this.known.push(known)
        }
        return verdict
      },
      received: (id, text) => {
        sockets.get(id)!.received.push(text)
        if (this.echo) door.send(id, text)
      },
      called: (id, call, at) => {
        const known = sockets.get(id)!
        known.called.push(call)
        door.name(id, 'client', '"conn_id":"c"')
        door.acknowledge(id, call.n, at, [9, 10, 11])
        const data = JSON.stringify(call.payload['req_param'] ?? null)
        door.answer(id, { n: call.n, now: at, limits: undefined, status: 200, data, copies: this.copies })
      },
      closed: (id, code) => {
        sockets.get(id)!.closed = code
        sockets.delete(id)
      },
      behind: (id, topic) => {
        const known = sockets.get(id)!
        known.behind.push(topic)
        if (this.picture !== undefined) door.restart(id, topic, this.picture(known, topic))
      },
      waiting: (bytes) => this.waiting.set(door, bytes),
      gone: () => {
        this.doors.delete(door)
        for (const known of sockets.values()) known.closed = 0
        sockets.clear()
      },
    }
  }
  get open(): number {
    return this.known.filter(({ closed }) => closed === undefined).length
  }
  publish(topic: number, text: string, kept = false): void {
    for (const door of this.doors) door.publish(topic, text, kept)
  }
}

/** What answers ordinary requests here: what was asked for. */
const echoed: Serve = (request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => response.end(JSON.stringify({ method: request.method, url: request.url, body })))
}
const NO_PAGES = { serveHealth: () => false, serve: () => false }

export type Kind = 'one process' | 'gateways'
/** Sockets served in this process or by two gateways, answered by a stand-in. */
export class SocketBench {
  readonly desk = new StandIn()
  readonly url: string
  readonly server: HttpServer
  readonly door: SocketDoor
  readonly gateways: Gateways | undefined
  readonly acceptor: Acceptor | undefined
  private constructor(
    url: string,
    desk: StandIn,
    parts: Pick<SocketBench, 'server' | 'door' | 'gateways' | 'acceptor'>,
  ) {
    this.url = url
    this.desk = desk
    this.server = parts.server
    this.door = parts.door
    this.gateways = parts.gateways
    this.acceptor = parts.acceptor
  }
  static async start(
    kind: Kind,
    { queue = 8_388_608, rateLimits = 1, trustProxy = 0, times }: Partial<DoorParts> = {},
    demand?: Omit<Demand, 'connections'>,
  ): Promise<SocketBench> {
    const desk = new StandIn()
    const door = new SocketDoor({
      attach: desk.attach,
      queue,
      rateLimits,
      trustProxy,
      ...(times !== undefined && { times }),
    })
    const front = new Front(new Hosts(['127.0.0.1']), NO_PAGES, echoed, new Cors([]), door)
    const server = new HttpServer({
      serve: front.serve,
      upgrade: front.upgrade,
      warn: () => undefined,
      connections: 10_000,
      addressConnections: 10_000,
      requestMs: 3_000,
      idleMs: 300,
      unreadMs: 500,
    })
    if (kind === 'one process') {
      const port = await server.listen('127.0.0.1', 0)
      const parts = { server, door, gateways: undefined, acceptor: undefined }
      return new SocketBench(`http://127.0.0.1:${port}`, desk, parts)
    }
    server.open()
    const acceptor = new Acceptor(server, 10_000, 10_000, () => undefined)
    const gateways = new Gateways({
      count: 2,
      demand: demand && { ...demand, connections: () => acceptor.connections },
      pipeline: {
        begin: () => ({}),
        pass: () => ({ status: 200, headers: [], text: '{"rest":true}', drop: false }),
      } as never,
      look: () => ({ kind: 'page' }),
      room: new BodyRoom(),
      attach: desk.attach,
      settings: {
        mode: 'sandbox',
        surface: 'all',
        host: '127.0.0.1',
        hosts: [],
        cors: [],
        trustProxy,
        requestMs: 3_000,
        socketQueue: queue,
        rateLimits,
        version: VERSION,
      },
      log: createLog('silent', () => undefined),
      left: (address) => acceptor.left(address),
    })
    await gateways.start()
    acceptor.give = gateways.give
    const port = await acceptor.listen('127.0.0.1', 0, 'KONTOR_PORT')
    return new SocketBench(`http://127.0.0.1:${port}`, desk, { server, door, gateways, acceptor })
  }
  get ws(): string {
    return this.url.replace('http', 'ws')
  }
  async connect(path = '/ws/v4/', options: ClientOptions = {}): Promise<[client: TestSocket, known: Known]> {
    const before = this.desk.known.length
    const client = new TestSocket(`${this.ws}${path}`, options)
    await client.opened
    await until(() => this.desk.known.length > before)
    return [client, this.desk.known.at(-1)!]
  }
  async stop(): Promise<void> {
    this.acceptor?.close()
    await Promise.all([this.door.shut(), this.server.close(), this.gateways?.stop()])
  }
}

/** A client that keeps what it got. */
export class TestSocket {
  readonly ws: WebSocket
  readonly frames: string[] = []
  readonly opened: Promise<unknown>
  readonly closed: Promise<[code: number, reason: string]>
  code: number | undefined
  pings = 0
  constructor(url: string, options: ClientOptions = {}) {
    this.ws = new WebSocket(url, options)
    this.opened = once(this.ws, 'open')
    this.opened.catch(() => undefined)
    this.ws.on('message', (data: Buffer) => this.frames.push(data.toString()))
    this.ws.on('ping', () => this.pings++)
    this.ws.on('error', () => undefined)
    this.closed = new Promise((resolve) =>
      this.ws.on('close', (code, reason) => {
        this.code = code
        resolve([code, reason.toString()])
      }),
    )
  }
  get raw(): Socket {
    return (this.ws as unknown as { _socket: Socket })._socket
  }
  send(text: string): void {
    this.ws.send(text)
  }
  async got(count: number): Promise<string[]> {
    await until(
      () => this.frames.length >= count,
      20_000,
      () => `${this.frames.length} of ${count} frames`,
    )
    return this.frames
  }
}
