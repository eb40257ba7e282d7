import { dec, display, parse, show, type Decimal } from '../lib/decimal.ts'

export interface AmountProps {
  /** Undefined: unknown. */
  readonly value: string | Decimal | undefined | null
  readonly currency?: string | undefined
  /** Most decimals that are shown; all of them stand on hover. Left out: every digit. */
  readonly places?: number | undefined
  /** Keeps the decimal points of a column under each other. */
  readonly align?: boolean
  readonly fixed?: boolean
  /** A plus before what is above zero, and colour by sign. */
  readonly signed?: boolean
  /** The most decimals in its column, where a table knows: there is room for them and no more. */
  readonly room?: number
}
const FIGURE = '\u2007'
const POINT = '\u2008'

/** An amount that never loses a digit: what is cut for the eye is whole on hover and on copy. */
export function Amount({
  value,
  currency,
  places,
  align = false,
  fixed = false,
  signed = false,
  room = places ?? 0,
}: AmountProps): React.JSX.Element {
  if (value === undefined || value === null || (typeof value === 'string' && parse(value) === undefined))
    return (
      <span className="amount dim" title="unknown">
        –
      </span>
    )
  const exact = typeof value === 'string' ? dec(value) : value
  const { sign, whole, fraction } = show(exact, { ...(places !== undefined && { places }), fixed, signed })
  const pad =
    align && room > fraction.length
      ? (fraction === '' ? POINT : '') + FIGURE.repeat(room - fraction.length)
      : ''
  const tone = !signed || exact === 0n ? '' : exact > 0n ? ' up' : ' down'
  const full = display(exact)
  return (
    <span className={`amount${tone}`} title={currency === undefined ? full : `${full} ${currency}`}>
      {sign}
      {whole}
      {fraction === '' ? '' : `.${fraction}`}
      {pad === '' ? null : (
        <span className="pad" aria-hidden>
          {pad}
        </span>
      )}
      {currency === undefined ? null : <span className="dim"> {currency}</span>}
    </span>
  )
}

/** How many decimals it shows; undefined: it is not to stand in line with others. */
export function decimalsShown({
  value,
  places,
  align = false,
  fixed = false,
}: AmountProps): number | undefined {
  if (!align || value === undefined || value === null) return undefined
  if (typeof value === 'string' && parse(value) === undefined) return undefined
  return show(value, { ...(places !== undefined && { places }), fixed }).fraction.length
}

/** A change with its sign as a figure and as a shape. */
export function Change({
  value,
  places = 2,
}: {
  readonly value: string | undefined
  readonly places?: number
}): React.JSX.Element {
  if (value === undefined) return <span className="dim">–</span>
  const exact = dec(value)
  const text = display(exact, { places, fixed: true, signed: true })
  return (
    <span className={`amount ${exact > 0n ? 'up' : exact < 0n ? 'down' : 'dim'}`}>
      {exact > 0n ? '▲ ' : exact < 0n ? '▼ ' : ''}
      {text} %
    </span>
  )
}
