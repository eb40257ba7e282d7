import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseTable, type Holder, type LeaseRow } from '../store/lease.ts'
import { CONNECT_MS, isAway } from '../store/postgres-client.ts'
import { Fenced } from '../store/store.ts'
import type { Log } from './log.ts'
import { isGone } from './ownership.ts'

export interface LeaseParts {
  readonly url: string
  readonly me: Omit<Holder, 'process'>
  readonly log: Log
  readonly fatal: (error: unknown) => void
  /** Told once: this node is asked to hand over to that one. */
  readonly wanted?: (node: string) => void
  /** Milliseconds: one clock that nobody sets, and the one on the wall. */
  readonly steady?: () => number
  readonly wall?: () => number
}

/** How often in the time of a lease it is renewed. */
const RENEWALS = 4
const RETRY_MS = 50
/** One clock may run a little faster than another. */
const DRIFT = 1.05

/**
 * That this process, and no other, answers for the database. The journal's fence keeps a second one from writing; this
 * keeps one that was overtaken unawares (it was stopped for a while, or cut off) from telling what is no longer so. It
 * ends by itself, counted from before it was asked for; while it does not hold, whatever would be answered waits.
 */
export class Lease {
  private readonly parts: LeaseParts
  private readonly table: LeaseTable
  private readonly steady: () => number
  private readonly wall: () => number
  private row: LeaseRow | undefined
  /** It holds before both. */
  private until = -Infinity
  private wallUntil = -Infinity
  /** Who held it before me may think that he does until then. */
  private othersUntil = -Infinity
  private timer: NodeJS.Timeout | undefined
  private waiters: { readonly go: () => void; readonly fail: (error: Error) => void }[] = []
  private ended = false
  private late = false
  private asked = false

  constructor(parts: LeaseParts) {
    this.parts = parts
    this.steady = parts.steady ?? (() => performance.now())
    this.wall = parts.wall ?? (() => Date.now())
    this.table = new LeaseTable(parts.url, Math.max(250, parts.me.ms / 2))
  }
  get holds(): boolean {
    return this.steady() < this.until && this.wall() < this.wallUntil
  }
  /** How far its end is away, for those who watch. */
  get leftMs(): number {
    return Math.max(0, Math.min(this.until - this.steady(), this.me.ms))
  }
  get epoch(): number {
    return this.row?.epoch ?? 0
  }
  get me(): LeaseParts['me'] {
    return this.parts.me
  }
  /** Resolves when it holds again; rejects when it never will. */
  regained(): Promise<void> {
    if (this.holds) return Promise.resolve()
    if (this.ended) return Promise.reject(new Fenced())
    return new Promise((go, fail) => this.waiters.push({ go, fail }))
  }
  /** Takes it from whoever has it: for a start, which has seen to it that nobody is there, or was told to take over. */
  async claim(): Promise<void> {
    const began = this.steady()
    for (;;)
      try {
        await this.table.prepare()
        for (;;) if (await this.take(await this.table.read())) return
      } catch (error) {
        // Each call has but a part of a lease's time. A database that is slow for longer than that is not away.
        if (!isAway(error) || this.steady() - began >= CONNECT_MS) throw error
        await sleep(RETRY_MS)
      }
  }
  /** Takes it as it was seen; false: somebody was quicker. */
  async take(seen: LeaseRow): Promise<boolean> {
    const sent = this.sent()
    const row = await this.table.take(seen, { ...this.parts.me, process: processMark() })
    if (row === undefined) return false
    // A process that is seen to be dead tells nobody anything.
    if (seen.node !== '' && !isDead(seen.process)) this.othersUntil = this.steady() + seen.ms * DRIFT
    this.extend(row, sent)
    this.schedule()
    return true
  }
  /** It was seen to have ended: nobody is waited for. */
  takenAfterEnd(): void {
    this.othersUntil = -Infinity
  }
  /** Before anything is committed or told: whoever held it before has stopped telling. */
  async settled(): Promise<void> {
    const wait = this.othersUntil - this.steady()
    if (wait > 0) await sleep(wait)
    await this.regained()
  }
  /** At once not held any more, and free for the next one. */
  async giveBack(): Promise<void> {
    if (this.ended) return
    this.end()
    if (this.row !== undefined)
      await this.table
        .giveBack(this.row)
        .catch((error: unknown) => this.parts.log.warn('the lease could not be given back', { error }))
    await this.table.close()
  }

  private end(): void {
    this.ended = true
    this.until = this.wallUntil = -Infinity
    clearTimeout(this.timer)
    for (const { fail } of this.waiters.splice(0)) fail(new Fenced())
  }
  private sent(): { readonly steady: number; readonly wall: number } {
    return { steady: this.steady(), wall: this.wall() }
  }
  private extend(row: LeaseRow, sent: { readonly steady: number; readonly wall: number }): void {
    if (this.ended) return
    this.row = row
    this.until = sent.steady + row.ms
    this.wallUntil = sent.wall + row.ms
    if (!this.holds) return
    if (this.late) this.parts.log.info('the lease holds again')
    this.late = false
    for (const { go } of this.waiters.splice(0)) go()
    if (row.wanted !== '' && row.wanted !== this.parts.me.node && !this.asked) {
      this.asked = true
      this.parts.wanted?.(row.wanted)
    }
  }
  private schedule(ms = this.parts.me.ms / RENEWALS): void {
    if (!this.ended) this.timer = setTimeout(() => void this.renew(), ms)
  }
  private async renew(): Promise<void> {
    const sent = this.sent()
    try {
      this.extend(await this.table.renew(this.row!), sent)
      this.schedule(this.holds ? undefined : 0)
    } catch (error) {
      if (this.ended) return
      if (error instanceof Fenced) {
        this.end()
        this.parts.fatal(error)
        return
      }
      if (!this.holds && !this.late) {
        this.late = true
        this.parts.log.warn('the lease has run out and could not be renewed; answers wait', { error })
      }
      this.schedule(RETRY_MS)
    }
  }
}

/** This start of this machine, the world in which process numbers count, and the number; empty where nobody can tell. */
function processMark(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')} ${process.pid}`
  } catch {
    return ''
  }
}
/** A process of this machine that is not there any more. A number that somebody else has by now counts as alive. */
function isDead(mark: string): boolean {
  const placeOf = (text: string): string => text.slice(0, text.lastIndexOf(' '))
  const place = placeOf(mark)
  return place !== '' && place === placeOf(processMark()) && isGone(Number(mark.slice(place.length + 1)))
}

/** What a look at the lease of somebody else says. */
export type Seen = 'held' | 'free'

/** Watches the lease of whoever is active, until it may be taken. */
export class LeaseWatch {
  private readonly table: LeaseTable
  private readonly node: string
  private readonly steady: () => number
  private last: LeaseRow | undefined
  private since = 0

  constructor(url: string, node: string, waitMs: number, steady: () => number = () => performance.now()) {
    this.table = new LeaseTable(url, waitMs)
    this.node = node
    this.steady = steady
  }
  prepare(): Promise<void> {
    return this.table.prepare()
  }
  get row(): LeaseRow | undefined {
    return this.last
  }
  /** A database that does not answer says nothing about its holder: he has his time again when it does. */
  async look(): Promise<Seen> {
    let row: LeaseRow
    try {
      row = await this.table.read()
    } catch (error) {
      this.last = undefined
      throw error
    }
    const now = this.steady()
    if (this.last?.renewed !== row.renewed) {
      this.last = row
      this.since = now
    }
    const stood = now - this.since
    const mine = row.wanted === '' || row.wanted === this.node
    if (row.node === '') return mine || stood > row.ms ? 'free' : 'held'
    return stood > row.ms * DRIFT ? 'free' : 'held'
  }
  close(): Promise<void> {
    return this.table.close()
  }
}
