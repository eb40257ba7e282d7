import type { Commands } from '../core/commands.ts'
import type { Core } from '../machine/core.ts'
import type { State } from '../core/state.ts'
import type { Log } from './log.ts'

/** The port: whoever knows prices from outside. Index prices in USDT by currency, as decimal texts. */
export interface PriceFeed {
  read(): Promise<Readonly<Record<string, string>>>
}

const ANSWER_MS = 5_000
const BYTES_MAX = 1_000_000

/** The adapter for a JSON object at an HTTP address: `{"BTC": "60000", …}`. */
export class HttpPriceFeed implements PriceFeed {
  private readonly url: string
  constructor(url: string) {
    this.url = url
  }
  async read(): Promise<Record<string, string>> {
    const response = await fetch(this.url, { signal: AbortSignal.timeout(ANSWER_MS) })
    if (!response.ok) throw new Error(`${this.url} answered ${response.status}`)
    const text = await response.text()
    if (text.length > BYTES_MAX) throw new Error(`${this.url} answered more than ${BYTES_MAX} characters`)
    const body = JSON.parse(text) as unknown
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw new Error(`${this.url} answered no JSON object of prices`)
    return Object.fromEntries(
      Object.entries(body)
        .filter(([, price]) => typeof price === 'string' || typeof price === 'number')
        .map(([currency, price]) => [currency.toUpperCase(), String(price)]),
    )
  }
}

/** A reading that must be borne out is followed by a second one after this long: well within the 5 s it has. */
const SECOND_READING_MS = 1_000

/** Looks at a feed again and again, and tells the core what it says; a feed that is silent for too long counts no more. */
export class PriceFeedDriver {
  private readonly core: Core<State, Commands>
  private readonly log: Log
  private readonly feed: PriceFeed
  /** Bears out what the first one says when a price jumps. */
  private readonly second: PriceFeed | undefined
  private readonly staleMs: number
  private readonly everyMs: number
  private timer: NodeJS.Timeout | undefined
  private again: NodeJS.Timeout | undefined
  private stopped = false
  private answeredAt = performance.now()
  private silent = false
  private waiting = ''

  constructor(
    core: Core<State, Commands>,
    log: Log,
    feed: PriceFeed,
    { seconds, stale_seconds }: { seconds: number; stale_seconds: number },
    second?: PriceFeed,
  ) {
    this.core = core
    this.log = log
    this.feed = feed
    this.second = second
    this.everyMs = seconds * 1000
    this.staleMs = stale_seconds * 1000
  }
  /** The prices of the first reading, and what it takes to believe them, are there when it resolves. */
  async start(): Promise<void> {
    this.answeredAt = performance.now()
    if ((await this.look()) && !this.stopped) {
      await new Promise((resolve) => setTimeout(resolve, SECOND_READING_MS))
      await this.look()
    }
    if (!this.stopped) this.timer = setInterval(() => void this.look(), this.everyMs)
  }
  stop(): void {
    this.stopped = true
    clearInterval(this.timer)
    clearTimeout(this.again)
  }
  /** Never fails: a feed's trouble is told in the log, once for each silence. True when a price must be read again. */
  async look(): Promise<boolean> {
    // Nothing is taken in at the moment, and that is not the feed's fault.
    if (this.core.held !== undefined) return false
    try {
      const [prices, second] = await Promise.all([this.feed.read(), this.second?.read().catch(() => ({}))])
      this.answeredAt = performance.now()
      this.silent = false
      const reading = { prices, ...(second !== undefined && { second }) }
      const { waiting } = await this.core.submit('prices.feed', reading)
      this.readAgain(waiting)
      return waiting.length > 0
    } catch (error) {
      if (!this.silent)
        this.log.warn('the price feed did not answer; its last prices stand for now', { error })
      this.silent = true
      if (performance.now() - this.answeredAt >= this.staleMs)
        await this.core.submit('prices.feed', { prices: {} }).catch(() => undefined)
      return false
    }
  }
  private readAgain(waiting: readonly string[]): void {
    const names = waiting.join(', ')
    if (names !== '' && names !== this.waiting)
      this.log.warn('prices of the feed have jumped and wait for a second reading', { currencies: names })
    this.waiting = names
    clearTimeout(this.again)
    // Before the first round the start itself reads again.
    if (names === '' || this.timer === undefined || this.stopped) return
    this.again = setTimeout(() => void this.look(), Math.min(SECOND_READING_MS, this.everyMs))
  }
}
