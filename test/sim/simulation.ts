import assert from 'node:assert/strict'
import { Auditor, outcomeOf, type Outcome } from './auditor.ts'
import { Random } from './random.ts'
import { SimulatedWorld } from './world.ts'

/** `COVERAGE`: what a simulation must have reached, or it tested nothing. */
export const COVERAGE = [
  'user.create ok',
  'user.create INVALID_PARAM_VALUE',
  'sub.create ok',
  'credit ok',
  'credit INVALID_CURRENCY',
  'transfer ok',
  'transfer BALANCE_NOT_ENOUGH',
  'transfer MARGIN_BALANCE_NOT_ENOUGH',
  'transfer FUTURES_BALANCE_NOT_ENOUGH',
  'transfer TOO_MUCH_FUTURES_AVAILABLE',
  'lock ok',
  'lock SUB_ACCOUNT_NOT_FOUND',
  'key.create ok',
  'key.delete ok',
  'key.delete NOT_FOUND',
  'stp.create ok',
  'stp.add ok',
  'stp.add INVALID_PARAM_VALUE',
  'stp.remove ok',
  'ceiling ok',
] as const

const amountText = (units: bigint): string => {
  const digits = units.toString().padStart(9, '0')
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

/** A seeded history of random commands on the real core and store, checked after every step. */
export class Simulation {
  private readonly random: Random
  private readonly auditor = new Auditor()
  private readonly users: number[] = []
  private readonly subs: { user_id: number; parent: number }[] = []
  private readonly keys: { key: string; user_id: number; main: number }[] = []
  private readonly groups: { id: number; owner: number; members: Set<number> }[] = []
  private readonly world: SimulatedWorld
  readonly reached = new Set<string>()
  private made = 0

  constructor(seed: number) {
    this.random = new Random(seed)
    this.world = new SimulatedWorld()
  }
  async run(steps: number): Promise<void> {
    await this.world.open()
    try {
      await this.createUser()
      for (let step = 0; step < steps; step++) {
        const killed = this.random.chance(0.1)
        if (killed) await this.world.holdBack()
        // Some commands at once, so that batches hold several and refusals fall among them.
        const commands = Array.from({ length: 1 + this.random.below(4) }, () => this.act())
        await Promise.all(commands)
        this.world.pass(this.random.below(3600))
        assert.equal(this.world.fatal, undefined)
        // In any order: what comes before a restart is in the journal alone, what comes after it is not.
        if (this.random.chance(0.1)) await this.world.evict()
        if (this.random.chance(0.05)) await this.world.reconfigure(`0.000${1 + this.random.below(9)}`)
        if (killed) await this.world.restart()
        else if (this.random.chance(0.05)) await this.world.stopAndStart()
        if (this.random.chance(0.1)) await this.world.evict()
        this.auditor.compare(this.world.state)
        // All of the files is read again for it.
        if (killed || step % 4 === 0 || step === steps - 1) {
          await this.world.memoryEqualsStore()
          await this.world.replayEqualsState()
        }
      }
      const { drained, stopped, evicted, reconfigured } = this.world
      assert.ok(drained > 0, 'no start ever found anything in the journal')
      assert.ok(stopped > 0, 'it was never stopped')
      assert.ok(evicted > 0, 'no row ever left memory')
      assert.ok(reconfigured > 0, 'the configuration was never another')
    } finally {
      await this.world.close()
    }
  }
  private note(what: string, outcome: Outcome): void {
    this.reached.add(`${what} ${outcome}`)
  }
  private act(): Promise<void> {
    const acts: readonly (readonly [weight: number, act: () => Promise<void>])[] = [
      [1, () => this.createUser()],
      [1, () => this.createSub()],
      [4, () => this.credit()],
      [10, () => this.transfer()],
      [1, () => this.lock()],
      [2, () => this.createKey()],
      [1, () => this.deleteKey()],
      [2, () => this.stp()],
      [1, () => this.ceiling()],
    ]
    let ticket = this.random.below(acts.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, act] of acts) {
      ticket -= weight
      if (ticket < 0) return act()
    }
    throw new Error('unreachable')
  }

  private async createUser(): Promise<void> {
    const taken = this.random.chance(0.3) && this.made > 0
    const login_name = taken ? 'sim_1' : `sim_${++this.made}`
    const input = {
      login_name,
      email: null,
      password_hash: null,
      remark: '',
      vip: 0,
      parent_id: 0,
      type: 1 as const,
      actor: null,
    }
    const outcome = await outcomeOf(
      this.world.core.submit('user.create', input).then(({ user_id }) => this.users.push(user_id)),
    )
    assert.equal(outcome, taken ? 'INVALID_PARAM_VALUE' : 'ok')
    this.note('user.create', outcome)
  }
  private async createSub(): Promise<void> {
    const parent = this.random.pick(this.users)
    const input = {
      login_name: `sim_${++this.made}`,
      email: null,
      password_hash: null,
      remark: '',
      vip: 0,
      parent_id: parent,
      type: 1 as const,
      actor: null,
    }
    const { user_id } = await this.world.core.submit('user.create', input)
    this.subs.push({ user_id, parent })
    this.note('sub.create', 'ok')
  }
  private get anybody(): number {
    return this.random.chance(0.3) && this.subs.length > 0
      ? this.random.pick(this.subs).user_id
      : this.random.pick(this.users)
  }
  private async credit(): Promise<void> {
    const user_id = this.anybody
    const currency = this.random.pick(['BTC', 'USDT', 'USDT', 'NONE'])
    const units = BigInt(1 + this.random.below(1e9))
    const command = this.world.core.submit('user.credit', {
      user_id,
      account: 'spot',
      currency,
      amount: amountText(units),
      currency_pair: null,
      settle: null,
      actor: 'sim',
    })
    if (currency !== 'NONE') this.auditor.credit(user_id, 'spot', currency, units)
    const outcome = await outcomeOf(command)
    assert.equal(outcome, currency === 'NONE' ? 'INVALID_CURRENCY' : 'ok')
    this.note('credit', outcome)
  }
  private async transfer(): Promise<void> {
    const user_id = this.anybody
    const kind = this.random.pick(['margin', 'futures'] as const)
    const currency = kind === 'futures' ? 'USDT' : this.random.pick(['BTC', 'USDT'])
    const name = kind === 'futures' ? 'futures:usdt' : 'margin:BTC_USDT'
    const there = this.random.chance(0.6)
    const [from, to] = there ? (['spot', kind] as const) : ([kind, 'spot'] as const)
    const available = this.auditor.balance(user_id, there ? 'spot' : name, currency)
    // Often exactly everything, now and then one unit more.
    const units = this.random.pick([
      available,
      available + 1n,
      available / 2n + 1n,
      BigInt(1 + this.random.below(1e6)),
    ])
    if (units === 0n) return
    const command = this.world.core.submit('transfer.create', {
      user_id,
      currency,
      from,
      to,
      amount: amountText(units),
      currency_pair: 'BTC_USDT',
      settle: 'usdt',
    })
    const predicted = this.auditor.transfer(
      user_id,
      there ? 'spot' : name,
      there ? name : 'spot',
      currency,
      units,
    )
    const outcome = await outcomeOf(command)
    assert.equal(outcome, predicted, `transfer of ${units} ${currency} of ${user_id} from ${from} to ${to}`)
    this.note('transfer', outcome)
  }
  private async lock(): Promise<void> {
    const wrong = this.random.chance(0.3) || this.subs.length === 0
    const sub = wrong ? { user_id: 1, parent: this.users[0]! } : this.random.pick(this.subs)
    const state = this.random.pick([1, 2] as const)
    const outcome = await outcomeOf(
      this.world.core.submit('sub_account.lock', { main: sub.parent, user_id: sub.user_id, state }),
    )
    assert.equal(outcome, wrong ? 'SUB_ACCOUNT_NOT_FOUND' : 'ok')
    this.note('lock', outcome)
  }
  private async createKey(): Promise<void> {
    if (this.subs.length === 0) return
    const { user_id, parent } = this.random.pick(this.subs)
    const key = `key_${++this.made}`
    const command = this.world.core.submit('key.create', {
      user_id,
      name: '',
      mode: null,
      perms: [{ name: 'spot', read_only: false }],
      ip_whitelist: [],
      key,
      secret_box: '',
      main: parent,
      actor: null,
    })
    const outcome = await outcomeOf(command)
    if (outcome === 'ok') this.keys.push({ key, user_id, main: parent })
    this.note('key.create', outcome)
  }
  private async deleteKey(): Promise<void> {
    if (this.keys.length === 0) return
    const known = this.random.chance(0.7)
    const at = this.random.below(this.keys.length)
    const target = known ? this.keys.splice(at, 1)[0]! : { ...this.keys[at]!, key: 'none' }
    const outcome = await outcomeOf(this.world.core.submit('key.delete', target))
    assert.equal(outcome, known ? 'ok' : 'NOT_FOUND')
    this.note('key.delete', outcome)
  }
  private async stp(): Promise<void> {
    if (this.groups.length === 0 || this.random.chance(0.2)) {
      const owner = this.random.pick(this.users)
      const outcome = await outcomeOf(
        this.world.core
          .submit('stp_group.create', { user_id: owner, name: `g${++this.made}` })
          .then(({ id }) => this.groups.push({ id, owner, members: new Set() })),
      )
      this.note('stp.create', outcome)
      return
    }
    const group = this.random.pick(this.groups)
    const own = [
      group.owner,
      ...this.subs.filter(({ parent }) => parent === group.owner).map(({ user_id }) => user_id),
    ]
    if (this.random.chance(0.4) && group.members.size > 0) {
      const member = [...group.members][0]!
      group.members.delete(member)
      this.note(
        'stp.remove',
        await outcomeOf(
          this.world.core.submit('stp_group.remove', {
            user_id: group.owner,
            stp_id: group.id,
            members: [member],
          }),
        ),
      )
      return
    }
    // A stranger at the end of the list: those before it must not be added either.
    const stranger = this.random.chance(0.4)
    const free = own.filter((user) => this.groups.every(({ members }) => !members.has(user)))
    const members = [...free.slice(0, 2), ...(stranger ? [1] : [])]
    if (members.length === 0) return
    if (!stranger) for (const member of members) group.members.add(member)
    const outcome = await outcomeOf(
      this.world.core.submit('stp_group.add', { user_id: group.owner, stp_id: group.id, members }),
    )
    assert.equal(outcome, stranger ? 'INVALID_PARAM_VALUE' : 'ok')
    for (const { id, members: expected } of this.groups)
      assert.deepEqual(
        this.world.state.stp.members(id).map(({ user_id }) => user_id),
        [...expected].sort((a, b) => a - b),
        `members of STP group ${id}`,
      )
    this.note('stp.add', outcome)
  }
  private async ceiling(): Promise<void> {
    const user_id = this.anybody
    const units = BigInt(this.random.below(1e9))
    this.auditor.setCeiling(user_id, units)
    const command = this.world.core.submit('user.change', {
      user_id,
      settings: { futures_ceiling: amountText(units) },
      actor: 'sim',
    })
    this.note('ceiling', await outcomeOf(command))
  }
}
