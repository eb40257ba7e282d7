import { Front } from './api/front.ts'
import { Gateway, type GatewayOptions } from './api/gateway.ts'
import { Hosts } from './api/hosts.ts'
import type { AnyEndpoint } from './api/endpoint.ts'
import type { Config } from './config.ts'
import { Site, type SiteParts } from './docs/site.ts'
import { connectionsByDescriptors } from './runtime/descriptors.ts'
import { HttpServer } from './runtime/server.ts'

/** From one address at least, however few there may be in all. */
const ADDRESS_CONNECTIONS = 300

export interface ListenerParts extends Omit<GatewayOptions, 'endpoints' | 'trustProxy'> {
  readonly config: Config
  readonly trading: readonly AnyEndpoint[]
  readonly operator: readonly AnyEndpoint[]
  readonly site: Pick<SiteParts, 'version' | 'metrics' | 'details'>
  /** Ready to serve, and allowed to write. */
  readonly healthy: () => boolean
}
interface Listener {
  readonly server: HttpServer
  readonly host: string
  readonly port: number
  readonly setting: string
}

/**
 * Where the platform is reached: one address for everything, or, with KONTOR_OPERATOR_LISTEN, one for clients and one
 * for operators and their monitoring. Each knows only its own endpoints, so that no spelling of a path leads to others.
 */
export class Listeners {
  private readonly parts: ListenerParts
  private readonly listeners: readonly Listener[]
  constructor(parts: ListenerParts) {
    this.parts = parts
    const { config, trading, operator } = parts
    const { host, port, operatorListen } = config
    const api = { prefix: '/api/v4', list: trading }
    const operators = { prefix: '/operator/v1', list: operator }
    const setting = 'KONTOR_PORT'
    this.listeners =
      operatorListen === undefined
        ? [{ server: this.serve([api, operators], 'all', host), host, port, setting }]
        : [
            { server: this.serve([api], 'public', host), host, port, setting },
            {
              server: this.serve([operators], 'operator', operatorListen.host),
              ...operatorListen,
              setting: 'KONTOR_OPERATOR_LISTEN',
            },
          ]
  }
  /** Their addresses; a port that is taken leaves none of them open. */
  async listen(): Promise<{ readonly url: string; readonly operatorUrl: string }> {
    const urls: string[] = []
    try {
      for (const { server, host, port, setting } of this.listeners)
        urls.push(urlOf(host, await server.listen(host, port, setting)))
    } catch (error) {
      await this.close()
      throw error
    }
    return { url: urls[0]!, operatorUrl: urls.at(-1)! }
  }
  async close(): Promise<void> {
    await Promise.all(this.listeners.map(({ server }) => server.close()))
  }
  private sum(figure: (server: HttpServer) => number): number {
    return this.listeners.reduce((sum, { server }) => sum + figure(server), 0)
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

  private serve(
    endpoints: GatewayOptions['endpoints'],
    surface: SiteParts['surface'],
    host: string,
  ): HttpServer {
    const { config, trading, operator, site, healthy, ...rest } = this.parts
    const { trustProxy, sockets } = config
    const gateway = new Gateway({ ...rest, endpoints, trustProxy })
    const pages = new Site({
      ...site,
      surface,
      trading,
      operator,
      limiter: rest.limiter,
      now: () => rest.desk.clock.peek(),
      trustProxy,
      ready: healthy,
    })
    const front = new Front(new Hosts([host, ...config.hosts]), pages, gateway)
    const connections = sockets.connections ?? connectionsByDescriptors()
    return new HttpServer({
      serve: (request, response) => front.serve(request, response),
      warn: (message, fields) => rest.log.warn(message, fields),
      connections,
      // Behind a proxy all connections are the proxy's.
      addressConnections:
        trustProxy > 0
          ? connections
          : (sockets.addressConnections ?? Math.max(ADDRESS_CONNECTIONS, Math.ceil(connections / 4))),
      requestMs: sockets.requestSeconds * 1000,
    })
  }
}
const urlOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
