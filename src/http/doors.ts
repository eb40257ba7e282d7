import type { Config } from '../config.ts'
import { Acceptor, type Give } from './acceptor.ts'
import { connectionsByDescriptors } from './descriptors.ts'
import { HttpServer } from './server.ts'
import type { Warn } from './warn.ts'
import { Starting, type Serves } from './starting.ts'

/** From one address at least, however few there may be in all. */
const ADDRESS_CONNECTIONS = 300

/** A name that nobody can reach: of a platform without doors. */
const NO_URL = 'http://kontor.invalid'

interface Door {
  readonly server: HttpServer
  /** Where connections go to gateways. */
  readonly acceptor: Acceptor | undefined
  readonly starting: Starting
  readonly host: string
  readonly port: number
  readonly setting: string
}

/**
 * Where the platform is reached: one address for everything, or, with KONTOR_OPERATOR_LISTEN, one for clients and one
 * for operators and their monitoring. Each says that the platform is starting until somebody else answers there.
 */
export class Doors {
  private readonly doors: readonly Door[]
  url = ''
  operatorUrl = ''

  /** `closed`: there is none, and whoever asks is in this process. */
  constructor(config: Config, warn: Warn, closed = false) {
    const { host, port, operatorListen, gateways } = config
    if (closed) {
      this.doors = []
      this.url = this.operatorUrl = NO_URL
      return
    }
    const clients = door(config, warn, { host, port, setting: 'KONTOR_PORT' }, gateways.count > 0)
    this.doors =
      operatorListen === undefined
        ? [clients]
        : [clients, door(config, warn, { ...operatorListen, setting: 'KONTOR_OPERATOR_LISTEN' }, false)]
  }
  /** A port that is taken leaves none of them open. */
  async listen(): Promise<void> {
    if (this.doors.length === 0) return
    const urls: string[] = []
    try {
      for (const { server, acceptor, host, port, setting } of this.doors) {
        if (acceptor !== undefined) server.open()
        urls.push(urlOf(host, await (acceptor ?? server).listen(host, port, setting)))
      }
    } catch (error) {
      await this.close()
      throw error
    }
    this.url = urls[0]!
    this.operatorUrl = urls.at(-1)!
  }
  /** What the platform is waiting for. */
  tell(detail: string): void {
    for (const { starting } of this.doors) starting.tell(detail)
  }
  /** From here on these answer: for clients first, for operators last. */
  handOver(serves: readonly Serves[]): void {
    for (const [i, { starting }] of this.doors.entries()) starting.handOver(serves[i]!)
  }
  /** From here on clients' connections are given away. */
  giveTo(give: Give): void {
    const { acceptor } = this.doors[0]!
    if (acceptor !== undefined) acceptor.give = give
  }
  /** A connection ended that was given away. */
  left(address: string): void {
    this.doors[0]!.acceptor?.left(address)
  }
  /** Nobody new gets in. */
  shut(): void {
    for (const { acceptor } of this.doors) acceptor?.close()
  }
  async close(): Promise<void> {
    this.shut()
    await Promise.all(this.doors.map(({ server }) => server.close()))
  }
  get connections(): number {
    return this.sum(({ server, acceptor }) => (acceptor ?? server).connections)
  }
  get refused(): number {
    return this.sum(({ server, acceptor }) => (acceptor ?? server).refused)
  }
  get cut(): number {
    return this.sum(({ server }) => server.cut)
  }
  private sum(figure: (door: Door) => number): number {
    return this.doors.reduce((sum, door) => sum + figure(door), 0)
  }
}

/** How many connections there may be at once, and of them from one address. */
export function connectionBounds({
  sockets,
  trustProxy,
}: {
  readonly sockets: Pick<Config['sockets'], 'connections' | 'addressConnections'>
  readonly trustProxy: number
}): { readonly connections: number; readonly addressConnections: number } {
  const connections = sockets.connections ?? connectionsByDescriptors()
  // Behind a proxy all connections are the proxy's.
  const addressConnections =
    trustProxy > 0
      ? connections
      : (sockets.addressConnections ?? Math.max(ADDRESS_CONNECTIONS, Math.ceil(connections / 4)))
  return { connections, addressConnections }
}
function door(
  config: Config,
  warn: Warn,
  address: Pick<Door, 'host' | 'port' | 'setting'>,
  givesAway: boolean,
): Door {
  const starting = new Starting()
  const { connections, addressConnections } = connectionBounds(config)
  const server = new HttpServer({
    serve: starting.serve,
    upgrade: starting.upgrade,
    warn,
    connections,
    addressConnections,
    requestMs: config.sockets.requestSeconds * 1000,
  })
  const acceptor = givesAway ? new Acceptor(server, connections, addressConnections, warn) : undefined
  return { server, acceptor, starting, ...address }
}
export const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
