import { baseOf } from '../../core/contracts/terms.ts'
import type { State } from '../../core/state.ts'
import type { Candle } from '../../core/tables/exchange/candles.ts'
import { contractsIn, type Contract } from '../../core/tables/world/contracts.ts'
import {
  ONE,
  format,
  overDown,
  rateOf,
  roundDown,
  timesDown,
  type Amount,
  type Price,
} from '../../money/amount.ts'
import { decimalText, shape, str } from '../shapes.ts'
import { changeText, dayFigures, type DayFigures } from '../spot/tickers.ts'
import { basisOf, figuresOf } from './contract-views.ts'

const commonMembers = {
  contract: str,
  last: decimalText,
  change_percentage: decimalText,
  total_size: decimalText,
  low_24h: decimalText,
  high_24h: decimalText,
  volume_24h: decimalText,
  volume_24h_btc: decimalText,
  volume_24h_usd: decimalText,
  volume_24h_base: decimalText,
  volume_24h_quote: decimalText,
  volume_24h_settle: decimalText,
  mark_price: decimalText,
  funding_rate: str,
  funding_rate_indicative: str,
  index_price: decimalText,
  quanto_base_rate: str,
  lowest_ask: str,
  lowest_size: str,
  highest_bid: str,
  highest_size: str,
}
export const tickerShape = shape({
  ...commonMembers,
  change_utc0: decimalText,
  change_utc8: decimalText,
  change_price: decimalText,
  change_utc0_price: decimalText,
  change_utc8_price: decimalText,
})
export const deliveryTickerShape = shape({
  ...commonMembers,
  basis_rate: decimalText,
  basis_value: decimalText,
})

const VOLUME_DECIMALS = 8
const volume = (amount: bigint): string => format(roundDown(amount as Amount, VOLUME_DECIMALS))
const whole = (contracts: bigint): string => String(contracts / ONE)

/** An inverse contract is so much of its base as its price makes it: a candle counts at the price it ended with. */
const inBaseOf = (terms: Contract['terms'], { base, close }: Candle): bigint =>
  close === 0n ? 0n : baseOf(terms, contractsIn(base), close)
export const baseVolume = (terms: Contract['terms'], candle: Candle): string =>
  volume(inBaseOf(terms, candle))

/** What was traded in a day, in each unit that a ticker tells it in. */
function volumesOf({ prices, world }: State, { terms }: Contract, { base, quote, day }: DayFigures) {
  const inBase = day.reduce((sum, minute) => sum + inBaseOf(terms, minute), 0n)
  const linear = terms.kind === 'linear'
  const dollar = rateOf(world.exchangeRates['USD'] ?? '1')
  const usd = linear ? timesDown(quote, dollar) : quote
  const bitcoin = timesDown(prices.of('BTC') as bigint as Amount, dollar) as bigint as Price
  return {
    volume_24h: whole(base),
    volume_24h_btc: bitcoin === 0n ? '0' : volume(overDown(usd, bitcoin)),
    volume_24h_usd: volume(usd),
    volume_24h_base: volume(inBase),
    volume_24h_quote: volume(quote),
    volume_24h_settle: volume(linear ? quote : inBase),
  }
}
export function tickerView(state: State, contract: Contract, now: number): Record<string, string> {
  const { futures } = state
  const { id, name, group } = contract
  const figures = figuresOf(state, contract, now)
  const traded = dayFigures(futures, id, now)
  const book = futures.book(id)
  const [ask, bid] = [book.sell.best, book.buy.best]
  const rate = group === 'futures' ? format(figures.fundingRate) : ''
  // Before anything was traded it is worth what the mark says.
  const or = (price: Price): Price => (price === 0n ? figures.mark : price)
  const last = or(traded.last)
  const moved = (from: Price | undefined): string => format((from === undefined ? 0n : last - from) as Price)
  return {
    contract: name,
    last: format(last),
    change_percentage: changeText(traded.before, last),
    total_size: whole(futures.positions.sumsOf(id).long),
    low_24h: format(or(traded.low)),
    high_24h: format(or(traded.high)),
    ...volumesOf(state, contract, traded),
    mark_price: format(figures.mark),
    funding_rate: rate,
    funding_rate_indicative: rate,
    index_price: format(figures.index),
    quanto_base_rate: '',
    lowest_ask: ask === undefined ? '' : format(ask.price),
    lowest_size: ask === undefined ? '' : whole(ask.amount),
    highest_bid: bid === undefined ? '' : format(bid.price),
    highest_size: bid === undefined ? '' : whole(bid.amount),
    ...(group === 'delivery'
      ? basisOf(contract, figures, now)
      : {
          change_utc0: changeText(traded.utc0, last),
          change_utc8: changeText(traded.utc8, last),
          change_price: moved(traded.before),
          change_utc0_price: moved(traded.utc0),
          change_utc8_price: moved(traded.utc8),
        }),
  }
}
