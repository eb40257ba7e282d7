import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import { id, integer, oneOf, optional, text, time, withDefault } from '../api/fields.ts'
import { anything, array, decimalText, int64, map, nullable, shape, str } from '../api/shapes.ts'
import { operatorSavedShape, savedView } from '../api/deposits.ts'
import { keyShape, keyView } from '../api/sub-accounts.ts'
import { LEDGER_LINE, type Account } from '../core/ledger/ledger.ts'
import type { State } from '../core/state.ts'
import { DEPOSIT } from '../core/tables/deposits.ts'
import { PUSH } from '../core/tables/push.ts'
import { SMALL_BALANCE } from '../core/tables/small-balances.ts'
import { CONTRACT_ORDER, SPOT_ORDER } from '../core/tables/exchange/order.ts'
import { CHASE_ORDER } from '../core/tables/futures/chases.ts'
import { CONTRACT_PRICE_ORDER } from '../core/tables/futures/price-orders.ts'
import {
  AUTO_DELEVERAGE,
  CONTRACT_BOOK,
  CONTRACT_FILL,
  LIQUIDATE,
  POSITION_CLOSE,
  SETTLEMENT,
} from '../core/tables/futures/records.ts'
import { TRAIL_ORDER } from '../core/tables/futures/trails.ts'
import { SPOT_POV_ORDER } from '../core/tables/spot/pov-orders.ts'
import { SPOT_PRICE_ORDER } from '../core/tables/spot/price-orders.ts'
import { SPOT_FILL } from '../core/tables/exchange/trades.ts'
import { SUB_TRANSFER } from '../core/tables/transfers.ts'
import { INTEREST_RECORD, LIQUIDATION_STEP, LOAN_RECORD } from '../core/tables/unified/records.ts'
import { WITHDRAWAL } from '../core/tables/withdrawals.ts'
import { refuse } from '../labels.ts'
import type { LogSpec, TableSpec } from '../machine/table.ts'
import { ZERO, format, type Amount } from '../money/amount.ts'
import type { Value } from '../store/store.ts'
import { balancesAt, userAt, userShape, userView } from './users.ts'

const quote = (name: string): string => `"${name}"`

type AnySpec = TableSpec<object> | LogSpec<object>
type Scope = Readonly<Record<string, Value>>
/** The records of one kind: which of them are the account's, and the index that they are read along. */
interface Section {
  readonly spec: AnySpec
  /** One list after the other. */
  readonly scopes: (state: State, userId: number) => readonly Scope[]
  readonly order: readonly string[]
  readonly also?: string
}
const own = (_state: State, user_id: number): readonly Scope[] => [{ user_id }]
const ofBothKinds = (_state: State, user_id: number): readonly Scope[] => [
  { user_id, kind: 'unified' },
  { user_id, kind: 'margin' },
]
/** Of each account of contracts that there ever was. */
const inContracts = ({ world }: State, user_id: number): readonly Scope[] =>
  [...new Set(world.contracts.all.map((contract) => contract.account))].sort().map((account) => ({
    user_id,
    account,
  }))
const section = <Row extends object>(
  spec: TableSpec<Row> | LogSpec<Row>,
  order: readonly (keyof Row & string)[],
  scopes: Section['scopes'] = own,
  also?: string,
): Section => ({ spec, order, scopes, ...(also !== undefined && { also }) })

const SECTIONS = {
  deposits: section(DEPOSIT, ['at', 'ordinal']),
  withdrawals: section(WITHDRAWAL, ['at', 'ordinal']),
  pushes_sent: section(PUSH, ['at', 'sent_ordinal'], (_state, push_uid) => [{ push_uid }]),
  pushes_received: section(PUSH, ['at', 'received_ordinal'], (_state, receive_uid) => [{ receive_uid }]),
  sub_transfers: section(SUB_TRANSFER, ['at', 'ordinal'], (_state, main_user) => [{ main_user }]),
  small_balances: section(SMALL_BALANCE, ['ordinal']),
  // Those that are open yet are in memory, and in GET /operator/v1/orders.
  finished_orders: section(SPOT_ORDER, ['update_at', 'id'], own, `"status" <> 'open'`),
  fills: section(SPOT_FILL, ['at', 'trade_id', 'role']),
  price_orders: section(SPOT_PRICE_ORDER, ['id']),
  pov_orders: section(SPOT_POV_ORDER, ['id']),
  loans: section(LOAN_RECORD, ['id'], ofBothKinds),
  interest: section(INTEREST_RECORD, ['at', 'id'], ofBothKinds),
  liquidations: section(LIQUIDATION_STEP, ['id']),
  contract_orders: section(CONTRACT_ORDER, ['update_at', 'id'], own, `"status" <> 'open'`),
  contract_fills: section(CONTRACT_FILL, ['at', 'trade_id', 'role'], inContracts),
  contract_book: section(CONTRACT_BOOK, ['at', 'id'], inContracts),
  contract_price_orders: section(CONTRACT_PRICE_ORDER, ['id'], inContracts),
  trail_orders: section(TRAIL_ORDER, ['id'], inContracts),
  chase_orders: section(CHASE_ORDER, ['id'], inContracts),
  position_closes: section(POSITION_CLOSE, ['at', 'id'], inContracts),
  contract_liquidations: section(LIQUIDATE, ['at', 'id'], inContracts),
  auto_deleverages: section(AUTO_DELEVERAGE, ['at', 'id'], inContracts),
  settlements: section(SETTLEMENT, ['at', 'id'], inContracts),
  ledger: section(LEDGER_LINE, ['at', 'id'], ({ ledger }, userId) =>
    [...ledger.ownedBy(userId)].map(({ id: account }) => ({ account })),
  ),
} satisfies Record<string, Section>
type SectionName = keyof typeof SECTIONS
const NAMES = Object.keys(SECTIONS) as [SectionName, ...SectionName[]]

/** How far a reader has got: the list, and the last record of it. */
interface Place {
  readonly scope: number
  readonly after: readonly Value[] | undefined
}
function placeIn(cursor: string | null, { spec, order }: Section): Place {
  if (cursor === null) return { scope: 0, after: undefined }
  const [scope, ...after] = cursor.split('.')
  if (after.length !== order.length)
    refuse('INVALID_PARAM_VALUE', 'after: must be the `next` of the page before, of the same section')
  const values = after.map((value, i) => {
    if (spec.columns[order[i]! as never] !== 'int') return value
    if (!/^\d{1,16}$/.test(value)) refuse('INVALID_PARAM_VALUE', `after: "${value}" is not of this section`)
    return Number(value)
  })
  return { scope: Number(scope), after: values }
}

type Row = Record<string, unknown>
/** Numbers from here on are told as texts: such literals break real clients. */
const LONG = 1e15
/** As the platform keeps them, without what a sender signs. */
function rowView(spec: AnySpec, row: object): Row {
  const view: Row = {}
  for (const [name, type] of Object.entries(spec.columns)) {
    const value = (row as Row)[name] ?? null
    if (name === 'intent') continue
    const isLong = typeof value === 'number' && Math.abs(value) >= LONG
    view[name] =
      type === 'amount' && value !== null ? format(value as Amount) : isLong ? String(value) : value
  }
  return view
}

/** The next records of a section, and where to go on; null: that was the last. */
async function readSection(
  desk: Desk,
  { spec, scopes, order, also }: Section,
  userId: number,
  from: Place,
  limit: number,
): Promise<{ rows: Row[]; next: string | null }> {
  const lists = await desk.core.read((state) => scopes(state, userId))
  const rows: Row[] = []
  let { scope, after } = from
  const names = order.map(quote).join(', ')
  for (; scope < lists.length; scope++, after = undefined) {
    const list = lists[scope]!
    const conditions = Object.keys(list).map((column) => `${quote(column)} = ?`)
    if (also !== undefined) conditions.push(also)
    if (after !== undefined) conditions.push(`(${names}) > (${order.map(() => '?').join(', ')})`)
    const where = `where ${conditions.join(' and ')} order by ${names} limit ?`
    const values = [...Object.values(list), ...(after ?? []), limit - rows.length]
    const found = (await desk.store.select(spec, where as never, values)) as Row[]
    rows.push(...found.map((row) => rowView(spec, row)))
    if (rows.length < limit) continue
    const last = found.at(-1)!
    return { rows, next: [scope, ...order.map((column) => String(last[column]))].join('.') }
  }
  return { rows, next: null }
}

/** Lines that one statement reads; a longer one is asked for in parts. */
const LINES_MAX = 100_000
const PAGE = 5_000
interface Movement {
  readonly kind: string
  count: number
  total: bigint
}
/** What moved an account within a time, by the words of the account book. */
async function movements(
  desk: Desk,
  account: Account,
  from: number,
  to: number,
  lines: { left: number },
): Promise<Movement[]> {
  const byKind = new Map<string, Movement>()
  const where =
    'where "account" = ? and ("at", "id") > (?, ?) and "at" < ? order by "at", "id" limit ?' as const
  let after: readonly [number, number] = [from, -1]
  for (;;) {
    const page = await desk.store.select(LEDGER_LINE, where, [account.id, ...after, to, PAGE])
    for (const { kind, amount } of page) {
      const known = byKind.get(kind)
      if (known === undefined) byKind.set(kind, { kind, count: 1, total: amount })
      else {
        known.count++
        known.total += amount
      }
    }
    if ((lines.left -= page.length) < 0)
      refuse(
        'INVALID_PARAM_VALUE',
        `from, to: more than ${LINES_MAX} bookings fall into this time; ask for less at a time`,
      )
    if (page.length < PAGE) return [...byKind.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1))
    const { at, id } = page.at(-1)!
    after = [at, id]
  }
}

const UID = { uid: id() }
export const operatorRecordEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/users/{uid}/statement',
    summary: "Opening and closing balances of an account's books within a time, and what moved them",
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    query: { from: time(), to: optional(time()) },
    status: 200,
    reply: shape({
      user_id: int64,
      from: int64,
      to: int64,
      accounts: array(
        shape({
          account: str,
          currency: str,
          opening: decimalText,
          movements: array(shape({ kind: str, count: int64, total: decimalText })),
          closing: decimalText,
        }),
      ),
    }),
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path, query }) => {
      const from = Math.floor(query.from)
      const to = Math.floor(query.to ?? desk.clock.peek() / 1e6 + 1)
      if (from >= to) refuse('INVALID_PARAM_VALUE', `from: ${from} is not before to, ${to}`)
      const accounts = await desk.core.read((state) => [
        ...state.ledger.ownedBy(userAt(state, path.uid).user_id),
      ])
      const at = async (second: number): Promise<Map<Account, Amount>> =>
        new Map(
          (await balancesAt(desk, accounts, second * 1e6 - 1)).map(({ account, amount }) => [
            account,
            amount,
          ]),
        )
      const [opening, closing] = await Promise.all([at(from), at(to)])
      const lines = { left: LINES_MAX }
      const list = []
      for (const account of accounts) {
        const moved = await movements(desk, account, from * 1e6, to * 1e6, lines)
        const before = opening.get(account) ?? ZERO
        if (moved.length === 0 && before === 0n) continue
        list.push({
          account: account.name,
          currency: account.currency,
          opening: format(before),
          movements: moved.map(({ kind, count, total }) => ({ kind, count, total: format(total as Amount) })),
          closing: format(closing.get(account) ?? ZERO),
        })
      }
      return { user_id: path.uid, from, to, accounts: list }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}/export',
    summary: 'What is known of a person: the account, its keys and addresses, and which records there are',
    access: operatorOf('operator'),
    limit: null,
    params: UID,
    status: 200,
    reply: shape({
      user: userShape,
      keys: array(keyShape),
      saved_addresses: array(operatorSavedShape),
      deposit_addresses: array(shape({ chain: str, address: str, tag: str })),
      balances: array(shape({ account: str, currency: str, amount: decimalText })),
      sections: array(str),
    }),
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, operator, path }) => {
      const told = await desk.core.read((state) => {
        const user = userAt(state, path.uid)
        const { addresses } = state.wallet
        const { user_id } = user
        return {
          user: userView(user),
          keys: state.keys.of(user_id).map(keyView),
          saved_addresses: addresses.savedBy(user_id).map((saved) => ({ ...savedView(saved), user_id })),
          deposit_addresses: state.world.allChains
            .map(({ chain }) => addresses.of(chain, user_id))
            .filter((found) => found !== undefined)
            .map(({ chain, address, tag }) => ({ chain, address, tag })),
          balances: [...state.ledger.ownedBy(user_id)].map(({ name, currency, amount }) => ({
            account: name,
            currency,
            amount: format(amount),
          })),
          sections: NAMES,
        }
      })
      const detail = { user_id: path.uid }
      await desk.core.submit('audit.note', { actor: operator, action: 'user.export', detail })
      return told
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}/export/{section}',
    summary: "A page of one kind of an account's records, oldest first, as the platform keeps them",
    access: operatorOf('operator'),
    limit: null,
    params: { ...UID, section: oneOf(...NAMES) },
    query: {
      after: optional(
        text({
          max: 60,
          pattern: /^\d{1,5}(\.[a-z0-9]{1,17}){1,3}$/,
          mend: 'must be the `next` of the page before',
        }),
      ),
      limit: withDefault(integer(1, 5_000), 1_000),
    },
    status: 200,
    reply: shape({ rows: array(map(anything)), next: nullable(str) }),
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path, query }) => {
      await desk.core.read((state) => userAt(state, path.uid))
      const section = SECTIONS[path.section]
      return readSection(desk, section, path.uid, placeIn(query.after, section), query.limit)
    },
  }),
]
