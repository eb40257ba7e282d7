import { dec, div, floor, max, mul, parse, placesOf, text, type Decimal } from '../../lib/decimal.ts'
import type { Level } from '../../live/book.ts'

/** What the form holds. */
export interface Draft {
  readonly side: 'buy' | 'sell'
  readonly kind: 'limit' | 'market' | 'stop'
  readonly price: string
  readonly amount: string
  /** Market orders: whether the amount is base or quote money. */
  readonly by: 'base' | 'quote'
  readonly force: 'gtc' | 'ioc' | 'fok' | 'poc'
  readonly iceberg: string
  readonly trigger: string
  /** A stop's order: at its price, or at the market's. */
  readonly stopType: 'limit' | 'market'
  readonly profit: string
  readonly loss: string
  readonly borrow: boolean
  readonly repay: boolean
  readonly stp: '' | 'cn' | 'co' | 'cb'
  readonly account: '' | 'spot' | 'margin' | 'unified'
}
export interface Rules {
  readonly id: string
  readonly base: string
  readonly quote: string
  readonly precision: number
  readonly amount_precision: number
  readonly min_base_amount: string | null
  readonly min_quote_amount: string | null
  readonly max_base_amount: string | null
  readonly max_quote_amount: string | null
  readonly market_order_max_stock: string | null
  readonly market_order_max_money: string | null
  readonly up_rate: string
  readonly down_rate: string
  readonly trade_status: string
}
export interface Sight {
  readonly rules: Rules
  readonly last: Decimal | undefined
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
  /** Free money: undefined while it is not known. */
  readonly free: { readonly base: Decimal | undefined; readonly quote: Decimal | undefined }
  readonly fee: { readonly maker: Decimal; readonly taker: Decimal }
}
export interface Refusal {
  readonly field: 'price' | 'amount' | 'iceberg' | 'trigger' | 'profit' | 'loss' | 'order'
  readonly label: string
  readonly message: string
}
/** What an order would do now. */
export interface Outlook {
  /** Base money that is traded or waits. */
  readonly base: Decimal | undefined
  /** What leaves the free balance when it is sent. */
  readonly held: Decimal | undefined
  readonly heldCurrency: string
  readonly fee: Decimal | undefined
  readonly feeCurrency: string
  readonly arrives: Decimal | undefined
  readonly worst: Decimal | undefined
  readonly average: Decimal | undefined
  /** The part that trades at once. */
  readonly atOnce: Decimal
  readonly refusals: readonly Refusal[]
}

/** Walks the book until it has this much base or quote money, no further than the limit. */
export function sweep(
  levels: readonly Level[],
  want: { readonly base?: Decimal; readonly quote?: Decimal },
  within: (price: Decimal) => boolean = () => true,
): { base: Decimal; quote: Decimal; worst: Decimal | undefined } {
  let base = 0n
  let quote = 0n
  let worst: Decimal | undefined
  for (const { at, size } of levels) {
    if (!within(at)) break
    const left = want.base !== undefined ? want.base - base : div((want.quote ?? 0n) - quote, at)
    if (left <= 0n) break
    const took = left < size ? left : size
    base += took
    quote += mul(took, at)
    worst = at
    if (took < size) break
  }
  return { base, quote, worst }
}
/** The worst price that protection lets an order have. */
export const bound = (side: 'buy' | 'sell', last: Decimal, rules: Rules): Decimal =>
  side === 'buy' ? mul(last, dec('1') + dec(rules.up_rate)) : mul(last, dec('1') - dec(rules.down_rate))

/** The price of the limit order that stands for a market buy by base money: one per cent beyond the worst level. */
export function limitFor(side: 'buy' | 'sell', worst: Decimal, places: number): Decimal {
  const raw = side === 'buy' ? mul(worst, dec('1.01')) : mul(worst, dec('0.99'))
  return floor(raw, places)
}

export function outlook(draft: Draft, sight: Sight): Outlook {
  const { side, kind } = draft
  const { rules, last, free, fee } = sight
  const refusals: Refusal[] = []
  const say = (field: Refusal['field'], label: string, message: string): void => {
    refusals.push({ field, label, message })
  }
  const facing = side === 'buy' ? sight.asks : sight.bids
  const atMarket = kind === 'market' || (kind === 'stop' && draft.stopType === 'market')
  const price = atMarket ? undefined : positive(draft.price)
  const amount = positive(draft.amount)
  const inQuote = kind === 'market' ? draft.by === 'quote' : kind === 'stop' && atMarket && side === 'buy'

  const open =
    rules.trade_status === 'tradable' || rules.trade_status === (side === 'buy' ? 'buyable' : 'sellable')
  if (!open)
    say(
      'order',
      'TRADE_RESTRICTED',
      `${rules.id} does not take ${side} orders now (trade_status ${rules.trade_status})`,
    )
  if (price !== undefined) {
    if (placesOf(price) > rules.precision)
      say(
        'price',
        'INVALID_PRECISION',
        `"${draft.price}" has more decimals than the ${rules.precision} of prices of ${rules.id}`,
      )
    if (last !== undefined && kind === 'limit') {
      const edge = bound(side, last, rules)
      if (side === 'buy' ? price > edge : price < edge)
        say(
          'price',
          'PRICE_THRESHOLD_EXCEEDED',
          `a ${side} is priced at ${side === 'buy' ? 'most' : 'least'} ${text(floor(edge, rules.precision))} now`,
        )
    }
  }
  if (amount !== undefined && !inQuote && placesOf(amount) > rules.amount_precision)
    say(
      'amount',
      'INVALID_PRECISION',
      `"${draft.amount}" has more decimals than the ${rules.amount_precision} of amounts of ${rules.id}`,
    )

  // What it would take from the book now.
  const crosses = (at: Decimal): boolean =>
    price === undefined || (side === 'buy' ? at <= price : at >= price)
  const now =
    kind === 'stop' || amount === undefined
      ? { base: 0n, quote: 0n, worst: undefined }
      : sweep(facing, inQuote ? { quote: amount } : { base: amount }, crosses)
  const base =
    amount === undefined
      ? undefined
      : !inQuote
        ? amount
        : kind === 'stop'
          ? undefined
          : floor(now.base, rules.amount_precision)
  const at =
    price ??
    (kind === 'stop' ? positive(draft.trigger) : now.base === 0n ? undefined : div(now.quote, now.base))
  const value =
    amount === undefined ? undefined : inQuote ? amount : at === undefined ? undefined : mul(amount, at)

  if (amount !== undefined) {
    const size = (
      label: 'AMOUNT_TOO_LITTLE' | 'AMOUNT_TOO_MUCH',
      have: Decimal,
      edge: string | null,
      currency: string,
    ): void => {
      if (edge === null || (label === 'AMOUNT_TOO_LITTLE' ? have >= dec(edge) : have <= dec(edge))) return
      const word = label === 'AMOUNT_TOO_LITTLE' ? 'below the minimum' : 'above the maximum'
      say(
        'amount',
        label,
        `Your order size ${text(have)} ${currency} is ${word} of ${rules.id}, ${edge} ${currency}`,
      )
    }
    if (!inQuote) {
      size('AMOUNT_TOO_LITTLE', amount, rules.min_base_amount, rules.base)
      size('AMOUNT_TOO_MUCH', amount, rules.max_base_amount, rules.base)
      if (atMarket && side === 'sell')
        size('AMOUNT_TOO_MUCH', amount, rules.market_order_max_stock, rules.base)
    } else if (side === 'buy') size('AMOUNT_TOO_MUCH', amount, rules.market_order_max_money, rules.quote)
    if (value !== undefined) {
      size('AMOUNT_TOO_LITTLE', value, rules.min_quote_amount, rules.quote)
      size('AMOUNT_TOO_MUCH', value, rules.max_quote_amount, rules.quote)
    }
  }
  if (kind === 'market' && facing.length === 0)
    say(
      'order',
      'ORDER_BOOK_NOT_FOUND',
      `there is nothing to ${side} on the ${rules.id} book; place a limit order, or try again later`,
    )
  if (
    kind === 'limit' &&
    price !== undefined &&
    facing[0] !== undefined &&
    crosses(facing[0].at) &&
    draft.force === 'poc'
  )
    say(
      'price',
      'POC_FILL_IMMEDIATELY',
      'a post-only order would match at once; choose a price on your own side of the book',
    )
  if (
    kind === 'limit' &&
    draft.force === 'fok' &&
    amount !== undefined &&
    price !== undefined &&
    now.base < amount
  )
    say('amount', 'FOK_NOT_FILL', 'a fill-or-kill order can not be filled at once and in full')
  const iceberg = draft.iceberg === '' ? undefined : parse(draft.iceberg)
  if (kind === 'limit' && iceberg !== undefined && iceberg > 0n) {
    if (draft.force === 'ioc' || draft.force === 'fok')
      say(
        'iceberg',
        'INVALID_PARAM_VALUE',
        `an order of time in force ${draft.force} never rests; leave it out`,
      )
    if (amount !== undefined && iceberg > amount)
      say('iceberg', 'INVALID_PARAM_VALUE', 'the part that is shown is more than the whole')
  }
  if (kind !== 'stop')
    for (const [field, above] of [
      ['profit', side === 'buy'],
      ['loss', side === 'sell'],
    ] as const) {
      const trigger = positive(draft[field])
      if (trigger === undefined || at === undefined) continue
      if (placesOf(trigger) > rules.precision)
        say(field, 'INVALID_PRECISION', `prices of ${rules.id} have ${rules.precision} decimals`)
      else if (above ? trigger <= at : trigger >= at)
        say(
          field,
          'INVALID_PARAM_VALUE',
          `it lies ${above ? 'above' : 'below'} the price of the order, or it would fire at once`,
        )
    }
  const trigger = positive(draft.trigger)
  if (kind === 'stop' && trigger !== undefined && last !== undefined && trigger === last)
    say('trigger', 'INVALID_PARAM_VALUE', 'the trigger is the last price: take one above or below it')

  const heldCurrency = side === 'buy' ? rules.quote : rules.base
  const held = kind === 'stop' ? 0n : side === 'buy' ? value : base
  const have = side === 'buy' ? free.quote : free.base
  if (
    held !== undefined &&
    have !== undefined &&
    held > have &&
    !draft.borrow &&
    (draft.account === '' || draft.account === 'spot')
  )
    say(
      'amount',
      'BALANCE_NOT_ENOUGH',
      `Not enough balance: ${text(held)} ${heldCurrency} is needed, ${text(have)} is free`,
    )

  const share =
    max(0n, base ?? 0n) === 0n || base === undefined ? 0n : div(now.base < base ? now.base : base, base)
  const rate = mul(fee.taker, share) + mul(fee.maker, dec('1') - share)
  const gross = side === 'buy' ? base : value
  const cost = gross === undefined ? undefined : mul(gross, rate)
  return {
    base,
    held,
    heldCurrency,
    fee: cost,
    feeCurrency: side === 'buy' ? rules.base : rules.quote,
    arrives: gross === undefined || cost === undefined ? undefined : gross - cost,
    worst: price ?? now.worst,
    average: now.base === 0n ? undefined : div(now.quote, now.base),
    atOnce: now.base,
    refusals,
  }
}
function positive(value: string): Decimal | undefined {
  const read = value === '' ? undefined : parse(value)
  return read === undefined || read <= 0n ? undefined : read
}
/** What is missing before it can be sent. */
export function missing(draft: Draft): string | undefined {
  if (positive(draft.amount) === undefined) return 'How much?'
  if (draft.kind === 'limit' && positive(draft.price) === undefined) return 'At which price?'
  if (draft.kind === 'stop' && positive(draft.trigger) === undefined) return 'When should it fire?'
  if (draft.kind === 'stop' && draft.stopType === 'limit' && positive(draft.price) === undefined)
    return 'At which price?'
  return undefined
}
