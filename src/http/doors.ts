import type { Config } from '../config.ts'
import { connectionsByDescriptors } from './descriptors.ts'
import { HttpServer, type Warn } from './server.ts'
import { Starting, type Serve } from './starting.ts'

/** From one address at least, however few there may be in all. */
const ADDRESS_CONNECTIONS = 300

interface Door {
  readonly server: HttpServer
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

  constructor(config: Config, warn: Warn) {
    const { host, port, operatorListen } = config
    const clients = door(config, warn, { host, port, setting: 'KONTOR_PORT' })
    this.doors =
      operatorListen === undefined
        ? [clients]
        : [clients, door(config, warn, { ...operatorListen, setting: 'KONTOR_OPERATOR_LISTEN' })]
  }
  /** A port that is taken leaves none of them open. */
  async listen(): Promise<void> {
    const urls: string[] = []
    try {
      for (const { server, host, port, setting } of this.doors)
        urls.push(urlOf(host, await server.listen(host, port, setting)))
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
  handOver(serves: readonly Serve[]): void {
    for (const [i, { starting }] of this.doors.entries()) starting.handOver(serves[i]!)
  }
  async close(): Promise<void> {
    await Promise.all(this.doors.map(({ server }) => server.close()))
  }
  get connections(): number {
    return this.sum((server) => server.connections)
  }
  get refused(): number {
    return this.sum((server) => server.refused)
  }
  get cut(): number {
    return this.sum((server) => server.cut)
  }
  private sum(figure: (server: HttpServer) => number): number {
    return this.doors.reduce((sum, { server }) => sum + figure(server), 0)
  }
}

function door(
  { sockets, trustProxy }: Config,
  warn: Warn,
  address: Pick<Door, 'host' | 'port' | 'setting'>,
): Door {
  const starting = new Starting()
  const connections = sockets.connections ?? connectionsByDescriptors()
  const server = new HttpServer({
    serve: starting.serve,
    warn,
    connections,
    // Behind a proxy all connections are the proxy's.
    addressConnections:
      trustProxy > 0
        ? connections
        : (sockets.addressConnections ?? Math.max(ADDRESS_CONNECTIONS, Math.ceil(connections / 4))),
    requestMs: sockets.requestSeconds * 1000,
  })
  return { server, starting, ...address }
}
const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
