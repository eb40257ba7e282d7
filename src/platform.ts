import type { LiveDesk } from './api/endpoint.ts'
import type { Pipeline } from './api/pipeline.ts'
import { checkChainKeys } from './chain/chains.ts'
import { captured, takeUp } from './composition/beginning.ts'
import type { Beginning, Embedding } from './composition/embedding.ts'
import { networkOf } from './composition/answering.ts'
import { dutiesOf, touch } from './composition/duties.ts'
import { make, type Given, type Made } from './composition/made.ts'
import { warningsNow, warnOfWaiting } from './composition/notices.ts'
import { standBy } from './composition/standby.ts'
import { emptyWorld, openWorld } from './composition/world.ts'
import type { Config } from './config.ts'
import { CoreLine } from './gateway/line.ts'
import { BODY_MAX, tooLong } from './http/bodies.ts'
import { Doors } from './http/doors.ts'
import type { PlainReply, PlainRequest } from './http/exchange.ts'
import { refuse } from './labels.ts'
import type { Network } from './network.ts'
import type { Calls } from './sockets/calls.ts'
import type { Attach } from './sockets/line.ts'
import type { Credentials } from './runtime/credentials.ts'
import { watchSurroundings } from './runtime/disk-guard.ts'
import { standOn, type Ground } from './runtime/ground.ts'
import { refuseSimulated } from './runtime/loading.ts'
import { countingLog, type Log } from './runtime/log.ts'
import { tellAway, watchPlatform } from './runtime/watch.ts'
import { openStore } from './store/open.ts'
import { awayOr } from './store/postgres-client.ts'
import type { Store } from './store/store.ts'

export interface Platform {
  readonly url: string
  /** The same, unless KONTOR_OPERATOR_LISTEN names another. */
  readonly operatorUrl: string
  readonly credentials: Credentials
  readonly desk: LiveDesk
  /** The trading API of sockets. */
  readonly calls: Calls
  /** How a door of this very process announces itself: sockets that need no port. */
  readonly attach: Attach
  /** A request of this very process, which passes no door. */
  readonly answer: (request: PlainRequest, body: Buffer | undefined) => Promise<PlainReply>
  /** Of a platform in memory: its world as it is now. */
  readonly capture: () => Promise<Beginning>
  /** What an operator's reset does: back to where it began. */
  readonly reset: () => Promise<void>
  /** From here on it began there. */
  readonly resetsTo: (beginning: Beginning) => void
  /** Resolves when another node is to be the active core: everything is handed over, and this one is to be stopped. */
  readonly relieved: Promise<void>
  /** Finishes what is under way, flushes, and closes everything. */
  stop(): Promise<void>
}

/** Listens, sees that there is something to stand on, and builds the platform there. One that fails leaves nothing open. */
export async function startPlatform(
  config: Config,
  given: Log,
  fatal: (error: unknown) => void,
  store: Store = openStore(config),
  embedding: Embedding = {},
): Promise<Platform> {
  await checkChainKeys(config.world.chains)
  const log = countingLog(given)
  // The port first: a start that fails on it must not have taken the database from the running platform.
  const doors = new Doors(config, (message, fields) => log.warn(message, fields), embedding.closed)
  await doors.listen()
  const line = lineOf(config, log)
  let ground: Ground | undefined
  try {
    await line?.start()
    ground = await standOn(config, doors, log, (detail) => doors.tell(detail))
    return await build({ config, log, fatal, store, doors, ground, line, embedding })
  } catch (error) {
    await doors.close()
    await line?.close()
    await store.close()
    await ground?.ownership.release()
    throw awayOr(error)
  }
}

/** Where gateways on other machines find this process, active or not. */
const lineOf = ({ coreListen: listen, certs, node }: Config, log: Log): CoreLine | undefined =>
  listen === undefined ? undefined : new CoreLine({ listen, certs: certs!, node, log })

/** The composition root: what is made, what answers, what works by itself; and their life together. */
async function build(given: Given): Promise<Platform> {
  const made = await make(given)
  const { core, desk, store, doors, ground, fatal } = made
  let ready = false
  let resetting: Promise<void> | undefined
  let lettingGo: Promise<void> | undefined
  const { network, calls, live, pipeline } = networkOf(made, { ready: () => ready, reset })
  const duties = dutiesOf(made)
  let credentials: Credentials
  try {
    credentials = await worldOf(made)
    tellOf(made, network)
    await duties.start()
    await network.start()
  } catch (error) {
    await network.close()
    await duties.stop()
    await made.lease?.giveBack()
    throw error
  }
  network.open()
  ready = true

  const { url, operatorUrl } = doors
  const relieved = made.wanted.then(async (node) => {
    made.log.warn('this node hands over', { to: node })
    await letGo()
  })
  relieved.catch(fatal)
  return {
    url,
    operatorUrl,
    credentials,
    desk,
    calls,
    attach: live.attach,
    answer: (request, body) => answered(pipeline, request, body),
    capture: () => captured(made, credentials),
    reset,
    resetsTo: (beginning) => void (made.embedding.beginning = beginning),
    relieved,
    stop,
  }

  function reset(): Promise<void> {
    if (resetting === undefined && core.held !== undefined) refuse('TOO_BUSY', core.held)
    return (resetting ??= startOver()
      .catch((error: unknown) => {
        // Memory and store no longer agree: the next start sorts it out.
        fatal(error)
        throw error
      })
      .finally(() => (resetting = undefined)))
  }
  async function startOver(): Promise<void> {
    ready = false
    live.reset()
    await duties.pause()
    await emptyWorld(made, credentials, made.embedding.beginning)
    await duties.resume()
    ready = true
  }
  /** Another node may go on from here. Who calls through a gateway is kept waiting there, nobody is refused. */
  function letGo(): Promise<void> {
    return (lettingGo ??= handOver())
  }
  async function handOver(): Promise<void> {
    await made.line?.hold()
    await made.line?.answered()
    await duties.stop('shut')
    await touch(made)
    core.suspend('this node hands over to another; send it again in a second')
    await core.idle()
    await made.lease?.giveBack()
  }
  async function stop(): Promise<void> {
    if (made.line !== undefined) await letGo()
    await duties.stop('shut')
    await live.stop()
    await network.close()
    await duties.stop('answered')
    await touch(made)
    await core.idle()
    await duties.stop('written')
    await made.lease?.giveBack()
    await store.close()
    await ground.ownership.release()
  }
}

/** As `api/serve.ts` does it for a request of HTTP. */
async function answered(
  pipeline: Pipeline,
  request: PlainRequest,
  body: Buffer | undefined,
): Promise<PlainReply> {
  const passage = pipeline.begin(request)
  const early = pipeline.look(passage)
  if (early !== undefined) return early
  const wanted = body !== undefined && pipeline.wantsBody(passage) ? body : undefined
  if (wanted !== undefined && wanted.length > BODY_MAX) return pipeline.refuse(passage, tooLong())
  return pipeline.finish(passage, wanted)
}
function worldOf(made: Made): Promise<Credentials> {
  const { beginning } = made.embedding
  if (beginning !== undefined) return takeUp(made, beginning)
  return made.config.role === 'standby' ? standBy(made) : openWorld(made)
}

/** What whoever starts it should see, now and in the metrics; or that it must not be served. */
function tellOf(made: Made, network: Network): void {
  const { config, state, log, metrics, disk, wall } = made
  refuseSimulated(config, state)
  for (const warning of warningsNow(made)) log.warn(warning)
  if (config.mode === 'live') warnOfWaiting(state, log, config.operatorToken)
  tellAway(made.store, log)
  watchPlatform(metrics, { ...made, doors: network })
  watchSurroundings(metrics, disk, wall)
}
