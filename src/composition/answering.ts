import { Door } from '../api/door.ts'
import { operatorEndpoints, tradingEndpoints } from '../endpoints.ts'
import { fronts } from '../fronts.ts'
import { Bodies } from '../http/bodies.ts'
import { Network } from '../network.ts'
import type { Controls } from '../operator/platform.ts'
import { detailsOf } from '../runtime/watch.ts'
import { SocketDoor } from '../sockets/door.ts'
import type { Attach } from '../sockets/line.ts'
import { NO_DESK, whenReady } from '../sockets/ready.ts'
import { VERSION } from '../version.ts'
import type { Made } from './made.ts'
import { warningsNow } from './notices.ts'

export interface Answering {
  readonly ready: () => boolean
  readonly reset: () => Promise<void>
}

/** What answers: the endpoints, behind the checks, on the doors. */
export function networkOf(made: Made, { ready, reset }: Answering): Network {
  const { config, doors, log, desk, core, chains, limiter, failures, seen, room, faults, requests } = made
  const controls = controlsOf(made, reset, () => network)
  const healthy = (): boolean => ready() && core.writesStopped === undefined
  const attach = whenReady(attachOf(made), healthy)
  const sockets = new SocketDoor({
    attach,
    trustProxy: config.trustProxy,
    queue: config.sockets.queue,
    rateLimits: config.rateLimits,
  })
  const answers = fronts({
    config,
    desk,
    trading: tradingEndpoints,
    operator: operatorEndpoints(controls),
    limiter,
    door: new Door(desk, failures, config.authFailures, seen),
    bodies: new Bodies(room),
    faults,
    requests: config.mode === 'sandbox' ? requests : undefined,
    metrics: made.metrics,
    log,
    ready,
    healthy,
    sockets,
    version: VERSION,
    details: () => detailsOf({ core, chains }),
  })
  const network = new Network({ config, doors, answers, room, log, sockets, attach })
  return network
}

/** The one place where the desk of the sockets is put in. Until it is there, sockets are refused. */
const attachOf =
  (_made: Made): Attach =>
  () =>
    NO_DESK

function controlsOf(made: Made, reset: () => Promise<void>, network: () => Network): Controls {
  const { faults, requests, agents, ticker, risk, clock } = made
  const settle = async (): Promise<void> => {
    // What the watcher handed on by itself in the meantime is due as well.
    for (let handed = 1; handed > 0;) {
      handed = await risk.settle()
      await ticker.runNow()
    }
  }
  return {
    version: VERSION,
    get warnings() {
      return warningsNow(made)
    },
    faults,
    requests,
    agents,
    advanceTo: async (micros, operator) => {
      const move = (): Promise<number> => ticker.advanceTo(micros, operator)
      const failed = await (agents === undefined ? move() : agents.duringMove(micros - clock.peek(), move))
      await settle()
      return failed
    },
    settle,
    reset,
    gateways: () => network().list(),
  }
}
