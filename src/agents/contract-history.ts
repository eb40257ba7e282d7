import type { AgentsSetting } from '../core/agents/commands.ts'
import { NO_PREMIUMS, fundingRate, premium, withPremium } from '../core/contracts/prices.ts'
import { roundHalf } from '../core/contracts/terms.ts'
import { INDEX, MARK, PREMIUM } from '../core/futures/prices.ts'
import { joined, type Candle } from '../core/tables/exchange/candles.ts'
import type { ContractHistory, FundingRecord } from '../core/tables/futures/history.ts'
import type { Contract } from '../core/tables/world/contracts.ts'
import type { World } from '../core/tables/world/world.ts'
import { ONE, ZERO, type Amount, type Price, type Rate } from '../money/amount.ts'
import { carry } from './contract-mind.ts'
import { hashText } from './dice.ts'
import { Wave, type MadeHistory } from './history.ts'
import { SPREAD } from './ladder.ts'

const MINUTE = 60
const HOUR = 3_600
const DAY = 86_400
const DAYS = 30
/** How far above its base a contract is, and what strays around that: waves of these periods in seconds. */
const BASIS = 0.0001
const STRAYS = 0.001
const PERIODS = [2 * DAY, 8 * 3_600, 2 * 3_600, 1_800]
const FADE_SECONDS = 2 * 3_600
/** Of dollars traded in spot, so many are traded in the contract. */
const VOLUME = 3

type Kind = typeof MARK | typeof INDEX | typeof PREMIUM | ''
interface Series {
  readonly kind: Kind
  readonly contract: Contract
}

/**
 * What a sandbox's contracts were before its first start: the made path of the spot market, and a made distance from it.
 * Functions of seed and time, as `MadeHistory` is; nothing is stored.
 */
export class MadeContractHistory implements ContractHistory {
  private readonly world: World
  private readonly spot: MadeHistory
  private readonly seed: number
  private readonly end: number
  private readonly begin: number
  private readonly waves = new Map<string, readonly Wave[]>()
  private readonly funded = new Map<string, FundingRecord[]>()
  private readonly hours = new Map<string, Candle>()
  private readonly recent = new Map<string, { minute: number; list: Candle[] }>()

  constructor(world: World, spot: MadeHistory, { seed, began_at }: AgentsSetting) {
    this.world = world
    this.spot = spot
    this.seed = seed
    this.end = began_at
    this.begin = began_at - DAYS * DAY
  }
  candles(pair: string, seconds: number, from: number, to: number): Candle[] {
    const series = this.seriesOf(pair)
    const list: Candle[] = []
    if (series === undefined) return list
    const first = Math.max(from, this.begin)
    const last = Math.min(to, this.end)
    for (let time = first - (first % seconds); time < last; time += seconds) {
      const candle = this.candle(pair, series, seconds, time)
      if (candle !== undefined) list.push(candle)
    }
    return list
  }
  minutes(pair: string, from: number, to: number): Candle[] {
    if (from >= this.end) return []
    const minute = Math.floor(from / MINUTE)
    const known = this.recent.get(pair)
    if (known?.minute === minute) return known.list
    // A minute later it is the same list without its first.
    const list =
      known !== undefined && known.minute < minute
        ? known.list.filter(({ open_time }) => open_time >= minute * MINUTE)
        : this.candles(pair, MINUTE, from, to)
    this.recent.set(pair, { minute, list })
    return list
  }
  last(pair: string): Candle | undefined {
    const series = this.seriesOf(pair)
    if (series === undefined) return undefined
    const start = this.end - 1 - ((this.end - 1) % MINUTE)
    const candle = this.candle(pair, series, MINUTE, start)
    return candle === undefined ? undefined : { ...candle, open_time: this.end - 1 }
  }
  /** By the ordinary rule, of the premiums of each period; newest first. */
  fundings(id: string): readonly FundingRecord[] {
    const contract = this.world.findContract(id)
    const { funding } = contract ?? {}
    if (contract === undefined || funding === undefined) return []
    const known = this.funded.get(id)
    if (known !== undefined) return known
    const { intervalSeconds: interval } = funding
    const list: FundingRecord[] = []
    for (let t = this.end - (this.end % interval); t > this.begin; t -= interval) {
      let premiums = NO_PREMIUMS
      for (let time = t - interval + MINUTE; time <= t; time += MINUTE)
        premiums = withPremium(premiums, this.premium(contract, time))
      list.push({ contract: id, t, r: fundingRate(premiums, funding) })
    }
    this.funded.set(id, list)
    return list
  }

  private seriesOf(pair: string): Series | undefined {
    const kind = ([MARK, INDEX, PREMIUM] as const).find((prefix) => pair.startsWith(prefix)) ?? ''
    const contract = this.world.findContract(pair.slice(kind.length))
    // One that was listed later has no history from before.
    if (contract === undefined || contract.config.create_time > this.end) return undefined
    return { kind, contract }
  }
  /** Every interval is put together from minutes; hours are kept, because days are made of them. */
  private candle(pair: string, series: Series, seconds: number, start: number): Candle | undefined {
    const end = Math.min(start + seconds, this.end)
    if (seconds <= MINUTE) return this.short(series, start, seconds)
    const key = `${pair}/${start}`
    const known = seconds === HOUR ? this.hours.get(key) : undefined
    if (known !== undefined) return known
    const parts = this.candles(pair, seconds > HOUR ? HOUR : MINUTE, start, end)
    const [first, ...rest] = parts
    if (first === undefined) return undefined
    const all = { ...rest.reduce(joined, first), open_time: start }
    if (seconds === HOUR) this.hours.set(key, all)
    return all
  }
  /** A minute or less. */
  private short(series: Series, start: number, seconds: number): Candle | undefined {
    const { kind, contract } = series
    if (kind === PREMIUM) {
      // One sample a minute, at its beginning.
      if (start % MINUTE !== 0) return undefined
      const one = this.premium(contract, start) as bigint as Price
      return { open_time: start, open: one, high: one, low: one, close: one, base: ZERO, quote: ZERO }
    }
    const [candle] = this.spot.candles(`${contract.base}_USDT`, seconds, start, start + 1)
    return candle === undefined ? undefined : this.made(series, candle, Math.min(start + seconds, this.end))
  }
  /** The candle of what it follows, moved by the distance at its beginning and end. */
  private made({ kind, contract }: Series, candle: Candle, end: number): Candle {
    const { terms, config } = contract
    const tick = kind === '' ? terms.tick : terms.markTick
    const dollars = config.underlying.endsWith('_USD') ? Number(this.world.exchangeRates['USD'] ?? 1) : 1
    const move = (price: Price, time: number): Price => {
      const distance = kind === INDEX ? 0 : this.basis(contract, time)
      const factor = BigInt(Math.round((1 + distance) * dollars * 1e12))
      const moved = roundHalf((price * factor) / 10n ** 12n, tick)
      return (moved === 0n ? tick : moved) as Price
    }
    const [open, close] = [move(candle.open, candle.open_time), move(candle.close, end)]
    const higher = (a: Price, b: Price): Price => (a > b ? a : b)
    const lower = (a: Price, b: Price): Price => (a < b ? a : b)
    const high = higher(move(candle.high, end), higher(open, close))
    const low = lower(move(candle.low, candle.open_time), lower(open, close))
    return {
      open_time: candle.open_time,
      open,
      high,
      low,
      close,
      ...this.volume(kind, contract, candle, close),
    }
  }
  /** Contracts, and what they were worth in the quote currency. */
  private volume(
    kind: Kind,
    { terms }: Contract,
    { base }: Candle,
    price: Price,
  ): { readonly base: Amount; readonly quote: Amount } {
    if (kind !== '') return { base: ZERO, quote: ZERO }
    const traded = base * BigInt(VOLUME)
    const contracts = terms.kind === 'linear' ? traded / terms.q : (traded * price) / (ONE * ONE)
    const quote = terms.kind === 'linear' ? (contracts * terms.q * price) / ONE : contracts * ONE
    return { base: (contracts * ONE) as Amount, quote: quote as Amount }
  }
  /** Of a book that is as wide around the contract's price as the agents keep it. */
  private premium(contract: Contract, time: number): Rate {
    const middle = 1 + this.basis(contract, time)
    const price = (value: number): Price => (BigInt(Math.round(value * 1e12)) * 10n ** 6n) as Price
    return premium(price(middle * (1 - SPREAD)), price(middle * (1 + SPREAD)), ONE as Price)
  }
  private basis(contract: Contract, time: number): number {
    let strays = 0
    for (const wave of this.wavesOf(contract.id)) strays += wave.at(time)
    // It meets what the agents begin with.
    const fade = Math.min(1, (this.end - time) / FADE_SECONDS)
    return BASIS + carry(contract, time * 1e6) + strays * fade
  }
  private wavesOf(id: string): readonly Wave[] {
    const known = this.waves.get(id)
    if (known !== undefined) return known
    const seed = hashText(`${id}/history`) ^ this.seed
    const waves = PERIODS.map((period, i) => new Wave(seed + i, period, STRAYS))
    this.waves.set(id, waves)
    return waves
  }
}
