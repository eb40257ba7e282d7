import { contractsIn } from '../../src/core/tables/world/contracts.ts'
import type { OrderRow } from '../../src/core/tables/exchange/order.ts'
import type { PositionMode } from '../../src/core/tables/futures/positions.ts'
import { PLAIN, type NewOrder } from '../../src/core/spot/place.ts'
import { random } from '../spot/compare.ts'
import type { Mode } from '../../src/core/tables/unified/accounts.ts'
import type { More } from './floor.ts'
import { prove } from './prove.ts'
import { UnifiedFloor } from './unified.ts'
import { proveWaiting } from './prove-waiting.ts'
import { anyWait } from './any-wait.ts'
import { BTC_USD, BTC_USDT, CONTRACTS, DATED, ETH_USDT } from './world.ts'

const IDS = [BTC_USDT, BTC_USDT, ETH_USDT, BTC_USD, DATED] as const
/** Unix seconds: the dated contract ends in the midst of a run. */
const ENDS = 1_700_001_000
export type Id = (typeof IDS)[number]
const MODES: readonly PositionMode[] = ['single', 'dual_long', 'dual_short']

/** A few accounts that do anything at all, on a market that moves, crashes and goes through its fundings. */
export class Chaos extends UnifiedFloor {
  readonly users: number[] = []
  /** What was tried, and how it ended: a run in which all is refused proves nothing. */
  readonly outcomes = new Map<string, number>()
  readonly log: string[] = []
  /** Whether they also use orders that wait for a price. */
  waiters = false
  protected readonly below: (below: number) => number
  private readonly ids: readonly Id[]
  private prices: Record<string, number> = { BTC: 60_000, ETH: 3_000 }
  private unified = false

  /** `modes` are those of the accounts, one after the other. */
  constructor(seed: number, users = 6, ids: readonly Id[] = IDS, modes: readonly Mode[] = ['classic']) {
    // Often enough to be met many times in a run.
    super(
      Object.values(CONTRACTS).map((one) =>
        one.group === 'futures' ? { ...one, funding_interval: 600 } : { ...one, expire_time: ENDS },
      ),
    )
    this.must('contract.begin', {})
    this.below = random(seed)
    this.ids = ids
    for (let i = 0; i < users; i++) {
      const user = this.holder(String(500 * (1 + this.below(40))))
      for (const [account, settle, amount] of [
        ['futures', 'btc', '0.3'],
        ['delivery', 'usdt', '2000'],
      ] as const)
        this.must('user.credit', {
          user_id: user,
          account,
          currency: settle.toUpperCase(),
          amount,
          currency_pair: null,
          settle,
          actor: null,
        })
      this.users.push(user)
      for (const id of [BTC_USDT, ETH_USDT, BTC_USD, DATED])
        if (this.below(3) > 0)
          this.leverage(user, id, this.pick(['0', '20', '50', '100']), this.pick(['50', '100']))
      const mode = modes[i % modes.length]!
      if (mode !== 'classic') this.unify(user, mode)
    }
    this.unified = modes.some((mode) => mode !== 'classic')
    if (this.below(2) === 0) this.fund('5000', '0.05')
  }
  /** With coins beside the money, and nothing that a portfolio does not take. */
  private unify(user_id: number, mode: Exclude<Mode, 'classic'>): void {
    const rest = { currency_pair: null, settle: null, actor: null }
    for (const [currency, most] of [
      ['BTC', 20],
      ['ETH', 300],
    ] as const)
      if (this.below(2) === 0)
        this.must('user.credit', {
          user_id,
          account: 'spot',
          currency,
          amount: (this.below(most) / 100 + 0.01).toFixed(2),
          ...rest,
        })
    if (mode === 'portfolio')
      for (const id of [BTC_USDT, ETH_USDT]) this.leverage(user_id, id, '0', this.pick(['50', '100']))
    if (this.mode(user_id, mode, this.below(2) === 0) !== 'done') throw new Error('it should switch')
  }
  private fund(usdt: string, btc: string): void {
    this.must('insurance.fund', { settle: 'usdt', amount: usdt, actor: 'test' })
    this.must('insurance.fund', { settle: 'btc', amount: btc, actor: 'test' })
  }
  protected pick<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!
  }
  protected count(what: string): void {
    this.outcomes.set(what, (this.outcomes.get(what) ?? 0) + 1)
  }
  /** Everything that is due by now. */
  drain(): void {
    for (let steps = 0; ; steps++) {
      if (this.look() > 0) prove(this.state, { quiet: false })
      const item = this.state.due.next()
      if (item === undefined || item.at > this.at) return
      if (steps > 2_000) throw new Error(`due work without end: ${item.command} ${JSON.stringify(item)}`)
      this.runItem(item)
      prove(this.state, { quiet: false })
    }
  }
  step(): void {
    const waits = this.waiters && this.below(3) === 0
    const deed = waits ? 100 : this.below(100)
    if (waits) this.waitAny()
    else if (this.unified && this.below(6) === 0) this.unifiedAny()
    else if (deed < 52) this.placeAny()
    else if (deed < 58) this.amendAny()
    else if (deed < 63) this.cancelAny()
    else if (deed < 70) this.leverageAny()
    else if (deed < 75) this.marginAny()
    else if (deed < 78) this.dualAny()
    else if (deed < 83) this.transferAny()
    else if (deed < 95) this.moveIndex()
    else this.wait()
    this.proveAll(false)
    this.drain()
    this.proveAll(true)
  }
  private proveAll(quiet: boolean): void {
    prove(this.state, { quiet })
    if (this.waiters) proveWaiting(this.state, this.at, quiet)
  }
  /** Something that waits for a price, or an end of that. */
  private waitAny(): void {
    const [user, id] = [this.pick(this.users), this.pick(this.ids)]
    const { account, name } = this.contract(id)
    const { prices, trails, chases } = this.state.futures.waiting
    const ids = (rows: readonly { readonly id: number }[]): number[] => rows.map((row) => row.id)
    const deed = anyWait({
      below: this.below,
      path: this.path(user, id),
      mark: Number(this.mark(id)),
      name,
      dual: this.state.futures.accounts.get(user, account)?.dual === true,
      tick: (price) => this.tick(id, price),
      prices: ids(prices.of(user, account)),
      trails: ids(trails.of(user, account)),
      chases: ids(chases.of(user, account)),
    })
    this.try(deed[0], deed[1])
  }
  private try(what: string, input: object): void {
    this.log.push(`${what} ${JSON.stringify(input)}`)
    const outcome = this.run(what as 'futures.place', input as never)
    this.count('label' in outcome ? `${what} ${outcome.label}` : what)
    this.log.push('label' in outcome ? `  ${outcome.label}` : '  done')
  }
  private open(id: string): boolean {
    const { config, settling } = this.contract(id)
    return (
      config.status === 'trading' &&
      !settling &&
      (config.expire_time === 0 || this.second < config.expire_time)
    )
  }
  protected tick(id: Id, price: number): string {
    return id === ETH_USDT ? price.toFixed(2) : price.toFixed(1)
  }
  private placeAny(): void {
    const user = this.pick(this.users)
    const id = this.pick(this.ids)
    const mark = Number(this.mark(id))
    const near = this.pick([0.0005, 0.0005, 0.002, 0.01, 0.19])
    const price = mark * (1 + near * (this.below(2001) / 1000 - 1))
    const size = (1 + this.below(this.pick([5, 300, 2_000, 5_000, 60_000]))) * (this.below(2) === 0 ? 1 : -1)
    const more: More = {}
    const kind = this.below(12)
    const flags: More[] = [
      { tif: 'ioc' },
      { tif: 'poc' },
      { tif: 'fok' },
      { reduce_only: true },
      { reduce_only: true, tif: 'ioc' },
    ]
    Object.assign(more, flags[kind] ?? {})
    if (kind === 5) Object.assign(more, { iceberg: String(1 + this.below(3)) })
    if (kind === 6) {
      const dual = this.state.futures.accounts.get(user, this.contract(id).account)?.dual === true
      const close = dual ? { auto_size: this.pick(['close_long', 'close_short'] as const) } : { close: true }
      this.try(
        'futures.place',
        this.input(user, id, 0, this.below(2) === 0 ? '0' : this.tick(id, price), close),
      )
      return
    }
    this.try('futures.place', this.input(user, id, size, kind === 7 ? '0' : this.tick(id, price), more))
  }
  private openOrder(): OrderRow | undefined {
    const open = [...this.state.futures.orders.values()].filter(({ status }) => status === 'open')
    return open.length === 0 ? undefined : this.pick(open)
  }
  private amendAny(): void {
    const order = this.openOrder()
    if (order === undefined) return
    const id = order.pair as Id
    const sign = order.side === 'buy' ? 1 : -1
    const size = Math.round(Number(contractsIn(order.amount)) * (this.below(300) / 100)) * sign
    const price = Number(this.mark(id)) * (1 + (this.below(2001) / 1000 - 1) * 0.02)
    this.try('futures.amend', {
      ...this.path(order.user_id, id),
      id: order.id,
      size: this.below(3) === 0 ? null : String(size),
      price: this.below(3) === 0 ? null : this.tick(id, price),
      amend_text: null,
    })
  }
  private cancelAny(): void {
    const order = this.openOrder()
    if (order !== undefined)
      this.try('futures.cancel', { ...this.path(order.user_id, order.pair), id: order.id })
  }
  private leverageAny(): void {
    const [user, id] = [this.pick(this.users), this.pick(this.ids)]
    this.try('futures.leverage', {
      ...this.path(user, id),
      contract: this.contract(id).name,
      leverage: this.pick(['0', '0', '1', '3', '10', '50', '100']),
      cross_leverage_limit: this.pick([null, '1', '5', '20', '100']),
    })
  }
  private marginAny(): void {
    const [user, id] = [this.pick(this.users), this.pick(this.ids)]
    const mode = this.pick(MODES)
    const amount = id === BTC_USD ? this.below(1000) / 1e5 : this.below(100_000) / 100
    this.try('futures.margin', {
      ...this.path(user, id),
      contract: this.contract(id).name,
      change: `${this.below(2) === 0 ? '-' : ''}${amount}`,
      dual_side: mode === 'single' ? null : mode,
    })
  }
  private dualAny(): void {
    const [user, id] = [this.pick(this.users), this.pick([BTC_USDT, BTC_USD])]
    this.try('futures.dual_mode', { ...this.path(user, id), dual: this.below(2) === 0 })
  }
  private transferAny(): void {
    const [user, id] = [this.pick(this.users), this.pick(this.ids)]
    const { currency, settle } = this.contract(id)
    const out = this.below(2) === 0
    const { group } = this.contract(id)
    const amount = currency === 'BTC' ? this.below(3000) / 1e5 : this.below(200_000) / 100
    this.try('transfer.create', {
      user_id: user,
      currency,
      from: out ? group : 'spot',
      to: out ? 'spot' : group,
      amount: String(amount),
      currency_pair: null,
      settle,
    })
  }
  /** What unified accounts do beside contracts; who is classic is refused. */
  private unifiedAny(): void {
    const user_id = this.pick(this.users)
    const currency = this.pick(['USDT', 'USDT', 'BTC', 'ETH'])
    const some = (usdt: number): string =>
      (this.below(usdt * 100) / 100 / (currency === 'USDT' ? 1 : this.prices[currency]!)).toFixed(6)
    const deed = this.below(10)
    if (deed < 3) {
      const type = deed < 2 ? 'borrow' : 'repay'
      const rest = { scope: 'unified', repaid_all: type === 'repay', text: null, known_id: null }
      const amount = type === 'repay' ? null : some(5_000)
      this.try('margin.loan', { user_id, currency, type, amount, ...rest })
    } else if (deed < 6) {
      const back = this.below(3) === 0
      const other =
        currency === 'USDT'
          ? { kind: 'delivery', settle: 'usdt', currency_pair: null }
          : { kind: 'margin', settle: null, currency_pair: `${currency}_USDT` }
      const { kind, ...rest } = other
      const [from, to] = back ? [kind, 'spot'] : ['spot', kind]
      this.try('transfer.create', { user_id, currency, from, to, amount: some(3_000), ...rest })
    } else if (deed < 9) {
      const base = this.pick(['BTC', 'ETH'])
      const off = 1 + this.pick([0, 0.001, 0.01, 0.05]) * (this.below(3) - 1)
      const order: NewOrder = {
        ...PLAIN,
        currency_pair: `${base}_USDT`,
        type: 'limit',
        side: this.pick(['buy', 'sell']),
        amount: ((10 + this.below(3_000)) / this.prices[base]!).toFixed(4),
        price: (this.prices[base]! * off).toFixed(base === 'ETH' ? 2 : 1),
        time_in_force: this.pick(['gtc', 'ioc']),
        auto_borrow: this.pick([null, true]),
        auto_repay: this.pick([null, true]),
      }
      this.try('spot.place', { user_id, order })
      if (this.below(2) === 0)
        this.run('spot.place', {
          user_id: this.pick(this.users),
          order: { ...order, side: order.side === 'buy' ? 'sell' : 'buy' },
        })
    } else {
      const mode = this.pick(['classic', 'single_currency', 'multi_currency', 'portfolio'] as const)
      this.log.push(`mode ${user_id} ${mode}`)
      this.count(`mode ${this.mode(user_id, mode, this.below(2) === 0)}`)
    }
  }
  protected moveIndex(): void {
    const base = this.pick(['BTC', 'BTC', 'ETH'])
    const by = this.pick([0.001, 0.001, 0.005, 0.02, 0.1, 0.4])
    const start = base === 'BTC' ? 60_000 : 3_000
    let price = this.prices[base]! * (1 + by * (this.below(2001) / 1000 - 1))
    // Home again from where no order could reach.
    if (price < start / 4 || price > start * 4) price = start
    this.prices[base] = Number(price.toFixed(base === 'ETH' ? 2 : 1))
    this.log.push(`index ${base} ${this.prices[base]}`)
    this.index({ [base]: String(this.prices[base]) })
    this.count('index')
    if (this.below(3) > 0) return
    this.drain()
    for (const id of base === 'ETH'
      ? [ETH_USDT]
      : this.open(DATED)
        ? [BTC_USDT, BTC_USD, DATED]
        : [BTC_USDT, BTC_USD])
      this.markAt(String(Number(this.tick(id as Id, this.prices[base]))), id)
  }
  private wait(): void {
    const seconds = this.pick([1, 1, 31, 61, 300])
    this.log.push(`wait ${seconds}`)
    this.advance(seconds)
    this.count('wait')
  }
  protected override runItem(item: Parameters<UnifiedFloor['runItem']>[0]): void {
    super.runItem(item)
    this.count(item.command)
  }
}
