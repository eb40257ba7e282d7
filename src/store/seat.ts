import { JournalChain, type JournalEntry } from '../machine/journal.ts'
import { Sums } from '../machine/sums.ts'
import { StoreBehind, StoreUnavailable, type StoreHead, type Point } from './store.ts'

/** The head is one that was written with this key; answers what the tables add up to. */
export function sumsOf(head: StoreHead, key: string, schema: string): Sums {
  const sums = new Sums(key, schema)
  if (head.mac === '') {
    if (head.sequence > 0) throw wrongKey()
    return sums
  }
  if (!sums.isMac(head, head.mac)) throw wrongKey()
  sums.setAll(head.sums)
  return sums
}

/**
 * The journal's entries behind the earlier of two points lead through the other one, without a gap, and were written
 * with this key. Answers where they end.
 */
export function walk(entries: readonly JournalEntry[], one: Point, other: Point, key: string): Point {
  const [from, through] = one.sequence <= other.sequence ? [one, other] : [other, one]
  const chain = new JournalChain(from.hash, key)
  let { sequence } = from
  const met = (): void => {
    if (sequence === through.sequence && chain.hash !== through.hash)
      throw new StoreBehind(`batch ${sequence} of the database is not the one that was written there`)
  }
  met()
  for (const entry of entries) {
    if (entry.sequence <= from.sequence) continue
    if (entry.sequence !== sequence + 1)
      throw new StoreBehind(`the journal goes on with batch ${entry.sequence} behind batch ${sequence}`)
    if (!chain.admits(entry))
      throw new StoreUnavailable(
        `batch ${entry.sequence} of the journal was changed behind the platform's back, or is of another database; restore it from a backup`,
      )
    sequence = entry.sequence
    met()
  }
  if (sequence < through.sequence)
    throw new StoreBehind(
      `the database ends at batch ${sequence}, and batch ${through.sequence} had been written`,
    )
  return { sequence, hash: chain.hash }
}

export const wrongKey = (): StoreUnavailable =>
  new StoreUnavailable(
    `the head of the database was not written with this secret key: KONTOR_SECRET_KEY (or secret.key in the data folder) is another one, or the head was changed; if it was changed by hand on purpose, run: kontor reseal`,
  )
