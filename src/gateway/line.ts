import { Worker } from 'node:worker_threads'
import { addressIn, ConfigError } from '../config.ts'
import { listenError } from '../http/server.ts'
import type { Log } from '../runtime/log.ts'
import { VERSION } from '../version.ts'
import { besideUs } from '../places.ts'
import type { Arrival, FromLine, LinePlace, ToLine, View } from './line-messages.ts'
import { PortStream } from './port-stream.ts'
import { Switchboard, type SwitchboardParts } from './switchboard.ts'

export interface CoreLineParts {
  /** HOST:PORT */
  readonly listen: string
  /** Folder of certificates. */
  readonly certs: string
  /** Name of this process, whose own certificates are taken where there are some. */
  readonly node?: string
  readonly log: Log
}
export interface RemoteStatus {
  /** As its certificate calls it. */
  readonly name: string
  readonly address: string
  readonly version: string
  readonly connections: number
}
export type Served = Pick<SwitchboardParts, 'pipeline' | 'look' | 'settings' | 'room' | 'attach' | 'breath'>

/** A gateway that does not say within this that it holds back is cut. */
const PAUSE_MS = 1_000
/** Longer than requests may take to finish. */
const ANSWER_MS = 10_000
const CLOSE_MS = 2_000
const REPLACE_MS = 250

/** The core's side for gateways on other machines; its TLS and signatures are checked in a thread of its own. */
export class CoreLine {
  private readonly parts: CoreLineParts
  private worker: Worker | undefined
  private readonly guests = new Set<Guest>()
  private served: Served | undefined
  private paused = false
  private closing = false
  private view: View = { active: false, at: undefined }
  private told = false
  /** HOST:PORT, as it really listens. */
  address = ''

  constructor(parts: CoreLineParts) {
    this.parts = parts
  }
  /** Resolves when it listens. */
  async start(): Promise<void> {
    await this.launch()
    // A thread that fails takes its gateways along, and nothing else: another takes its place.
    this.worker!.once('exit', () => this.replace())
  }
  private launch(): Promise<void> {
    const { listen, certs, node = 'core' } = this.parts
    const { host, port } = addressIn(this.address === '' ? listen : this.address)!
    const place: LinePlace = { host, port, certs, node, version: VERSION }
    const worker = new Worker(besideUs('./gateway/line-worker.js'), { workerData: place })
    this.worker = worker
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromLine) => {
        if ('listening' in message) {
          this.address = `${host.includes(':') ? `[${host}]` : host}:${message.listening}`
          worker.postMessage({ view: this.view } satisfies ToLine)
          resolve()
        } else if ('failed' in message) {
          const { failed, code } = message
          reject(
            code === undefined
              ? new ConfigError(failed)
              : listenError(Object.assign(new Error(failed), { code }), host, port, 'KONTOR_CORE_LISTEN'),
          )
          void worker.terminate()
        } else if ('gateway' in message) this.arrived(message.gateway)
        else this.parts.log[message.level](message.message, message.fields)
      })
      worker.on('error', (error) => {
        this.parts.log.error('the thread of gateways on other machines failed', { error })
        reject(error)
      })
    })
  }
  private replace(): void {
    for (const guest of this.guests) guest.cut()
    if (this.closing) return
    setTimeout(() => {
      if (this.closing) return
      this.start().catch((error: unknown) => {
        this.parts.log.error('gateways on other machines can not connect', { error })
        this.replace()
      })
    }, REPLACE_MS).unref()
  }
  /** Who is active, told to every gateway that is connected or connects. */
  tell(view: View): void {
    const { active, at, epoch } = this.view
    if (this.told && view.active === active && view.at === at && view.epoch === epoch) return
    this.told = this.worker !== undefined
    this.view = view
    this.worker?.postMessage({ view } satisfies ToLine)
  }
  /** From now on it serves: this core is active and ready. */
  serve(served: Served): void {
    this.served = served
    this.paused = false
    for (const guest of this.guests) guest.serve(served)
  }
  /**
   * Gateways send nothing more and hold what comes; resolves when each has said that the last it sent is sent, or is gone.
   * What they had sent is answered as usual.
   */
  async hold(): Promise<void> {
    this.paused = true
    await Promise.all([...this.guests].map((guest) => guest.pause()))
  }
  /** Resolves when all that they had sent is answered, or will not be soon. */
  async answered(): Promise<void> {
    await Promise.all([...this.guests].map((guest) => guest.answered()))
  }
  /** It stays after all. */
  resume(): void {
    this.paused = false
    for (const guest of this.guests)
      if (guest.board !== undefined) guest.board.resume()
      else if (this.served !== undefined) guest.serve(this.served)
  }
  list(): RemoteStatus[] {
    return [...this.guests]
      .filter(({ board }) => board?.ready === true)
      .map(({ arrival: { name, address, version }, board }) => ({
        name,
        address,
        version,
        connections: board!.connections,
      }))
  }
  get cut(): number {
    let sum = 0
    for (const { board } of this.guests) sum += board?.cut ?? 0
    return sum
  }
  /** What was sent is answered; then the lines end. */
  async close(): Promise<void> {
    if (this.closing || this.worker === undefined) return
    this.closing = true
    await this.hold()
    await Promise.all([...this.guests].map((guest) => guest.finish()))
    const { worker } = this
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage({ close: true } satisfies ToLine)
    await Promise.race([exited, sleep(CLOSE_MS)])
    await worker.terminate()
  }

  private arrived(arrival: Arrival): void {
    const guest = new Guest(arrival, this.parts.log, () => this.guests.delete(guest))
    this.guests.add(guest)
    if (this.served !== undefined && !this.paused) guest.serve(this.served)
  }
}

/** One of them, from its arrival on; it is answered when this core serves. */
class Guest {
  readonly arrival: Arrival
  private readonly stream: PortStream
  private readonly log: Log
  private readonly gone: () => void
  private readonly over: Promise<void>
  private end: () => void = () => undefined
  private said: (() => void) | undefined
  board: Switchboard | undefined

  constructor(arrival: Arrival, log: Log, gone: () => void) {
    this.arrival = arrival
    this.log = log
    this.gone = gone
    this.over = new Promise((resolve) => (this.end = resolve))
    this.stream = new PortStream(arrival.port)
    this.stream.on('close', () => this.left())
  }
  serve(served: Served): void {
    if (this.board !== undefined) return
    const { name, address } = this.arrival
    this.board = new Switchboard(this.stream, {
      ...served,
      log: toldBy(this.log, name),
      // What it holds is on its own machine.
      left: () => undefined,
      ready: () => undefined,
      paused: () => this.said?.(),
      remote: true,
      closed: (why) => {
        this.log.warn('the line to a gateway of another machine ended', { gateway: name, address, why })
        this.left()
      },
    })
  }
  pause(): Promise<void> {
    const { board } = this
    if (board === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.cut()
        resolve()
      }, PAUSE_MS)
      const done = (): void => {
        clearTimeout(late)
        this.said = undefined
        resolve()
      }
      this.said = done
      void this.over.then(done)
      board.pause()
    })
  }
  async answered(): Promise<void> {
    if (this.board !== undefined) await Promise.race([this.board.answered(), this.over, sleep(ANSWER_MS)])
  }
  async finish(): Promise<void> {
    const { board } = this
    if (board === undefined) {
      this.cut()
      return
    }
    await this.answered()
    board.finish()
    await Promise.race([this.over, sleep(CLOSE_MS)])
  }
  cut(): void {
    this.board?.close()
    this.stream.destroy()
  }
  private left(): void {
    this.gone()
    this.end()
  }
}
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())

/** What a gateway wants to have logged is named as its own words, so that it can't pass for ours. */
const toldBy = (log: Log, gateway: string): Log => {
  const tell =
    (level: 'warn' | 'error') =>
    (message: string, fields?: Record<string, unknown>): void =>
      log[level]('a gateway of another machine tells', { gateway, told: message, fields })
  return {
    verbose: log.verbose,
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: tell('warn'),
    error: tell('error'),
  }
}
