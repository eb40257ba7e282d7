import type { CommittedCommand } from '../machine/stream.ts'
import type { DomainEvent } from './event.ts'
import {
  bookLevelEvents,
  fillEvents,
  orderEvents,
  priceOrderEvents,
  tickerEvents,
  tradeEvents,
} from './market-events.ts'
import {
  balanceEvents,
  depositEvents,
  liquidationEvents,
  loanEvents,
  withdrawalEvents,
} from './money-events.ts'
import { CommandRows } from './rows.ts'

/** The order in which a command's events are told. */
const KINDS: readonly ((command: CommittedCommand, rows: CommandRows) => readonly DomainEvent[])[] = [
  orderEvents,
  priceOrderEvents,
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

/** What a committed command means to those outside: of its rows alone, so that it says the same whenever it is asked. */
export function eventsOf(command: CommittedCommand): DomainEvent[] {
  const rows = new CommandRows(command)
  return KINDS.flatMap((kind) => kind(command, rows))
}
