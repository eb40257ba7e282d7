import { decoderOf } from './codec.ts'
import { linesOf, sectionsOf, type JournalEntry, type Section } from './journal.ts'
import type { Key, Table } from './table.ts'

interface Change {
  readonly key: Key
  /** Undefined: it goes. */
  readonly after: object | undefined
}
/** What reads the rows of a table; the words that they repeat are kept once. */
const readers = new WeakMap<Table<object>, (values: readonly unknown[]) => object>()
function readerOf(table: Table<object>): (values: readonly unknown[]) => object {
  let reader = readers.get(table)
  if (reader === undefined) {
    const { columns, revive } = table.spec
    const decode = decoderOf<object>(columns)
    reader = revive === undefined ? decode : (values) => revive(decode(values))
    readers.set(table, reader)
  }
  return reader
}

/**
 * Puts what a batch of another process changed into the tables of this one, by their names, and through their indexes.
 * Tables come in the order of the map, which is the one that they are loaded in: an order finds its market. What ends
 * goes before that: no order is left in a market that changes. Finished rows leave memory as they do behind a commit. A
 * failure leaves half of it: such tables are to be thrown away.
 */
export function applyEntry(tables: ReadonlyMap<string, Table<object>>, entry: JournalEntry): void {
  const sections = new Map<string, Section>()
  for (const section of sectionsOf(entry.body))
    if (section.finished !== 'log') sections.set(section.table, section)
  const changed: (readonly [Table<object>, Change[]])[] = []
  for (const [name, table] of tables) {
    const section = sections.get(name)
    if (section === undefined) continue
    sections.delete(name)
    changed.push([table, changesOf(table, section)])
  }
  const [unknown] = sections.keys()
  if (unknown !== undefined)
    throw new TypeError(`batch ${entry.sequence} changes ${unknown}, which is not known`)
  for (const [table, changes] of changed)
    for (const { key, after } of changes)
      if (ends(table, after) && table.get(key) !== undefined) table.swap(key, after, 'follow')
  for (const [table, changes] of changed) {
    for (const { key, after } of changes) {
      const before = table.get(key)
      // Those that were there have ended above.
      if (after === undefined || (before !== undefined && ends(table, after))) continue
      table.replace(key, before, after, 'follow')
    }
    table.retire(
      changes.map(({ key }) => key),
      () => false,
    )
  }
}

const ends = ({ spec: { live } }: Table<object>, after: object | undefined): boolean =>
  after === undefined || (live !== undefined && !live(after))

function changesOf(table: Table<object>, { keys, rows }: Section): Change[] {
  const read = readerOf(table)
  const afters = linesOf(rows)
  return (JSON.parse(`[${linesOf(keys).join(',')}]`) as Key[]).map((key, i) => {
    const text = afters[i]!
    return { key, after: text.startsWith('-') ? undefined : read(JSON.parse(text) as unknown[]) }
  })
}
