import { Table, type TableSpec } from '../../../machine/table.ts'

/** A dead man's switch: unless it is set again in time, the account's orders are cancelled. */
export interface Countdown {
  /** `user_id/pair`; the pair is empty for all markets. */
  readonly id: string
  readonly user_id: number
  readonly pair: string
  readonly due_id: number
}
const countdownSpec = (name: string): TableSpec<Countdown> => ({
  name,
  key: ['id'],
  columns: { id: 'text', user_id: 'int', pair: 'text', due_id: 'int' },
})
export const SPOT_COUNTDOWN = countdownSpec('spot_countdown')
/** Its pair is group/settle for all contracts there, or a contract's id. */
export const CONTRACT_COUNTDOWN = countdownSpec('contract_countdown')
export class Countdowns {
  readonly table: Table<Countdown>
  constructor(spec: TableSpec<Countdown>) {
    this.table = new Table(spec)
  }
}
