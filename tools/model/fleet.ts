import { CELL, COSTS, marketShares, placed, sharesOf, type Kind, type Taken } from './costs.ts'
import { Appender, generator, percentile, Simulation, Station } from './engine.ts'

/**
 * So many machines, shared out. `markets` is 0 while one core does everything; else ledgers hold accounts and markets
 * match, each a core with a journal and a follower of its own.
 */
export interface Fleet {
  readonly machines: number
  readonly ledgers: number
  readonly markets: number
  readonly gateways: number
}
/** Requests a second that each kind of part can carry for ever, by what it costs alone. */
export type Capacity = Readonly<
  Record<'gateways' | 'ledger' | 'ledger follower' | 'market' | 'market follower', number>
>

export function capacity(fleet: Fleet, taken: Taken): Capacity {
  const shares = sharesOf(taken)
  const { core, follower, gateway } = COSTS
  const perSecond = (micros: number, parts: number): number =>
    micros === 0 ? Infinity : (parts * 1e6) / micros
  const gateways = perSecond(
    shares.order * gateway.order + shares.transfer * gateway.transfer + shares.read * gateway.read,
    fleet.gateways,
  )
  if (fleet.markets === 0)
    return {
      gateways,
      ledger: perSecond(
        shares.order * core.order + shares.transfer * core.transfer + shares.read * core.read,
        1,
      ),
      'ledger follower': perSecond(shares.order * follower.order + shares.transfer * follower.transfer, 1),
      market: Infinity,
      'market follower': Infinity,
    }
  const steps = ledgerSteps(fleet, taken)
  const busiest = Math.max(...placed(marketShares(taken), fleet.markets).loads)
  return {
    gateways,
    ledger: perSecond(steps * core.transfer + shares.read * core.read, fleet.ledgers),
    'ledger follower': perSecond(steps * follower.transfer, fleet.ledgers),
    market: perSecond(shares.order * core.order * busiest, 1),
    'market follower': perSecond(shares.order * follower.order * busiest, 1),
  }
}
/** Journalled steps of ledgers for one request: a hold for each order, both sides of each trade, one or two for a transfer. */
const ledgerSteps = ({ ledgers }: Fleet, { orders, transfers, trades }: Taken): number =>
  orders * (1 + 2 * trades) + transfers * (2 - 1 / ledgers)

export function most(capacities: Capacity): { readonly rate: number; readonly part: keyof Capacity } {
  let part: keyof Capacity = 'gateways'
  for (const name of Object.keys(capacities) as (keyof Capacity)[])
    if (capacities[name] < capacities[part]) part = name
  return { rate: capacities[part], part }
}

/** The best way to share out so many machines, by the capacities alone. */
export function shareOut(machines: number, taken: Taken, split: boolean): Fleet {
  const cores = Math.floor(machines * taken.cores * taken.planned)
  const cell = CELL.serving + (machines > 1 ? CELL.standby : 0)
  if (!split) return { machines, ledgers: 1, markets: 0, gateways: cores - cell }
  let best: Fleet | undefined
  let bestRate = 0
  for (let ledgers = 1; ledgers * cell < cores; ledgers++)
    for (let markets = 1; (ledgers + markets) * cell < cores; markets++) {
      const fleet = { machines, ledgers, markets, gateways: cores - (ledgers + markets) * cell }
      const { rate } = most(capacity(fleet, taken))
      // Of equals the one with fewer parts.
      if (rate > bestRate * 1.001) [best, bestRate] = [fleet, rate]
    }
  return best ?? { machines, ledgers: 1, markets: 0, gateways: cores - cell }
}
/** Gateways beyond twice the need do nothing: how many of the machines have work at all (three at least, for what may not be lost). */
export function needed(fleet: Fleet, taken: Taken): Fleet & { readonly used: number } {
  const { rate } = most(capacity(fleet, taken))
  const each = capacity({ ...fleet, gateways: 1 }, taken).gateways
  const gateways = Math.max(1, Math.min(fleet.gateways, Math.ceil((2 * rate) / each)))
  const cell = CELL.serving + (fleet.machines > 1 ? CELL.standby : 0)
  const cores = (fleet.ledgers + fleet.markets) * cell + gateways
  return {
    ...fleet,
    gateways,
    used: Math.min(fleet.machines, Math.max(3, Math.ceil(cores / (taken.cores * taken.planned)))),
  }
}

interface Cell {
  readonly core: Station
  readonly verify: Station
  readonly journal: Appender
  readonly follower: Station
}
export interface Measured {
  readonly offered: number
  readonly served: number
  readonly p50: number
  readonly p99: number
  /** Of orders alone. */
  readonly orderP99: number
  readonly utilization: Readonly<Record<string, number>>
}

/** Requests at random times, at so many a second, through the fleet. The first fifth is left out: it finds empty queues. */
export function simulate(
  fleet: Fleet,
  taken: Taken,
  {
    rate,
    requests,
    seed,
    lagKb = COSTS.lagKb,
  }: { rate: number; requests: number; seed: number; lagKb?: number },
): Measured {
  const sim = new Simulation()
  const random = generator(seed)
  const { core, follower, gateway, kb, append } = COSTS
  const cell = (kbEach: number): Cell => {
    const tables = new Station(sim)
    const time = (entries: number): number => {
      const slow = random.uniform() < append.tailShare ? append.tail : append.base
      return slow + entries * kbEach * append.perKb + (fleet.machines > 1 ? 4 * taken.network : 0)
    }
    const room = (): boolean => tables.waiting * kbEach < lagKb
    return {
      core: new Station(sim),
      verify: new Station(sim, 2),
      journal: new Appender(sim, time, { room }),
      follower: tables,
    }
  }
  const ledgers = Array.from({ length: fleet.ledgers }, () =>
    cell(fleet.markets === 0 ? kb.order : kb.transfer),
  )
  const markets = Array.from({ length: fleet.markets }, () => cell(kb.order))
  const gateways = Array.from({ length: fleet.gateways }, () => new Station(sim))
  const { on } = placed(marketShares(taken), Math.max(1, fleet.markets))
  const cumulative = marketShares(taken).reduce<number[]>(
    (sums, share) => [...sums, (sums.at(-1) ?? 0) + share],
    [],
  )
  const shares = sharesOf(taken)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random.uniform() * from.length)]!
  const hop = fleet.machines > 1 ? taken.network : 0
  const step = (at: Cell, cost: number, follows: number, done: () => void): void =>
    at.core.serve(cost, () => {
      if (follows === 0) done()
      else
        at.journal.append(() => {
          at.follower.serve(follows, () => at.journal.nudge())
          done()
        })
    })
  const travel = (done: () => void): void => (hop === 0 ? done() : sim.after(hop, done))
  const serve = (kind: Kind, reply: () => void): void => {
    const ledger = pick(ledgers)
    const enter = (then: () => void): void => (hop === 0 ? then() : ledger.verify.serve(COSTS.verify, then))
    enter(() => {
      if (kind === 'read' || fleet.markets === 0) {
        step(ledger, core[kind], kind === 'read' ? 0 : follower[kind], reply)
        return
      }
      step(ledger, core.transfer, follower.transfer, () => {
        if (kind === 'transfer') {
          const other = pick(ledgers)
          if (other === ledger) reply()
          else travel(() => step(other, core.transfer, follower.transfer, () => travel(reply)))
          return
        }
        const roll = random.uniform()
        const market = markets[on[cumulative.findIndex((sum) => roll < sum)] ?? 0]!
        travel(() =>
          step(market, core.order, follower.order, () => {
            travel(reply)
            if (random.uniform() >= taken.trades) return
            for (const side of [ledger, pick(ledgers)])
              travel(() => step(side, core.transfer, follower.transfer, () => undefined))
          }),
        )
      })
    })
  }
  const times: number[] = []
  const orders: number[] = []
  let from = 0
  let to = Infinity
  let sent = 0
  let inTime = 0
  const arrive = (): void => {
    const number = sent++
    if (number === Math.floor(requests / 5)) from = sim.now
    if (sent < requests) sim.after(random.exponential(1e6 / rate), arrive)
    else to = sim.now
    const begun = sim.now
    const roll = random.uniform()
    const kind = roll < shares.order ? 'order' : roll < shares.order + shares.transfer ? 'transfer' : 'read'
    // A gateway does half of its work before the core and half with the reply.
    const front = pick(gateways)
    front.serve(gateway[kind] / 2, () =>
      travel(() =>
        serve(kind, () =>
          travel(() =>
            front.serve(gateway[kind] / 2, () => {
              if (from > 0 && sim.now <= to) inTime++
              if (number < requests / 5) return
              times.push(sim.now - begun)
              if (kind === 'order') orders.push(sim.now - begun)
            }),
          ),
        ),
      ),
    )
  }
  arrive()
  sim.run()
  const busiest = (stations: readonly Station[]): number =>
    Math.max(0, ...stations.map((one) => one.utilization()))
  times.sort((a, b) => a - b)
  orders.sort((a, b) => a - b)
  return {
    offered: rate,
    served: (inTime / (to - from)) * 1e6,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    orderP99: percentile(orders, 0.99),
    utilization: {
      gateways: busiest(gateways),
      ledger: busiest(ledgers.map((one) => one.core)),
      'ledger follower': busiest(ledgers.map((one) => one.follower)),
      market: busiest(markets.map((one) => one.core)),
      'market follower': busiest(markets.map((one) => one.follower)),
    },
  }
}
