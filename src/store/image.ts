import type { StoreHead } from './store.ts'

/** Everything that a store in memory holds, as texts that nobody changes: any number of stores may begin with one. */
export interface Image {
  /** What makes the tables and their indexes, in order. */
  readonly schema: readonly string[]
  readonly tables: readonly ImageTable[]
  readonly head: StoreHead
  readonly epoch: number
}
export interface ImageTable {
  readonly name: string
  readonly columns: readonly string[]
  /** JSON: an array of rows, each the array of its values. */
  readonly rows: string
}
