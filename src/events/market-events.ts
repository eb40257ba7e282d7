import { CANDLE_NOW } from '../core/tables/exchange/candles.ts'
import { SIDES, SPOT_ORDER, type Order, type Side } from '../core/tables/exchange/order.ts'
import { SPOT_PRICE_ORDER } from '../core/tables/spot/price-orders.ts'
import { SPOT_MARKET } from '../core/tables/exchange/exchange.ts'
import { SPOT_FILL, SPOT_TRADE, type Trade } from '../core/tables/exchange/trades.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import type { TableSpec } from '../machine/table.ts'
import type { Amount, Price } from '../money/amount.ts'
import type {
  BookLevelEvent,
  CandleChange,
  FillEvent,
  OrderEvent,
  PriceOrderEvent,
  TickerEvent,
  TradeEvent,
} from './event.ts'
import { byId, byText, type CommandRows } from './rows.ts'
import { venueOfMarket, venueOfOrder } from './venues.ts'

const isOpen = (order: Order | undefined): boolean => order?.status === 'open'

/** In the order in which the command touched them; of spot's orders, or those of another venue. */
export function orderEvents(
  { sequence, at }: CommittedCommand,
  rows: CommandRows,
  orders: TableSpec<Order> = SPOT_ORDER,
): OrderEvent[] {
  const events: OrderEvent[] = []
  for (const { before, after, stored } of rows.of(orders)) {
    if (after === undefined) continue
    const { pair, user_id, account } = after
    const finished = stored || (before !== undefined && !isOpen(before))
    events.push({
      kind: 'order',
      sequence,
      at,
      venue: venueOfOrder(account),
      market: pair,
      user_id,
      // What had ended before has not ended now.
      change: finished ? 'changed' : !isOpen(after) ? 'ended' : before === undefined ? 'placed' : 'changed',
      before,
      after,
    })
  }
  return events
}

export function priceOrderEvents({ sequence, at }: CommittedCommand, rows: CommandRows): PriceOrderEvent[] {
  const events: PriceOrderEvent[] = []
  for (const { before, after } of rows.of(SPOT_PRICE_ORDER)) {
    // Those that are not open any more are removed in time, which tells nobody anything.
    if (after === undefined || before?.status === after.status) continue
    const { pair, user_id } = after
    events.push({ kind: 'price_order', sequence, at, venue: 'spot', market: pair, user_id, before, after })
  }
  return events
}

export function fillEvents({ sequence, at }: CommittedCommand, rows: CommandRows): FillEvent[] {
  return rows
    .appendedTo(SPOT_FILL)
    .map((fill) => ({
      kind: 'fill' as const,
      sequence,
      at,
      venue: venueOfOrder(fill.account),
      market: fill.pair,
      user_id: fill.user_id,
      fill,
    }))
    .sort((one, other) => one.fill.trade_id - other.fill.trade_id)
}

export function tradeEvents(
  { sequence, at }: CommittedCommand,
  rows: CommandRows,
  trades: TableSpec<Trade> = SPOT_TRADE,
): TradeEvent[] {
  const events: TradeEvent[] = []
  // Old ones that are removed happened long ago.
  for (const { before, after: trade, stored } of rows.of(trades))
    if (trade !== undefined && before === undefined && !stored) {
      const { pair: market } = trade
      events.push({ kind: 'trade', sequence, at, venue: venueOfMarket(market), market, trade })
    }
  return events.sort((one, other) => byId(one.trade, other.trade))
}

/** By market, bids first, the best price of a side first. */
export function bookLevelEvents(
  { sequence, at }: CommittedCommand,
  rows: CommandRows,
  orders: TableSpec<Order> = SPOT_ORDER,
): BookLevelEvent[] {
  const markets = new Map<string, Readonly<Record<Side, Map<Price, bigint>>>>()
  const add = (order: Order | undefined, sign: bigint): void => {
    // Without a rank it never came into the book.
    if (order?.status !== 'open' || order.rank === 0) return
    let sides = markets.get(order.pair)
    if (sides === undefined) markets.set(order.pair, (sides = { buy: new Map(), sell: new Map() }))
    const prices = sides[order.side]
    prices.set(order.price, (prices.get(order.price) ?? 0n) + sign * order.shown)
  }
  for (const { before, after } of rows.of(orders)) {
    add(before, -1n)
    add(after, 1n)
  }
  const events: BookLevelEvent[] = []
  for (const [market, sides] of [...markets].sort(([one], [other]) => byText(one, other)))
    for (const side of SIDES) {
      const prices = [...sides[side]].sort(([one], [other]) => (one < other === (side === 'sell') ? -1 : 1))
      for (const [price, change] of prices)
        if (change !== 0n)
          events.push({
            kind: 'book_level',
            sequence,
            at,
            venue: venueOfMarket(market),
            market,
            side,
            price,
            change: change as Amount,
          })
    }
  return events
}

export function tickerEvents({ sequence, at }: CommittedCommand, rows: CommandRows): TickerEvent[] {
  const markets = new Map<string, { figures: TickerEvent['figures']; candles: CandleChange[] }>()
  const of = (market: string) => {
    let found = markets.get(market)
    if (found === undefined) markets.set(market, (found = { figures: undefined, candles: [] }))
    return found
  }
  for (const { before, after } of rows.of(SPOT_MARKET))
    if (after !== undefined) of(after.pair).figures = { before, after }
  for (const { before, after } of rows.of(CANDLE_NOW)) {
    if (after === undefined) continue
    const { series } = after
    const slash = series.lastIndexOf('/')
    of(series.slice(0, slash)).candles.push({ seconds: Number(series.slice(slash + 1)), before, after })
  }
  return [...markets]
    .sort(([one], [other]) => byText(one, other))
    .map(([market, { figures, candles }]) => ({
      kind: 'ticker',
      sequence,
      at,
      venue: 'spot',
      market,
      figures,
      candles: candles.sort((one, other) => one.seconds - other.seconds),
    }))
}
