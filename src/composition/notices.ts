import type { Config } from '../config.ts'
import type { State } from '../core/state.ts'
import { unpricedLoans } from '../core/unified/lending.ts'
import { simulatedIn } from '../runtime/loading.ts'
import type { Log } from '../runtime/log.ts'
import { sha256 } from '../runtime/secrets.ts'
import type { Made } from './made.ts'

/** What an operator should know about the settings, in the log, in the status and of `doctor`. */
export const warningsOf = ({ mode, rehearsed }: Config, served = rehearsed): string[] =>
  mode === 'sandbox' || served.length === 0
    ? []
    : [`simulated chains are served in live mode (KONTOR_SIMULATED_CHAINS=allow): ${served.join(', ')}`]

/** The same of a running platform, and what its guards see. */
export const warningsNow = ({ config, state, disk, wall }: Made): string[] => [
  ...warningsOf(config, simulatedIn(state.world.allChains)),
  ...(disk?.warnings ?? []),
  ...(wall?.warnings ?? []),
]

/** What a start in live mode found changed outside and did not take over: two admins decide. */
export function warnOfWaiting(state: State, log: Log, token: string | undefined): void {
  if (token !== undefined && state.operators.byToken.get(sha256(token)) === undefined)
    log.warn(
      'KONTOR_OPERATOR_TOKEN is not the token of an operator: it counts at the first start alone; see kontor operator recover --help',
    )
  for (const { id, call } of state.proposals.waiting())
    log.warn('a proposal waits for the admins: GET /operator/v1/proposals', { id, call })
}

/** Nothing is lent without a trusted price, and live mode makes none up: whoever started it should know. */
export function warnOfUnpriced(state: State, log: Log): void {
  const names = unpricedLoans(state)
  if (names.length === 0) return
  log.warn(
    'nothing is lent of currencies without a trusted index price: set price_feed, index_price_trusted or PUT /operator/v1/prices',
    {
      currencies: names.join(', '),
    },
  )
}
