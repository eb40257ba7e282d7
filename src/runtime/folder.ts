import { accessSync, constants, existsSync, statSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import { makePrivateFolder, tighten, tryFolder } from '../files.ts'
import { databasePath } from '../store/open.ts'
import type { Sight } from './sight.ts'
import { credentialsPath, readCredentials, type Credentials } from './credentials.ts'
import type { Log } from './log.ts'

type Settings = Pick<Config, 'data' | 'databaseUrl' | 'mode' | 'memory' | 'credentials'>

/** One data folder, one world. On PostgreSQL a sandbox keeps its key and credentials there, a live platform nothing. */
export const needsFolder = ({ databaseUrl, mode, memory }: Settings): boolean =>
  !memory && (databaseUrl === undefined || mode === 'sandbox')

/** What keeps a start from using the data folder; undefined: nothing. Only looks. */
export async function folderFault(config: Settings, sight: Sight): Promise<string | undefined> {
  if (!needsFolder(config)) return undefined
  return rightsFault(config.data) ?? (await strangersFault(config, sight))
}

/** Makes the folder, closed to others. Before anything in it is read or written. */
export async function prepareFolder(config: Settings, sight: Sight, log: Log): Promise<void> {
  if (!needsFolder(config)) return
  const fault = await folderFault(config, sight)
  if (fault !== undefined) throw new ConfigError(`KONTOR_DATA ${fault}`)
  const { data, mode } = config
  try {
    makePrivateFolder(data)
  } catch (error) {
    throw new ConfigError(`KONTOR_DATA ${data} can't be made: ${(error as Error).message}`)
  }
  try {
    // Before anything is closed to others: a folder of the system is not ours to close.
    tryFolder(data)
  } catch (error) {
    throw new ConfigError(
      `KONTOR_DATA ${data} can't be used: ${(error as Error).message}; name another folder`,
    )
  }
  for (const path of tighten(data)) {
    const why = `${path} can be read by others and can't be closed to them; give it to this user alone`
    if (mode === 'live') throw new ConfigError(`KONTOR_DATA ${why}`)
    log.warn(why)
  }
}

/** A live platform keeps no token in a file, and takes none from one that lies there. */
export const knownCredentials = (config: Settings): Credentials | undefined =>
  config.mode === 'sandbox' && !config.memory ? credentialsIn(config) : undefined

function credentialsIn(config: Settings): Credentials | undefined {
  try {
    return readCredentials(config)
  } catch (error) {
    const [why] = (error as Error).message.split('\n', 1)
    throw new ConfigError(
      `KONTOR_DATA ${credentialsPath(config)} can't be read: ${why!}; mend it, or move it away`,
    )
  }
}

const { R_OK, W_OK, X_OK } = constants
const FILES = {
  'kontor.db': R_OK | W_OK,
  'kontor.lock': R_OK | W_OK,
  'credentials.json': R_OK | W_OK,
  'secret.key': R_OK,
}
/** SQLite opens files whose names have 512 bytes at most, and ours stand beside it with some more. */
const NAME_MAX = 480
export function rightsFault(data: string): string | undefined {
  const length = Buffer.byteLength(resolve(data))
  if (length > NAME_MAX)
    return `${data.slice(0, 80)}… can't be used: its whole name has ${length} bytes; at most ${NAME_MAX} are possible`
  // Where the folder is not there yet, the nearest one above it must let it be made.
  let folder = resolve(data)
  while (seen(folder) === undefined && folder !== dirname(folder)) folder = dirname(folder)
  const found = seen(folder)
  const there = folder === resolve(data)
  const why = there ? `${data} can't be used` : `${data} can't be made`
  if (found !== 'closed' && found?.isDirectory() !== true) return `${why}: ${folder} is not a folder`
  const closed = denied(folder, there ? R_OK | W_OK | X_OK : W_OK | X_OK)
  if (closed !== undefined) return `${why}: ${closed}`
  for (const [name, mode] of Object.entries(FILES)) {
    const path = join(data, name)
    const shut = existsSync(path) ? denied(path, mode) : undefined
    if (shut !== undefined) return `${data} can't be used: ${shut}`
  }
  return undefined
}
/** `closed`: somebody keeps it from being looked at. */
function seen(path: string): Stats | 'closed' | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? undefined : 'closed'
  }
}
function denied(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (code === 'ENAMETOOLONG') return `a name in it is too long (${code})`
    const me = process.getuid?.()
    const uid = statSync(path, { throwIfNoEntry: false })?.uid
    const whose =
      uid === undefined || uid === me ? '' : `; it belongs to user ${uid}, this is user ${me ?? ''}`
    return `${path} is not readable and writable for this user (${code}${whose})`
  }
}

/** Nothing of another world is read or written over. */
async function strangersFault(config: Settings, sight: Sight): Promise<string | undefined> {
  const { data, databaseUrl } = config
  const known = credentialsIn(config)
  if (databaseUrl === undefined)
    return known?.database === undefined
      ? undefined
      : `${data} holds the key and credentials of a sandbox on PostgreSQL; name another folder for the embedded store with --data`
  if (existsSync(databasePath(data)))
    return `${data} holds an embedded store; a sandbox on PostgreSQL keeps its key and credentials in a folder of its own: name one with --data`
  if (known === undefined || known.database === sight.database || (await sight.knows(known.key)))
    return undefined
  return `${data} holds the credentials of another world; a sandbox on PostgreSQL keeps its key and credentials in a folder of its own: name one with --data`
}
