import { abs, dec, div, max, mul, parse, text, type Decimal } from '../../lib/decimal.ts'
import type { Level } from '../../live/book.ts'

/** What the form of a contract holds. */
export interface Draft {
  readonly side: 'buy' | 'sell'
  readonly kind: 'limit' | 'market'
  readonly price: string
  /** Whole contracts. */
  readonly size: string
  readonly force: 'gtc' | 'ioc' | 'fok' | 'poc'
  readonly reduceOnly: boolean
  readonly profit: string
  readonly loss: string
}
export interface Rules {
  readonly name: string
  readonly type: string
  readonly status: string
  readonly quanto_multiplier: string
  readonly order_price_round: string
  readonly order_price_deviate: string
  readonly order_size_min: number | string
  readonly order_size_max: number | string
  readonly market_order_size_max?: string
  readonly taker_fee_rate: string
}
export interface Sight {
  readonly rules: Rules
  readonly currency: string
  readonly mark: Decimal | undefined
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  readonly leverage: Decimal
  readonly takerFee: Decimal
  readonly makerFee: Decimal
  /** What the account may use; undefined: not known, or shared with other things, so that the platform alone can tell. */
  readonly available: Decimal | undefined
  /** Contracts held that an order of this side reduces, and whether any order of the account waits here. */
  readonly against: Decimal
  readonly waiting: boolean
}
export interface Refusal {
  readonly field: 'price' | 'size' | 'order'
  readonly label: string
  readonly message: string
}
export interface Outlook {
  /** In the settle currency. */
  readonly value: Decimal | undefined
  readonly margin: Decimal | undefined
  readonly fee: Decimal | undefined
  readonly average: Decimal | undefined
  readonly worst: Decimal | undefined
  /** Contracts that trade at once, that reduce what is held, and that open. */
  readonly atOnce: Decimal
  readonly reduces: Decimal
  readonly opens: Decimal
  readonly refusals: readonly Refusal[]
}

/** What contracts are worth at a price, in the settle currency. */
export const valueAt = (
  { type, quanto_multiplier }: Pick<Rules, 'type' | 'quanto_multiplier'>,
  contracts: Decimal,
  price: Decimal,
): Decimal =>
  type === 'inverse' ? div(contracts, price) : mul(mul(contracts, dec(quanto_multiplier)), price)

/** Walks the book until it has so many contracts, no further than the limit. */
function sweep(levels: readonly Level[], want: Decimal, within: (price: Decimal) => boolean) {
  let got = 0n
  let cost = 0n
  let worst: Decimal | undefined
  for (const { at, size } of levels) {
    if (got >= want || !within(at)) break
    const took = want - got < size ? want - got : size
    got += took
    cost += mul(took, at)
    worst = at
  }
  return { got, average: got === 0n ? undefined : div(cost, got), worst }
}
const positive = (value: string): Decimal | undefined => {
  const read = value === '' ? undefined : parse(value)
  return read === undefined || read <= 0n ? undefined : read
}

export function outlook(draft: Draft, sight: Sight): Outlook {
  const { side, kind } = draft
  const { rules, mark, leverage } = sight
  const refusals: Refusal[] = []
  const say = (field: Refusal['field'], label: string, message: string): void => {
    refusals.push({ field, label, message })
  }
  const size = positive(draft.size)
  const price = kind === 'market' ? undefined : positive(draft.price)
  const facing = side === 'buy' ? sight.asks : sight.bids
  const crosses = (at: Decimal): boolean =>
    price === undefined || (side === 'buy' ? at <= price : at >= price)
  const now = sweep(facing, size ?? 0n, crosses)

  if (rules.status === 'prelaunch' || rules.status === 'circuit_breaker')
    say(
      'order',
      'TRADE_RESTRICTED',
      `${rules.name} takes no orders now (${rules.status.replace('_', ' ')}); cancelling is possible`,
    )
  if (price !== undefined) {
    if (price % dec(rules.order_price_round) !== 0n)
      say(
        'price',
        'INVALID_PRECISION',
        `${text(price)} is not a multiple of ${rules.order_price_round}, the step of prices`,
      )
    if (mark !== undefined && abs(price - mark) > mul(mark, dec(rules.order_price_deviate)))
      say(
        'price',
        'PRICE_TOO_DEVIATED',
        `too far from the mark price ${text(mark)}: at most ${rules.order_price_deviate} of it`,
      )
    if (draft.force === 'poc' && facing[0] !== undefined && crosses(facing[0].at))
      say(
        'price',
        'ORDER_POC_IMMEDIATE',
        'a post-only order would match at once; choose a price on your own side of the book',
      )
    if (draft.force === 'fok' && size !== undefined && now.got < size)
      say('size', 'ORDER_FOK', 'a fill-or-kill order can not be filled at once and in full')
  }
  if (kind === 'market' && facing.length === 0)
    say(
      'order',
      'CONTRACT_NO_COUNTER',
      `there is nothing to ${side} against in ${rules.name}; place a limit order`,
    )
  if (size !== undefined) {
    const most =
      kind === 'market' ? (rules.market_order_size_max ?? rules.order_size_max) : rules.order_size_max
    if (size % dec('1') !== 0n) say('size', 'INVALID_PRECISION', 'sizes are whole contracts')
    else if (size < dec(String(rules.order_size_min)))
      say('size', 'SIZE_TOO_SMALL', `at least ${rules.order_size_min} contracts`)
    else if (dec(String(most)) > 0n && size > dec(String(most)))
      say('size', 'SIZE_TOO_LARGE', `at most ${most} contracts in one order`)
  }
  if (draft.reduceOnly && sight.against === 0n)
    say('order', 'POSITION_EMPTY', `reduce only: there is no position that a ${side} would reduce`)
  if (
    draft.reduceOnly &&
    kind === 'limit' &&
    (draft.force === 'gtc' || draft.force === 'poc') &&
    size !== undefined &&
    sight.against > 0n &&
    size > sight.against
  )
    say('size', 'REDUCE_EXCEEDED', `more than the ${text(sight.against)} contracts that it may reduce`)

  const at = price ?? now.average ?? facing[0]?.at ?? mark
  const value = size === undefined || at === undefined ? undefined : valueAt(rules, size, at)
  const reduces = size === undefined ? 0n : size < sight.against ? size : sight.against
  const opens = size === undefined || draft.reduceOnly ? 0n : size - reduces
  const opening = at === undefined ? undefined : valueAt(rules, opens, at)
  // The share by the leverage, what closing costs, what opening costs, and what is lost at once against the mark.
  let margin: Decimal | undefined
  if (opening !== undefined && size !== undefined && leverage > 0n) {
    const atMark = mark === undefined || mark === 0n ? opening : valueAt(rules, opens, mark)
    const dearer = (side === 'buy') === (rules.type !== 'inverse') ? opening - atMark : atMark - opening
    margin =
      div(opening, leverage) + mul(opening, dec(rules.taker_fee_rate) + sight.takerFee) + max(0n, dearer)
  }
  if (margin !== undefined && sight.available !== undefined && !sight.waiting && margin > sight.available)
    say(
      'size',
      'INSUFFICIENT_AVAILABLE',
      `about ${text(margin - sight.available).slice(0, 14)} ${sight.currency} more are needed; order less, or move money here`,
    )
  const share = size === undefined || size === 0n ? 0n : div(now.got, size)
  const fee =
    value === undefined
      ? undefined
      : mul(value, mul(sight.takerFee, share) + mul(max(0n, sight.makerFee), dec('1') - share))
  return {
    value,
    margin,
    fee,
    average: now.average,
    worst: price ?? now.worst,
    atOnce: now.got,
    reduces,
    opens,
    refusals,
  }
}
/** What is missing before it can be sent. */
export function missing(draft: Draft): string | undefined {
  if (positive(draft.size) === undefined) return 'How many contracts?'
  if (draft.kind === 'limit' && positive(draft.price) === undefined) return 'At which price?'
  return undefined
}
