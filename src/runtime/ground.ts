import { ConfigError, type Config } from '../config.ts'
import { openOwnerLock } from '../store/open.ts'
import { sightOf } from './sight.ts'
import { thisProcess } from '../store/owner.ts'
import { waitForDatabase } from './database-wait.ts'
import { needsFolder, prepareFolder, rightsFault } from './folder.ts'
import { writeCredentials, type Credentials } from './credentials.ts'
import type { Log } from './log.ts'
import { Ownership } from './ownership.ts'

/** What a platform stands on before it opens its store. */
export interface Ground {
  readonly ownership: Ownership
  /** The database holds a world already. */
  readonly made: boolean
  /** Writes a sandbox's credentials down, with the database that they are for; a live platform keeps none. */
  readonly keep: (credentials: Credentials) => void
}

/**
 * The database is there, it is of this mode, the data folder is this world's, and nobody else owns it: or one line
 * that says what is not so, with nothing made, read or taken over. `tell` hears what is being waited for.
 */
export async function standOn(
  config: Config,
  doors: Pick<Credentials, 'url'> & { readonly operatorUrl: string },
  log: Log,
  tell: (detail: string) => void,
): Promise<Ground> {
  if (needsFolder(config)) {
    const fault = rightsFault(config.data)
    if (fault !== undefined) throw new ConfigError(`KONTOR_DATA ${fault}`)
  }
  await waitForDatabase(config, log, tell)
  tell('it loads its state')
  const { database, made } = await sightOf(config, async (sight) => {
    // Play money and real money never mix.
    if (sight.mode !== undefined && sight.mode !== config.mode)
      throw new ConfigError(
        `KONTOR_MODE ${config.mode}: this database was made in ${sight.mode} mode, and stays what it is; name another KONTOR_DATA or KONTOR_DATABASE_URL`,
      )
    await prepareFolder(config, sight, log)
    return { database: sight.database, made: sight.mode !== undefined }
  })
  const [lock, me] = [openOwnerLock(config), thisProcess(doors.url)]
  const ownership =
    config.role === 'standby' ? Ownership.later(lock, me, log) : await Ownership.claim(lock, me, config, log)
  const { url, operatorUrl } = doors
  const keep = (credentials: Credentials): void => {
    if (config.mode === 'sandbox')
      writeCredentials(config, {
        ...credentials,
        url,
        operator_url: operatorUrl === url ? undefined : operatorUrl,
        ...(database !== undefined && { database }),
      })
  }
  return { ownership, made, keep }
}
