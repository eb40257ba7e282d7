import assert from 'node:assert/strict'
import type { DueItem } from '../../../src/core/tables/due.ts'
import type { State } from '../../../src/core/state.ts'
import { BUILT_IN_WORLD } from '../../../src/core/world/built-in.ts'
import { Reference, type Input } from '../../futures/reference/reference.ts'
import type { Asked } from './borrowers.ts'
import type { Cast, Member } from './cast.ts'
import type { Answer, Call, House } from './house.ts'
import { amount, text } from './model.ts'
import type { Step } from './plan.ts'
import type { Touched } from './watch.ts'

/** A contract that nobody else trades in. */
export const TRADED = 'BTC_USDT'
const ID = `futures/usdt/${TRADED}`
const ACCOUNT = { group: 'futures', settle: 'usdt' } as const
const COUNT = 4
const FUNDS = '50000'
/** What somebody asks for, of the reference as of the platform. */
const OWN: ReadonlySet<string> = new Set([
  'futures.place',
  'futures.amend',
  'futures.cancel',
  'futures.cancel_all',
  'futures.leverage',
  'futures.margin',
  'transfer.create',
])
/** What brings the prices of all contracts up to date, whatever else it does. */
const FOLLOWS: ReadonlySet<string> = new Set([
  'prices.set',
  'prices.expire',
  'world.configure',
  'world.live',
  'futures.begin',
  'agents.pace',
])
const PLAIN = {
  tif: null,
  text: null,
  iceberg: null,
  close: false,
  reduce_only: false,
  auto_size: null,
  stp_act: null,
  market_order_slip_ratio: null,
  pos_margin_mode: null,
  bbo: null,
  stops: null,
}
type Recorded = readonly [at: number, type: string, input: Readonly<Record<string, unknown>>]

/**
 * Accounts that trade a contract among themselves, beside the naive reference of contracts (`test/futures/reference`): it is
 * asked first what a request will be answered, and carries out what the platform has recorded, in the same order.
 */
export class Traders {
  private readonly house: House
  private readonly cast: Cast
  private reference!: Reference
  private readonly members: Member[] = []
  private readonly due = new Map<number, DueItem>()
  private state: State | undefined
  /** Told when it is looked at: it is nothing that the platform should stumble over. */
  private broken: unknown
  /** The reference's ids by the platform's, and the reference's last order of each. */
  private readonly ids = new Map<number, number>()
  private readonly last = new Map<number, number>()
  private open: { readonly id: number; readonly user: number }[] = []

  constructor(house: House, cast: Cast) {
    this.house = house
    this.cast = cast
  }
  async begin(): Promise<void> {
    const config = BUILT_IN_WORLD.contracts!.find(
      ({ group, underlying }) => group === 'futures' && underlying === TRADED,
    )!
    this.reference = new Reference([config])
    for (let i = 0; i < COUNT; i++) {
      const { user_id: user, credential } = await this.house.user()
      this.members.push({ user, credential })
      this.cast.followed.add(user)
      this.reference.addUser(user, 0, 0)
      const body = { account: 'futures', currency: 'USDT', settle: 'usdt', amount: FUNDS }
      await this.house.ok('POST', `/users/${user}/credit`, body)
      this.reference.run('user.credit', { user_id: user, ...body } as never, 0, [])
    }
    const row = this.house.state.futures.priceOf(ID)!
    const { index, mark, funding_rate: rate, next_funding: nextFunding } = row
    this.reference.begin(this.now, () => ({ index, mark, rate, nextFunding }))
    await this.house.settle()
    this.house.recorded = (commands) => {
      try {
        this.carryOut(commands)
      } catch (error) {
        this.broken ??= error
      }
    }
  }
  private get now(): number {
    return this.house.platform.desk.clock.peek()
  }
  private isOurs(user: unknown): boolean {
    return this.members.some((member) => member.user === user)
  }
  /** What is due is told by its id alone when it is done. */
  follow(state: State): void {
    if (state === this.state) return
    this.state = state
    for (const item of state.due.table.values()) this.due.set(item.id, item)
    state.due.table.observe((_, item) => {
      if (item !== undefined) this.due.set(item.id, item)
    })
  }
  private carryOut(commands: string): void {
    for (const [at, type, input] of JSON.parse(commands) as Recorded[]) {
      if (type === 'due.run') {
        const item = this.due.get(input['id'] as number)
        this.due.delete(input['id'] as number)
        if (item !== undefined) this.runDue(item, at)
      } else if (OWN.has(type) && this.isOurs(input['user_id'])) this.run(type, input, at)
      else if (FOLLOWS.has(type) || this.isAbout(type, input)) this.run('futures.mark', {}, at)
    }
  }
  /** Of marks that time has moved, and of market agents: whether it is this contract, or what it follows. */
  private isAbout(type: string, input: Readonly<Record<string, unknown>>): boolean {
    const look = input['look'] as { contract?: string; currency_pair?: string } | null | undefined
    if (type === 'futures.mark') return (input['contracts'] as readonly string[]).includes(ID)
    return type.startsWith('agents.') && (look?.contract === ID || look?.currency_pair === TRADED)
  }
  /** The reference may stand elsewhere than when it was last compared. */
  private moved = true
  private run(type: string, input: Readonly<Record<string, unknown>>, at: number): void {
    this.moved = true
    const given = 'id' in input ? { ...input, id: this.ids.get(Number(input['id'])) ?? -1 } : input
    const answer = this.reference.run(type, given as Input, at, [])
    if (answer !== null && 'label' in answer)
      assert.fail(`the reference refuses ${type} ${JSON.stringify(input)}: ${answer.label}`)
    if (answer !== null && 'order' in answer) this.last.set(answer.order.user, answer.order.id)
  }
  private runDue({ command, at: due, input }: DueItem, at: number): void {
    const { contract, user_id } = input as { contract?: string; user_id?: number }
    const ours =
      command === 'futures.minute' ||
      ((command === 'futures.fund' || command === 'futures.unwind') && contract === ID) ||
      (command === 'futures.liquidate' && this.isOurs(user_id))
    if (FOLLOWS.has(command)) this.run('futures.mark', {}, at)
    if (!ours) return
    const item = this.reference.world.due.find(
      (one) => one.kind === command && one.at === due && (command !== 'futures.liquidate' || one.of !== ''),
    )
    assert.ok(item !== undefined, `the platform had ${command} to do at ${due}, the reference has not`)
    this.moved = true
    this.reference.runDue(item, at, [])
  }

  /** Undefined: there is nothing to ask for. */
  request({ n, who }: Step): (Asked & { heard?: (answer: Answer) => void }) | undefined {
    const { user, credential } = this.members[who % this.members.length]!
    const by = { user, credential }
    const asked = (
      command: string,
      call: Call,
      input: object,
      heard?: (answer: Answer) => void,
    ): Asked & { heard?: (answer: Answer) => void } => ({
      by,
      call,
      command,
      predict: () => this.would(command, { user_id: user, ...ACCOUNT, ...input }),
      ...(heard !== undefined && { heard }),
    })
    switch (n[0]! % 14) {
      case 0: {
        const leverage = ['0', '1', '2', '5', '10', '20', '200', '0.5'][n[1]! % 8]!
        const call = {
          method: 'POST',
          path: `/futures/usdt/positions/${TRADED}/leverage`,
          query: { leverage },
        }
        return asked('futures.leverage', call, { contract: TRADED, leverage, cross_leverage_limit: null })
      }
      case 1: {
        const change = `${n[1]! % 2 === 0 ? '' : '-'}${n[2]! % 500}`
        const call = { method: 'POST', path: `/futures/usdt/positions/${TRADED}/margin`, query: { change } }
        return asked('futures.margin', call, { contract: TRADED, change, dual_side: null })
      }
      case 2: {
        const contract = TRADED
        const call = { method: 'DELETE', path: '/futures/usdt/orders', query: { contract } }
        const input = { contract, side: null, exclude_reduce_only: false, text: null }
        return asked('futures.cancel_all', call, input)
      }
      case 3:
      case 4: {
        const mine = this.open.filter((one) => one.user === user)
        const order = mine[n[1]! % Math.max(1, mine.length)]
        if (order === undefined) return undefined
        const path = `/futures/usdt/orders/${order.id}`
        const id = this.ids.get(order.id)
        if (n[2]! % 2 === 0) return asked('futures.cancel', { method: 'DELETE', path }, { id })
        const body = { price: this.price(n[3]!), size: this.size(n[4]!) }
        const input = { id, size: String(body.size), price: body.price, amend_text: null }
        return asked('futures.amend', { method: 'PUT', path, body }, input)
      }
      case 5: {
        const out = n[1]! % 2 === 0
        const sum = String(1 + (n[2]! % 20_000))
        const [from, to] = out ? ['futures', 'spot'] : ['spot', 'futures']
        const body = { currency: 'USDT', from, to, amount: sum, settle: 'usdt' }
        return asked('transfer.create', { method: 'POST', path: '/wallet/transfers', body }, body)
      }
      default:
        return this.place(asked, user, n)
    }
  }
  private place(
    asked: (
      command: string,
      call: Call,
      input: object,
      heard?: (answer: Answer) => void,
    ) => Asked & { heard?: (answer: Answer) => void },
    user: number,
    n: readonly number[],
  ): Asked & { heard?: (answer: Answer) => void } {
    const kind = n[1]! % 10
    const market = kind === 0 || kind === 1
    const order = {
      contract: TRADED,
      size: kind === 2 ? 0 : this.size(n[2]!),
      price: market || kind === 2 ? '0' : this.price(n[3]!),
      tif: market || kind === 2 ? 'ioc' : ['gtc', 'gtc', 'gtc', 'ioc', 'poc', 'fok'][n[4]! % 6]!,
      ...(kind === 2 && { close: true }),
      ...(kind === 3 && { reduce_only: true }),
    }
    const input = { order: { ...PLAIN, ...order, size: String(order.size) } }
    const call = { method: 'POST', path: '/futures/usdt/orders', body: order }
    return asked('futures.place', call, input, ({ body }) => {
      this.ids.set(body.id as number, this.last.get(user)!)
      this.open.push({ id: body.id as number, user })
      this.open = this.open.slice(-60)
    })
  }
  private size(n: number): number {
    return (n % 2 === 0 ? 1 : -1) * (1 + (n % (n % 30 === 0 ? 90_000 : 400)))
  }
  private price(n: number): string {
    return (60_000 * (1 + ((n % 201) - 100) / (n % 40 === 0 ? 300 : 40_000))).toFixed(1)
  }
  /** What the reference would answer now, with nothing done. */
  private would(command: string, input: Readonly<Record<string, unknown>>): string {
    return this.reference.would(command, input as Input, this.now)
  }

  /** Where the platform or the reference has touched anything of it since; without a word of that, always. */
  check(state: State, touched?: Touched): void {
    if (this.broken !== undefined) throw this.broken as Error
    if (touched !== undefined && !this.moved && !touched.priced.has(ID))
      if (!this.members.some(({ user }) => touched.owners.has(user))) return
    this.moved = false
    const { world } = this.reference
    for (const { user } of this.members) {
      const same = (name: string, mine: bigint): void =>
        assert.equal(state.ledger.balance(user, name as 'spot', 'USDT'), mine, `${name} of ${user}`)
      same('futures:usdt', world.balance(`${user} ${ACCOUNT.group}/${ACCOUNT.settle}`))
      same('spot', world.balance(`${user} spot USDT`))
      const [got, wanted] = [
        state.futures.positions.get(user, ID, 'single'),
        world.positions.get(`${user}/${ID}/single`),
      ]
      assert.deepEqual(
        got === undefined ? [] : [got.size, got.cost, got.margin, got.leverage, got.pnl, got.fee, got.fund],
        wanted === undefined
          ? []
          : [
              wanted.size * amount('1'),
              wanted.cost,
              wanted.margin,
              wanted.leverage,
              wanted.pnl,
              wanted.fee,
              wanted.fund,
            ],
        `position of ${user}`,
      )
    }
    const { index, mark } = world.priceOf(ID)
    const price = state.futures.priceOf(ID)!
    assert.deepEqual([price.index, price.mark].map(text), [index, mark].map(text), 'prices')
    let open = 0
    for (const { user } of this.members) open += state.futures.openCount(user, ID)
    assert.equal(open, world.orders.size, 'open orders')
  }
}
