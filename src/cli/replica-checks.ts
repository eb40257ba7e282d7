import type { Config } from '../config.ts'
import { serverOf } from '../store/postgres-hosts.ts'
import { postgresSnapshot } from '../store/postgres.ts'
import type { Snapshot } from '../store/store.ts'
import { ok, wrong, type Check } from './check.ts'

/** Each of KONTOR_READ_URLS answers, and is a replica of this database. */
export async function replicaChecks({ readUrls }: Config, primary: Snapshot): Promise<Check[]> {
  const checks: Check[] = []
  for (const url of readUrls) checks.push(await replicaCheck(url, primary))
  return checks
}
async function replicaCheck(url: string, primary: Snapshot): Promise<Check> {
  const name = `replica ${serverOf(url)}`
  let replica: Snapshot
  try {
    replica = await postgresSnapshot(url)
  } catch (error) {
    const why = (error as Error).message.replace(/^KONTOR_DATABASE_URL: the database/, 'it')
    return wrong(`${name}: ${why}; history is read from the primary meanwhile`)
  }
  try {
    const [[sequence, hash, follows]] = (await replica.query(
      'select sequence, hash, pg_is_in_recovery() from head',
    )) as [[number, string, boolean]]
    const [[last]] = (await primary.query('select sequence from head')) as [[number]]
    const [known] = await primary.query('select hash from command_batch where sequence = ?', [sequence])
    // It may be a moment further on than what was seen of the primary.
    if (sequence > 0 && sequence <= last && known?.[0] !== hash)
      return wrong(`${name}: it is no replica of this database (KONTOR_READ_URLS)`)
    const what = follows ? 'follows' : 'is the primary itself'
    return ok(`${name}: ${what}, ${Math.max(0, last - sequence)} batches behind`)
  } catch (error) {
    return wrong(`${name}: it is no replica of this database: ${(error as Error).message}`)
  } finally {
    await replica.close()
  }
}
