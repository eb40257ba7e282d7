import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Files that nobody but this user may read: the data folder holds balances, hashes and sealed secrets. */
const FOLDER = 0o700
const FILE = 0o600
const OTHERS = 0o077
const STICKY = 0o1000

/**
 * With those above it. One after the other: Node's own way to make them all never ends where the system takes none and
 * says that something is missing, as in /proc.
 */
export function makePrivateFolder(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  for (const folder of missing.reverse())
    try {
      mkdirSync(folder, { mode: FOLDER })
    } catch (error) {
      // Another process made it meanwhile, or it could not be looked at.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`)
}
/** Throws where no file can be made, whatever the rights of the folder say: those of /proc are root's, and say nothing. */
export function tryFolder(path: string): void {
  rmSync(mkdtempSync(join(path, '.kontor-')), { recursive: true })
}
/**
 * Made before a database first opens it: SQLite gives its side files the mode of the main one. One that is there is
 * not even opened: closing it would let go of the locks that SQLite holds on it in this process, and another process
 * could then take away the log that this one is writing.
 */
export function makePrivateFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', FILE))
}

const OURS =
  /^(kontor\.db(-wal|-shm|-journal|-stage-\d+-\d)?|kontor\.journal\.\d+|kontor\.lock(-journal)?|credentials\.json|secret\.key(\.new)?)$/
/**
 * Takes what an older version, a copy or a generous umask left open to others away from them. Answers what could
 * not be changed. A folder that is shared by its nature, such as /tmp, is left as it is, and told.
 */
export function tighten(folder: string): string[] {
  const there = lookAt(folder)
  if (there?.isDirectory() !== true) return []
  const open = [tightenOne(folder, there, FOLDER)]
  for (const name of readdirSync(folder).filter((file) => OURS.test(file))) {
    const path = join(folder, name)
    const found = lookAt(path)
    if (found?.isFile() === true) open.push(tightenOne(path, found, FILE))
  }
  return open.filter((path) => path !== undefined)
}
function tightenOne(path: string, { mode, uid }: Stats, wanted: number): string | undefined {
  if ((mode & OTHERS) === 0) return undefined
  const ours = process.getuid === undefined || uid === process.getuid()
  if (!ours || (mode & STICKY) !== 0) return path
  try {
    chmodSync(path, wanted)
  } catch {
    return path
  }
  // Some file systems know no modes and change nothing.
  return ((lookAt(path)?.mode ?? 0) & OTHERS) === 0 ? undefined : path
}
function lookAt(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}
