import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { ConfigError, type Config, type GatewaysWanted } from '../config.ts'
import { ok, wrong, type Check } from './check.ts'
import { NotDone, OperatorApi } from './operator-api.ts'
import type { Environment } from './options.ts'

/** A platform on this machine that takes longer is not well. */
const ANSWER_MS = 2_000

/** How many processes a start would have speak HTTP, and those of the platform that runs with these settings. */
export async function gatewayChecks(config: Config, env: Environment): Promise<Check[]> {
  const { gateways } = config
  const given = env['KONTOR_GATEWAYS'] ?? ''
  const why =
    given === '' || given === 'auto' ? `auto, on ${count(availableParallelism(), 'core')}` : 'KONTOR_GATEWAYS'
  const wanted =
    gateways.count === 0
      ? `none (${why}): the core's process speaks HTTP itself`
      : `${gateways.count} (${why})${gateways.from > 0 ? `, when ${gateways.from} connections are there at once` : ''}`
  const asked = config.mode === 'live' ? '; GET /operator/v1/status names those that run' : ''
  const running = await runningGateways(config, env)
  return [ok(`gateways: ${wanted}${asked}`), ...(running === undefined ? [] : toldOf(running, gateways))]
}
const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

interface Gateway {
  readonly pid: number
  readonly connections: number
}
/**
 * Undefined: no platform runs here, or it is not asked. A live platform is not: its token would go to whoever listens on
 * the port; a sandbox has written down where it is.
 */
async function runningGateways(config: Config, env: Environment): Promise<readonly Gateway[] | undefined> {
  if (config.mode === 'live') return undefined
  try {
    const api = new OperatorApi({ env, values: {} }, ANSWER_MS)
    return (await api.get<{ readonly gateways: readonly Gateway[] }>('/status')).gateways
  } catch (error) {
    if (error instanceof NotDone || error instanceof ConfigError) return undefined
    throw error
  }
}

function toldOf(running: readonly Gateway[], { count: wanted, from }: GatewaysWanted): Check[] {
  const told = running.map(({ pid, connections }) => {
    const megabytes = memoryOf(pid)
    return megabytes === undefined
      ? wrong(`gateway ${pid}: the platform names it, but there is no such process here`)
      : ok(`gateway ${pid}: answers, ${count(connections, 'connection')}, ${megabytes} MB`)
  })
  if (running.length === 0 && (wanted === 0 || from > 0)) return [ok('gateways: none run')]
  if (running.length === wanted) return told
  return [
    ...told,
    ok(`warning: gateways: ${running.length} run, ${wanted} would after a start with these settings`),
  ]
}
/** Of a process of this machine; where the system does not tell, 0. */
function memoryOf(pid: number): number | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined
  }
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Math.round(Number(kilobytes ?? 0) / 1000)
  } catch {
    return 0
  }
}
