import type { Amount, Price, Rate } from '../../../money/amount.ts'
import { Table, type TableSpec } from '../../../machine/table.ts'
import { accountOfContract, type Contract } from '../world/contracts.ts'

export type PositionMode = 'single' | 'dual_long' | 'dual_short'

/** A position with its settings: the row stays when it is empty, because the settings do. */
export interface Position {
  /** user/contract/mode. */
  readonly id: string
  readonly user_id: number
  /** The contract's id, group and settle included. */
  readonly contract: string
  readonly mode: PositionMode
  /** Signed contracts. */
  readonly size: Amount
  /** What they were bought (sold) for, with the sign of the size. */
  readonly cost: Amount
  /** Of an isolated position; 0 in cross margin. */
  readonly margin: Amount
  /** 0: cross margin. */
  readonly leverage: Rate
  readonly cross_limit: Rate
  /** The last isolated one, for when it is isolated again. */
  readonly isolated_leverage: Rate
  /** A limit of one's own; 0: none. */
  readonly risk_limit: Amount
  /** It is being liquidated: the id of that; 0: no. A cross position's account says it. */
  readonly liquidating: number
  /** The contract's sum of fundings when this position was settled last. */
  readonly funded: Amount
  /** Of the running position: what it has realised, before fees; fees (below zero when paid); funding. */
  readonly pnl: Amount
  readonly fee: Amount
  readonly fund: Amount
  readonly point_fee: Amount
  /** Of those before it. */
  readonly history_pnl: Amount
  readonly history_point: Amount
  readonly last_close_pnl: Amount
  /** Of the running position: its largest size, and all that was opened and closed, with what it was worth. */
  readonly max_size: Amount
  readonly opened: Amount
  readonly opened_value: Amount
  readonly closed: Amount
  readonly closed_value: Amount
  /** Microseconds; 0: there is none. */
  readonly open_at: number
  readonly update_at: number
  readonly update_id: number
}
/**
 * A position as its table has it: rows of a class are copied in a fraction of the time that plain ones of so many members
 * take. A new row is written on until it is put into the table, never after; to change one, change a copy.
 */
export class PositionRow implements Position {
  readonly id: string
  readonly user_id: number
  readonly contract: string
  readonly mode: PositionMode
  size: Amount
  cost: Amount
  margin: Amount
  leverage: Rate
  cross_limit: Rate
  isolated_leverage: Rate
  risk_limit: Amount
  liquidating: number
  funded: Amount
  pnl: Amount
  fee: Amount
  fund: Amount
  point_fee: Amount
  history_pnl: Amount
  history_point: Amount
  last_close_pnl: Amount
  max_size: Amount
  opened: Amount
  opened_value: Amount
  closed: Amount
  closed_value: Amount
  open_at: number
  update_at: number
  update_id: number

  constructor(from: Position) {
    this.id = from.id
    this.user_id = from.user_id
    this.contract = from.contract
    this.mode = from.mode
    this.size = from.size
    this.cost = from.cost
    this.margin = from.margin
    this.leverage = from.leverage
    this.cross_limit = from.cross_limit
    this.isolated_leverage = from.isolated_leverage
    this.risk_limit = from.risk_limit
    this.liquidating = from.liquidating
    this.funded = from.funded
    this.pnl = from.pnl
    this.fee = from.fee
    this.fund = from.fund
    this.point_fee = from.point_fee
    this.history_pnl = from.history_pnl
    this.history_point = from.history_point
    this.last_close_pnl = from.last_close_pnl
    this.max_size = from.max_size
    this.opened = from.opened
    this.opened_value = from.opened_value
    this.closed = from.closed
    this.closed_value = from.closed_value
    this.open_at = from.open_at
    this.update_at = from.update_at
    this.update_id = from.update_id
  }
}
export const POSITION: TableSpec<Position> = {
  name: 'position',
  key: ['id'],
  columns: {
    id: 'text',
    user_id: 'int',
    contract: 'text',
    mode: 'text',
    size: 'amount',
    cost: 'amount',
    margin: 'amount',
    leverage: 'amount',
    cross_limit: 'amount',
    isolated_leverage: 'amount',
    risk_limit: 'amount',
    liquidating: 'int',
    funded: 'amount',
    pnl: 'amount',
    fee: 'amount',
    fund: 'amount',
    point_fee: 'amount',
    history_pnl: 'amount',
    history_point: 'amount',
    last_close_pnl: 'amount',
    max_size: 'amount',
    opened: 'amount',
    opened_value: 'amount',
    closed: 'amount',
    closed_value: 'amount',
    open_at: 'int',
    update_at: 'int',
    update_id: 'int',
  },
  revive: (row) => new PositionRow(row),
}
export const positionId = (userId: number, contract: string, mode: PositionMode): string =>
  `${userId}/${contract}/${mode}`

/** Undefined: there is but one. */
export const otherSide = (mode: PositionMode): PositionMode | undefined =>
  mode === 'single' ? undefined : mode === 'dual_long' ? 'dual_short' : 'dual_long'

/** What a position is worth at a price, and what it needs. */
export interface Needs {
  readonly value: Amount
  readonly pnl: Amount
  readonly initial: Amount
  readonly maintenance: Amount
}
/** Those that were asked for last, and what they stand on. */
export interface Needed {
  readonly row: Position
  readonly contract: Contract
  readonly mark: Price
  readonly needs: Needs
}

/** All positions of a contract, added up. */
export interface PositionSums {
  long: bigint
  short: bigint
  cost: bigint
  longs: number
  shorts: number
}
/** What an account without a position holds. */
export const NOTHING_HELD: readonly Position[] = []
/** The rows of a user in a contract. */
interface Modes extends Record<PositionMode, Position | undefined> {
  readonly ofUser: number
  readonly ofContract: string
}
const NOBODY: Readonly<PositionSums> = { long: 0n, short: 0n, cost: 0n, longs: 0, shorts: 0 }

export class Positions {
  readonly table = new Table(POSITION)
  /** Those that hold something, by contract, and by user and account. */
  private readonly byContract = new Map<string, Map<string, Position>>()
  private readonly byAccount = new Map<number, Map<string, Map<string, Position>>>()
  /** All of them, by user and contract: sooner than to put an id together. */
  private readonly byUser = new Map<number, Map<string, Modes>>()
  /** Those that were asked for last, which are asked for again. */
  private askedLast: Modes | undefined
  /** Accounts by contract: cut out of its id once. */
  private readonly names = new Map<string, string>()
  private readonly sums = new Map<string, PositionSums>()

  constructor() {
    this.table.observe((before, after) => {
      const row = (after ?? before)!
      const sums = this.writeSums(row.contract)
      if (before !== undefined) count(sums, before, -1)
      if (after !== undefined) count(sums, after, 1)
      this.modesOf(row.user_id, row.contract)[row.mode] = after
      if (before?.size === 0n && after?.size === 0n) return
      const held = after !== undefined && after.size !== 0n ? after : undefined
      follow(this.byContract, row.contract, row.id, held)
      follow(this.accountsOf(row.user_id), this.accountOf(row.contract), row.id, held)
    })
  }
  /** group/settle of a contract that somebody has a position in. */
  accountOf(contract: string): string {
    let account = this.names.get(contract)
    if (account === undefined) this.names.set(contract, (account = accountOfContract(contract)))
    return account
  }
  get(userId: number, contract: string, mode: PositionMode): Position | undefined {
    return this.knownModes(userId, contract)?.[mode]
  }
  /** Positions of an account (group/settle) that hold something, in the order in which they came to. */
  heldBy(userId: number, account: string): Iterable<Position> {
    const rows = this.byAccount.get(userId)?.get(account)
    return rows === undefined || rows.size === 0 ? NOTHING_HELD : rows.values()
  }
  /** False: he never held anything; one who did once may hold nothing now. */
  holdsAny(userId: number): boolean {
    return this.byAccount.has(userId)
  }
  /** All of a user's that hold something. */
  *allOf(userId: number): Iterable<Position> {
    for (const held of this.byAccount.get(userId)?.values() ?? []) yield* held.values()
  }
  holds(userId: number, account: string): boolean {
    return (this.byAccount.get(userId)?.get(account)?.size ?? 0) > 0
  }
  /** Positions in a contract that hold something. */
  heldIn(contract: string): Iterable<Position> {
    return this.byContract.get(contract)?.values() ?? []
  }
  countIn(contract: string): number {
    return this.byContract.get(contract)?.size ?? 0
  }
  sumsOf(contract: string): Readonly<PositionSums> {
    return this.sums.get(contract) ?? NOBODY
  }
  /** Contracts in which anybody ever held something. */
  get contracts(): Iterable<string> {
    return this.sums.keys()
  }
  private knownModes(userId: number, contract: string): Modes | undefined {
    const { askedLast } = this
    if (askedLast?.ofUser === userId && askedLast.ofContract === contract) return askedLast
    const found = this.byUser.get(userId)?.get(contract)
    if (found !== undefined) this.askedLast = found
    return found
  }
  private modesOf(userId: number, contract: string): Modes {
    const known = this.knownModes(userId, contract)
    if (known !== undefined) return known
    let contracts = this.byUser.get(userId)
    if (contracts === undefined) this.byUser.set(userId, (contracts = new Map<string, Modes>()))
    const modes: Modes = {
      ofUser: userId,
      ofContract: contract,
      single: undefined,
      dual_long: undefined,
      dual_short: undefined,
    }
    contracts.set(contract, modes)
    return modes
  }
  private accountsOf(userId: number): Map<string, Map<string, Position>> {
    let accounts = this.byAccount.get(userId)
    if (accounts === undefined)
      this.byAccount.set(userId, (accounts = new Map<string, Map<string, Position>>()))
    return accounts
  }
  private writeSums(contract: string): PositionSums {
    let sums = this.sums.get(contract)
    if (sums === undefined) this.sums.set(contract, (sums = { ...NOBODY }))
    return sums
  }
}
function count(sums: PositionSums, { size, cost }: Position, sign: 1 | -1): void {
  if (size === 0n) return
  const by = BigInt(sign)
  sums.cost += by * cost
  if (size > 0n) {
    sums.long += by * size
    sums.longs += sign
  } else {
    sums.short -= by * size
    sums.shorts += sign
  }
}
/** A map that is empty again stays: who held something there is the first to do so again. */
function follow(
  index: Map<string, Map<string, Position>>,
  name: string,
  id: string,
  row: Position | undefined,
): void {
  let rows = index.get(name)
  if (row !== undefined) {
    if (rows === undefined) index.set(name, (rows = new Map<string, Position>()))
    rows.set(id, row)
  } else rows?.delete(id)
}
