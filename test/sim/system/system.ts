import assert from 'node:assert/strict'
import { heldBy, type Withdrawal } from '../../../src/core/tables/withdrawals.ts'
import type { State } from '../../../src/core/state.ts'
import { prove } from '../../futures/prove.ts'
import { Acts, CHAIN } from './acts.ts'
import { Cast, type Member } from './cast.ts'
import { Ears } from './ears.ts'
import { House } from './house.ts'
import { Model, amount, text } from './model.ts'
import type { Step } from './plan.ts'
import { walked } from './reach.ts'
import { Shadow } from './shadow.ts'
import { MAY_OWE, Watch, both } from './watch.ts'

/** The first look at everything comes after so many steps, the next ones as much later as a quarter of what has been. */
const LOOK_FIRST = 150
const LOOK_GROWTH = 4
/** The files are added up again here and at the end. Up to so many steps they are also replayed from the first command on. */
const VERIFY_AT = 300
const REPLAY_STEPS = 1_000

/** A seeded history of the whole platform, through its real pipeline, beside a naive model of its rules. */
export class System {
  readonly reached = new Map<string, number>()
  readonly house: House
  private model!: Model
  private cast!: Cast
  private acts!: Acts
  private readonly watch = new Watch((command) => walked(command, (what) => this.note(what)))
  private readonly ears: Ears
  private readonly shadow = new Shadow((command) => this.note(`command ${command}`))
  /** There is another process: everything is looked at after this step. */
  private restarted = false

  /** Everything is looked at after every step. */
  private readonly always: boolean

  /** `threaded`: the first of its lives that runs the store with its threads. */
  constructor(threaded = 0, always = false) {
    this.always = always
    this.house = new House(threaded)
    this.ears = new Ears(this.house)
  }
  /** `over`: asked after each step whether it is the last one, whatever is left. Tells how many there were. */
  async run(
    steps: readonly Step[],
    told?: (step: number) => void,
    over: () => boolean = () => false,
  ): Promise<number> {
    this.house.begun = () => {
      this.restarted = true
      this.ears.gone()
      this.watch.follow(this.house.state, this.house.platform.desk.core.commits)
    }
    this.house.refused = (label) => this.note(`label ${label}`)
    await this.house.open()
    let lookAt = LOOK_FIRST
    let done = 0
    try {
      await this.begin()
      for (const [i, step] of steps.entries()) {
        let last = i === steps.length - 1
        try {
          await this.acts.take(step)
          await this.check()
          await this.ears.listen(this.cast.families[0]!.main)
          if (this.always || this.restarted || i + 1 >= lookAt) {
            await this.look()
            lookAt = i + 1 + Math.max(LOOK_FIRST, Math.floor(i / LOOK_GROWTH))
          }
          last ||= over()
          if (i + 1 === VERIFY_AT || last) await this.verify(i < REPLAY_STEPS)
        } catch (error) {
          throw new Violation(i, step, error)
        }
        done++
        told?.(i)
        if (last) break
      }
      this.tellMet()
      return done
    } finally {
      await this.house.close()
    }
  }
  /** With nobody there yet. */
  private async begin(): Promise<void> {
    const { house } = this
    this.model = new Model()
    this.cast = new Cast(house, this.model)
    const note = (what: string): void => this.note(what)
    const startOver = (): Promise<void> => this.startOver()
    this.acts = new Acts({ house, model: this.model, cast: this.cast, note, startOver })
    await this.cast.begin()
    for (const chain of ['ETH', CHAIN])
      await this.house.ok('PATCH', `/chains/${chain}`, { auto_mine_seconds: 0 })
    await this.acts.money.begin()
    await this.house.ok('PUT', '/prices', { BTC: '60000' })
    await this.acts.prices(3000, 150)
    await this.acts.borrowers.begin()
    await this.acts.traders.begin()
    await this.acts.debtors.begin()
    this.hour = this.hourNow
    await this.check()
  }
  private async startOver(): Promise<void> {
    // What has happened since the last look would never be looked at.
    await this.look()
    this.tellMet()
    this.house.recorded = () => undefined
    this.house.applied = () => undefined
    await this.house.reset()
    this.shadow.forget()
    this.watch.owing.clear()
    await this.begin()
    this.note('reset ok')
  }
  /** What has happened among the traders, as their reference tells it. */
  private tellMet(): void {
    for (const [what, times] of this.acts.traders.met) {
      const name = `contracts: ${what}`
      this.reached.set(name, (this.reached.get(name) ?? 0) + times)
    }
  }
  private hour = 0
  private get hourNow(): number {
    return Math.floor(this.house.now / 3_600)
  }
  private note(what: string): void {
    this.reached.set(what, (this.reached.get(what) ?? 0) + 1)
  }

  /** After every step: what it changed adds up, leaves nobody below zero, and is what the model says. */
  private async check(): Promise<void> {
    await this.house.settle()
    let touched = this.watch.check()
    // What a platform did that died in the middle of a move of the clock is known by the hours that it told.
    if (this.hour !== this.hourNow || this.restarted || touched.lost) {
      await this.acts.borrowers.catchUp()
      // What fell due meanwhile, models are told of when it has landed.
      await this.house.settle()
      touched = both(touched, this.watch.check())
    }
    if (touched.lost) this.restarted = true
    this.hour = this.hourNow
    const { state } = this.house
    const users = new Set([...touched.owners, ...this.model.touched()])
    this.acts.borrowers.check(state, users)
    if (this.acts.traders.check(state, touched)) await this.acts.traders.gamblers.check(state)
    await this.acts.debtors.check(state, users)
    for (const user of users) if (this.cast.members.has(user)) this.balances(state, user)
  }
  private balances(state: State, user: number): void {
    for (const currency of ['BTC', 'USDT', 'ETH'])
      assert.equal(
        state.ledger.balance(user, 'spot', currency),
        this.model.spot(user, currency),
        `spot ${currency} of ${user}`,
      )
    assert.equal(
      state.ledger.balance(user, 'futures:usdt', 'USDT'),
      this.model.futuresOf(user),
      `contract account of ${user}`,
    )
  }
  /** Everything, whatever a step touched: sums, contracts, holds, all balances; memory, tables and commands. */
  private async look(): Promise<void> {
    await this.house.settle()
    this.restarted = false
    const { state } = this.house
    const sums = new Map<string, bigint>()
    for (const { owner, name, currency, amount: sum } of state.ledger.accounts.values()) {
      sums.set(currency, (sums.get(currency) ?? 0n) + sum)
      if (owner !== 0 && !MAY_OWE.test(name))
        assert.ok(
          sum >= 0n || this.watch.owing.has(`${owner} ${name} ${currency}`),
          `${owner} ${name} ${currency} is ${sum}`,
        )
    }
    for (const [currency, sum] of sums) assert.equal(sum, 0n, `conservation of ${currency}`)
    prove(state, { quiet: false, owing: this.watch.owing })
    proveHolds(state)
    for (const user of this.cast.members.keys()) this.balances(state, user)
    this.acts.borrowers.check(state)
    this.acts.traders.check(state)
    await this.acts.traders.gamblers.check(state)
    await this.acts.debtors.check(state)
    while (!(await this.house.sight((sight) => this.shadow.compare(this.house, sight))))
      this.note('fell due meanwhile')
    this.note('looked at everything')
    if (
      await this.ears.compare((currency) => text(this.model.spot(this.cast.families[0]!.main.user, currency)))
    )
      this.note('sockets heard what there is')
  }
  /** As clients see it, and as the files have it, from the first command on. */
  private async verify(replayed: boolean): Promise<void> {
    await this.look()
    for (const member of this.cast.members.values()) await this.seen(member)
    await this.acts.borrowers.look()
    await this.acts.debtors.look()
    await this.acts.traders.holders.look()
    for (const { main } of this.cast.withdrawing) await this.paidOnce(main)
    assert.deepEqual(await this.house.verify(replayed), [])
    this.note('verified')
  }
  private async seen({ user, credential }: Member): Promise<void> {
    const { body } = await this.house.call(credential, { method: 'GET', path: '/spot/accounts' })
    for (const { currency, available, locked } of body as Record<string, string>[]) {
      assert.equal(available, text(this.model.spot(user, currency!)), `available ${currency!} of ${user}`)
      if (currency !== 'ETH')
        assert.equal(locked, text(this.model.market.held(user, currency!)), `locked ${currency!} of ${user}`)
      else assert.ok(amount(locked!) <= (await this.onTheirWay(user)), `locked ETH of ${user}`)
    }
  }
  /** All of them: what clients are shown is of the last days. */
  private async withdrawals(user: number): Promise<{ amount: string; status: string }[]> {
    const all: { amount: string; status: string }[] = []
    for (;;) {
      const path = `/withdrawals?user_id=${user}&limit=1000&offset=${all.length}`
      const rows = (await this.house.ok('GET', path)) as typeof all
      all.push(...rows)
      if (rows.length < 1000) return all
    }
  }
  private async onTheirWay(user: number): Promise<bigint> {
    return (await this.withdrawals(user))
      .filter(({ status }) => status !== 'DONE')
      .reduce((sum, one) => sum + amount(one.amount), 0n)
  }
  /** What was asked for was asked for once: the records are those of the model. */
  private async paidOnce({ user }: Member): Promise<void> {
    const asked = (await this.withdrawals(user)).reduce((sum, one) => sum + amount(one.amount), 0n)
    assert.equal(asked, this.model.gone.get(user) ?? 0n, `withdrawals of ${user}`)
  }
}

/** What is locked is what open orders and waiting withdrawals hold, account by account. */
function proveHolds(state: State): void {
  const differences = new Map<string, bigint>()
  const add = (owner: number, name: string, currency: string, by: bigint): void => {
    const key = `${owner} ${name} ${currency}`
    differences.set(key, (differences.get(key) ?? 0n) + by)
  }
  for (const { owner, name, currency, amount: sum } of state.ledger.accounts.values())
    if (name.endsWith('.locked')) add(owner, name, currency, sum)
  const tables = new Map(state.tables.map((table) => [table.spec.name, table]))
  interface Holding {
    user_id: number
    account?: string
    pair: string
    side: string
    held: bigint
    status?: string
  }
  for (const name of ['spot_order', 'spot_pov_order']) {
    const { live } = tables.get(name)!.spec
    for (const row of tables.get(name)!.values()) {
      const { user_id, account, pair, side, held } = row as Holding
      if (live?.(row) === false) continue
      const [base, quote] = pair.split('_') as [string, string]
      const locked = account === 'margin' ? `margin:${pair}.locked` : 'spot.locked'
      add(user_id, locked, side === 'buy' ? quote : base, -held)
    }
  }
  for (const row of tables.get('withdrawal')!.values() as Iterable<Withdrawal>)
    add(row.user_id, 'spot.locked', row.currency, -heldBy(row))
  for (const [account, difference] of differences)
    assert.equal(difference, 0n, `${account} holds ${difference} more than orders and withdrawals say`)
}

/** What went wrong, and at which step. */
export class Violation extends Error {
  readonly step: number
  constructor(step: number, what: Step, cause: unknown) {
    super(`step ${step} (${what.act}): ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.step = step
  }
}
