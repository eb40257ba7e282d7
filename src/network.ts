import type { Config } from './config.ts'
import type { Answers, Face } from './fronts.ts'
import { Breath } from './gateway/breath.ts'
import { Gateways, type GatewayStatus } from './gateway/gateways.ts'
import type { CoreLine, RemoteStatus } from './gateway/line.ts'
import type { Settings } from './gateway/protocol.ts'
import type { BodyRoom } from './http/bodies.ts'
import type { Doors } from './http/doors.ts'
import type { Log } from './runtime/log.ts'
import type { SocketDoor } from './sockets/door.ts'
import type { Attach } from './sockets/line.ts'
import { VERSION } from './version.ts'

export interface NetworkParts {
  readonly config: Config
  readonly doors: Doors
  /** For clients first, for operators last. */
  readonly answers: readonly Answers[]
  readonly room: BodyRoom
  readonly log: Log
  /** Sockets of this process. */
  readonly sockets: SocketDoor
  /** How the doors of gateways find the desk. */
  readonly attach: Attach
  /** What the core does between two frames of gateways. */
  readonly breathe: () => boolean
  /** What answers to gateways on other machines. */
  readonly remote?: Answers | undefined
  /** Where those are connected; it listens already. */
  readonly line?: CoreLine | undefined
  /** Which term of office of an active core this is. */
  readonly epoch?: () => number
}

/** Doors and gateways together: who answers where, and what connections there are. */
export class Network {
  private readonly parts: NetworkParts
  private readonly gateways: Gateways | undefined
  private readonly breath: Breath

  constructor(parts: NetworkParts) {
    this.parts = parts
    const { config, doors, room, log, attach } = parts
    this.breath = new Breath(parts.breathe)
    const { face, pipeline, look } = parts.answers[0]!
    if (config.gateways.count > 0)
      this.gateways = new Gateways({
        count: config.gateways.count,
        demand:
          config.gateways.from > 0 ? { ...config.gateways, connections: () => doors.connections } : undefined,
        pipeline,
        look,
        room,
        log,
        attach,
        breath: this.breath,
        settings: settingsOf(config, face),
        left: (address) => doors.left(address),
      })
  }
  async start(): Promise<void> {
    await this.gateways?.start()
  }
  /** From here on the platform answers. */
  open(): void {
    const { doors, answers } = this.parts
    doors.handOver(answers)
    if (this.gateways !== undefined) doors.giveTo(this.gateways.give)
    this.serveOthers()
  }
  private serveOthers(): void {
    const { config, remote, room, attach, line, epoch } = this.parts
    if (line === undefined || remote === undefined) return
    const { face, pipeline, look } = remote
    line.serve({ pipeline, look, room, attach, breath: this.breath, settings: settingsOf(config, face) })
    line.tell({ active: true, at: config.coreAddress ?? line.address, epoch: epoch?.() ?? 0 })
  }
  /** Nobody new gets in; resolves when what was under way is answered. */
  async close(): Promise<void> {
    this.parts.doors.shut()
    await Promise.all([
      this.parts.sockets.shut(),
      this.parts.doors.close(),
      this.gateways?.stop(),
      this.parts.line?.close(),
    ])
  }
  list(): GatewayStatus[] {
    return this.gateways?.list() ?? []
  }
  /** Gateways on other machines. */
  others(): RemoteStatus[] {
    return this.parts.line?.list() ?? []
  }
  get connections(): number {
    return this.parts.doors.connections
  }
  get refused(): number {
    return this.parts.doors.refused
  }
  get cut(): number {
    return this.parts.doors.cut + (this.gateways?.cut ?? 0) + (this.parts.line?.cut ?? 0)
  }
}

const settingsOf = (config: Config, face: Face): Settings => ({
  ...face,
  mode: config.mode,
  hosts: config.hosts,
  cors: config.cors,
  trustProxy: config.trustProxy,
  requestMs: config.sockets.requestSeconds * 1000,
  socketQueue: config.sockets.queue,
  rateLimits: config.rateLimits,
  version: VERSION,
})
