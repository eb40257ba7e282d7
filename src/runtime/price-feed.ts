import type { Commands } from '../core/commands.ts'
import type { Core } from '../core/core.ts'
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

/** Looks at a feed again and again, and tells the core what it says; a feed that is silent for too long counts no more. */
export class PriceFeedDriver {
  private readonly core: Core<State, Commands>
  private readonly log: Log
  private readonly feed: PriceFeed
  private readonly staleMs: number
  private readonly everyMs: number
  private timer: NodeJS.Timeout | undefined
  private answeredAt = performance.now()
  private silent = false

  constructor(
    core: Core<State, Commands>,
    log: Log,
    feed: PriceFeed,
    { seconds, stale_seconds }: { seconds: number; stale_seconds: number },
  ) {
    this.core = core
    this.log = log
    this.feed = feed
    this.everyMs = seconds * 1000
    this.staleMs = stale_seconds * 1000
  }
  async start(): Promise<void> {
    this.answeredAt = performance.now()
    await this.look()
    this.timer = setInterval(() => void this.look(), this.everyMs)
  }
  stop(): void {
    clearInterval(this.timer)
  }
  /** Never fails: a feed's trouble is told in the log, once for each silence. */
  async look(): Promise<void> {
    try {
      const prices = await this.feed.read()
      this.answeredAt = performance.now()
      this.silent = false
      await this.core.submit('prices.feed', { prices })
    } catch (error) {
      if (!this.silent)
        this.log.warn('the price feed did not answer; its last prices stand for now', { error })
      this.silent = true
      if (performance.now() - this.answeredAt >= this.staleMs)
        await this.core.submit('prices.feed', { prices: {} }).catch(() => undefined)
    }
  }
}
