import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** From who connects to the target, and back. */
export type Direction = 'there' | 'back'
const HELD_BYTES = 1 << 20

/**
 * A link between two processes that can fail as networks do. It listens on a port of its own; what connects there talks
 * to the target. Bytes on a link that is silent are held and go on when it heals, as TCP would send them again; what
 * must not survive is cut.
 */
export class TcpProxy {
  port = 0
  /** Connections that were ever taken. */
  taken = 0
  private readonly server: Server
  private readonly pairs = new Set<Pair>()
  private refusing = false
  private readonly silent: Record<Direction, boolean> = { there: false, back: false }
  private delayMs = 0
  private target: { readonly host: string; readonly port: number }
  private constructor(target: { host: string; port: number }) {
    this.target = target
    this.server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.take(socket))
  }
  static async start(port: number, host = '127.0.0.1'): Promise<TcpProxy> {
    const proxy = new TcpProxy({ host, port })
    proxy.server.listen(0, '127.0.0.1')
    await once(proxy.server, 'listening')
    proxy.port = (proxy.server.address() as AddressInfo).port
    proxy.server.unref()
    return proxy
  }
  get address(): string {
    return `127.0.0.1:${this.port}`
  }
  get connections(): number {
    return this.pairs.size
  }
  /** Another target for new connections. */
  retarget(port: number, host = '127.0.0.1'): void {
    this.target = { host, port }
  }
  /** Both sides of every connection get a reset, and so does whoever connects until it heals. */
  cut(): void {
    this.refusing = true
    this.reset()
  }
  /** Resets what is connected; new connections work. */
  reset(): void {
    for (const pair of [...this.pairs]) pair.reset()
  }
  /** A black hole: nothing arrives and nothing ends, in both directions. Who connects finds a listener that never says a word. */
  drop(): void {
    this.silent.there = this.silent.back = true
  }
  /** Half-open: what goes in one direction never arrives. */
  deafen(direction: Direction): void {
    this.silent[direction] = true
  }
  /** Everything arrives so much later, in order. */
  delay(ms: number): void {
    this.delayMs = ms
  }
  /** As new. What was held goes on, unless it is to be forgotten: then its connections are reset, as after a firewall's restart. */
  heal({ forget = false }: { forget?: boolean } = {}): void {
    const wasSilent = this.silent.there || this.silent.back
    this.refusing = this.silent.there = this.silent.back = false
    this.delayMs = 0
    if (forget && wasSilent) this.reset()
    for (const pair of [...this.pairs]) pair.go()
  }
  async close(): Promise<void> {
    this.cut()
    this.server.close()
    if (this.server.listening) await once(this.server, 'close')
  }
  private take(socket: Socket): void {
    this.taken++
    if (this.refusing) {
      socket.on('error', () => undefined).resetAndDestroy()
      return
    }
    const pair = new Pair(socket, {
      target: () => this.target,
      silent: (direction) => this.silent[direction],
      delay: () => this.delayMs,
      gone: () => this.pairs.delete(pair),
    })
    this.pairs.add(pair)
    pair.go()
  }
}

interface Weather {
  target(): { readonly host: string; readonly port: number }
  silent(direction: Direction): boolean
  delay(): number
  gone(): void
}

/** One connection: two sockets and what is between them. */
class Pair {
  private readonly near: Socket
  private far: Socket | undefined
  private readonly weather: Weather
  private pipes: readonly Pipe[] = []
  constructor(near: Socket, weather: Weather) {
    this.near = near
    this.weather = weather
    near.setNoDelay(true)
    near.on('error', () => undefined)
    near.on('close', () => {
      if (this.far === undefined) weather.gone()
    })
  }
  /** Connects when the link lets it, and moves what may move. */
  go(): void {
    if (this.far === undefined) {
      if (this.weather.silent('there') || this.near.destroyed) return
      const far = connect({ ...this.weather.target(), allowHalfOpen: true, noDelay: true })
      this.far = far
      this.pipes = [
        new Pipe(this.near, far, 'there', this.weather),
        new Pipe(far, this.near, 'back', this.weather),
      ]
      const look = (): void => {
        if (this.near.destroyed && far.destroyed) this.weather.gone()
      }
      this.near.on('close', look)
      far.on('close', look)
    }
    for (const pipe of this.pipes) pipe.pump()
  }
  reset(): void {
    for (const pipe of this.pipes) pipe.forget()
    for (const socket of [this.near, this.far]) {
      if (socket === undefined || socket.destroyed) continue
      if (socket.connecting) socket.destroy()
      else socket.resetAndDestroy()
    }
    this.weather.gone()
  }
}

type Piece =
  { readonly due: number; readonly bytes: Buffer } | { readonly due: number; readonly end: 'end' | 'reset' }

/** One direction: what has been read and may not be written yet. */
class Pipe {
  private readonly from: Socket
  private readonly to: Socket
  private readonly direction: Direction
  private readonly weather: Weather
  private held: Piece[] = []
  private heldBytes = 0
  private timer: NodeJS.Timeout | undefined
  private ended = false
  constructor(from: Socket, to: Socket, direction: Direction, weather: Weather) {
    this.from = from
    this.to = to
    this.direction = direction
    this.weather = weather
    from.on('data', (bytes: Buffer) => {
      this.heldBytes += bytes.length
      this.hold({ due: this.due(), bytes })
    })
    from.on('end', () => {
      this.ended = true
      this.hold({ due: this.due(), end: 'end' })
    })
    from.on('error', () => undefined)
    from.on('close', () => {
      if (!this.ended) this.hold({ due: this.due(), end: 'reset' })
    })
    to.on('drain', () => this.pump())
    from.resume()
  }
  pump(): void {
    clearTimeout(this.timer)
    while (this.held.length > 0 && !this.weather.silent(this.direction)) {
      const [piece] = this.held as [Piece]
      const wait = piece.due - performance.now()
      if (wait > 0.5) {
        this.timer = setTimeout(() => this.pump(), wait)
        break
      }
      if (this.to.writableNeedDrain) break
      this.held.shift()
      if ('bytes' in piece) {
        this.heldBytes -= piece.bytes.length
        if (this.to.writable) this.to.write(piece.bytes)
      } else if (piece.end === 'end') this.to.end()
      else if (!this.to.destroyed) this.to.destroy()
    }
    if (this.heldBytes < HELD_BYTES) this.from.resume()
  }
  forget(): void {
    clearTimeout(this.timer)
    this.held = []
    this.ended = true
  }
  private hold(piece: Piece): void {
    this.held.push(piece)
    if (this.heldBytes >= HELD_BYTES) this.from.pause()
    this.pump()
  }
  private due(): number {
    return performance.now() + this.weather.delay()
  }
}
