import assert from 'node:assert/strict'
import type { State } from '../../../src/core/state.ts'
import type { DueItem } from '../../../src/core/tables/due.ts'
import { BUILT_IN_WORLD } from '../../../src/core/world/built-in.ts'
import { wakeFund } from '../../futures/reference/liquidation.ts'
import { Reference, type Answer as Told, type Input } from '../../futures/reference/reference.ts'
import { chargeHour } from '../../futures/reference/shared.ts'
import { UNIT, isTrailing, isWaiting, type Order } from '../../futures/reference/world.ts'
import { Random } from '../random.ts'
import type { Asked } from './borrowers.ts'
import type { Cast, Member } from './cast.ts'
import { Gamblers } from './gamblers.ts'
import { Holders } from './holders.ts'
import type { House } from './house.ts'
import { amount, text, type Model } from './model.ts'
import { elsewhere, unitOf, type Elsewhere, type FundMoney } from './overheard.ts'
import { overhearDebts, type Told as DebtsTold } from './overheard-debts.ts'
import type { Step } from './plan.ts'
import type { Said } from './trader-calls-base.ts'
import { sameAccounts } from './trader-checks.ts'
import { TraderCalls } from './trader-calls.ts'
import { ABOUT, FOLLOWS, OF_CONTRACT, OWN } from './trader-commands.ts'
import type { UnifiedModel } from './unified-model.ts'
import type { Touched } from './watch.ts'

/** A contract that nobody else trades in, and what its index is the price of. */
export const TRADED = 'BTC_USDT'
const BASE = 'BTC'
const ID = `futures/usdt/${TRADED}`
const ACCOUNT = 'futures/usdt'
/** What they begin with. The last but one does nothing but ruin himself, the last one is rich and stands by. */
const FUNDS = [9_000, 9_000, 6_000, 9_000, 2_000, 12_000, 250_000, 9_000_000] as const
/** Cross margin up to a limit, or isolated. */
const LEVERAGES = ['0/100', '100', '100', '0/100', '0/125', '25', '0/50', '0/10'] as const
/** Of so many steps some are none of a trader's, and in some two of them meet. */
const KINDS = 48
const HELPS = 1
const MOVES = 5
const MEETS = 9
const RUINS = 10
const RACES = 13
const HOLDS = 20
const GAMBLES = 23
const isHeld = (kind: number): boolean => kind >= RACES && kind < HOLDS
/** Of a step. */
export const PARTS = 3
const RUIN_CHANCE = 0.25
const INDEX = 60_000
/** Contracts of an order, of which two ruin who begins with this much. */
const RUIN_SIZE = 600_000
const RUINED = '200000'
/** Of an order that takes what the fund has. */
const STAND_BY = 900_000
/** Who has less is given some more now and then. */
const POOR = amount('1000')
/** Contracts that a unified account holds and orders, at most. */
const HELD = 60_000
/** Of what has ended so much is kept, to be asked for once more. */
const KEPT = 40
type Recorded = readonly [at: number, type: string, input: Readonly<Record<string, unknown>>]
type Request = Asked & Required<Pick<Asked, 'heard'>>

/**
 * Accounts that trade a contract among themselves, beside the naive reference of contracts (`test/futures/reference`): it is
 * asked first what a request will be answered, and carries out what the platform has recorded, in the same order.
 */
export class Traders {
  private readonly house: House
  private readonly cast: Cast
  private reference!: Reference
  private readonly members: Member[] = []
  /** By the time of the command. */
  private readonly heard = new Map<number, Elsewhere>()
  /** Told when it is looked at: it is nothing that the platform should stumble over. */
  private broken: unknown
  /** What the reference answered each of them last. */
  private readonly answers = new Map<number, Told>()
  readonly holders: Holders
  private known: { readonly id: number; readonly user: number }[] = []

  readonly gamblers: Gamblers
  private readonly debtsHeard = new Map<number, DebtsTold>()

  constructor(
    house: House,
    cast: Cast,
    unified: () => UnifiedModel,
    spot: Model,
    note: (what: string) => void,
  ) {
    this.house = house
    this.cast = cast
    this.holders = new Holders(house, cast, unified)
    this.gamblers = new Gamblers(house, this.holders, () => this.reference, unified, spot, note)
  }
  async begin(): Promise<void> {
    const config = BUILT_IN_WORLD.contracts!.find(
      ({ group, underlying }) => group === 'futures' && underlying === TRADED,
    )!
    this.reference = new Reference([config])
    for (const sum of FUNDS) {
      const { user_id: user, credential } = await this.house.user()
      this.members.push({ user, credential })
      this.cast.followed.add(user)
      this.reference.addUser(user, 0, 0)
      const body = await this.credit(user, String(sum))
      this.reference.run('user.credit', { user_id: user, ...body } as never, 0, [])
    }
    await this.holders.begin(this.reference.world, (user) => this.reference.addUser(user, 0, 0))
    const row = this.house.state.futures.priceOf(ID)!
    const { index, mark, funding_rate: rate, next_funding: nextFunding } = row
    this.reference.begin(this.now, () => ({ index, mark, rate, nextFunding }))
    this.gamblers.begin()
    await this.house.settle()
    this.house.applied = (applied) => {
      const told = elsewhere(applied, ID, (user) => this.isOurs(user))
      if (told === undefined) this.heard.delete(applied.at)
      else this.heard.set(applied.at, told)
      if (told?.wakes === true) this.waking = true
      const debts = overhearDebts(applied, (user) => this.gamblers.isOne(user))
      if (debts === undefined) this.debtsHeard.delete(applied.at)
      else this.debtsHeard.set(applied.at, debts)
    }
    this.house.recorded = (commands) => {
      try {
        if (this.broken === undefined) this.carryOut(commands)
      } catch (error) {
        this.broken = error
      }
    }
    for (const [i, { credential }] of this.members.entries()) {
      const [leverage, limit] = LEVERAGES[i]!.split('/') as [string, string | undefined]
      const query = { leverage, ...(limit !== undefined && { cross_leverage_limit: limit }) }
      const path = `/futures/usdt/positions/${TRADED}/leverage`
      assert.equal((await this.house.call(credential, { method: 'POST', path, query })).label, '')
    }
  }
  private get now(): number {
    return this.house.platform.desk.clock.peek()
  }
  private isOurs(user: unknown): boolean {
    return this.holders.isOne(user) || this.members.some((member) => member.user === user)
  }
  private get everybody(): readonly Member[] {
    return [...this.members, ...this.holders.members]
  }
  private async credit(user: number, sum: string): Promise<object> {
    const body = { account: 'futures', currency: 'USDT', settle: 'usdt', amount: sum }
    await this.house.ok('POST', `/users/${user}/credit`, body)
    return body
  }

  private carryOut(commands: string): void {
    if (!this.waking && !ABOUT.test(commands)) return
    this.waking = false
    for (const [at, type, input] of JSON.parse(commands) as Recorded[]) {
      const told = this.heard.get(at)
      this.heard.delete(at)
      if (told?.fund !== undefined) this.funds(told.fund, told.fund.before)
      if (type === 'due.run') {
        if (told?.item !== undefined) this.runDue(told.item, at, told)
      } else if (OWN.test(type) && this.isOurs(input['user_id'])) this.run(type, input, at, told)
      else if (type === 'prices.set') this.run(type, input, at, told)
      else if (FOLLOWS.has(type) || this.isAbout(type, input)) this.run('futures.mark', {}, at, told)
      const debts = this.debtsHeard.get(at)
      if (debts !== undefined) this.runDebts(debts, input, told)
      if (told?.wakes === true) this.wake(at, told.fund!)
    }
    this.forget()
  }
  private runDebts(
    debts: DebtsTold,
    input: Readonly<Record<string, unknown>>,
    told: Elsewhere | undefined,
  ): void {
    this.debtsHeard.delete(debts.at)
    this.begins(told)
    this.reference.world.order = told?.begun ?? []
    this.gamblers.carryOut(debts, input)
    const fund = debts.item?.command === 'margin.liquidate' ? told?.fund : undefined
    if (fund !== undefined)
      assert.equal(this.reference.world.balance('insurance usdt'), fund.after, 'the fund')
  }
  /** Of marks that time has moved, and of market agents: whether it is this contract, or what it follows. */
  private isAbout(type: string, input: Readonly<Record<string, unknown>>): boolean {
    const look = input['look'] as { contract?: string; currency_pair?: string } | null | undefined
    if (type === 'futures.mark') return (input['contracts'] as readonly string[]).includes(ID)
    return type.startsWith('agents.') && (look?.contract === ID || look?.currency_pair === TRADED)
  }
  /** A command was carried out by which the fund's next order here was planned. */
  private waking = false
  /** Others have been liquidated, and the fund has something of theirs. */
  private funds({ elsewhere: sum }: FundMoney, has: bigint): void {
    const { world } = this.reference
    world.money.set('insurance usdt', has)
    world.fundElsewhere = sum
  }
  /** Whoever did it, the reference must say the same of what the fund has now. */
  private wake(at: number, fund: FundMoney): void {
    this.funds(fund, fund.after)
    const { world } = this.reference
    world.at = at
    wakeFund(world)
    assert.ok(
      world.due.some((one) => one.kind === 'futures.unwind' && one.of === ID),
      'the fund has nothing to do here',
    )
  }
  /** The reference may stand elsewhere than when it was last compared. */
  private moved = true
  /** Others draw ids in between. */
  private begins(told: Elsewhere | undefined): void {
    this.moved = true
    for (const [counter, id] of Object.entries(told?.first ?? {}))
      this.reference.world.counters[counter] = id - 1
  }
  private run(
    type: string,
    input: Readonly<Record<string, unknown>>,
    at: number,
    told: Elsewhere | undefined,
  ): void {
    this.begins(told)
    const given = 'id' in input ? { ...input, id: Number(input['id']) } : input
    const answer = this.reference.run(type, given as Input, at, told?.begun ?? [])
    if (answer !== null && 'label' in answer)
      assert.fail(`the reference refuses ${type} ${JSON.stringify(input)}: ${answer.label}`)
    if (OWN.test(type)) this.answers.set(input['user_id'] as number, answer)
  }
  private runDue(item: DueItem, at: number, told: Elsewhere): void {
    const { command, at: due, input } = item
    if (FOLLOWS.has(command)) this.run('futures.mark', {}, at, told)
    const { world } = this.reference
    if (told.hourly !== undefined) {
      this.moved = true
      chargeHour(world, ACCOUNT, due, told.hourly, UNIT)
    }
    const of = command === 'futures.liquidate' ? unitOf(item) : ((input['contract'] ?? '') as string)
    const isThat = (one: (typeof world.due)[number]): boolean =>
      one.kind === command &&
      one.at === due &&
      one.of === of &&
      (command !== 'futures.price_order.expire' || one.input['id'] === input['id'])
    const ours =
      command === 'futures.minute' ||
      (OF_CONTRACT.has(command) && of === ID) ||
      (command === 'futures.liquidate' && this.isOurs(input['user_id'])) ||
      (command === 'futures.price_order.expire' && world.priceOrders.has(input['id'] as number))
    if (!ours) return
    const found = world.due.find(isThat)
    assert.ok(found !== undefined, `the platform had ${command} to do at ${due}, the reference has not`)
    this.begins(told)
    const { fund } = told
    this.reference.runDue(found, at, told.begun)
    if (fund !== undefined) assert.equal(world.balance('insurance usdt'), fund.after, 'the fund')
  }
  /** Of what has ended nobody asks for the oldest any more. */
  private forget(): void {
    const { priceOrders, trails, chases, ended } = this.reference.world
    const drop = <T extends { readonly id: number }>(
      rows: Map<number, T>,
      lives: (row: T) => boolean,
    ): void => {
      if (rows.size < 2 * KEPT) return
      for (const row of [...rows.values()].filter((one) => !lives(one)).slice(0, -KEPT)) rows.delete(row.id)
    }
    drop(priceOrders, isWaiting)
    drop(trails, isTrailing)
    drop(chases, ({ status }) => status === 'active')
    if (ended.size < 2 * KEPT) return
    const known = new Set([...this.known.map(({ id }) => id), ...[...ended.keys()].slice(-KEPT)])
    for (const id of ended.keys()) if (!known.has(id)) ended.delete(id)
  }

  /** What is due by now is done, so that nothing comes between a question and its answer. */
  async ready(): Promise<void> {
    if (this.gamblers.anyWaits || this.reference.world.due.some(({ at }) => at <= this.now))
      await this.house.drain()
  }
  /** The index moves, or somebody gets money; false: it is a request. */
  async happens({ n, who }: Step): Promise<string | undefined> {
    const random = new Random(n[1]!)
    const kind = n[0]! % KINDS
    if (kind < HELPS) {
      const { world } = this.reference
      const poor = this.members.filter(({ user }) => world.balance(`${user} ${ACCOUNT}`) < POOR)
      if (await this.holders.help()) return 'help of a holder'
      if (poor.length === 0) return undefined
      await this.credit(random.pick(poor).user, String(500 * (4 + random.below(15))))
      return 'help'
    }
    if (kind >= MEETS && kind < RUINS && random.chance(RUIN_CHANCE)) {
      await this.ruin()
      return 'ruin'
    }
    const way = kind >= HOLDS && kind < GAMBLES && n[5]! % 2 === 0 ? this.gamblers.ruinedBy(who) : 0
    if (way !== 0) {
      await this.moveIndex(1 + (way * (1 + random.below(8))) / 100)
      return 'index against a gambler'
    }
    if (kind >= MOVES) return undefined
    // Now and then one way, again and again.
    const storm = random.chance(0.15)
    const sign = random.pick([1, -1])
    for (let i = storm ? 5 : 1; i > 0; i--) {
      const by = storm
        ? (sign * (3 + random.below(25))) / 1_000
        : random.pick([0.002, 0.01, 0.02, 0.05, 0.15, 0.15]) * (random.below(2001) / 1000 - 1)
      await this.moveIndex(1 + by)
    }
    return storm ? 'storm' : 'index'
  }
  /** One takes so much that the fund can't bear what he loses when the price is gone at once: others are deleveraged. */
  private async ruin(): Promise<void> {
    const [one, other] = this.members.slice(-2) as [Member, Member]
    const { world } = this.reference
    await this.credit(one.user, RUINED)
    const up = world.priceOf(ID).index < amount(String(INDEX))
    const price = (Number(world.priceOf(ID).mark) / 1e18).toFixed(1)
    for (const by of [other, one, other, one]) {
      await this.ready()
      const size = (by === one) === up ? -RUIN_SIZE : RUIN_SIZE
      const said = this.calls(by.user, new Random(0)).limit(size, price, by === one ? 'ioc' : 'gtc')
      const { call, predict, heard } = this.asked(by, said)
      const expected = predict()
      const answer = await this.house.call(by.credential, call)
      assert.equal(answer.label, expected, `POST ${call.path} ${JSON.stringify(call.body)}`)
      if (answer.label === '') heard(answer)
    }
    await this.moveIndex(up ? 1.3 : 0.7)
  }
  private async moveIndex(times: number): Promise<void> {
    const price = (Number(this.reference.world.priceOf(ID).index) / 1e18) * times
    const inside = price > INDEX * 0.6 && price < INDEX * 1.6
    await this.house.ok('PUT', '/prices', { [BASE]: inside ? price.toFixed(2) : String(INDEX) })
  }
  /**
   * Somebody takes what the fund has: else it, which tries every second to be rid of that, would do nothing else for the
   * whole of a long move of the clock.
   */
  async standBy(): Promise<void> {
    await this.ready()
    const { world } = this.reference
    const { size } = world.position(0, world.contract(ID), 'single')
    if (size === 0n) return
    const { credential } = this.members.at(-1)!
    const { mark, index } = world.priceOf(ID)
    const [low, high] = (mark < index ? [mark, index] : [index, mark]).map((one) => Number(one) / 1e18)
    const price = (size > 0n ? high! * 0.998 : low! * 1.002).toFixed(1)
    const query = { contract: TRADED }
    await this.house.call(credential, { method: 'DELETE', path: '/futures/usdt/orders', query })
    for (let left = Number(size); left !== 0;) {
      const part = Math.sign(left) * Math.min(Math.abs(left), STAND_BY)
      left -= part
      const body = { contract: TRADED, size: part, price, tif: 'gtc' }
      await this.house.call(credential, { method: 'POST', path: '/futures/usdt/orders', body })
    }
  }
  /** Whether the fund has something of them. */
  get fundHolds(): boolean {
    const { world } = this.reference
    return world.position(0, world.contract(ID), 'single').size !== 0n
  }

  /** Undefined: there is nothing to ask for. What two of them do together are parts of one step. */
  request({ n, who }: Step, part = 0): Request | undefined {
    const kind = n[0]! % KINDS
    const meets = kind >= MOVES && kind < MEETS
    const races = kind >= RUINS && kind < RACES
    if (kind >= HOLDS && kind < GAMBLES) return this.gamble(part, who, n[1]!)
    const trades = isHeld(kind) && n[4]! % 2 === 0
    if (part >= (races ? 3 : meets || trades ? 2 : 1)) return undefined
    if (isHeld(kind) && part === 0) {
      const holder = this.holders.drawn(who)
      const calls = this.calls(holder.user, new Random(n[1]!), HELD)
      const isTooMuch = n[3]! % 6 === 0
      const other = this.holders.isIsolated(holder.user) ? calls.holdingApart() : calls.holding()
      const said = isTooMuch ? calls.tooMuch() : trades ? calls.offering() : other
      this.offer = said
      if (said === undefined || (isTooMuch && this.wouldBe(said) === '')) return undefined
      return this.asked(holder, said)
    }
    if (trades && this.offer === undefined) return undefined
    const by = this.members[(who + (part % 2)) % (this.members.length - 2)]!
    const calls = this.calls(by.user, new Random(n[1]! + part))
    const said = races
      ? calls.race(part, n[2]! % 2 === 0)
      : !meets && !trades
        ? calls.any()
        : part === 0
          ? (this.offer = calls.offer())
          : calls.taking(this.offer!)
    return said === undefined ? undefined : this.asked(by, said)
  }
  /** The rich one offers what a gambler then takes. */
  private gamble(part: number, who: number, seed: number): Request | undefined {
    if (part > 1) return undefined
    const takes = this.gamblers.takes(who, seed, ID)
    if (takes === undefined) return undefined
    const random = new Random(seed)
    if (part === 1) return this.asked(takes.by, this.calls(takes.by.user, random).taking(this.offer!))
    const rich = this.members.at(-1)!
    const { mark } = this.reference.world.priceOf(ID)
    this.offer = this.calls(rich.user, random).limit(-takes.size, (Number(mark) / 1e18).toFixed(1), 'gtc')
    return this.asked(rich, this.offer)
  }
  /** After a request of a unified account: what it is shown is what the model counts. */
  async seen({ n, who }: Step): Promise<void> {
    if (!isHeld(n[0]! % KINDS)) return
    await this.ready()
    await this.holders.seen(who)
  }
  private offer: Said | undefined
  private calls(user: number, random: Random, cap?: number): TraderCalls {
    const { world } = this.reference
    const { orders } = this.house.state.futures
    return new TraderCalls({
      world,
      user,
      random,
      name: TRADED,
      open: world.openOf(user, ID).filter(({ id }) => orders.get(id)?.user_id === user),
      known: this.known.filter((one) => one.user === user).map(({ id }) => id),
      ...(cap !== undefined && { cap }),
    })
  }
  private asked(by: Member, { command, call, input }: Said): Request {
    return {
      by,
      call,
      command,
      predict: () => {
        // What changes nothing is never recorded.
        this.answers.delete(by.user)
        return this.wouldBe({ command, input })
      },
      heard: ({ body }) => this.compare(by.user, body),
    }
  }
  private wouldBe({ command, input }: Pick<Said, 'command' | 'input'>): string {
    return this.reference.would(command, input as Input, this.now)
  }
  /** What is told of orders is what the reference says of them. */
  private compare(user: number, body: unknown): void {
    const answer = this.answers.get(user)
    if (answer === undefined || answer === null) return
    if ('order' in answer) this.told(body, answer.order)
    if (!('items' in answer)) return
    for (const [i, item] of (body as Record<string, unknown>[]).entries()) {
      const wanted: Order | string = answer.items[i]!
      if (typeof wanted !== 'string') {
        if ('status' in item) this.told(item, wanted)
        else assert.equal(item['succeeded'], true)
      } else assert.equal(item['label'] ?? item['message'], wanted, JSON.stringify(item))
    }
  }
  private told(body: unknown, order: Order): void {
    const got = body as Readonly<Record<string, unknown>>
    const sign = order.buy ? 1n : -1n
    assert.deepEqual(
      [got['size'], got['left'], got['price'], got['tif'], got['status'], got['finish_as'] ?? 'open'],
      [
        Number(sign * order.amount),
        Number(sign * order.left),
        text(order.price),
        order.tif,
        order.status === 'open' ? 'open' : 'finished',
        order.finish,
      ],
      `order ${String(got['id'])}`,
    )
    this.known.push({ id: got['id'] as number, user: order.user })
    this.known = this.known.slice(-KEPT)
  }

  /**
   * Where the platform or the reference has touched anything of it since; without a word of that, always. Tells whether
   * it has.
   */
  check(state: State, touched?: Touched): boolean {
    if (this.broken !== undefined) throw this.broken as Error
    if (touched !== undefined && !this.moved && !touched.priced.has(ID))
      if (!this.everybody.some(({ user }) => touched.owners.has(user))) return false
    this.moved = false
    const { world } = this.reference
    this.holders.check(state)
    const users = this.everybody.map(({ user }) => user)
    sameAccounts(state, world, ID, ACCOUNT, users, (user) => this.holders.isOne(user))
    return true
  }
  /** What has happened in the reference, and how often. */
  get met(): ReadonlyMap<string, number> {
    return this.reference.world.met
  }
}
