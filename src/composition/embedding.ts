import type { Witness } from '../api/request-log.ts'
import type { Candle } from '../core/tables/exchange/candles.ts'
import type { Remembered, Trade } from '../core/tables/exchange/trades.ts'
import type { Credentials } from '../runtime/credentials.ts'
import type { Image } from '../store/image.ts'

/**
 * A world at one moment, between two batches: rows and texts that nobody changes any more, so that any number of
 * platforms may go on from it, each on its own.
 */
export interface Beginning {
  readonly image: Image
  /** The rows that the rules need, of each table in the order of `State.tables`. */
  readonly rows: readonly (readonly object[])[]
  readonly venues: readonly { readonly trades: Remembered<Trade>; readonly candles: Remembered<Candle> }[]
  /** Microseconds of the platform's clock, and its distance from the wall clock. */
  readonly at: number
  readonly distance: number
  readonly credentials: Credentials
}

/** How a platform that lives inside another program differs from one that is a program of its own. */
export interface Embedding {
  /** No port is opened. */
  readonly closed?: boolean
  /** The world that it begins with, whose image the store holds; and where a reset leads. */
  beginning?: Beginning
  /** Who sees every request and its answer. */
  readonly witness?: Witness
}
