import { DECLARED } from '../core/state.ts'
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import { makePrivateFile, makePrivateFolder } from '../files.ts'
import { credentialsPath, keepPrivate } from '../runtime/credentials.ts'
import { copyToDatabase } from '../store/copy.ts'
import { databasePath } from '../store/open.ts'
import { journalFiles } from '../store/file-journal.ts'
import { sqliteSnapshot } from '../store/sqlite.ts'
import { faultsOf } from './backup.ts'
import { readManifest } from './backup-folder.ts'
import { placeOf, settingOptions, type Command } from './options.ts'

export const restore: Command = {
  usage: 'kontor restore FOLDER [--data FOLDER | --database-url URL] [--secret-key-file FILE]',
  detail: `FOLDER was made by kontor backup. Its files are compared with what backup.json says, its database is verified, and
then it is copied into a data folder without a database, or into an empty PostgreSQL database, whichever store it came
from. A secret key that was left out of the backup is named as for start.`,
  options: settingOptions('data', 'database-url', 'database-url-file', 'secret-key-file'),
  words: 1,
  run: async ({ env, words }) => {
    const place = placeOf(env)
    const folder = words[0]!
    const manifest = readManifest(folder)
    const from = databasePath(folder)
    const key = keyOf(folder, place)
    const wrong = await faultsOf(from, key)
    if (wrong.length > 0) {
      for (const line of wrong) process.stdout.write(`wrong: ${line}\n`)
      process.stdout.write('NOT in order: nothing was restored\n')
      return 1
    }
    const { databaseUrl, data } = place
    if (databaseUrl === undefined) putIntoFolder(folder, place, key)
    else await putIntoDatabase(from, databaseUrl)
    process.stdout.write(
      `balanced: ${manifest.mode} data of ${manifest.made_at}, batch ${manifest.sequence}, is in ${databaseUrl === undefined ? data : 'the database'}\n`,
    )
    if (databaseUrl !== undefined && place.secretKey === undefined)
      process.stdout.write(
        `start it with the key of the backup: KONTOR_SECRET_KEY_FILE=${folder}/secret.key\n`,
      )
    if ('config.json' in manifest.files)
      process.stdout.write(`start it with its configuration: --config ${folder}/config.json\n`)
    return 0
  },
}

function keyOf(folder: string, { secretKey }: Config): string {
  const path = join(folder, 'secret.key')
  if (secretKey !== undefined) return secretKey
  if (!existsSync(path))
    throw new ConfigError(
      'the backup holds no secret key: set KONTOR_SECRET_KEY, or name its file with --secret-key-file',
    )
  return readFileSync(path, 'utf8').trim()
}
/** The database comes last, and whole: until then the folder is as good as empty. */
function putIntoFolder(folder: string, place: Config, key: string): void {
  const { data } = place
  const to = databasePath(data)
  for (const path of [to, `${to}-wal`, ...journalFiles(to)])
    if (existsSync(path))
      throw new ConfigError(`KONTOR_DATA ${data} holds a database; move it away, or name another folder`)
  makePrivateFolder(data)
  if (place.secretKey === undefined) keepPrivate(join(data, 'secret.key'), `${key}\n`)
  const credentials = join(folder, 'credentials.json')
  if (existsSync(credentials)) keepPrivate(credentialsPath(place), readFileSync(credentials, 'utf8'))
  const part = `${to}.part`
  rmSync(part, { force: true })
  makePrivateFile(part)
  copyFileSync(databasePath(folder), part)
  renameSync(part, to)
}
async function putIntoDatabase(from: string, url: string): Promise<void> {
  const snapshot = sqliteSnapshot(from)
  try {
    await copyToDatabase(snapshot, DECLARED, url)
  } finally {
    await snapshot.close()
  }
}
