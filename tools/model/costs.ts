/**
 * What things cost, in microseconds of one processor core unless it says otherwise. "Measured" figures were read off
 * running code and are in the notes that are named; where the machine was busy they are too high rather than too
 * low. "Taken" figures are no measurements: they can be changed on the command line, and docs/scale.md says why.
 */
export const COSTS = {
  /** The core's main thread with gateways before it. Measured, 16 cores, 0060. Of a read its checks and the line are (5 + 4, 0060); 3 more are taken. */
  core: { transfer: 23, order: 74, read: 12 },
  /** A gateway for one request, two busy cores, 0060. A read's is that of a transfer without its body: taken as the same. */
  gateway: { transfer: 56, order: 110, read: 56 },
  /** Digest and HMAC of an order, measured alone on two busy cores: 5 to 7. In threads beside the core, for gateways on other machines. */
  verify: 6,
  /** The follower on PostgreSQL, server and client together. Measured: 22 thousand transfers a second (0062); 21 thousand orders of a full journal in 2.3 to 2.8 s (0062). */
  follower: { transfer: 45, order: 119 },
  /** One append on PostgreSQL with a synchronous standby, 2 kB, and each kB more; both servers on one machine. Measured: p50 0.39 ms, 60 kB 0.81 ms, p99 7.8 ms on two busy cores. */
  append: { base: 390, perKb: 7, tailShare: 0.01, tail: 7800 },
  /** Journal bytes of a command: 31 MB held 54 thousand transfers, or 21 thousand orders (0062). */
  kb: { transfer: 0.57, order: 1.48 },
  /** What the journal may be ahead of the tables (0062). At this bound appends wait. */
  lagKb: 32_000,
  /** A frame to one socket: alone, and when several frames of one turn leave together. Measured, two busy cores, 0063. */
  frame: { alone: 7.3, together: 1.9 },
} as const

export interface Taken {
  /** One way between two machines of one room. */
  readonly network: number
  /** Shares of requests; what is left are reads. */
  readonly orders: number
  readonly transfers: number
  /** Of orders that meet another at once. Measured benches use the same half. */
  readonly trades: number
  /** Markets, and how unevenly orders fall on them: the nth busiest gets 1 / n^skew. */
  readonly markets: number
  readonly skew: number
  /** Cores of one machine, and how much of them may be planned with. */
  readonly cores: number
  readonly planned: number
}
export const TAKEN: Taken = {
  network: 100,
  orders: 0.6,
  transfers: 0.05,
  trades: 0.5,
  markets: 200,
  skew: 1,
  cores: 16,
  planned: 0.75,
}

/** Processor cores of one writing core with its database, and of the standbys of both on other machines. */
export const CELL = { serving: 5, standby: 3 } as const

export type Kind = 'order' | 'transfer' | 'read'
export const sharesOf = ({ orders, transfers }: Taken): Record<Kind, number> => ({
  order: orders,
  transfer: transfers,
  read: 1 - orders - transfers,
})
/** Of each market, the busiest first; together 1. */
export function marketShares({ markets, skew }: Taken): number[] {
  const weights = Array.from({ length: markets }, (_, n) => 1 / (n + 1) ** skew)
  const total = weights.reduce((sum, one) => sum + one, 0)
  return weights.map((one) => one / total)
}
/** Markets on so many cores, the busiest first to whoever has least: which core each is on, and the shares of the cores. */
export function placed(
  shares: readonly number[],
  cells: number,
): { readonly on: number[]; readonly loads: number[] } {
  const loads = Array.from({ length: cells }, () => 0)
  const on = shares.map((share) => {
    const least = loads.indexOf(Math.min(...loads))
    loads[least]! += share
    return least
  })
  return { on, loads }
}
