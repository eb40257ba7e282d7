import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import { keepPrivate } from '../runtime/credentials.ts'

/** What a backup's folder says of itself. */
export interface Manifest {
  readonly version: string
  readonly made_at: string
  readonly mode: Config['mode']
  /** Number and hash of the last batch that it holds. */
  readonly sequence: number
  readonly hash: string
  /** SHA-256 of each file. */
  readonly files: Readonly<Record<string, string>>
}
const MANIFEST = 'backup.json'

export const fingerprint = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex')

export const writeManifest = (folder: string, manifest: Manifest): void =>
  keepPrivate(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)

/** Refuses a folder that is no backup, or of which a file is gone or another one. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST)
  if (!existsSync(path)) throw new ConfigError(`${folder} is no backup: it holds no ${MANIFEST}`)
  let manifest: Manifest
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  } catch (error) {
    throw new ConfigError(`${path} can't be read: ${(error as Error).message}`)
  }
  for (const [name, expected] of Object.entries(manifest.files)) {
    const file = join(folder, name)
    if (!existsSync(file)) throw new ConfigError(`the backup ${folder} is not whole: ${name} is missing`)
    if (fingerprint(file) !== expected)
      throw new ConfigError(`the backup ${folder} is damaged: ${name} is not the file that was written`)
  }
  return manifest
}
