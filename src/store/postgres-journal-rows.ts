import type pg from 'pg'
import type { JournalEntry } from '../machine/journal.ts'
import { COLUMNS, entryOf, type Written } from './journal-rows.ts'

/** A reader that has not been seen for so long, or is so many batches behind, is not waited for. */
export const READER_SECONDS = 30
export const READER_BATCHES = 50_000

/** How far those have read who still read, none of them too far behind a batch. */
const oldestBehind = (sequence: string): string =>
  `(select min(sequence) from journal_reader where seen > clock_timestamp() - interval '${READER_SECONDS} s' and sequence >= ${sequence} - ${READER_BATCHES})`
/** The newest entry stays: it tells which one may come next. So does what somebody has not read yet. */
export const THIN = `delete from journal where sequence < least($1::bigint, coalesce(${oldestBehind('$1::bigint')} + 1, $1::bigint))`

/** In a transaction: the tables hold everything up to `base`, and nothing but what is still read stays. */
export async function emptyJournal(client: pg.Client, base: number, keep: boolean): Promise<void> {
  if (keep) {
    const text = `select ${oldestBehind('$1::bigint')}, exists (select from journal where sequence = $1), (select max(sequence) from journal)`
    const [oldest, there, last] = await one(client, text, [base])
    // Else the next entry would not come behind the last one.
    if (oldest !== null && there === true && last === base) {
      await client.query('delete from journal where sequence <= $1 and sequence < $2', [oldest, base])
      return
    }
  }
  await client.query('truncate journal')
}

export async function entriesAfter(client: pg.Client, sequence: number): Promise<JournalEntry[]> {
  const text = `select ${COLUMNS} from journal where sequence > $1 order by 1`
  return (await client.query<unknown[]>({ text, values: [sequence], rowMode: 'array' })).rows.map(entryOf)
}
export async function writtenBy(client: pg.Client): Promise<Written | undefined> {
  const [text] = (await one(client, 'select written from journal_owner')) as [string]
  return text === '' ? undefined : (JSON.parse(text) as Written)
}
export const sameShapes = (written: Written | undefined, mine: Written): boolean =>
  written !== undefined && JSON.stringify(written) === JSON.stringify(mine)

export async function one(
  client: pg.Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<unknown[]> {
  return (await client.query<unknown[]>({ text, values: [...values], rowMode: 'array' })).rows[0]!
}
