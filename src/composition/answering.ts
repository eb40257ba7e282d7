import { Door } from '../api/door.ts'
import { scaled } from '../api/limiter.ts'
import type { Pipeline } from '../api/pipeline.ts'
import { Attempts } from '../console/attempts.ts'
import { Hashing } from '../console/hashing.ts'
import { consoleEndpoints, operatorEndpoints, tradingEndpoints } from '../endpoints.ts'
import { frontForClients, fronts, type FrontParts } from '../fronts.ts'
import { Bodies } from '../http/bodies.ts'
import { Network } from '../network.ts'
import type { Controls } from '../operator/platform.ts'
import { settled } from '../runtime/settling.ts'
import { detailsOf } from '../runtime/watch.ts'
import { Calls } from '../sockets/calls.ts'
import { Credentials } from '../sockets/credentials.ts'
import { SocketDesk } from '../sockets/desk.ts'
import { SocketDoor } from '../sockets/door.ts'
import { SocketFigures } from '../sockets/figures.ts'
import { VERSION } from '../version.ts'
import type { Made } from './made.ts'
import { warningsNow } from './notices.ts'

export interface Answering {
  readonly ready: () => boolean
  readonly reset: () => Promise<void>
}

export interface Answers {
  readonly network: Network
  readonly calls: Calls
  readonly live: SocketDesk
  /** Of clients, and of everybody where operators have no address of their own. */
  readonly pipeline: Pipeline
}
/** What answers: the endpoints, behind the checks, on the doors. */
export function networkOf(made: Made, { ready, reset }: Answering): Answers {
  const { config, doors, log, desk, core, chains, limiter, failures, seen, room, faults, requests } = made
  const controls = controlsOf(made, reset, () => ({ network, live }))
  const { authFailures, coreListen } = config
  const door = new Door(desk, failures, authFailures, seen, made.access, coreListen !== undefined)
  const kept = config.mode === 'sandbox' ? requests : undefined
  const healthy = (): boolean => ready() && core.writesStopped === undefined && (made.lease?.holds ?? true)
  const credentials = new Credentials(door, made.state, made.access)
  const { metrics } = made
  const [attempts, hashing] = [new Attempts(), new Hashing()]
  const figures = new SocketFigures()
  const live = new SocketDesk({
    desk,
    credentials,
    calls: {
      take: (connection, frame) => calls.take(connection, frame),
      get unanswered() {
        return calls.unanswered
      },
    },
    figures,
    log,
    ready: healthy,
    connectionsMax: scaled(config.sockets.webSockets, config.rateLimits),
    rateLimits: config.rateLimits,
    faults,
  })
  figures.watch(metrics, live)
  made.connected.sockets = () => live.count
  if (made.agents !== undefined) made.agents.watched = () => live.watched
  const { attach } = live
  const sockets = new SocketDoor({
    attach,
    trustProxy: config.trustProxy,
    queue: config.sockets.queue,
    rateLimits: config.rateLimits,
  })
  const frontParts: FrontParts = {
    config,
    desk,
    trading: tradingEndpoints,
    operator: operatorEndpoints(controls),
    console: (surface) =>
      consoleEndpoints({
        surface,
        access: made.access,
        version: VERSION,
        signUp: config.signUp,
        attempts,
        hashing,
        requests,
        limiter,
        trading: tradingEndpoints,
        sockets: () => live.list(),
      }),
    limiter,
    door,
    bodies: new Bodies(room),
    faults,
    requests: kept,
    witness: made.embedding.witness,
    metrics,
    log,
    ready,
    healthy,
    sockets,
    version: VERSION,
    details: () => detailsOf({ core, chains }),
  }
  const answers = fronts(frontParts)
  const remote = coreListen === undefined ? undefined : frontForClients(frontParts, answers)
  const { pipeline } = answers[0]!
  const calls = new Calls({
    pipeline,
    credentials,
    desk,
    faults,
    requests: kept,
    metrics,
    log,
    rateLimits: config.rateLimits,
  })
  const network = new Network({
    config,
    doors,
    answers,
    remote,
    room,
    log,
    sockets,
    attach,
    breathe: () => core.breathe(),
    line: made.line,
    epoch: () => made.lease?.epoch ?? 0,
  })
  return { network, calls, live, pipeline }
}

function controlsOf(
  made: Made,
  reset: () => Promise<void>,
  answers: () => Pick<Answers, 'network' | 'live'>,
): Controls {
  const { faults, requests, agents, ticker, risk, marks, clock, vitals, lease } = made
  const settle = async (): Promise<void> => {
    await marks.step()
    await settled(
      () => risk.settle(),
      () => ticker.runNow(),
    )
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
    vitals: () => vitals.all,
    gateways: () => answers().network.list(),
    cluster: () =>
      lease === undefined
        ? undefined
        : {
            node: lease.me.node,
            epoch: lease.epoch,
            lease_left_ms: Math.round(lease.leftMs),
            gateways: answers().network.others(),
          },
    sockets: {
      list: () => answers().live.list(),
      close: (connId) => answers().live.close(connId, 1008, 'closed by an operator'),
    },
  }
}
