import { refuse } from '../../labels.ts'
import { format, parseAmount, type Amount } from '../../money/amount.ts'
import { schedule } from '../due.ts'
import { audit, type Actor } from '../operators/audit.ts'
import type { Ctx } from '../state.ts'
import type { Market } from '../world/markets.ts'
import { agentMarket, replayTrade } from './commands.ts'
import { fundsOf } from './look.ts'

/** Seconds, open, high, low, close, volume in the base currency. */
export type PlayedCandle = readonly [
  time: number,
  open: string,
  high: string,
  low: string,
  close: string,
  volume: string,
]
export interface NewCandles {
  readonly currency_pair: string
  /** Seconds of one candle. */
  readonly interval: number
  /** Platform seconds less the file's; null: the first candle begins with the next interval of the platform's clock. */
  readonly shift: number | null
  readonly candles: readonly PlayedCandle[]
  readonly actor: Actor
}
/** Trades of one candle: open, both extremes, close. */
const TRADES = 4
/** Trades that may wait in a market, and how far ahead. */
const WAITING_MAX = 200_000
const AHEAD_SECONDS = 366 * 86_400

const ONE = 10n ** 18n

/** A market lives through candles that somebody has from elsewhere: each becomes four trades, due at their time. */
export function playCandles(
  ctx: Ctx,
  input: NewCandles,
): { candles: number; from: number; until: number; shift: number } {
  const row = agentMarket(ctx, input.currency_pair)
  const market = ctx.state.world.market(row.pair)
  const { interval, candles } = input
  const now = ctx.at / 1e6
  const playing = row.scenario?.name === 'replay' && row.scenario.until > ctx.at ? row.scenario : undefined
  if (input.shift === null && playing !== undefined)
    refuse(
      'REQUEST_FORBIDDEN',
      `candles are being played in ${row.pair} until ${Math.floor(playing.until / 1e6)}; go on with their shift, or end them with another scenario`,
    )
  if (input.shift !== null && playing === undefined)
    refuse('REQUEST_FORBIDDEN', `shift: no candles are being played in ${row.pair}; leave it out to begin`)
  const shift = input.shift ?? Math.ceil(now / interval) * interval - candles[0]![0]
  const from = candles[0]![0] + shift
  const earliest = playing === undefined ? now : playing.until / 1e6
  if (from < earliest)
    refuse(
      'INVALID_PARAM_VALUE',
      `candles[0]: would be played at ${from}, but what came before lasts until ${Math.ceil(earliest)}`,
    )
  const until = candles.at(-1)![0] + shift + interval
  if (until > now + AHEAD_SECONDS || ((until - now) / interval) * TRADES > WAITING_MAX)
    refuse(
      'INVALID_PARAM_VALUE',
      `candles: too many would wait; move the clock on first (at most ${WAITING_MAX / TRADES} candles and 366 days ahead)`,
    )
  const run = playing?.from ?? ctx.at
  let before = ctx.state.spot.lastPrice(market.id) as bigint | undefined
  for (const [i, candle] of candles.entries()) {
    if (i > 0 && candle[0] < candles[i - 1]![0] + interval)
      refuse('INVALID_PARAM_VALUE', `candles[${i}]: begins before the one in front of it has ended`)
    const begin = (candle[0] + shift) * 1e6
    const path = pathOf(market, candle, `candles[${i}]`)
    for (const [step, price] of path.entries()) {
      checkStep(market, before, price, `candles[${i}]`)
      schedule(ctx, begin + Math.floor((interval * 1e6 * step) / TRADES), 'agents.candle', {
        currency_pair: row.pair,
        side: before !== undefined && price < before ? 'sell' : 'buy',
        price: format(price as Amount),
        amount: format(amountOf(market, candle[5], price, `candles[${i}]`)),
        run,
      })
      before = price
    }
  }
  ctx.tx.put(ctx.state.agents.markets, {
    ...row,
    scenario: { name: 'replay', change: 0, from: run, until: until * 1e6, start: row.fair },
  })
  audit(ctx, input.actor, 'agents.candles', {
    currency_pair: row.pair,
    interval,
    candles: candles.length,
    from,
  })
  return { candles: candles.length, from, until, shift }
}
/** Due: one of a candle's trades, unless another scenario has ended the run. */
export function playCandle(
  ctx: Ctx,
  input: { currency_pair: string; side: 'buy' | 'sell'; price: string; amount: string; run: number },
): null {
  const { run, ...trade } = input
  const row = ctx.state.agents.markets.get(input.currency_pair)
  if (row?.scenario?.name !== 'replay' || row.scenario.from !== run) return null
  if (ctx.state.world.findMarket(input.currency_pair)?.config.trade_status !== 'tradable') return null
  return replayTrade(ctx, trade)
}

/** The prices of a candle in the order in which they are traded: a candle that rose was low before it was high. */
function pathOf(market: Market, candle: PlayedCandle, name: string): bigint[] {
  const [, open, high, low, close] = candle.map((text, i) =>
    i === 0 ? 0n : i === 5 ? 0n : ticked(market, text as string, `${name}[${i}]`),
  ) as [bigint, bigint, bigint, bigint, bigint]
  if (low > open || low > close || high < open || high < close)
    refuse('INVALID_PARAM_VALUE', `${name}: high and low must enclose open and close`)
  return close >= open ? [open, low, high, close] : [open, high, low, close]
}
/** Prices from elsewhere may have more decimals than the market: they are cut. */
function ticked(market: Market, text: string, name: string): bigint {
  const price = parseAmount(text) as bigint | undefined
  if (price === undefined || price <= 0n || price > market.priceMax)
    refuse('INVALID_PARAM_VALUE', `${name}: "${text}" is not a price of ${market.id}`)
  const cut = price - (price % market.tick)
  return cut === 0n ? market.tick : cut
}
/** Price protection lets no order through that is far from the last trade; better told now than missed later. */
function checkStep(market: Market, before: bigint | undefined, price: bigint, name: string): void {
  if (before === undefined) return
  const high = (before * (ONE + market.upRate)) / ONE
  const low = (before * (ONE - market.downRate)) / ONE
  if (price > high || price < low)
    refuse(
      'PRICE_THRESHOLD_EXCEEDED',
      `${name}: ${format(price as Amount)} is too far from ${format(before as Amount)}, the price before it; ${market.id} takes from ${format(low as Amount)} to ${format(high as Amount)}`,
    )
}
/** A quarter of the volume, within what the market takes and an agent has. */
function amountOf(market: Market, volume: string, price: bigint, name: string): Amount {
  const whole = parseAmount(volume) as bigint | undefined
  if (whole === undefined || whole < 0n)
    refuse('INVALID_PARAM_VALUE', `${name}[5]: "${volume}" is not a volume`)
  const least = (market.minQuote * ONE) / price + market.lot
  const most = min((fundsOf(market.quote) * ONE) / 100n / price, fundsOf(market.base) / 20n)
  const wanted = min(max(whole / BigInt(TRADES), max(least, market.minBase)), most)
  const cut = wanted - (wanted % market.lot)
  return (cut < least ? least - (least % market.lot) + market.lot : cut) as Amount
}
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
