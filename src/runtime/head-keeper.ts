import { renameSync, writeFileSync } from 'node:fs'
import type { KeptHead } from '../store/kept-head.ts'
import type { Log } from './log.ts'

const EVERY_MS = 10_000
const ANSWER_MS = 5_000

/** Writes the head of the database down elsewhere, again and again: to a file, or by PUT to a URL. */
export class HeadKeeper {
  private readonly to: string
  private readonly head: () => KeptHead
  private readonly log: Log
  private timer: NodeJS.Timeout | undefined
  private last = -1

  constructor(to: string, head: () => KeptHead, log: Log) {
    this.to = to
    this.head = head
    this.log = log
  }
  start(): void {
    this.timer = setInterval(() => void this.keep(), EVERY_MS)
  }
  async stop(): Promise<void> {
    clearInterval(this.timer)
    await this.keep()
  }
  async keep(): Promise<void> {
    const head = this.head()
    if (head.sequence === this.last) return
    try {
      await this.write(`${JSON.stringify(head)}\n`)
      this.last = head.sequence
    } catch (error) {
      this.log.warn('the head could not be kept elsewhere', { error })
    }
  }
  private async write(text: string): Promise<void> {
    if (!isUrl(this.to)) {
      // A reader finds the old one or the new one, never a half.
      writeFileSync(`${this.to}.new`, text, { mode: 0o600 })
      renameSync(`${this.to}.new`, this.to)
      return
    }
    const headers = { 'Content-Type': 'application/json' }
    const signal = AbortSignal.timeout(ANSWER_MS)
    const reply = await fetch(this.to, { method: 'PUT', body: text, headers, signal })
    await reply.arrayBuffer()
    if (!reply.ok) throw new Error(`it answered ${reply.status}`)
  }
}
export const isUrl = (to: string): boolean => /^https?:\/\//.test(to)
