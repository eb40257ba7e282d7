import { Plunge } from '../test/futures/plunge.ts'
import { BTC_USDT } from '../test/futures/world.ts'

/** Orders of somebody else arrive so often while it goes on. */
const EVERY_MS = 1

/**
 * A fall of 60 % in one minute of clock time over many leveraged positions of a contract. All that falls due is done one
 * command after the other, as fast as it goes; somebody who has nothing to do with it places an order every millisecond,
 * which waits for the command that is running. No disk, no HTTP.
 */
export function plunge(positions: number): void {
  const crash = new Plunge(positions)
  const waits: number[] = []
  let next = performance.now()
  const between = (): void => {
    for (let now = performance.now(); next <= now; next += EVERY_MS) {
      crash.order()
      waits.push(performance.now() - next)
    }
  }
  const start = (next = performance.now())
  crash.fall(24_000, 60, between)
  const ms = performance.now() - start
  crash.prove()
  const { longs, shorts } = crash.state.futures.positions.sumsOf(BTC_USDT)
  waits.sort((a, b) => a - b)
  const at = (share: number): string => waits[Math.floor((waits.length - 1) * share)]!.toFixed(1)
  console.log(
    `${positions} positions of a contract, 60 % down in a minute: ${crash.liquidations} liquidations in ${ms.toFixed(0)} ms ` +
      `(${((crash.liquidations / ms) * 1000).toFixed(0)}/s), ${crash.deleveraged.length} deleveraged, ${longs} longs and ${shorts} shorts left`,
  )
  console.log(
    `  ${waits.length} orders of somebody else meanwhile: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  )
}
