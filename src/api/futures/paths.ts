import type { State } from '../../core/state.ts'
import { hasAccount, settledIn, type Settled } from '../../core/futures/money.ts'
import type { ContractGroup } from '../../core/tables/exchange/order.ts'
import { contractId, nameOfContract, type Contract } from '../../core/tables/world/contracts.ts'
import { Refusal, refuse } from '../../labels.ts'
import { signed, type KeyAccess } from '../endpoint.ts'
import { object, oneName, optional, text, type Field, type Fields, type Values } from '../fields.ts'
import { LIMITS, type LimitRule } from '../limits.ts'

/** What the two groups of contracts differ in, as their endpoints are declared. */
export interface Group {
  readonly name: ContractGroup
  readonly base: `/${ContractGroup}/{settle}`
  readonly access: KeyAccess
  readonly place: LimitRule
  readonly cancel: LimitRule
  readonly other: LimitRule
  /** Its models hold sizes as texts where a client asks for it. */
  readonly texts: boolean
}
export const PERPETUAL: Group = {
  name: 'futures',
  base: '/futures/{settle}',
  access: signed('futures'),
  place: LIMITS.futuresPlace,
  cancel: LIMITS.futuresCancel,
  other: LIMITS.futures,
  texts: true,
}
export const DELIVERY: Group = {
  name: 'delivery',
  base: '/delivery/{settle}',
  access: signed('delivery'),
  place: LIMITS.deliveryPlace,
  cancel: LIMITS.deliveryCancel,
  other: LIMITS.delivery,
  texts: false,
}

/** In any case; the answer is in lower case. */
export const settleField = oneName('usdt', 'btc')
export const SETTLE = { settle: settleField }
export const contractField = text({ max: 64, example: 'BTC_USDT' })
export const CONTRACT_PATH = { ...SETTLE, contract: contractField }

/** The account that a path names. */
export const settledOf = ({ name }: Group, settle: string): Settled => settledIn(name, settle)

/** A contract of the group and settle currency, in any case. `where` is how the request named it. */
export function contractOf(
  { world }: State,
  { group, settle }: Settled,
  name: string,
  where: 'path' | 'parameter',
): Contract {
  const contract = world.findContract(contractId(group, settle, name.toUpperCase()))
  return contract !== undefined && isListed(contract) ? contract : unknown(group, settle, name, where)
}
/** The id of a contract for reading what happened there: one that is gone keeps its history. */
export function historyContract(state: State, { group, settle }: Settled, name: string): string {
  const id = contractId(group, settle, name.toUpperCase())
  const known = state.world.findContract(id) !== undefined || state.futures.figures.get(id) !== undefined
  return known ? id : unknown(group, settle, name, 'parameter')
}
function unknown(group: string, settle: string, name: string, where: 'path' | 'parameter'): never {
  throw new Refusal(
    'CONTRACT_NOT_FOUND',
    `contract: "${name}" is no contract of ${group}/${settle}; GET /${group}/${settle}/contracts lists them`,
    where === 'path' ? 404 : 400,
  )
}
/** What a command says of a contract that it does not know is 404 where the path named it. */
export async function inPath<R>(run: Promise<R>): Promise<R> {
  try {
    return await run
  } catch (error) {
    if (error instanceof Refusal && error.label === 'CONTRACT_NOT_FOUND')
      throw new Refusal(error.label, error.message, 404)
    throw error
  }
}
export const isListed = ({ config }: Contract): boolean => config.status !== 'delisted'
export const shownContract = (id: string): string => nameOfContract(id)

export function mustHaveAccount(state: State, userId: number, settled: Settled): void {
  if (hasAccount(state, userId, settled)) return
  const { group, settle, currency } = settled
  // Nothing can be moved to where nothing is traded.
  if (!state.world.settles(group).includes(settle))
    refuse(
      'USER_NOT_FOUND',
      `there is no ${group} account in ${currency}: no contracts of ${group} are settled in it`,
    )
  refuse(
    'USER_NOT_FOUND',
    `please transfer funds first, in order to create the ${group} account: POST /wallet/transfers with from "spot", to "${group}", settle "${settle}", currency "${currency}"`,
  )
}

/**
 * Parameters that are in the query, or under the same names in a JSON body; the query wins. Both are declared as left
 * out at will, and what is needed is asked for when they are put together.
 */
export function anywhere<F extends Fields>(
  fields: F,
): {
  readonly query: Loose<F>
  readonly body: Field<Values<Loose<F>>>
  readonly read: (query: Values<Loose<F>>, body: Values<Loose<F>>) => Values<F>
} {
  const loose = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, optional(field)]),
  ) as unknown as Loose<F>
  const read = (query: Values<Loose<F>>, body: Values<Loose<F>>): Values<F> => {
    const values: Record<string, unknown> = {}
    for (const name in fields) {
      const field = fields[name]!
      const value: unknown = query[name] ?? body[name] ?? null
      if (value !== null) values[name] = value
      else if (field.required)
        refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${name} (in the query)`)
      else values[name] = field.absent()
    }
    return values as Values<F>
  }
  return { query: loose, body: object(loose), read }
}
type Loose<F extends Fields> = {
  readonly [N in keyof F]: F[N] extends Field<infer T> ? Field<T | null> : never
}
