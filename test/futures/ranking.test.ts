import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adlRanking, queueOf, scoredQueue } from '../../src/core/futures/ranking.ts'
import { positionOf } from '../../src/core/futures/positions.ts'
import { contractAccountId, type ContractAccount } from '../../src/core/tables/futures/accounts.ts'
import { PositionRow, type Position, type PositionMode } from '../../src/core/tables/futures/positions.ts'
import type { Scored } from '../../src/core/tables/futures/rankings.ts'
import { amountOfContracts, type Contract } from '../../src/core/tables/world/contracts.ts'
import { valueUp } from '../../src/core/contracts/terms.ts'
import { Tx } from '../../src/machine/table.ts'
import { ZERO, priceOf, type Amount, type Price, type Rate } from '../../src/money/amount.ts'
import { random } from '../spot/compare.ts'
import { UnifiedFloor } from './unified.ts'
import { BTC_USD, BTC_USDT, DATED, ETH_USDT } from './world.ts'

const IDS = [BTC_USDT, BTC_USDT, ETH_USDT, BTC_USD, DATED] as const
const E18 = 10n ** 18n

/** Positions that nobody traded for, so that they can be anything: of accounts of all kinds, and at marks that move. */
class Book extends UnifiedFloor {
  private readonly below: (most: number) => number
  readonly users: number[] = []
  private readonly unified = new Set<number>()
  private accounts = -1

  constructor(seed: number, users: number) {
    super()
    this.below = random(seed)
    for (const mode of ['multi_currency', 'portfolio', 'single_currency'] as const) {
      const user = this.member(mode, { USDT: String(100 + this.below(5_000)), BTC: '0.1' })
      this.users.push(user)
      this.unified.add(user)
    }
    // Nobody looks at who they are.
    for (let i = 0; i < users; i++) this.users.push(1_000_000 + this.below(1_000_000_000))
    for (let i = 0; i < 3 * users; i++) this.change()
  }
  private write(change: (tx: Tx) => void): void {
    change(new Tx())
  }
  private put(row: Position): void {
    this.write((tx) => tx.put(this.state.futures.positions.table, new PositionRow(row)))
  }
  /** The account's row is written with each booking. */
  private note(user_id: number, { account }: Contract, change: Partial<ContractAccount> = {}): void {
    const known = this.state.futures.accounts.get(user_id, account)
    const none = { dual: false, liquidating: 0, borrowed: ZERO, create_at: 0, update_at: 0, update_id: 0 }
    const sums = { dnw: ZERO, pnl: ZERO, fee: ZERO, fund: ZERO, point_dnw: ZERO, point_fee: ZERO }
    const id = contractAccountId(user_id, account)
    const row: ContractAccount = { ...none, ...sums, id, user_id, account, ...known, ...change }
    this.write((tx) => tx.put(this.state.futures.accounts.table, row))
  }
  give(owner: number, contract: Contract, amount: bigint): void {
    const { ledger } = this.state
    const name = this.unified.has(owner) && contract.account === 'futures/usdt' ? 'spot' : contract.cash
    const known = ledger.find(owner, name, contract.currency)
    const row = { owner, name, currency: contract.currency, amount: amount as Amount, version: 1 }
    this.write((tx) => tx.put(ledger.accounts, { ...row, id: known?.id ?? this.accounts-- }))
    if (name !== 'spot') this.note(owner, contract)
  }
  private pick<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!
  }
  private digits(most: number): bigint {
    let value = BigInt(1 + this.below(9))
    for (let i = this.below(most); i > 0; i--) value = value * 10n + BigInt(this.below(10))
    return value
  }
  /** Somebody has another position, other money, or is liquidated. */
  change(): void {
    const user = this.pick(this.users)
    const contract = this.contract(this.pick(IDS))
    const deed = this.below(20)
    if (deed === 0) return this.note(user, contract, { liquidating: this.below(2) })
    if (deed < 4) return this.give(user, contract, this.money(contract))
    const dual = user % 4 === 0
    const mode: PositionMode = dual ? this.pick(['dual_long', 'dual_short']) : 'single'
    const row = positionOf(this.state, user, contract, mode)
    if (deed === 4) return this.put({ ...row, size: ZERO, cost: ZERO, margin: ZERO })
    const position = this.any(contract, row)
    this.put(this.below(3) === 0 ? this.like(contract, position) : position)
  }
  private money({ currency }: Contract): bigint {
    const much = this.digits(currency === 'BTC' ? 20 : 24)
    return this.below(3) === 0 ? much : much - (much % 10n ** 14n)
  }
  private any(contract: Contract, row: Position): Position {
    const { terms } = contract
    const mark = this.state.futures.markOf(contract.id)
    const size = this.below(5) === 0 ? this.digits(13) : BigInt(1 + this.below(400))
    // Many have come in at one of a few prices.
    const at =
      (mark * (this.below(2) === 0 ? this.pick([70n, 99n, 101n, 130n]) : BigInt(30 + this.below(200)))) / 100n
    const cost: bigint = this.below(30) === 0 ? 0n : valueUp(terms, size, at as Price)
    const rounded = this.below(3) === 0 ? cost : cost - (cost % terms.unit)
    const long = row.mode === 'single' ? this.below(2) === 0 : row.mode === 'dual_long'
    const sign = long ? 1n : -1n
    // Of two sides both are cross, or neither.
    const isolated = row.mode === 'single' ? this.below(3) > 0 : row.user_id % 8 === 0
    const shared = this.unified.has(row.user_id) && this.below(2) === 0
    const leverage = isolated && !shared ? this.pick([5n, 20n, 100n]) : 0n
    const worth: bigint = valueUp(terms, size, mark)
    const pnl = long === (terms.kind === 'linear') ? worth - rounded : rounded - worth
    let margin = leverage === 0n ? 0n : cost / leverage
    // Next to nothing is left, or less, or it has much more than it needs.
    if (leverage > 0n && this.below(6) === 0) margin = BigInt(this.below(5) - 2) - pnl
    if (leverage > 0n && this.below(12) === 0) margin *= BigInt(this.below(1_000))
    return {
      ...row,
      size: amountOfContracts(sign * size),
      cost: (sign * rounded) as Amount,
      leverage: (leverage * E18) as Rate,
      margin: margin as Amount,
      liquidating: this.below(12) === 0 ? 1 : 0,
    }
  }
  /** So many times what somebody else has, or next to it: a score that is the same, or nearly. */
  private like(contract: Contract, row: Position): Position {
    const [other] = this.held(contract, row.size > 0n).filter(
      ({ leverage, mode }) => leverage > 0n && mode === 'single',
    )
    if (other === undefined || row.leverage === 0n || row.mode !== 'single') return row
    const times = BigInt(1 + this.below(4))
    return {
      ...row,
      liquidating: 0,
      size: (other.size * times) as Amount,
      cost: (other.cost * times) as Amount,
      margin: (other.margin * times + BigInt(this.pick([0, 0, 0, 1, -1]))) as Amount,
    }
  }
  held(contract: Contract, long: boolean): Position[] {
    return [...this.state.futures.positions.heldIn(contract.id)].filter(({ size }) => size > 0n === long)
  }
  moveMark(): void {
    const id = this.pick(IDS)
    const row = this.state.futures.priceOf(id)!
    const moved = (row.mark * BigInt(9_000 + this.below(2_000))) / 10_000n
    const mark = (this.below(3) === 0 ? moved : moved - (moved % 10n ** 16n)) as Price
    this.write((tx) => tx.put(this.state.futures.prices, { ...row, mark }))
  }
}
const names = (queue: Iterable<Scored>): string[] => [...queue].map(({ id }) => id)
/** The first so many. */
function first(queue: Iterable<Scored>, count: number): string[] {
  const found: string[] = []
  for (const { id } of queue) if (found.push(id) === count) break
  return found
}

test('those who are deleveraged are gone through in the order in which all of them stand, each scored exactly', () => {
  let compared = 0
  for (let seed = 1; seed <= 12; seed++) {
    const book = new Book(seed, seed % 3 === 0 ? 400 : 60)
    const { state } = book
    const below = random(seed + 1_000)
    for (let round = 0; round < 40; round++) {
      const contract = book.contract(IDS[below(IDS.length)]!)
      const long = below(2) === 0
      const told = `seed ${seed}, round ${round}, ${contract.id}`
      const queue = names(scoredQueue(state, contract, long))
      const some = 1 + below(25)
      assert.deepEqual(first(queueOf(state, contract, long, 0), some), queue.slice(0, some), told)
      if (below(3) === 0) assert.deepEqual(names(queueOf(state, contract, long, 0)), queue, told)
      compared += queue.length
      for (const position of book.held(contract, long).slice(0, 10)) {
        const shown = adlRanking(state, contract, position)
        assert.equal(
          shown,
          adlRanking(state, contract, position, () => scoredQueue(state, contract, long)),
          told,
        )
      }
      for (let i = below(4); i > 0; i--) book.change()
      if (below(2) === 0) book.moveMark()
    }
  }
  assert.ok(compared > 10_000, `${compared} places`)
})

test('who is closed against others keeps his own place among them as it was before, however far it is gone', () => {
  const book = new Book(77, 1_500)
  const { state } = book
  const contract = book.contract(BTC_USDT)
  // He loses, and with much money behind that he is among the last.
  const { user_id } = book.held(contract, true).find(({ leverage, size, cost, user_id: user }) => {
    const alone = [...state.futures.positions.heldBy(user, contract.account)].length === 1
    const sound = state.futures.accounts.get(user, contract.account)?.liquidating !== 1
    return leverage === 0n && alone && sound && size < 400n * E18 && cost > 6n * size
  })!
  book.give(user_id, contract, 10n ** 27n)
  const before = names(scoredQueue(state, contract, true))
  assert.ok(before.length > 100, `${before.length} hold it`)
  const found: string[] = []
  for (const { id } of queueOf(state, contract, true, user_id))
    if (found.push(id) === 1) book.give(user_id, contract, 10n ** 22n)
  assert.deepEqual(found, before)
  assert.notDeepEqual(names(queueOf(state, contract, true, 0)), before)
})

test('of thousands who hold a contract a few are scored exactly, and no more than that when a mark has moved', () => {
  const book = new UnifiedFloor()
  const { state } = book
  const contract = book.contract(BTC_USDT)
  const below = random(5)
  let asked = 0
  for (let i = 1; i <= 3_000; i++) {
    const size = 1 + below(1_000)
    const cost = BigInt(Math.round(size * (5 + below(4_000) / 1_000) * 1e6)) * 10n ** 12n
    const row = {
      ...positionOf(state, 1_000_000 + i, contract, 'single'),
      size: amountOfContracts(BigInt(-size)),
      cost: -cost as Amount,
      leverage: (10n * E18) as Rate,
      margin: (cost / 3n) as Amount,
    }
    new Tx().put(state.futures.positions.table, row)
  }
  // Whoever is scored exactly is asked for his size.
  for (const row of state.futures.positions.heldIn(BTC_USDT)) {
    const { size } = row
    Object.defineProperty(row, 'size', { get: () => (asked++, size) })
  }
  const step = (): string[] => first(queueOf(state, contract, false, 0), 20)
  step()
  for (const mark of ['58000', '57000', '56000']) {
    new Tx().put(state.futures.prices, { ...book.price(), mark: priceOf(mark) })
    asked = 0
    const found = step()
    assert.ok(asked < 500, `${asked} sizes were looked at`)
    assert.deepEqual(found, names(scoredQueue(state, contract, false)).slice(0, 20))
  }
})
