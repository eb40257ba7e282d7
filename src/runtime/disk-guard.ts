import { statfs } from 'node:fs/promises'
import type { DiskSettings } from '../config.ts'
import type { Log } from './log.ts'
import type { WallClockGuard } from './wall-clock.ts'

const EVERY_MS = 250
/** What must be free beyond a bound before it counts as passed again, so that nothing flutters around it. */
const BEYOND = 1.05
const BEYOND_MAX = 16e6

/** Bytes that a user may still fill of the file system that holds a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

export interface DiskParts {
  readonly settings: DiskSettings
  /** Bytes free. */
  readonly free: () => Promise<number>
  /** No command is taken until the answer is called. */
  readonly suspend: (reason: string) => () => void
  readonly log: Log
}

/**
 * Watches the room for the embedded store. A commit that finds none ends the process: before that, below the reserve,
 * nothing is written by anybody, and everything is read. Who makes room gets the writes back without a word.
 */
export class DiskGuard {
  private readonly parts: DiskParts
  private timer: NodeJS.Timeout | undefined
  private resume: (() => void) | undefined
  private warned = false
  private blind = false
  /** As of the last look; 0 before the first. */
  free = 0

  constructor(parts: DiskParts) {
    this.parts = parts
  }
  get holdsWrites(): boolean {
    return this.resume !== undefined
  }
  get warnings(): string[] {
    if (this.holdsWrites) return [this.text('nothing is written', 'KONTOR_DISK_RESERVE')]
    return this.warned ? [this.text('make room', 'KONTOR_DISK_WARNING')] : []
  }
  /** The first look is done when it resolves. */
  async start(): Promise<void> {
    await this.look()
    this.timer = setInterval(() => void this.look(), EVERY_MS)
  }
  stop(): void {
    clearInterval(this.timer)
    this.resume?.()
    this.resume = undefined
  }
  private async look(): Promise<void> {
    const { settings, log, suspend, free } = this.parts
    try {
      this.free = await free()
      this.blind = false
    } catch (error) {
      if (!this.blind) log.warn('the free disk space can not be seen', { error })
      this.blind = true
      return
    }
    if (this.free < settings.reserve && this.resume === undefined) {
      this.resume = suspend(REFUSAL)
      this.warned = true
      log.error(this.text('nothing is written until there is room, reads go on', 'KONTOR_DISK_RESERVE'))
    } else if (this.resume !== undefined && this.free >= beyond(settings.reserve)) {
      this.resume()
      this.resume = undefined
      log.info(this.text('there is room again, writes go on', 'KONTOR_DISK_RESERVE'))
    }
    if (this.free < settings.warning && !this.warned) {
      this.warned = true
      log.warn(this.text('make room', 'KONTOR_DISK_WARNING'))
    } else if (this.warned && !this.holdsWrites && this.free >= beyond(settings.warning)) this.warned = false
  }
  private text(what: string, setting: 'KONTOR_DISK_WARNING' | 'KONTOR_DISK_RESERVE'): string {
    const { reserve, warning } = this.parts.settings
    const bound = setting === 'KONTOR_DISK_RESERVE' ? reserve : warning
    return `the disk of the data folder has ${megabytes(this.free)} MB free (${setting} ${megabytes(bound)}): ${what}`
  }
}
const megabytes = (bytes: number): number => Math.floor(bytes / 1e6)
const beyond = (bytes: number): number => Math.min(bytes * BEYOND, bytes + BEYOND_MAX)

/** Figures are for the operator. */
const REFUSAL =
  "the platform's disk is nearly full: nothing is written until there is room, reads go on; send it again later"

interface Gauges {
  watch(name: string, type: 'gauge' | 'counter', help: string, read: () => number): void
}
/** Free space only where the store is on this machine, clocks only where they run. */
export function watchSurroundings(
  metrics: Gauges,
  disk: DiskGuard | undefined,
  wall: WallClockGuard | undefined,
): void {
  if (disk !== undefined) {
    metrics.watch('kontor_disk_free_bytes', 'gauge', 'Free for the data folder.', () => disk.free)
    metrics.watch('kontor_disk_writes_held', 'gauge', '1 while the disk is too full for writes.', () =>
      disk.holdsWrites ? 1 : 0,
    )
  }
  if (wall === undefined) return
  metrics.watch(
    'kontor_wall_clock_steps_back_total',
    'counter',
    'How often the wall clock was set back.',
    () => wall.stepsBack,
  )
  metrics.watch(
    'kontor_wall_clock_behind_seconds',
    'gauge',
    'How far the wall clock is behind the time that the platform had reached.',
    () => wall.behindSeconds,
  )
  if (wall.comparesDatabase)
    metrics.watch(
      'kontor_database_clock_offset_seconds',
      'gauge',
      "How far this machine's clock is ahead of the database's.",
      () => wall.databaseOffset,
    )
}
