import { Table, type TableSpec } from '../../machine/table.ts'

/** How far we have followed a chain. */
export interface ChainTip {
  readonly chain: string
  readonly height: number
  readonly hash: string
  /** [height, hash] of earlier tips, oldest first: where they differ from the chain, it was reorganised. */
  readonly trail: readonly (readonly [height: number, hash: string])[]
}
export const CHAIN_TIP: TableSpec<ChainTip> = {
  name: 'chain_tip',
  key: ['chain'],
  columns: { chain: 'text', height: 'int', hash: 'text', trail: 'json' },
}
export const chainTips = (): Table<ChainTip> => new Table(CHAIN_TIP)

/** Blocks on top of a payment after which no reorganisation is followed any more. */
export const FINAL_DEPTH = 1_000
const TRAIL_MAX = 64

/** The trail after a new tip: what the fork cut off is forgotten. */
export function extendTrail(
  trail: ChainTip['trail'],
  fork: number,
  tip: { readonly height: number; readonly hash: string },
): ChainTip['trail'] {
  const kept = trail.filter(([height]) => height <= fork && height < tip.height)
  return [...kept, [tip.height, tip.hash] as const].slice(-TRAIL_MAX)
}
