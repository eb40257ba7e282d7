import type { AnyEndpoint } from './api/endpoint.ts'
import { Pipeline, type Endpoints, type PipelineOptions } from './api/pipeline.ts'
import { served } from './api/serve.ts'
import type { Config } from './config.ts'
import { Site, type Surface } from './docs/site.ts'
import { sights, type Sight, type SightParts } from './docs/sights.ts'
import type { Bodies } from './http/bodies.ts'
import { Cors } from './http/cors.ts'
import { Front } from './http/front.ts'
import { Hosts } from './http/hosts.ts'
import type { Serves } from './http/starting.ts'
import type { Upgrades } from './http/upgrade.ts'

export interface FrontParts extends Omit<PipelineOptions, 'endpoints'>, Pick<SightParts, 'details'> {
  readonly config: Config
  readonly trading: readonly AnyEndpoint[]
  readonly operator: readonly AnyEndpoint[]
  /** The console's own, of an address that has these rooms. */
  readonly console: (surface: Surface) => readonly AnyEndpoint[]
  readonly bodies: Bodies
  readonly version: string
  /** Ready to serve, and allowed to write. */
  readonly healthy: () => boolean
  /** Sockets, which clients alone are served. */
  readonly sockets: Upgrades
}
/** What an address has: which endpoints and pages there are, and under which name it is reached. */
export interface Face {
  readonly surface: Surface
  readonly host: string
}
/** What answers at one address: by HTTP in this process, or for a gateway. */
export interface Answers extends Serves {
  readonly face: Face
  readonly pipeline: Pipeline
  readonly look: (path: string, ip: string) => Sight
}

/**
 * Who answers at each address: one for everything, or, with KONTOR_OPERATOR_LISTEN, one for clients and one for
 * operators. Each knows only its own endpoints, so that no spelling of a path leads to others.
 */
export function fronts(parts: FrontParts): Answers[] {
  const { host, operatorListen } = parts.config
  const faces: Face[] =
    operatorListen === undefined
      ? [{ surface: 'all', host }]
      : [
          { surface: 'public', host },
          { surface: 'operator', host: operatorListen.host },
        ]
  return faces.map((face) => answers(parts, face))
}
/**
 * What answers to gateways on other machines: clients alone. Whoever steals one must not find operators' tokens passing
 * through it.
 */
export function frontForClients(parts: FrontParts, there: readonly Answers[]): Answers {
  return (
    there.find(({ face }) => face.surface === 'public') ??
    answers(parts, { surface: 'public', host: parts.config.host })
  )
}
export function endpointsOf(
  surface: Surface,
  trading: readonly AnyEndpoint[],
  operator: readonly AnyEndpoint[],
  console: readonly AnyEndpoint[],
): Endpoints[] {
  const api = { prefix: '/api/v4', list: trading }
  const operators = { prefix: '/operator/v1', list: operator }
  const own = surface === 'all' ? [api, operators] : [surface === 'public' ? api : operators]
  return [
    ...own,
    // The same for people in a browser, with a session in place of a signature or a token.
    ...own.map(({ prefix, list }) => ({ prefix: `/console${prefix}`, list, console: true })),
    { prefix: '/console/v1', list: console, console: true },
  ]
}

function answers(parts: FrontParts, face: Face): Answers {
  const { config, trading, operator, bodies, version } = parts
  const { trustProxy } = config
  const console = parts.console(face.surface)
  const endpoints = endpointsOf(face.surface, trading, operator, console)
  const pipeline = new Pipeline({ ...parts, endpoints })
  const look = sights({
    limiter: parts.limiter,
    now: () => parts.desk.clock.peek(),
    metrics: () => parts.metrics.text(),
    ready: parts.healthy,
    details: parts.details,
  })
  const site = new Site({
    surface: face.surface,
    trading,
    operator,
    console,
    version,
    mode: config.mode,
    trustProxy,
    look,
  })
  const hosts = new Hosts([face.host, ...config.hosts])
  const sockets = face.surface === 'operator' ? undefined : parts.sockets
  const front = new Front(hosts, site, served(pipeline, bodies, trustProxy), new Cors(config.cors), sockets)
  return { face, pipeline, look, serve: front.serve, upgrade: front.upgrade }
}
