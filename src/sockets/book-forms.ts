import type { LevelText } from './followed-book.ts'

/** A push: its channel, its result as JSON, and its event where that is not `update`. */
export type Said = readonly [channel: string, result: string, event?: string]

/** How a channel of deltas is written; levels come as `levels` has made them. */
export interface DeltaForm {
  readonly channel: string
  levels(levels: readonly LevelText[]): string
  full(t: number, u: number, b: string, a: string): string
  delta(t: number, U: number, u: number, b: string, a: string): string
}
/** How what is told of one market's book is written; times in milliseconds. */
export interface BookForm {
  /** An empty side is undefined. */
  ticker(t: number, u: number, bid: LevelText | undefined, ask: LevelText | undefined): Said
  snapshot(t: number, id: number, level: number, bids: readonly LevelText[], asks: readonly LevelText[]): Said
  update(level: number): DeltaForm
  obu(level: number): DeltaForm
}

const pairsText = (levels: readonly LevelText[]): string => JSON.stringify(levels)
const EMPTY: LevelText = ['', '0']

const obuForm = (channel: string, market: string, level: number): DeltaForm => {
  const name = `"s":"ob.${market}.${level}"`
  return {
    channel,
    levels: pairsText,
    full: (t, u, b, a) => `{"t":${t},"full":true,${name},"u":${u},"b":${b},"a":${a}}`,
    delta: (t, U, u, b, a) => `{"t":${t},${name},"U":${U},"u":${u},"b":${b},"a":${a}}`,
  }
}
/** `rest` is what is told beside ids and levels. A client that does not know `full` sees a gap, and begins again. */
const updateForm = (
  channel: string,
  levels: DeltaForm['levels'],
  rest: (t: number) => string,
): DeltaForm => ({
  channel,
  levels,
  full: (t, u, b, a) => `{"t":${t},"full":true,${rest(t)},"U":${u},"u":${u},"b":${b},"a":${a}}`,
  delta: (t, U, u, b, a) => `{"t":${t},${rest(t)},"U":${U},"u":${u},"b":${b},"a":${a}}`,
})

export const spotBook = (pair: string): BookForm => ({
  ticker: (t, u, [b, B] = EMPTY, [a, A] = EMPTY) => [
    'spot.book_ticker',
    `{"t":${t},"u":${u},"s":"${pair}","b":"${b}","B":"${B}","a":"${a}","A":"${A}"}`,
  ],
  snapshot: (t, id, level, bids, asks) => [
    'spot.order_book',
    `{"t":${t},"lastUpdateId":${id},"s":"${pair}","l":"${level}","bids":${pairsText(bids)},"asks":${pairsText(asks)}}`,
  ],
  update: (level) =>
    updateForm(
      'spot.order_book_update',
      pairsText,
      (t) => `"l":"${level}","e":"depthUpdate","E":${Math.floor(t / 1000)},"s":"${pair}"`,
    ),
  obu: (level) => obuForm('spot.obu', pair, level),
})

/** `texts`: numbers of contracts are written as texts. */
export function contractBook(name: string, texts: boolean): BookForm {
  const size = texts ? (amount: string) => `"${amount}"` : (amount: string) => amount
  const levelsText = (levels: readonly LevelText[]): string =>
    `[${levels.map(([price, amount]) => `{"p":"${price}","s":${size(amount)}}`).join(',')}]`
  return {
    ticker: (t, u, [b, B] = EMPTY, [a, A] = EMPTY) => [
      'futures.book_ticker',
      `{"t":${t},"u":${u},"s":"${name}","b":"${b}","B":${size(B)},"a":"${a}","A":${size(A)}}`,
    ],
    snapshot: (t, id, level, bids, asks) => [
      'futures.order_book',
      `{"t":${t},"id":${id},"contract":"${name}","asks":${levelsText(asks)},"bids":${levelsText(bids)},"l":"${level}"}`,
      'all',
    ],
    update: (level) =>
      updateForm('futures.order_book_update', levelsText, () => `"s":"${name}","l":"${level}"`),
    obu: (level) => obuForm('futures.obu', name, level),
  }
}
