import type { CommittedBatch } from '../machine/stream.ts'
import type { DomainEvent } from './event.ts'
import { bookLevelEvents, fillEvents, orderEvents, tickerEvents, tradeEvents } from './market-events.ts'
import {
  balanceEvents,
  depositEvents,
  liquidationEvents,
  loanEvents,
  withdrawalEvents,
} from './money-events.ts'
import { BatchRows } from './rows.ts'

/** The order in which a batch's events are told. */
const KINDS: readonly ((batch: CommittedBatch, rows: BatchRows) => readonly DomainEvent[])[] = [
  orderEvents,
  fillEvents,
  tradeEvents,
  bookLevelEvents,
  tickerEvents,
  balanceEvents,
  depositEvents,
  withdrawalEvents,
  loanEvents,
  liquidationEvents,
]

/** What a committed batch means to those outside: of the batch alone, so that it says the same whenever it is asked. */
export function eventsOf(batch: CommittedBatch): DomainEvent[] {
  const rows = new BatchRows(batch)
  return KINDS.flatMap((kind) => kind(batch, rows))
}
