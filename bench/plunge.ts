import { Plunge } from '../test/futures/plunge.ts'
import { BTC_USDT } from '../test/futures/world.ts'
import type { Row } from './results.ts'

/** Orders of somebody else arrive so often while it goes on. */
const EVERY_MS = 1

/**
 * A fall of 60 % in one minute of clock time over many leveraged positions of a contract. All that falls due is done one
 * command after the other, as fast as it goes; somebody who has nothing to do with it places an order every millisecond,
 * which waits for the command that is running. No disk, no HTTP.
 */
export function plunge(positions: number): Row[] {
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
  const wait = (share: number): number => waits[Math.floor((waits.length - 1) * share)]!
  const at = (share: number): string => wait(share).toFixed(1)
  console.log(
    `${positions} positions of a contract, 60 % down in a minute: ${crash.liquidations} liquidations in ${ms.toFixed(0)} ms ` +
      `(${((crash.liquidations / ms) * 1000).toFixed(0)}/s), ${crash.deleveraged.length} deleveraged, ${longs} longs and ${shorts} shorts left`,
  )
  console.log(
    `  ${waits.length} orders of somebody else meanwhile: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  )
  return [
    {
      name: `liquidations of contracts, 60 % down in a minute, ${positions} positions`,
      figures: { rate: (crash.liquidations / ms) * 1000, count: crash.liquidations },
    },
    {
      name: 'orders of somebody else meanwhile',
      figures: { p50: wait(0.5), p99: wait(0.99), p999: wait(0.999), count: waits.length },
    },
  ]
}
