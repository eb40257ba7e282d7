import type { AccountPath } from '../../core/futures/inputs.ts'
import type { State } from '../../core/state.ts'
import type { Side } from '../../core/tables/exchange/order.ts'
import { notFound, refuse } from '../../labels.ts'
import type { TableSpec } from '../../machine/table.ts'
import type { Call, Desk } from '../endpoint.ts'
import { isMeant, pageOf, storedAuto, type AutoFilter } from './auto-orders.ts'
import { Filter, storedPage } from './lists.ts'
import { historyContract, type settledOf } from './paths.ts'

/** How trailing and chasing orders are found: by name, those that wait, those that have ended. */

interface AutoRow {
  readonly id: number
  readonly user_id: number
  readonly contract: string
  readonly account: string
  readonly side: Side
  readonly reduce_only: boolean
  readonly created_at: number
}
type Settled = ReturnType<typeof settledOf>
type Query = AutoFilter & {
  readonly contract: string | null
  readonly page_num: number
  readonly page_size: number
  readonly sort_by: 1 | 2
}

/** Its id, or the text that the client gave it. */
export const nameOf = ({
  id,
  text,
}: {
  readonly id: number | null
  readonly text: string | null
}): number | string =>
  id ?? text ?? refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: id (or text)')

/** One of an account, from memory or the store. */
export async function findAuto<Row extends AutoRow>(
  desk: Desk,
  kind: 'trail' | 'chase',
  known: (state: State) => Row | undefined,
  stored: () => Promise<readonly Row[]>,
  { user_id, group, settle, id }: AccountPath & { readonly id: number },
): Promise<Row> {
  const row = (await desk.core.read(known)) ?? (await stored())[0]
  if (row?.user_id !== user_id || row.account !== `${group}/${settle}`)
    return notFound('ORDER_NOT_FOUND', `this account has no ${kind} order ${id} in ${group} ${settle}`)
  return row
}
const contractOf = (state: State, settled: Settled, { contract }: Query): string | null =>
  contract === null ? null : historyContract(state, settled, contract)
/** Of those that wait the ones that are asked for, newest first. */
export function waitingAuto<Row extends AutoRow>(
  state: State,
  settled: Settled,
  query: Query,
  rows: readonly Row[],
): Row[] {
  const contract = contractOf(state, settled, query)
  return rows
    .filter((row) => (contract === null || row.contract === contract) && isMeant(row, query))
    .reverse()
}
/** A page of those that have ended. */
export async function endedAuto<Row extends AutoRow>(
  { desk, set }: Pick<Call<unknown, unknown, unknown>, 'desk' | 'set'>,
  spec: TableSpec<Row>,
  userId: number,
  settled: Settled,
  query: Query,
  also: (filter: Filter) => void = () => undefined,
): Promise<Row[]> {
  const contract = await desk.core.read((state) => contractOf(state, settled, query))
  const [column, order] =
    query.sort_by === 1 ? ['created_at', '"id" desc'] : ['ended_at', '"ended_at" desc, "id" desc']
  const filter = new Filter()
    .and('"user_id" = ?', userId)
    .and('"account" = ?', settled.account)
    .and('"contract" = ?', contract)
  storedAuto(filter, query, column)
  also(filter)
  return storedPage(desk, set, spec, filter, order, pageOf(query))
}
