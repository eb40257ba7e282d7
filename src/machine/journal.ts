import { createHmac, hash as digest, timingSafeEqual } from 'node:crypto'

/** What the commands of a batch were and changed, as text: all that a journal keeps of it. */
export interface PackedBatch {
  readonly sequence: number
  readonly at: number
  readonly count: number
  /** JSON: an array of [at, type, input], the commands in their order. */
  readonly commands: string
  /** Row by row what changed: its sections. */
  readonly body: string
  /** Those of its body, where they are still at hand. */
  readonly sections?: readonly Section[]
}

/**
 * What a batch changed, as one text. Its first line is JSON: for each table or log its name, what is to be said of its
 * finished rows, and the lengths of three lists of lines that follow one another behind it: the keys of the rows, the
 * rows as they are now, and the rows as they were. No list holds a line feed but the one behind each line: JSON writes
 * one as two characters.
 */
export interface Section {
  readonly table: string
  readonly finished: Finished
  /** One line for each row; of a log none. */
  readonly keys: string
  /** A row is a JSON array of its values in column order; "-" and the key's values stand for one that was removed. */
  readonly rows: string
  /** Empty: there was none; "?": memory did not have it, the store may. */
  readonly befores: string
}
/**
 * Of the rows that no rule needs any more: a table may have none; else the last value of each row tells (its flag
 * "live"), and they have a sum of their own, or none. Rows of a log are never written again.
 */
export type Finished = 'never' | 'summed' | 'unsummed' | 'log'
export const LOG_ROWS: Finished = 'log'

export function bodyOf(sections: readonly Section[]): string {
  const head = sections.map(({ table, finished, keys, rows, befores }) => [
    table,
    finished,
    keys.length,
    rows.length,
    befores.length,
  ])
  let body = `${JSON.stringify(head)}\n`
  for (const { keys, rows, befores } of sections) body += keys + rows + befores
  return body
}
export function sectionsOf(body: string): Section[] {
  const end = body.indexOf('\n')
  const head = JSON.parse(body.slice(0, end)) as [string, Finished, number, number, number][]
  let at = end + 1
  const next = (length: number): string => body.slice(at, (at += length))
  return head.map(([table, finished, keys, rows, befores]) => ({
    table,
    finished,
    keys: next(keys),
    rows: next(rows),
    befores: next(befores),
  }))
}
/** The lines of a list. */
export const linesOf = (list: string): string[] => (list === '' ? [] : list.slice(0, -1).split('\n'))

/** The sum that a row counts in, told by its text; undefined: in none. */
export function sumOf(table: string, finished: Finished, row: string): string | undefined {
  if (finished === 'never' || finished === 'log' || row.endsWith(',true]')) return table
  return finished === 'summed' ? `${table}, finished` : undefined
}

/** A recorded batch counts as a row too. Its commands stand last, as they are: no other part holds a line feed. */
export const batchText = (
  sequence: number,
  at: number,
  count: number,
  hash: string,
  commands: string,
): string => [sequence, at, count, hash, commands].join('\n')
export const BATCHES = 'command_batch'

/** A batch in the journal: nothing of it can be changed, left out or put elsewhere unseen. */
export interface JournalEntry extends Omit<PackedBatch, 'sections'> {
  /** Chained over the changes of all batches up to this one: what `replay` must come to again. */
  readonly hash: string
  /** Of everything in it, by the key of the platform that wrote it. */
  readonly mac: string
}

/** The rows from before are not in it: what memory still had of them is a matter of luck. */
export const chained = (hash: string, body: string): string => chainedRows(hash, sectionsOf(body))
/** The same of sections that no body was made of. */
export function chainedRows(hash: string, sections: readonly Pick<Section, 'table' | 'rows'>[]): string {
  let text = hash
  for (const { table, rows } of sections) text += table + rows
  return digest('sha256', text, 'hex')
}
export function macOf(key: string, { sequence, at, count, commands, body, hash }: Unsigned): string {
  return createHmac('sha256', key)
    .update(`journal ${sequence} ${at} ${count} ${hash} ${commands.length}\n${commands}${body}`)
    .digest('hex')
}
type Unsigned = Omit<JournalEntry, 'mac'>

/** True: it was written with this key, and is what was written. */
export function isSealed(key: string, entry: JournalEntry): boolean {
  const mac = Buffer.from(macOf(key, entry))
  const given = Buffer.from(entry.mac)
  return mac.length === given.length && timingSafeEqual(mac, given)
}

/** Seals batch after batch, each behind the one before it. */
export class JournalChain {
  hash: string
  private readonly key: string

  constructor(hash: string, key: string) {
    this.hash = hash
    this.key = key
  }
  seal(batch: PackedBatch): JournalEntry {
    const { sequence, at, count, commands, body, sections = sectionsOf(body) } = batch
    this.hash = chainedRows(this.hash, sections)
    const entry = { sequence, at, count, commands, body, hash: this.hash }
    return { ...entry, mac: macOf(this.key, entry) }
  }
  /** True: this is what the platform wrote behind the last one that was let in. */
  admits(entry: JournalEntry): boolean {
    return isSealed(this.key, entry) && this.follows(entry)
  }
  /** The same without the key: it comes behind the last one, whoever wrote it. */
  follows({ body, hash }: JournalEntry): boolean {
    if (chained(this.hash, body) !== hash) return false
    this.hash = hash
    return true
  }
}
