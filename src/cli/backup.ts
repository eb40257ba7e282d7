import { verifyStore } from '../checks/ledger-check.ts'
import { DECLARED } from '../core/state.ts'
import { copyFileSync, existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import { credentialsPath, keepPrivate } from '../runtime/credentials.ts'
import { existingKey } from '../runtime/genesis.ts'
import { pendingKey } from '../runtime/rotation.ts'
import { sumsKey } from '../runtime/secrets.ts'
import { copyToFile } from '../store/copy.ts'
import { makePrivateFile, makePrivateFolder } from '../files.ts'
import { modeOf } from '../runtime/sight.ts'
import { databasePath, openSnapshot } from '../store/open.ts'
import { sqliteSnapshot } from '../store/sqlite.ts'
import { VERSION } from '../version.ts'
import { fingerprint, writeManifest, type Manifest } from './backup-folder.ts'
import { placeOf, settingOptions, type Command } from './options.ts'

export const backup: Command = {
  usage: 'kontor backup FOLDER [--data FOLDER | --database-url URL] [--config FILE] [--without-key]',
  detail: `Safe beside a running platform: the copy is of one moment. FOLDER is made, and must not be there yet, or be empty. It
holds the database as one file, whatever the store, the secret key, the configuration file where one is set, a sandbox's
credentials, and backup.json, which says what they are. The copy is verified as kontor verify does it; a copy that is not
in order is not kept (exit 1). Whoever has the folder has every API secret: keep it as safe as the platform itself, or
leave the key out and keep that elsewhere.`,
  options: {
    ...settingOptions('data', 'database-url', 'database-url-file', 'secret-key-file', 'config'),
    'without-key': { help: 'leave the secret key out of the copy' },
  },
  words: 1,
  run: async ({ env, words, flags }) => {
    const place = placeOf(env)
    const folder = words[0]!
    makeFolder(folder)
    const path = databasePath(folder)
    try {
      const key = (await pendingKey(place)) ?? existingKey(place)
      const { sequence, hash } = await copyDatabase(place, path, sumsKey(key))
      const wrong = await faultsOf(path, key)
      if (wrong.length > 0) {
        for (const line of wrong) process.stdout.write(`wrong: ${line}\n`)
        process.stdout.write('NOT in order: no backup was made; run kontor verify on the database itself\n')
        rmSync(folder, { recursive: true, force: true })
        return 1
      }
      if (!flags.has('without-key')) keepPrivate(join(folder, 'secret.key'), `${key}\n`)
      const config = env['KONTOR_CONFIG'] ?? ''
      if (config !== '') keepPrivate(join(folder, 'config.json'), readFileSync(config, 'utf8'))
      const mode = (await modeOf(place)) ?? 'sandbox'
      if (mode === 'sandbox' && existsSync(credentialsPath(place)))
        copyFileSync(credentialsPath(place), join(folder, 'credentials.json'))
      const files = Object.fromEntries(
        readdirSync(folder).map((name) => [name, fingerprint(join(folder, name))]),
      )
      const manifest: Manifest = {
        version: VERSION,
        made_at: new Date().toISOString(),
        mode,
        sequence,
        hash,
        files,
      }
      writeManifest(folder, manifest)
      process.stdout.write(
        `balanced: ${basename(folder)} holds ${Object.keys(files).sort().join(', ')} as of batch ${sequence}\n`,
      )
      return 0
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  },
}

function makeFolder(folder: string): void {
  try {
    if (existsSync(folder) && readdirSync(folder).length > 0)
      throw new ConfigError(`${folder} is not empty; name a folder that is not there yet`)
    makePrivateFolder(folder)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${folder} can't be made: ${(error as Error).message}`)
  }
}
async function copyDatabase(
  place: Config,
  path: string,
  key: string,
): Promise<{ readonly sequence: number; readonly hash: string }> {
  const snapshot = await openSnapshot(place)
  try {
    makePrivateFile(path)
    return await copyToFile(snapshot, DECLARED, path, key)
  } finally {
    await snapshot.close()
  }
}
/** What `kontor verify` would say of the file. */
export async function faultsOf(path: string, key: string): Promise<string[]> {
  const copy = sqliteSnapshot(path)
  try {
    return (await verifyStore(copy, { key: sumsKey(key) })).wrong
  } finally {
    await copy.close()
  }
}
