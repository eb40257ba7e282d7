import { existsSync, readFileSync } from 'node:fs'
import { StoreUnavailable } from './store.ts'

/** Where the platform was, kept elsewhere: a database that was cut back can't know by itself. */
export interface KeptHead {
  readonly sequence: number
  readonly hash: string
  /** Microseconds. */
  readonly at: number
}
interface Sight {
  query(sql: string, values: readonly number[]): Promise<unknown[][]>
  /** Batches that are in the journal alone. */
  tail?(): Promise<readonly { readonly sequence: number; readonly hash: string }[]>
}

export function readKeptHead(path: string): KeptHead {
  try {
    const { sequence, hash, at } = JSON.parse(readFileSync(path, 'utf8')) as Partial<KeptHead>
    if (Number.isInteger(sequence) && typeof hash === 'string' && Number.isInteger(at))
      return { sequence: sequence!, hash, at: at! }
  } catch {
    // Told below.
  }
  throw new StoreUnavailable(
    `${path} ${existsSync(path) ? 'is not what kontor head prints' : 'does not exist'}; keep the head with: kontor head > FILE`,
  )
}

/** What is wrong with a database beside a head that was kept; undefined: it goes on from there. */
export async function behindKept(sight: Sight, kept: KeptHead): Promise<string | undefined> {
  if (kept.sequence === 0) return undefined
  const sql = 'select hash from command_batch where sequence = ?'
  const [row] = await sight.query(sql, [kept.sequence])
  const hash = row?.[0] ?? (await sight.tail?.())?.find(({ sequence }) => sequence === kept.sequence)?.hash
  if (hash === undefined)
    return `batch ${kept.sequence} had been written (the head that was kept says so), and is not here: the end of the database was cut off`
  if (hash !== kept.hash)
    return `batch ${kept.sequence} is not the one that was written (the head that was kept has another hash)`
  return undefined
}
