import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import { glanceAt } from '../store/open.ts'
import { newSums } from '../store/seals.ts'
import { READ_HEAD, storeHead } from '../store/head.ts'
import { sumsKey } from './secrets.ts'

/**
 * The key file during a rotation. The new key is on the disk as secret.key.new before the database changes to it, and
 * takes the old one's place afterwards; whoever comes after a crash asks the database which of the two it belongs to.
 */
type Place = Pick<Config, 'data' | 'databaseUrl' | 'secretKey'>
const keyPath = (data: string): string => join(data, 'secret.key')
const newPath = (data: string): string => join(data, 'secret.key.new')

export function writeNewKey(data: string, key: string): void {
  const path = newPath(data)
  rmSync(path, { force: true })
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, `${key}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  syncFolder(data)
}
function syncFolder(data: string): void {
  const folder = openSync(data, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
export function takeNewKey(data: string): void {
  renameSync(newPath(data), keyPath(data))
  syncFolder(data)
}
/** Whether the head of the database was written with this key; undefined: it says nothing yet. */
export async function belongsTo(place: Place, key: string): Promise<boolean | undefined> {
  const snapshot = await glanceAt(place)
  if (snapshot === undefined) return undefined
  try {
    const head = storeHead((await snapshot.query(READ_HEAD))[0]!)
    return head.mac === '' ? undefined : newSums(sumsKey(key)).isMac(head, head.mac)
  } finally {
    await snapshot.close()
  }
}
/** The new key of a rotation that died after the database had changed to it; undefined: there is none. */
export async function pendingKey(place: Place): Promise<string | undefined> {
  const path = newPath(place.data)
  if (place.secretKey !== undefined || !existsSync(path) || !existsSync(keyPath(place.data))) return undefined
  const key = readFileSync(path, 'utf8').trim()
  return /^[0-9a-f]{64}$/.test(key) && (await belongsTo(place, key)) === true ? key : undefined
}
/** Such a rotation is finished; one that died before leaves the old key. */
export async function finishRotation(place: Place): Promise<boolean> {
  if ((await pendingKey(place)) === undefined) return false
  takeNewKey(place.data)
  return true
}

/** 32 bytes as hex, from a file that the caller names. */
export function readKeyFile(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(
      `--new-secret-key-file ${path} can't be read (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`,
    )
  }
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw new ConfigError(
      `--new-secret-key-file ${path} must hold 32 bytes as 64 hex digits; make them with: openssl rand -hex 32`,
    )
  return text.toLowerCase()
}
