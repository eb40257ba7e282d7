import { Agents } from './tables/agents.ts'
import { counters } from './counters.ts'
import type { Context } from '../machine/core.ts'
import { Due } from './tables/due.ts'
import { Holds } from './ledger/holds.ts'
import { LEDGER_LINE, Ledger } from './ledger/ledger.ts'
import { AUDIT, auditHeads } from './tables/audit.ts'
import { Logins } from './tables/logins.ts'
import { Operators } from './tables/operators.ts'
import { Proposals } from './tables/proposals.ts'
import { SPOT_FILL } from './tables/exchange/trades.ts'
import { Spot } from './tables/spot/spot.ts'
import { Futures } from './tables/futures/futures.ts'
import { ContractProof } from './tables/futures/proof.ts'
import { CONTRACT_LOGS } from './tables/futures/records.ts'
import { TRAIL_CHANGE } from './tables/futures/trails.ts'
import { StpGroups } from './tables/stp.ts'
import type { Declared, Table } from '../machine/table.ts'
import { ApiKeys } from './tables/keys.ts'
import { SeenRequests } from './tables/seen-requests.ts'
import { Users, mainIdOf } from './tables/users.ts'
import { transfers } from './tables/transfers.ts'
import { SimChains } from './tables/sim.ts'
import { Wallet } from './tables/wallet.ts'
import { Prices } from './tables/world/prices.ts'
import { MarginAccounts } from './tables/unified/accounts.ts'
import { OrderLadders } from './tables/unified/ladders.ts'
import { MARGIN_LOGS } from './tables/unified/records.ts'
import { heldBy } from './tables/withdrawals.ts'
import { World } from './tables/world/world.ts'

/** Everything the rules need, in memory. Each part owns its tables and the indexes on them. */
export class State {
  readonly counters = counters()
  private readonly holds = new Holds()
  readonly ledger = new Ledger(this.counters, this.holds)
  readonly world = new World()
  readonly agents = new Agents()
  readonly prices = new Prices(this.world, this.agents)
  readonly users = new Users()
  readonly keys = new ApiKeys()
  readonly seenRequests = new SeenRequests()
  readonly stp = new StpGroups()
  readonly transfers = transfers()
  readonly wallet = new Wallet((userId) => mainIdOf(this.users.must(userId)))
  readonly sim = new SimChains()
  readonly operators = new Operators()
  readonly proposals = new Proposals()
  readonly logins = new Logins()
  readonly auditHeads = auditHeads()
  readonly due = new Due()
  readonly margin = new MarginAccounts()
  readonly spot = new Spot((pair) => this.world.findMarket(pair), this.holds)
  readonly futures = new Futures((id) => this.world.findContract(id)?.tick)
  private readonly contractProof = new ContractProof(this.futures.positions, this.ledger, (id) =>
    this.world.findContract(id),
  )
  readonly ladders = new OrderLadders(this.spot, this.world)

  constructor() {
    this.world.settings.observe((_before, _after, signal) => {
      this.spot.followMarkets()
      this.futures.followMarkets()
      // A contract may take orders again: what its prices have reached meanwhile is looked at.
      if (signal === 'change') for (const { id } of this.world.allContracts) this.futures.waiting.touch(id)
    })
    this.world.contracts.listed.observe((before, after) => {
      if (after?.phase === 'ended' && before?.phase !== 'ended') this.futures.forget(after.id)
    })
    // Positions of a unified account stand on its money, which more than contracts move.
    this.ledger.accounts.observe((before, after) => {
      const { owner } = (after ?? before)!
      if (this.margin.isUnified(owner)) this.futures.watch.lookAt(owner, 'futures/usdt')
    })
    this.margin.table.observe((before, after) => {
      this.futures.watch.lookAt((after ?? before)!.user_id, 'futures/usdt')
    })
    const { holds } = this
    this.wallet.withdrawals.table.observe((before, after) =>
      holds.add(holds.of((after ?? before)!.currency), heldBy(before) - heldBy(after)),
    )
  }
  /** What must be true after every command, whatever it did: else nothing that memory says can be trusted. */
  check(): void {
    this.ledger.check()
    this.holds.check()
    this.contractProof.check()
  }

  /** Every table, for loading, saving and comparing. A table that is missing here is never loaded. */
  get tables(): readonly Table<object>[] {
    const tables: readonly unknown[] = [
      this.counters,
      this.world.settings,
      this.world.contracts.listed,
      this.ledger.accounts,
      this.users.table,
      this.keys.table,
      this.seenRequests.table,
      this.stp.groups,
      this.stp.memberships,
      this.transfers,
      ...this.wallet.tables,
      this.sim.chains,
      this.sim.txs,
      this.sim.wallets,
      this.operators.table,
      this.proposals.table,
      ...this.logins.tables,
      this.auditHeads,
      this.due.table,
      this.due.failed,
      ...this.spot.tables,
      ...this.futures.tables,
      ...this.margin.tables,
      this.agents.markets,
      this.agents.contracts,
    ]
    return tables as readonly Table<object>[]
  }
}

export type Ctx = Context<State>

/** A table or a log that is missing here can't be written. */
export const DECLARED: Declared = {
  tables: new State().tables.map(({ spec }) => spec),
  logs: [LEDGER_LINE, AUDIT, SPOT_FILL, ...MARGIN_LOGS, ...CONTRACT_LOGS, TRAIL_CHANGE],
}
