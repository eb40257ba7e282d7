import { Agents } from './agents/agents.ts'
import { counters } from './counters.ts'
import type { Context } from './core.ts'
import { Due } from './due.ts'
import { LEDGER_LINE, Ledger } from './ledger/ledger.ts'
import { AUDIT, auditHeads } from './operators/audit.ts'
import { Operators } from './operators/operators.ts'
import { Proposals } from './operators/proposals.ts'
import { SPOT_FILL } from './spot/trades.ts'
import { Spot } from './spot/spot.ts'
import { StpGroups } from './stp/groups.ts'
import type { LogSpec, Table } from './table.ts'
import { ApiKeys } from './users/keys.ts'
import { Users, mainIdOf } from './users/users.ts'
import { transfers } from './wallet/transfers.ts'
import { SimChains } from './sim/sim.ts'
import { Wallet } from './wallet/state.ts'
import { Prices } from './world/prices.ts'
import { MarginAccounts } from './unified/accounts.ts'
import { MARGIN_LOGS } from './unified/records.ts'
import { World } from './world/world.ts'

/** Everything the rules need, in memory. Each part owns its tables and the indexes on them. */
export class State {
  readonly counters = counters()
  readonly ledger = new Ledger(this.counters)
  readonly world = new World()
  readonly prices = new Prices(this.world)
  readonly users = new Users()
  readonly keys = new ApiKeys()
  readonly stp = new StpGroups()
  readonly transfers = transfers()
  readonly wallet = new Wallet((userId) => mainIdOf(this.users.must(userId)))
  readonly sim = new SimChains()
  readonly operators = new Operators()
  readonly proposals = new Proposals()
  readonly auditHeads = auditHeads()
  readonly due = new Due()
  readonly margin = new MarginAccounts()
  readonly agents = new Agents()
  readonly spot = new Spot((pair) => this.world.market(pair).tick)

  constructor() {
    this.prices.setMarketSource((currency) => this.spot.lastPrice(`${currency}_USDT`))
  }

  /** Every table, for loading, saving and comparing. A table that is missing here is never loaded. */
  get tables(): readonly Table<object>[] {
    const tables: readonly unknown[] = [
      this.counters,
      this.world.settings,
      this.ledger.accounts,
      this.users.table,
      this.keys.table,
      this.stp.groups,
      this.stp.memberships,
      this.transfers,
      ...this.wallet.tables,
      this.sim.chains,
      this.sim.txs,
      this.sim.wallets,
      this.operators.table,
      this.proposals.table,
      this.auditHeads,
      this.due.table,
      ...this.spot.tables,
      ...this.margin.tables,
      this.agents.markets,
    ]
    return tables as readonly Table<object>[]
  }
}

export type Ctx = Context<State>

/** Every append-only log. A log that is missing here can't be written. */
export const LOGS = [LEDGER_LINE, AUDIT, SPOT_FILL, ...MARGIN_LOGS] as unknown as readonly LogSpec<object>[]
