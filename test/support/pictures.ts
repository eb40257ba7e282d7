import { Book } from '../../src/core/tables/exchange/book.ts'
import { OrderRow } from '../../src/core/tables/exchange/order.ts'
import { OrderSide } from '../../src/core/tables/futures/order-sides.ts'
import { Ledger } from '../../src/core/ledger/ledger.ts'
import type { State } from '../../src/core/state.ts'
import { countRow } from '../../src/machine/batch.ts'
import { GroupIndex, Table, UniqueIndex, type Key } from '../../src/machine/table.ts'
import { newSums } from '../../src/store/seals.ts'

/**
 * Everything that a state knows, rows and indexes and figures alike, as plain data: two states that came to the same
 * place by different ways give the same picture. Left out is what is remembered for speed, and finished rows.
 */
export const pictureOf = (state: State): unknown => picture(state)

const SKIPPED = new Set([
  'spec',
  'observers',
  'finished',
  'departed',
  'stamp',
  // What is remembered until it changes, or made when it is first asked for.
  'askedLast',
  'askedPair',
  'askedBook',
  'bookedLast',
  'bookedBefore',
  'quotes',
  'grounds',
  'believed',
  'needed',
  'emptied',
  'found',
  'byName',
  'kept',
  'names',
  'money',
  'marginMoney',
  'holdsOf',
  'trimmed',
  'history',
  // Who is to be looked at, for contracts: some of them need it no more. What commands decide follows from rows alone.
  'watch',
  'touched',
  'traded',
  // Some of them may be above zero again.
  'overdrawn',
  // Made when somebody books or has many accounts, and with room for more; what is found by them is told below.
  'purposes',
  'purposesMade',
  'owned',
  // Whose rows are kept together, which the rows say too.
  'ofUser',
  'ofContract',
])
const NOTHING = undefined
const LISTED = 100

function picture(value: unknown): unknown {
  if (value === null || typeof value === 'function' || value === undefined || value === 0n) return NOTHING
  if (typeof value !== 'object') return value
  if (value instanceof Table) return rowsOf(value as Table<object>)
  if (value instanceof UniqueIndex || value instanceof GroupIndex) return indexOf(value)
  if (value instanceof Book)
    return (['buy', 'sell'] as const).map((side) => [
      [...value.queue(side)].map(({ id, left }) => [id, left]),
      value.depth(side, 1_000_000),
    ])
  // Of an index: the row itself is in its table, and orders know their neighbours.
  // Sides that became empty last stay for a while.
  if (value instanceof OrderSide && value.isEmpty) return NOTHING
  if (value instanceof OrderRow) return [value.id, value.price, value.left]
  if (value instanceof Set) return filled([...(value as Set<unknown>)].sort())
  if (value instanceof Map)
    return filled(
      [...(value as Map<unknown, unknown>)]
        .map(([key, one]) => [key, picture(one)] as const)
        .filter(([, one]) => one !== NOTHING)
        .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    )
  if (value.constructor.name === 'OpenLists')
    return [...(value as { byPair: Map<string, { id: number }[]> }).byPair]
      .map(([pair, list]) => [pair, list.map(({ id }) => id).sort((a, b) => a - b)])
      .sort()
  if (Array.isArray(value)) {
    const list = (value as unknown[]).map(picture)
    return filled(list.every((one) => typeof one === 'number') ? list.sort() : list)
  }
  const members = Object.entries(value)
    .filter(([name]) => !SKIPPED.has(name))
    .map(([name, one]) => [name, name === 'recent' ? newest(one as Map<string, object[]>) : picture(one)])
    .filter(([, one]) => one !== NOTHING)
    .sort(([one], [other]) => (one! < other! ? -1 : 1))
  if (value instanceof Ledger) members.push(['found', found(value)])
  return filled(members)
}
/** By both ways to an account, and all of each owner in their order. */
const found = (ledger: Ledger): unknown => [
  [...new Set([...ledger.accounts.values()].map(({ owner }) => owner))]
    .sort((one, other) => one - other)
    .map((owner) => [owner, Array.from(ledger.ownedBy(owner), ({ id }) => id)]),
  [...ledger.accounts.values()]
    .map(({ id, owner, name, currency }) => [
      id,
      ledger.find(owner, name, currency)?.id,
      ledger.under(ledger.purpose(name, currency), owner)?.id,
    ])
    .sort(([one], [other]) => one! - other!),
]
/** Trades and candles: what they say, however they came. */
const newest = (lists: Map<string, object[]>): unknown =>
  filled(
    [...lists]
      .filter(([, list]) => list.length > 0)
      .sort()
      .map(([name, list]) => [
        name,
        list.slice(-LISTED).map((one) => {
          const { slot: _slot, stamp: _stamp, ...rest } = one as { slot?: unknown; stamp?: unknown }
          return Object.entries(rest).sort()
        }),
      ]),
  )
const filled = (list: unknown[]): unknown => (list.length === 0 ? NOTHING : list)

const isLive = (table: Table<object>, key: Key): boolean => {
  const row = table.get(key)
  return row !== undefined && (table.spec.live === undefined || table.spec.live(row))
}
function rowsOf(table: Table<object>): unknown {
  const rows = [...table.values()].filter((row) => isLive(table, table.keyOf(row)))
  const sums = newSums('')
  for (const row of rows) countRow(sums, table.spec, row)
  const list = rows
    .map((row) => Object.keys(table.spec.columns).map((name) => (row as Record<string, unknown>)[name]))
    .sort((one, other) => (String(one) < String(other) ? -1 : 1))
  return list.length === 0 ? NOTHING : [table.spec.name, sums.text(), list]
}
function indexOf(index: UniqueIndex<object, unknown> | GroupIndex<object, unknown>): unknown {
  const { table, keys, groups } = index as unknown as {
    table: Table<object>
    keys?: Map<unknown, Key>
    groups?: Map<unknown, Set<Key>>
  }
  if (keys !== undefined)
    return filled(
      [...keys].filter(([, key]) => isLive(table, key)).sort((a, b) => (String(a) < String(b) ? -1 : 1)),
    )
  return filled(
    [...groups!]
      .map(([group, all]) => [group, [...all].filter((key) => isLive(table, key)).sort()] as const)
      .filter(([, all]) => all.length > 0)
      .sort((a, b) => (String(a) < String(b) ? -1 : 1)),
  )
}
