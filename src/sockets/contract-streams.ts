import type { Look } from '../api/futures/order-views.ts'
import type { State } from '../core/state.ts'
import { CONTRACT_ORDER } from '../core/tables/exchange/order.ts'
import { POSITION, type Position } from '../core/tables/futures/positions.ts'
import { CONTRACT_PRICE_ORDER, type ContractPriceOrder } from '../core/tables/futures/price-orders.ts'
import {
  AUTO_DELEVERAGE,
  CONTRACT_BOOK,
  CONTRACT_FILL,
  LIQUIDATE,
  POSITION_CLOSE,
  type Liquidate,
} from '../core/tables/futures/records.ts'
import { accountOfContract } from '../core/tables/world/contracts.ts'
import { orderEvents } from '../events/market-events.ts'
import type { CommandRows } from '../events/rows.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import { lookAt } from './contract-look.ts'
import {
  bookRecord,
  closeRecord,
  deleverageRecord,
  fillRecord,
  liquidateRecord,
  orderRecord,
  priceOrderRecord,
  positionRecord,
  reductionRecord,
} from './contract-records.ts'
import { recordText, type NumberRecord } from './numbers.ts'
import type { Subscribers, Told } from './subscribers.ts'

/** Something that a command did to an account, before anybody has written it down. */
interface Happened {
  readonly user_id: number
  /** group/settle. */
  readonly scope: string
  /** The contract's id; empty: of none. */
  readonly market: string
  readonly record: (look: Look) => NumberRecord
}
/** What a channel tells of a command. */
type Source = (state: State, rows: CommandRows, command: CommittedCommand) => Happened[]

/** Of rows that name their user, contract and account. */
const each = <Row extends { readonly user_id: number; readonly contract: string; readonly account: string }>(
  rows: readonly Row[],
  record: (row: Row, look: Look) => NumberRecord,
): Happened[] =>
  rows.map((row) => ({
    user_id: row.user_id,
    scope: row.account,
    market: row.contract,
    record: (look) => record(row, look),
  }))

/** In the order in which they are told: who hears that an order has ended has heard of all its fills. */
const SOURCES: readonly (readonly [channel: string, source: Source])[] = [
  [
    'futures.usertrades',
    (_, rows) =>
      each(
        [...rows.appendedTo(CONTRACT_FILL)].sort((one, other) => one.trade_id - other.trade_id),
        fillRecord,
      ),
  ],
  [
    'futures.orders',
    (state, rows, command) =>
      orderEvents(command, rows, CONTRACT_ORDER).map((event) => ({
        user_id: event.user_id,
        scope: accountOfContract(event.market),
        market: event.market,
        record: (look) => orderRecord(state, event, look),
      })),
  ],
  [
    'futures.autoorders',
    (_, rows) =>
      each(
        rows
          .of(CONTRACT_PRICE_ORDER)
          .flatMap(({ before, after }) => (after === undefined || isSame(before, after) ? [] : [after])),
        priceOrderRecord,
      ),
  ],
  [
    'futures.positions',
    (state, rows) =>
      changedPositions(rows).map((row) => ({
        user_id: row.user_id,
        scope: accountOfContract(row.contract),
        market: row.contract,
        record: (look) => positionRecord(state, row, look),
      })),
  ],
  ['futures.liquidates', (_, rows) => each(rows.appendedTo(LIQUIDATE), liquidateRecord)],
  ['futures.auto_deleverages', (_, rows) => each(rows.appendedTo(AUTO_DELEVERAGE), deleverageRecord)],
  ['futures.reduce_risk_limits', (state, rows) => reductions(state, rows)],
  ['futures.position_closes', (_, rows) => each(rows.appendedTo(POSITION_CLOSE), closeRecord)],
  [
    'futures.balances',
    (_, rows) =>
      each(rows.appendedTo(CONTRACT_BOOK), bookRecord).map((one) => ({
        ...one,
        market: '',
      })),
  ],
]
/** Notes of what falls due are nobody's business. */
const isSame = (before: ContractPriceOrder | undefined, after: ContractPriceOrder): boolean =>
  before !== undefined && recordText(priceOrderRecord(before)) === recordText(priceOrderRecord(after))
const changedPositions = (rows: CommandRows): Position[] =>
  rows
    .of(POSITION)
    .flatMap(({ before, after }) =>
      after === undefined || before?.update_id === after.update_id ? [] : [after],
    )

/** Positions of which a liquidation closed a part. */
function reductions(state: State, rows: CommandRows): Happened[] {
  const steps = rows.appendedTo(LIQUIDATE)
  if (steps.length === 0) return []
  const positions = changedPositions(rows)
  return steps.flatMap((step) => {
    const row = positions.find((one) => isReduced(one, step))
    if (row === undefined) return []
    const cancelled = rows
      .of(CONTRACT_ORDER)
      .filter(
        ({ before, after }) =>
          before !== undefined &&
          after?.user_id === step.user_id &&
          after.pair === step.contract &&
          after.finish_as === 'liquidated',
      ).length
    return each([step], () => reductionRecord(state, row, cancelled))
  })
}
const isReduced = ({ user_id, contract, size }: Position, step: Liquidate): boolean =>
  user_id === step.user_id &&
  contract === step.contract &&
  (step.size > 0n ? size > 0n && size < step.size : size < 0n && size > step.size)

/** What commands did to accounts of contracts, told to those who listen. */
export class ContractStreams {
  private readonly state: State
  private readonly subscribers: Subscribers

  constructor(state: State, subscribers: Subscribers) {
    this.state = state
    this.subscribers = subscribers
  }
  hear(command: CommittedCommand, rows: CommandRows): void {
    if (this.subscribers.size === 0) return
    for (const [channel, source] of SOURCES) {
      const users = this.subscribers.of(channel)
      if (users === undefined) continue
      const told = new Map<number, Told[]>()
      for (const one of source(this.state, rows, command)) {
        if (!users.has(one.user_id)) continue
        const list = told.get(one.user_id)
        if (list === undefined) told.set(one.user_id, [toldOf(one)])
        else list.push(toldOf(one))
      }
      this.subscribers.tell(channel, told)
    }
  }
}
/** Written once for each of the two ways, however many listen. */
function toldOf({ scope, market, record }: Happened): Told {
  const made = new Map<boolean, string>()
  return {
    scope,
    market,
    text: (texts) => {
      let text = made.get(texts)
      if (text === undefined) made.set(texts, (text = recordText(record(lookAt(scope, texts)))))
      return text
    },
  }
}
