import { adlRanking, scoredQueue } from '../../core/futures/ranking.ts'
import type { State } from '../../core/state.ts'
import type { Position } from '../../core/tables/futures/positions.ts'
import type { Scored } from '../../core/tables/futures/rankings.ts'
import type { Contract } from '../../core/tables/world/contracts.ts'

/** A queue of so few is made anew for whoever asks. */
const FEW = 200
/** One of more takes at most so small a part of the time: that many times as long as it took it is told again. */
const PART = 20

/**
 * What a position shows of its place in the queue of those who are deleveraged. All scores are others with each move of the
 * mark, and those of unified accounts with everything that they do: of thousands of holders, each of whom asks for himself,
 * the others may be a moment old. Who asks is counted as he is now.
 */
export function shownRanking(state: State, contract: Contract, position: Position): number {
  if (state.futures.positions.countIn(contract.id) <= FEW) return adlRanking(state, contract, position)
  return adlRanking(state, contract, position, (long) => queueOf(state, contract, long))
}
function queueOf(state: State, contract: Contract, long: boolean): readonly Scored[] {
  const { told } = state.futures.rankings
  const side = `${long ? 'long' : 'short'}/${contract.id}`
  const known = told.get(side)
  const now = performance.now()
  if (known?.contract === contract && now < known.until) return known.queue
  // Those that nobody asks for any more are not kept.
  for (const [one, { until }] of told) if (until <= now) told.delete(one)
  const queue = scoredQueue(state, contract, long)
  const done = performance.now()
  told.set(side, { contract, queue, until: done + (done - now) * PART })
  return queue
}
