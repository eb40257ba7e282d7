import { fork, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { environmentOf } from '../config.ts'
import { besideUs } from '../places.ts'
import type { Log } from '../runtime/log.ts'
import { Switchboard, type SwitchboardParts } from './switchboard.ts'

export interface GatewaysParts extends Pick<
  SwitchboardParts,
  'pipeline' | 'look' | 'settings' | 'room' | 'attach' | 'breath'
> {
  readonly count: number
  /** Left out: they are there from the start on. */
  readonly demand?: Demand | undefined
  readonly log: Log
  /** A connection of this address ended. */
  readonly left: (address: string) => void
  /** Who does not answer for so long is replaced. */
  readonly hungMs?: number
}
/** They start when the platform has so many connections, and end when they have had none for a while. */
export interface Demand {
  readonly from: number
  readonly connections: () => number
  readonly aloneMs?: number
}
export interface GatewayStatus {
  readonly pid: number
  readonly connections: number
}
const MAIN = fileURLToPath(besideUs('./gateway/main.js'))
/** A platform that starts waits so long for them; whoever is late takes connections when it is there. */
const START_MS = 10_000
/** Longer than its requests may take to finish. */
const STOP_MS = 15_000
const HUNG_MS = 30_000
/** To start them again takes a second of a core. */
const ALONE_MS = 5 * 60_000
const BACK_OFF_MS = 100
const BACK_OFF_MAX_MS = 10_000
/** Who lived so long did not die of what it met at its start. */
const SOUND_MS = 60_000
/** A gateway needs nothing of this process's settings, and must not see the secrets among them. */
const HANDED_ON = ['PATH', 'LANG', 'TZ', 'TMPDIR', 'SYSTEMROOT', 'NODE_OPTIONS', 'NODE_V8_COVERAGE']

/** The gateways of a platform: as many as are wanted, replaced when they die, and the connections they hold. */
export class Gateways {
  private readonly parts: GatewaysParts
  private readonly all = new Set<Gateway>()
  private readonly retries = new Set<NodeJS.Timeout>()
  /** How many there should be now. */
  private wanted = 0
  private stopping = false
  private aloneSince: number | undefined
  private failures = 0
  private watch: NodeJS.Timeout | undefined
  /** Of those that are gone. */
  private cutBefore = 0

  constructor(parts: GatewaysParts) {
    this.parts = parts
  }
  /** Resolves when all are ready, or have failed for the first time; at once where they start later. */
  async start(): Promise<void> {
    const { demand, hungMs = HUNG_MS } = this.parts
    const aloneMs = demand?.aloneMs ?? ALONE_MS
    const look = (): void => {
      for (const gateway of this.all) gateway.see(hungMs)
      if (demand !== undefined) this.rest(aloneMs)
    }
    this.watch = setInterval(look, Math.min(hungMs, aloneMs) / 6).unref()
    if (demand !== undefined) return
    const late = new Promise<void>((resolve) => setTimeout(resolve, START_MS).unref())
    await Promise.race([this.begin(), late])
  }
  private answerDemand(): void {
    const { demand, log } = this.parts
    if (demand === undefined || this.wanted > 0 || this.stopping) return
    const connections = demand.connections()
    if (connections < demand.from) return
    log.info('gateways start: many are connected', { connections })
    void this.begin()
  }
  private async begin(): Promise<void> {
    const { count } = this.parts
    this.wanted = count
    this.aloneSince = undefined
    await Promise.all(Array.from({ length: count }, () => this.launch()))
  }
  /** Nobody has been connected to any of them for so long: the core's process is enough, and lighter. */
  private rest(aloneMs: number): void {
    // One that still starts has had no chance.
    const busy = this.sum(({ ready, connections }) => (ready ? connections : 1)) > 0
    if (this.wanted === 0 || busy) this.aloneSince = undefined
    else if (performance.now() - (this.aloneSince ??= performance.now()) > aloneMs) {
      this.parts.log.info('the gateways end: nobody is connected to them')
      this.wanted = 0
      this.giveUp()
      for (const gateway of this.all) void gateway.stop()
    }
  }
  /** Who has died is not replaced. */
  private giveUp(): void {
    for (const timer of this.retries) clearTimeout(timer)
    this.retries.clear()
  }
  /** To the one with the fewest. */
  readonly give = (socket: Socket, address: string): boolean => {
    this.answerDemand()
    let best: Gateway | undefined
    for (const gateway of this.all)
      if (gateway.ready && (best === undefined || gateway.connections < best.connections)) best = gateway
    if (best === undefined || this.stopping) return false
    best.take(socket, address)
    return true
  }
  /** They take nobody any more, finish what is under way, and end. */
  async stop(): Promise<void> {
    this.stopping = true
    clearInterval(this.watch)
    this.giveUp()
    await Promise.all([...this.all].map((gateway) => gateway.stop()))
  }
  list(): GatewayStatus[] {
    return [...this.all]
      .filter(({ ready }) => ready)
      .map(({ child, connections }) => ({ pid: child.pid!, connections }))
  }
  get cut(): number {
    return this.sum(({ board }) => board.cut) + this.cutBefore
  }
  private sum(figure: (gateway: Gateway) => number): number {
    let sum = 0
    for (const gateway of this.all) sum += figure(gateway)
    return sum
  }

  private launch(): Promise<void> {
    return new Promise((resolve) => {
      const begun = performance.now()
      const gateway = new Gateway(this.parts, {
        ready: () => {
          this.aloneSince = undefined
          resolve()
        },
        gone: (why) => {
          this.all.delete(gateway)
          this.cutBefore += gateway.board.cut
          resolve()
          if (!this.stopping && this.all.size + this.retries.size < this.wanted)
            this.replace(why, performance.now() - begun)
        },
      })
      this.all.add(gateway)
    })
  }
  private replace(why: string, lived: number): void {
    if (lived > SOUND_MS) this.failures = 0
    const wait = Math.min(BACK_OFF_MAX_MS, BACK_OFF_MS * 2 ** this.failures++)
    this.parts.log.warn('a gateway ended; another takes its place', { why, wait_ms: wait })
    const timer = setTimeout(() => {
      this.retries.delete(timer)
      void this.launch()
    }, wait)
    this.retries.add(timer)
  }
}

interface UnderWay {
  readonly socket: Socket
  readonly address: string
  readonly since: number
}
/** One process, and what it holds. */
class Gateway {
  readonly child: ChildProcess
  readonly board: Switchboard
  private readonly parts: GatewaysParts
  private readonly held = new Map<string, number>()
  /**
   * Connections on their way to it, by number. We keep them open until it has them: node itself forgets those that nobody took
   * when the process at the other end dies, and their clients would wait for ever.
   */
  private readonly underWay = new Map<number, UnderWay>()
  private handed = 0
  private readonly exited: Promise<void>
  private why = ''
  ready = false
  connections = 0

  constructor(parts: GatewaysParts, told: { ready: () => void; gone: (why: string) => void }) {
    this.parts = parts
    this.child = fork(MAIN, [], {
      env: environmentOf(HANDED_ON),
      execArgv: process.execArgv.filter((argument) => argument.startsWith('--max-')),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
    })
    this.board = new Switchboard(this.child.stdio[4] as Duplex, {
      ...parts,
      ready: () => {
        this.ready = true
        told.ready()
      },
      left: (address) => this.letGo(address),
      took: (number) => {
        this.underWay.get(number)?.socket.destroy()
        this.underWay.delete(number)
      },
      closed: (why) => {
        if (this.why === '') this.why = why
        this.ready = false
        this.child.kill('SIGKILL')
      },
    })
    this.exited = new Promise((resolve) => {
      const gone = (why: string): void => {
        this.ready = false
        this.board.close()
        for (const { socket } of this.underWay.values()) socket.destroy()
        this.underWay.clear()
        for (const [address, count] of this.held) for (let i = 0; i < count; i++) parts.left(address)
        this.held.clear()
        told.gone(why)
        resolve()
      }
      this.child.once('exit', (code, signal) => gone(`${signal ?? `exit ${code}`} ${this.why}`.trim()))
      // What could not even be started does not exit.
      this.child.once('error', (error) => {
        if (this.child.pid === undefined) gone(error.message)
      })
    })
  }
  take(socket: Socket, address: string): void {
    this.connections++
    this.held.set(address, (this.held.get(address) ?? 0) + 1)
    const number = ++this.handed
    this.underWay.set(number, { socket, address, since: performance.now() })
    this.child.send([number, address], socket, { keepOpen: true }, (error) => {
      if (error !== null) this.lose(number)
    })
  }
  /** One that hangs holds connections that nobody serves. */
  see(hungMs: number): void {
    // In the order in which they were handed over.
    for (const [number, { since }] of this.underWay) {
      if (performance.now() - since < hungMs) break
      this.lose(number)
    }
    if (!this.ready || !this.board.hangs(hungMs)) return
    this.why = 'it did not answer'
    this.child.kill('SIGKILL')
  }
  async stop(): Promise<void> {
    this.ready = false
    this.board.stop()
    const late = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS)
    await this.exited
    clearTimeout(late)
  }
  /** It could not be handed over: its client may try again. */
  private lose(number: number): void {
    const way = this.underWay.get(number)
    if (way === undefined) return
    this.underWay.delete(number)
    way.socket.destroy()
    this.letGo(way.address)
  }
  private letGo(address: string): void {
    const left = (this.held.get(address) ?? 0) - 1
    if (left < 0) return
    this.connections--
    if (left === 0) this.held.delete(address)
    else this.held.set(address, left)
    this.parts.left(address)
  }
}
