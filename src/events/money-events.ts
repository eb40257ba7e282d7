import { isPlatform } from '../core/ledger/accounts.ts'
import { ACCOUNT } from '../core/ledger/ledger.ts'
import { DEPOSIT } from '../core/tables/deposits.ts'
import { INTEREST_RECORD, LIQUIDATION_STEP, LOAN_RECORD } from '../core/tables/unified/records.ts'
import { WITHDRAWAL } from '../core/tables/withdrawals.ts'
import type { CommittedCommand } from '../machine/stream.ts'
import type { TableSpec } from '../machine/table.ts'
import { ZERO } from '../money/amount.ts'
import type { BalanceEvent, DepositEvent, LiquidationEvent, LoanEvent, WithdrawalEvent } from './event.ts'
import { byId, type CommandRows } from './rows.ts'
import { placeOfAccount, placeOfScope } from './venues.ts'

export function balanceEvents({ sequence, at }: CommittedCommand, rows: CommandRows): BalanceEvent[] {
  return rows
    .of(ACCOUNT)
    .map(({ before, after }) => ({ before, after, row: (after ?? before)! }))
    .filter(({ before, after, row }) => !isPlatform(row.owner) && before?.version !== after?.version)
    .sort((one, other) => byId(one.row, other.row))
    .map(({ before, after, row: { owner, name, currency, version } }) => ({
      kind: 'balance',
      sequence,
      at,
      ...placeOfAccount(name),
      currency,
      owner,
      account: name,
      before: before?.amount ?? ZERO,
      after: after?.amount ?? ZERO,
      update_id: version,
    }))
}

interface OnChain {
  readonly id: number
  readonly user_id: number
  readonly currency: string
}
/** What deposits and withdrawals have in common; in the order of their ids. */
function walletEvents<Row extends OnChain>(
  { sequence, at }: CommittedCommand,
  rows: CommandRows,
  spec: TableSpec<Row>,
) {
  return rows
    .of(spec)
    .flatMap(({ before, after, stored }) => (after === undefined ? [] : [{ before, after, stored }]))
    .sort((one, other) => byId(one.after, other.after))
    .map(({ before, after, stored }) => ({
      sequence,
      at,
      venue: 'wallet' as const,
      currency: after.currency,
      user_id: after.user_id,
      change: before === undefined && !stored ? ('created' as const) : ('changed' as const),
      before,
      after,
    }))
}
export const depositEvents = (command: CommittedCommand, rows: CommandRows): DepositEvent[] =>
  walletEvents(command, rows, DEPOSIT).map((event) => ({ kind: 'deposit', ...event }))
export const withdrawalEvents = (command: CommittedCommand, rows: CommandRows): WithdrawalEvent[] =>
  walletEvents(command, rows, WITHDRAWAL).map((event) => ({ kind: 'withdrawal', ...event }))

/** What was lent and paid back, then the interest: their ids are counted apart. */
export function loanEvents({ sequence, at }: CommittedCommand, rows: CommandRows): LoanEvent[] {
  const head = { kind: 'loan', sequence, at } as const
  const records = rows
    .of(LOAN_RECORD)
    .flatMap(({ before, after, stored }) =>
      after === undefined || before !== undefined || stored ? [] : [after],
    )
    .sort(byId)
    .map((record): LoanEvent => {
      const { kind: venue, pair: market, currency, user_id, type } = record
      return { ...head, venue, market, currency, user_id, type, record }
    })
  const interest = [...rows.appendedTo(INTEREST_RECORD)].sort(byId).map((record): LoanEvent => {
    const { kind: venue, pair: market, currency, user_id } = record
    return { ...head, venue, market, currency, user_id, type: 'interest', record }
  })
  return [...records, ...interest]
}

export function liquidationEvents({ sequence, at }: CommittedCommand, rows: CommandRows): LiquidationEvent[] {
  return [...rows.appendedTo(LIQUIDATION_STEP)].sort(byId).map((step) => ({
    kind: 'liquidation',
    sequence,
    at,
    ...placeOfScope(step.scope),
    currency: step.currency,
    user_id: step.user_id,
    step,
  }))
}
