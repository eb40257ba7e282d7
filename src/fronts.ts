import { Cors } from './api/cors.ts'
import { Front } from './api/front.ts'
import { Gateway, type GatewayOptions } from './api/gateway.ts'
import { Hosts } from './api/hosts.ts'
import type { AnyEndpoint } from './api/endpoint.ts'
import type { Config } from './config.ts'
import { Site, type SiteParts } from './docs/site.ts'
import type { Serve } from './runtime/starting.ts'

export interface FrontParts extends Omit<GatewayOptions, 'endpoints' | 'trustProxy'> {
  readonly config: Config
  readonly trading: readonly AnyEndpoint[]
  readonly operator: readonly AnyEndpoint[]
  readonly site: Pick<SiteParts, 'version' | 'metrics' | 'details'>
  /** Ready to serve, and allowed to write. */
  readonly healthy: () => boolean
}

/**
 * Who answers at each address: one for everything, or, with KONTOR_OPERATOR_LISTEN, one for clients and one for
 * operators. Each knows only its own endpoints, so that no spelling of a path leads to others.
 */
export function fronts(parts: FrontParts): Serve[] {
  const { config, trading, operator } = parts
  const { host, operatorListen } = config
  const api = { prefix: '/api/v4', list: trading }
  const operators = { prefix: '/operator/v1', list: operator }
  return operatorListen === undefined
    ? [front(parts, [api, operators], 'all', host)]
    : [front(parts, [api], 'public', host), front(parts, [operators], 'operator', operatorListen.host)]
}

function front(
  { config, trading, operator, site, healthy, ...rest }: FrontParts,
  endpoints: GatewayOptions['endpoints'],
  surface: SiteParts['surface'],
  host: string,
): Serve {
  const { trustProxy } = config
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
  const first = new Front(new Hosts([host, ...config.hosts]), pages, gateway, new Cors(config.cors))
  return (request, response) => first.serve(request, response)
}
