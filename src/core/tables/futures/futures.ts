import type { Price } from '../../../money/amount.ts'
import { Activity } from '../exchange/activity.ts'
import { CONTRACT_CANDLE, CONTRACT_CANDLE_NOW, CONTRACT_SPANS, Candles } from '../exchange/candles.ts'
import { CONTRACT_COUNTDOWN, Countdowns } from '../exchange/countdowns.ts'
import { CONTRACT_MARKET, Exchange } from '../exchange/exchange.ts'
import { CONTRACT_ORDER, type OrderRow } from '../exchange/order.ts'
import { CONTRACT_TRADE } from '../exchange/trades.ts'
import { accountOfContract } from '../world/contracts.ts'
import { ContractAccounts } from './accounts.ts'
import { HeldPositions } from './held.ts'
import type { ContractHistory } from './history.ts'
import { OrderSides } from './order-sides.ts'
import { Positions, type Needed } from './positions.ts'
import { Waiting } from './waiting.ts'
import { Rankings } from './rankings.ts'
import { RiskWatch } from './watch.ts'
import { contractFlows, contractMinutes } from './stats.ts'
import { contractPrices, type Believed, type ContractPrice, type KeptGround } from './prices.ts'

/** Series of a contract's figures beside what is traded: there are three times as many, and few ask for them. */
const FIGURES = ['mark_', 'index_', 'premium_'] as const
const FIGURES_RECENT = 200
const TRADED_RECENT = 1_500

/** Everything that trading in contracts keeps in memory, perpetual and dated ones alike. */
export class Futures extends Exchange {
  /** Prices from before the first start, where the sandbox has made some up. */
  history: ContractHistory | undefined
  readonly positions = new Positions()
  readonly held = new HeldPositions(this.positions.table)
  readonly accounts = new ContractAccounts()
  /** The row that was asked for last: each order asks for its contract's a dozen times. */
  private askedLast: ContractPrice | undefined
  /** Whoever else follows it finds what was asked for last up to date. */
  readonly prices = contractPrices((before, after) => {
    if (before === this.askedLast) this.askedLast = after
  })
  /** By contract, as long as they hold. */
  readonly grounds = new Map<string, KeptGround>()
  /** What was believed of a mark last, and what a position needed. Nothing depends on what is remembered here. */
  believed: Believed | undefined
  needed: Needed | undefined
  readonly sides = new OrderSides()
  readonly flows = contractFlows()
  readonly minutes = contractMinutes()
  readonly rankings = new Rankings(this.positions, this.accounts, this.prices)
  readonly watch = new RiskWatch(this.positions, this.accounts)
  readonly waiting = new Waiting()
  readonly countdowns = new Countdowns(CONTRACT_COUNTDOWN)
  readonly activity = new Activity('contract')

  constructor(findTick: (contract: string) => Price | undefined) {
    super(
      {
        order: CONTRACT_ORDER,
        market: CONTRACT_MARKET,
        trade: CONTRACT_TRADE,
        candles: new Candles(CONTRACT_CANDLE_NOW, CONTRACT_CANDLE, CONTRACT_SPANS, (series) =>
          FIGURES.some((prefix) => series.startsWith(prefix)) ? FIGURES_RECENT : TRADED_RECENT,
        ),
      },
      findTick,
    )
  }
  protected override follow(was: OrderRow | undefined, is: OrderRow | undefined): void {
    this.sides.follow(was, is)
  }
  protected override accountOf(pair: string): string {
    return accountOfContract(pair)
  }
  /** Undefined before its first evaluation. */
  priceOf(contract: string): ContractPrice | undefined {
    const { askedLast } = this
    return askedLast?.id === contract ? askedLast : (this.askedLast = this.prices.get(contract))
  }
  /** 0: there is none yet. */
  markOf(contract: string): Price {
    return this.priceOf(contract)?.mark ?? (0n as Price)
  }
  /** What its index was when its prices were looked at last; 0: there is none yet. */
  indexOf(contract: string): Price {
    return this.priceOf(contract)?.index ?? (0n as Price)
  }
  /** A contract has ended: memory keeps nothing of its trades, candles and holders. */
  forget(contract: string): void {
    this.rankings.forget(contract)
    this.trades.forget(contract)
    for (const prefix of ['', ...FIGURES]) this.candles.forget(prefix + contract)
  }
  get tables(): readonly unknown[] {
    return [
      ...this.venueTables,
      this.positions.table,
      this.accounts.table,
      this.prices,
      this.flows,
      this.minutes,
      this.countdowns.table,
      ...this.waiting.tables,
      this.activity.days,
      this.activity.ratios,
    ]
  }
}
