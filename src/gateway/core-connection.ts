import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { addressIn } from '../config.ts'
import type { Log } from '../runtime/log.ts'
import { VERSION } from '../version.ts'
import { readCredentials } from './cert-files.ts'
import type { Head } from './channel.ts'
import { BEAT_MS, PROTOCOL, SILENT_MS, TO_GATEWAY, type Settings } from './protocol.ts'
import { Relay, type Asked } from './relay.ts'
import type { Speaking } from './speaking.ts'

export interface CoreConnectionParts {
  readonly address: string
  readonly certs: string
  readonly node: string
  readonly log: Log
  /** It may be asked, as soon as what is made here has begun. */
  readonly welcome: (connection: CoreConnection, settings: Settings) => Speaking
  /** What it says of itself or of the active core is another thing now. */
  readonly changed: (connection: CoreConnection) => void
  /** It is gone, with these unanswered. */
  readonly lost: (speaking: Speaking | undefined, asked: Asked[]) => void
  readonly back: (asked: Asked) => void
  /** From time to time, while it is there. */
  readonly figures: () => readonly [cut: number, connections: number]
}
const CONNECT_MS = 3_000
const BACK_OFF_MS = 100
const BACK_OFF_MAX_MS = 2_000
/** A program of another protocol is not there a moment later. */
const UNSUITED_MS = 5_000
/** What fails all the time is told so often. */
const TOLD_MS = 30_000

/** A gateway's line to one core, made again whenever it is lost. */
export class CoreConnection {
  readonly parts: CoreConnectionParts
  private failures = 0
  private toldAt = -Infinity
  private over = false
  private timer: NodeJS.Timeout | undefined
  private socket: TLSSocket | undefined
  relay: Relay | undefined
  /** It has said welcome, and is asked through this. */
  speaking: Speaking | undefined
  active = false
  epoch = 0
  /** Where the active core is, as this one knows. */
  at: string | undefined
  /** It wants to hear nothing more: it moves, or stops. */
  paused = false
  /** The later one is the newer. */
  since = 0

  constructor(parts: CoreConnectionParts) {
    this.parts = parts
    this.attempt()
  }
  /** For ever. */
  stop(): void {
    this.over = true
    clearTimeout(this.timer)
    this.relay?.close('this gateway stops')
    this.socket?.destroy()
  }
  /** It is made again. */
  drop(why: string): void {
    this.relay?.close(why)
  }

  private attempt(): void {
    const { address, certs, node } = this.parts
    const { host, port } = addressIn(address)!
    let socket: TLSSocket
    try {
      socket = connect({
        host,
        port,
        ...readCredentials(certs, node, 'gateway'),
        minVersion: 'TLSv1.3',
        ...(isIP(host) === 0 && { servername: host }),
      })
    } catch (error) {
      this.failed((error as Error).message)
      return
    }
    this.socket = socket
    socket.setNoDelay(true)
    const late = setTimeout(() => socket.destroy(new Error('it did not answer')), CONNECT_MS)
    const fail = (error: Error): void => {
      clearTimeout(late)
      this.failed(error.message)
    }
    socket.once('error', fail)
    socket.once('secureConnect', () => {
      clearTimeout(late)
      socket.off('error', fail)
      this.open(socket)
    })
  }
  private open(socket: TLSSocket): void {
    const { parts } = this
    let heardAt = performance.now()
    let lookedAt = heardAt
    let unsuited: string | undefined
    socket.on('data', () => (heardAt = performance.now()))
    const relay = new Relay(socket, {
      version: VERSION,
      welcome: (settings) => {
        this.failures = 0
        this.since = performance.now()
        this.speaking = parts.welcome(this, settings)
        this.speaking.begin()
        parts.log.info('a core may be asked', { core: parts.address, version: settings.version })
        parts.changed(this)
      },
      stop: () => undefined,
      back: parts.back,
      told: (head) => {
        if (head[0] === TO_GATEWAY.UNSUITED)
          unsuited = `it speaks protocol ${String(head[2])} (version ${String(head[3])}), and this gateway ${PROTOCOL} (${VERSION}): upgrade one of them`
        else this.told(head, relay)
      },
      closed: (why) => {
        clearInterval(beating)
        const { speaking } = this
        this.relay = this.speaking = this.at = undefined
        this.active = this.paused = false
        const lost = relay.lost()
        this.failed(unsuited ?? why, unsuited === undefined ? undefined : UNSUITED_MS)
        parts.lost(speaking, lost)
        parts.changed(this)
      },
    })
    this.relay = relay
    const beating = setInterval(() => {
      const now = performance.now()
      // Who was asleep has not heard anybody.
      if (now - lookedAt > 4 * BEAT_MS) heardAt = now
      lookedAt = now
      if (now - heardAt > SILENT_MS) relay.close('it was not heard any more')
      relay.beat()
      if (this.speaking !== undefined) relay.figures(...parts.figures())
    }, BEAT_MS)
  }
  private told([kind, , active, at, epoch]: Head, relay: Relay): void {
    if (kind === TO_GATEWAY.VIEW) {
      this.active = active === 1
      this.at = typeof at === 'string' ? at : undefined
      this.epoch = Number(epoch)
      this.parts.changed(this)
    } else if (kind === TO_GATEWAY.PAUSE) {
      this.paused = true
      // From here on nothing comes back to it that it hands back.
      this.parts.changed(this)
      relay.pause()
    } else if (kind === TO_GATEWAY.RESUME) {
      this.paused = false
      relay.resume()
      this.parts.changed(this)
    }
  }
  private failed(why: string, wait = this.backOff()): void {
    if (this.over) return
    const now = performance.now()
    if (this.failures <= 1 || now - this.toldAt > TOLD_MS) {
      this.toldAt = now
      this.parts.log.warn('a core can not be asked; it is tried again', { core: this.parts.address, why })
    }
    this.timer = setTimeout(() => this.attempt(), wait)
  }
  /** Not all gateways in one moment. */
  private backOff(): number {
    const wait = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** Math.min(this.failures++, 10))
    return wait * (0.5 + Math.random())
  }
}
