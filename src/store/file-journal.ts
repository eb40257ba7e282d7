import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { JournalEntry } from '../machine/journal.ts'
import { StoreDamaged } from './store.ts'

/**
 * The journal beside an SQLite file: a few files that are written from their beginning to a certain size, one after the
 * other, and then over again, as soon as the tables hold for good what was in them. An append is one write and one sync.
 *
 * An entry is a line of JSON that says how long it is, then its commands, its body, and a digest of all that. Whatever
 * comes behind the last whole entry is an append that was never told to anybody, or what the file held the time before.
 *
 * Files carry their owner's epoch in their names: whoever was overtaken and does not know it yet writes over nobody else's
 * and removes nobody else's, however late he comes. Those of versions that did not do so count as the first owner's.
 */
const SEGMENT_BYTES = 8 * 2 ** 20
const DIGEST = 64
const FILE = 0o600
const HEAD_MAX = 1_024

const journalName = (path: string): string => `${basename(path).replace(/\.db$/, '')}.journal.`
const OF_OWNER = /^(?:(\d+)\.)?\d+$/

interface JournalFile {
  readonly path: string
  readonly epoch: number
}
function filesBeside(path: string): JournalFile[] {
  const name = journalName(path)
  const found: JournalFile[] = []
  for (const file of filesIn(dirname(path))) {
    const parts = file.startsWith(name) ? OF_OWNER.exec(file.slice(name.length)) : null
    if (parts !== null) found.push({ path: join(dirname(path), file), epoch: Number(parts[1] ?? 0) })
  }
  return found
}
function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
/** The files of the journal beside this database, whoever's they are. */
export const journalFiles = (path: string): string[] => filesBeside(path).map((file) => file.path)

export function copyJournal(from: string, to: string): void {
  const name = journalName(from)
  for (const file of journalFiles(from))
    copyFileSync(file, join(dirname(to), journalName(to) + basename(file).slice(name.length)))
}
/** Those of the owners up to an epoch. */
export function removeJournal(path: string, epoch: number): void {
  const files = filesBeside(path).filter((file) => file.epoch <= epoch)
  for (const file of files) rmSync(file.path, { force: true })
  if (files.length === 0) return
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

interface Found {
  readonly entry: JournalEntry
  /** Where the next one begins. */
  readonly end: number
}
interface Head {
  readonly sequence: number
  readonly at: number
  readonly count: number
  readonly hash: string
  readonly mac: string
  readonly commands: number
  readonly body: number
}
function frameOf({ sequence, at, count, hash, mac, commands, body }: JournalEntry): Buffer {
  const texts = Buffer.from(commands + body)
  const length = Buffer.byteLength(commands)
  const head: Head = { sequence, at, count, hash, mac, commands: length, body: texts.length - length }
  const line = Buffer.from(`${JSON.stringify(head)}\n`)
  const digest = createHash('sha256').update(line).update(texts).digest('hex')
  return Buffer.concat([line, texts, Buffer.from(digest)])
}
/** The head of what stands there; undefined: nothing does. */
function headAt(bytes: Buffer, at: number): { head: Head; texts: number; end: number } | undefined {
  const line = bytes.subarray(at, at + HEAD_MAX).indexOf('\n')
  if (line === -1) return undefined
  try {
    const head = JSON.parse(bytes.toString('utf8', at, at + line)) as Head
    const texts = at + line + 1
    const end = texts + head.commands + head.body + DIGEST
    return end <= bytes.length ? { head, texts, end } : undefined
  } catch {
    return undefined
  }
}
function entryAt(bytes: Buffer, at: number): Found | undefined {
  const found = headAt(bytes, at)
  if (found === undefined) return undefined
  const { head, texts, end } = found
  const digest = createHash('sha256')
    .update(bytes.subarray(at, end - DIGEST))
    .digest('hex')
  if (bytes.toString('latin1', end - DIGEST, end) !== digest) return undefined
  const { sequence, at: time, count, hash, mac } = head
  const commands = bytes.toString('utf8', texts, texts + head.commands)
  const body = bytes.toString('utf8', texts + head.commands, end - DIGEST)
  return { entry: { sequence, at: time, count, hash, mac, commands, body }, end }
}
/** An entry that was changed where others follow is no torn end: the files are damaged. */
function refuseHole(path: string, bytes: Buffer, at: number, sequence: number): void {
  const found = headAt(bytes, at)
  if (found?.head.sequence !== sequence) return
  if (headAt(bytes, found.end)?.head.sequence === sequence + 1)
    throw new StoreDamaged(
      `the database ${path} is damaged: batch ${sequence} of its journal is not what was written; restore it from a backup`,
    )
}

/** What the owners from `epoch` on left beyond a batch, in order. */
export const readJournal = (path: string, after: number, epoch = 0): JournalEntry[] =>
  tailOf(readOwners(path, epoch), after, epoch)

export interface OwnersJournal {
  readonly epoch: number
  readonly entries: readonly JournalEntry[]
}
export const readOwners = (path: string, epoch = 0): OwnersJournal[] =>
  filesBeside(path)
    .filter((file) => file.epoch >= epoch)
    .map((file) => ({ epoch: file.epoch, entries: entriesIn(file.path, path) }))

export const tailOf = (owners: readonly OwnersJournal[], after: number, epoch: number): JournalEntry[] =>
  owners
    .filter((owner) => owner.epoch >= epoch)
    .flatMap(({ entries }) => entries.filter(({ sequence }) => sequence > after))
    .sort((a, b) => a.sequence - b.sequence)

function entriesIn(file: string, path: string): JournalEntry[] {
  const entries: JournalEntry[] = []
  const bytes = readFileSync(file)
  for (let at = 0; ;) {
    const found = entryAt(bytes, at)
    const last = entries.at(-1)?.sequence
    if (found === undefined || (last !== undefined && found.entry.sequence !== last + 1)) {
      if (last !== undefined) refuseHole(path, bytes, at, last + 1)
      return entries
    }
    entries.push(found.entry)
    at = found.end
  }
}

interface Segment {
  readonly number: number
  readonly file: number
  /** The last entry in it. */
  last: number
}

/** Appends. Synchronous: it runs in a thread of its own. */
export class FileJournal {
  private readonly path: string
  private readonly epoch: number
  private readonly segments: Segment[] = []
  private current: Segment | undefined
  private offset = 0

  constructor(path: string, epoch: number) {
    this.path = path
    this.epoch = epoch
  }
  /**
   * One behind the other, with one sync for each file that they come to lie in; durable when it comes back. Entries up to
   * `safe` are in the tables for good: their place is free.
   */
  append(entries: readonly JournalEntry[], safe: number): void {
    let frames: Buffer[] = []
    let length = 0
    for (const entry of entries) {
      const frame = frameOf(entry)
      const full = this.offset + length > 0 && this.offset + length + frame.length > SEGMENT_BYTES
      if (this.current === undefined || full) {
        this.write(frames)
        frames = []
        length = 0
        this.current = this.free(safe)
        this.offset = 0
      }
      frames.push(frame)
      length += frame.length
      this.current.last = entry.sequence
    }
    this.write(frames)
  }
  private write(frames: readonly Buffer[]): void {
    if (this.current === undefined || frames.length === 0) return
    const { file } = this.current
    const bytes = frames.length === 1 ? frames[0]! : Buffer.concat(frames)
    for (let written = 0; written < bytes.length;)
      written += writeSync(file, bytes, written, bytes.length - written, this.offset + written)
    fdatasyncSync(file)
    this.offset += bytes.length
  }
  /** Everything in it is in the tables for good. */
  clear(): void {
    this.close()
    removeJournal(this.path, this.epoch)
  }
  close(): void {
    for (const { file } of this.segments.splice(0)) closeSync(file)
    this.current = undefined
  }
  private free(safe: number): Segment {
    const free = this.segments.find((segment) => segment !== this.current && segment.last <= safe)
    if (free !== undefined) return free
    const number = this.segments.length + 1
    const beside = dirname(this.path)
    const name = `${journalName(this.path)}${this.epoch}.${number}`
    const made = { number, file: openSync(join(beside, name), 'w', FILE), last: 0 }
    this.segments.push(made)
    const folder = openSync(beside, 'r')
    fsyncSync(folder)
    closeSync(folder)
    return made
  }
}
