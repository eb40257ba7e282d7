import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import { beginAccount } from '../../futures/reference/money.ts'
import { balanceOf, orderMargins, unitOf } from '../../futures/reference/margin.ts'
import { interestName } from '../../futures/reference/shared.ts'
import type { Standing, World } from '../../futures/reference/world.ts'
import type { Cast, Member } from './cast.ts'
import type { House } from './house.ts'
import { ONE, amount, text } from './model.ts'
import { Borrower, shownDown, shownUp, type UnifiedModel } from './unified-model.ts'

const ACCOUNT = 'futures/usdt'
const CASH = ACCOUNT
/** A coin that carries all that they lose. */
const COIN = 'ETH'
/**
 * Little USDT, so that losses are lent. The limit of the first is so low that an order may be too large for all that it
 * has. The third one's positions are isolated: they need USDT that are there, and are liquidated by themselves. The first
 * three have so many coins that no price here restricts them, the last ones so few that they are liquidated.
 */
const KINDS = [
  { mode: 'multi_currency', usdt: '3000', coins: '1500', poor: 1_200_000n, leverage: '0', limit: '1' },
  {
    mode: 'portfolio',
    usdt: '3000',
    coins: '1500',
    poor: 1_200_000n,
    leverage: undefined,
    limit: undefined,
  },
  {
    mode: 'multi_currency',
    usdt: '15000',
    coins: '1500',
    poor: 1_200_000n,
    leverage: '20',
    limit: undefined,
  },
  { mode: 'multi_currency', usdt: '1000', coins: '3', poor: 2_000n, leverage: '0', limit: '20' },
  { mode: 'portfolio', usdt: '1000', coins: '3', poor: 2_000n, leverage: undefined, limit: undefined },
] as const
const GAMBLERS = 3
const DRAWN = [0, 2, 1, 2] as const
type Kind = (typeof KINDS)[number]

/** Unified accounts that trade the traders' contract: settled in their USDT, lent where that is gone, carried by a coin. */
export class Holders {
  readonly members: Member[] = []
  private readonly accounts = new Map<number, Borrower>()
  private readonly house: House
  private readonly cast: Cast
  private readonly model: () => UnifiedModel
  private world!: World

  constructor(house: House, cast: Cast, model: () => UnifiedModel) {
    this.house = house
    this.cast = cast
    this.model = model
  }
  async begin(world: World, add: (user: number) => void): Promise<void> {
    this.world = world
    // What USDT count for is what they are, so that profits and losses may be added afterwards.
    assert.ok(
      this.model()
        .terms.get('USDT')!
        .discounts.every(({ rate }) => rate === ONE),
    )
    for (const kind of KINDS) {
      const { mode, usdt } = kind
      const { user_id: user, credential } = await this.house.user()
      this.members.push({ user, credential })
      this.cast.followed.add(user)
      const account = new Borrower()
      account.mode = mode
      this.accounts.set(user, account)
      add(user)
      await this.credit(user, 'USDT', usdt)
      world.money.set(`${user} ${CASH}`, amount(usdt))
      await this.coins(user, kind)
      const settings = mode === 'multi_currency' ? { usdt_futures: true } : undefined
      const body = { mode, ...(settings !== undefined && { settings }) }
      const call = { method: 'PUT', path: '/unified/unified_mode', body }
      assert.equal((await this.house.call(credential, call)).label, '')
      beginAccount(world, user, ACCOUNT)
      const standing = (cash: bigint, loan: bigint, interest: bigint): Standing =>
        this.model().margins(this.with(account, cash, loan, interest))
      await this.lever(credential, user, kind)
      const isLocked = (): boolean => account.locked
      world.shared.set(user, { portfolio: mode === 'portfolio', standing, isLocked })
    }
  }
  private async lever(credential: Member['credential'], user: number, kind: Kind): Promise<void> {
    const { leverage, limit } = kind
    if (leverage === undefined) return
    const [contract] = this.world.contracts.values()
    const path = `/futures/usdt/positions/${contract!.name}/leverage`
    const query = { leverage, ...(limit !== undefined && { cross_leverage_limit: limit }) }
    assert.equal((await this.house.call(credential, { method: 'POST', path, query })).label, '')
    const row = this.world.position(user, contract!, 'single')
    if (limit === undefined) row.leverage = row.isolatedLeverage = amount(leverage)
    else row.crossLimit = amount(limit)
    this.world.positions.set(row.id, row)
  }
  private async credit(user: number, currency: string, sum: string): Promise<void> {
    await this.house.ok('POST', `/users/${user}/credit`, { account: 'spot', currency, amount: sum })
  }
  private async coins(user: number, { coins }: Kind): Promise<void> {
    // Before the reply: the watcher may come between the two, and sees what the account has then.
    const account = this.accounts.get(user)!
    account.free.set(COIN, account.has(COIN) + amount(coins))
    await this.credit(user, COIN, coins)
  }
  private with(account: Borrower, cash: bigint, loan: bigint, interest: bigint): Borrower {
    account.free.set('USDT', cash)
    account.owed.set('USDT', loan)
    account.interest.set('USDT', interest)
    return account
  }
  /** Every other time one with isolated positions. */
  drawn(who: number): Member {
    return this.members[DRAWN[who % DRAWN.length]!]!
  }
  /** Whether its positions stand on margins of their own. */
  isIsolated(user: number): boolean {
    return KINDS[this.members.findIndex((one) => one.user === user)]?.leverage === '20'
  }
  isOne(user: unknown): boolean {
    return this.accounts.has(user as number)
  }
  /** Whoever has become poor is helped. */
  async help(): Promise<boolean> {
    for (const [i, { user }] of this.members.entries()) {
      const unit = unitOf(this.world, user, ACCOUNT)
      if (this.accounts.get(user)!.locked || balanceOf(unit) >= KINDS[i]!.poor * ONE) continue
      await this.coins(user, KINDS[i]!)
      return true
    }
    return false
  }
  /** Those who are liquidated. */
  get gamblers(): readonly Member[] {
    return this.members.slice(GAMBLERS)
  }
  /** With the money that the reference knows; `back`: the reference is told instead. */
  synced(user: number, back = false): Borrower {
    const account = this.accounts.get(user)!
    if (back) {
      const { money } = this.world
      money.set(`${user} ${CASH}`, account.has('USDT'))
      money.set(`${user} debt ${ACCOUNT}`, -(account.owed.get('USDT') ?? 0n))
      money.set(interestName(user), -(account.interest.get('USDT') ?? 0n))
      return account
    }
    const { cash, loan, interest } = this.now(user)
    return this.with(account, cash, loan, interest)
  }

  private now(user: number): { cash: bigint; loan: bigint; interest: bigint } {
    const { world } = this
    return {
      cash: world.balance(`${user} ${CASH}`),
      loan: -world.balance(`${user} debt ${ACCOUNT}`),
      interest: -world.balance(interestName(user)),
    }
  }
  check(state: State): void {
    for (const { user } of this.members) {
      const same = (name: string, currency: string, mine: bigint): void =>
        assert.equal(
          state.ledger.balance(user, name as 'spot', currency),
          mine,
          `${name} ${currency} of ${user}`,
        )
      const { cash, loan, interest } = this.now(user)
      same('spot', 'USDT', cash)
      same('spot', COIN, this.accounts.get(user)!.has(COIN))
      same('debt.unified', 'USDT', -loan)
      same('debt.interest.unified', 'USDT', -interest)
      same('futures:usdt', 'USDT', 0n)
      same('debt.futures:usdt', 'USDT', 0n)
    }
  }
  /** What one of them is shown is what the model counts. */
  async seen(which: number): Promise<void> {
    await this.sameFigures(this.drawn(which))
  }
  async sameFigures({ user, credential }: Member): Promise<void> {
    const { world } = this
    const account = this.accounts.get(user)!
    const { cash, loan, interest } = this.now(user)
    const beside = this.model().figures(this.with(account, cash, loan, interest))
    const unit = unitOf(world, user, ACCOUNT)
    const orders = orderMargins(world, user, ACCOUNT).all
    const { body } = await this.house.call(credential, { method: 'GET', path: '/unified/accounts' })
    const initial = unit.initial + orders
    const mine = {
      mode: account.mode,
      borrowed: beside['borrowed'],
      unified_account_total_liab: beside['unified_account_total_liab'],
      total_margin_balance: shownDown(balanceOf(unit)),
      total_initial_margin: shownUp(initial),
      total_maintenance_margin: shownUp(unit.maintenance),
      total_available_margin: shownDown(balanceOf(unit) - initial),
    }
    for (const [name, figure] of Object.entries(mine))
      assert.equal(body[name], figure, `${name} of ${user}, who holds contracts`)
    const usdt = body.balances.USDT
    assert.deepEqual(
      [usdt?.available ?? '0', usdt?.borrowed ?? '0', usdt?.negative_liab ?? '0'],
      [text(cash - unit.isolated), text(loan), text(loan)],
      `USDT of ${user}`,
    )
    const path = '/futures/usdt/accounts'
    const { body: shown } = await this.house.call(credential, { method: 'GET', path })
    assert.deepEqual(
      [shown.total, shown.unrealised_pnl, shown.history.pnl, shown.history.fee, shown.history.fund],
      [
        '0',
        this.twelve(unit.pnl + unit.isolatedPnl),
        ...(['pnl', 'fee', 'fund'] as const).map((of) => text(world.account(user, ACCOUNT)![of])),
      ],
      `contract account of ${user}`,
    )
  }
  /** At most 12 decimals, towards zero. */
  private twelve(sum: bigint): string {
    return text(sum - (sum % 10n ** 6n))
  }
  async look(): Promise<void> {
    for (const member of this.members) await this.sameFigures(member)
  }
}
