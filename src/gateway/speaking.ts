import { routerOf } from '../api/pipeline.ts'
import { Site } from '../docs/site.ts'
import { consoleEndpoints, operatorEndpoints, tradingEndpoints } from '../endpoints.ts'
import { endpointsOf } from '../fronts.ts'
import type { Bodies } from '../http/bodies.ts'
import { Cors } from '../http/cors.ts'
import { Front } from '../http/front.ts'
import { Hosts } from '../http/hosts.ts'
import type { Serves } from '../http/starting.ts'
import { SocketDoor } from '../sockets/door.ts'
import type { Settings } from './protocol.ts'
import type { Relay } from './relay.ts'

/** What speaks with clients in front of a line to a core. */
export interface Speaking extends Serves {
  readonly sockets: SocketDoor
  /** Tells the core that it may be asked. */
  readonly begin: () => void
}
/** `host`: under which clients reach this gateway, beside the names that the settings allow. */
export function speaking(settings: Settings, relay: Relay, bodies: Bodies, host: string): Speaking {
  const { mode, surface, hosts, cors, trustProxy, version } = settings
  const { socketQueue: queue, rateLimits } = settings
  // The declarations alone are of use here: their handlers run where the core is.
  const operator = operatorEndpoints(undefined as never)
  const console = consoleEndpoints({ surface } as never)
  const router = routerOf(endpointsOf(surface, tradingEndpoints, operator, console), mode)
  const look = (path: string, ip: string) => relay.look(path, ip)
  const site = new Site({
    surface,
    trading: tradingEndpoints,
    operator,
    console,
    version,
    mode,
    trustProxy,
    look,
  })
  const sockets = new SocketDoor({ attach: relay.desk.attach, trustProxy, queue, rateLimits })
  const front = new Front(new Hosts([host, ...hosts]), site, relay.serve, new Cors(cors), sockets)
  return {
    serve: front.serve,
    upgrade: front.upgrade,
    sockets,
    begin: () => relay.begin({ router, bodies, settings }),
  }
}
