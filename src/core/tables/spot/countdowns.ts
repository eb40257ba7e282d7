import { Table, type TableSpec } from '../../../machine/table.ts'

/** A dead man's switch: unless it is set again in time, the account's orders are cancelled. */
export interface Countdown {
  /** `user_id/pair`; the pair is empty for all markets. */
  readonly id: string
  readonly user_id: number
  readonly pair: string
  readonly due_id: number
}
export const SPOT_COUNTDOWN: TableSpec<Countdown> = {
  name: 'spot_countdown',
  key: ['id'],
  columns: { id: 'text', user_id: 'int', pair: 'text', due_id: 'int' },
}
export class Countdowns {
  readonly table = new Table(SPOT_COUNTDOWN)
}
