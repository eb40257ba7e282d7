import type { Core } from '../machine/core.ts'
import type { Commands } from '../core/commands.ts'
import { FINAL_DEPTH } from '../core/tables/tips.ts'
import { DEPOSIT, outputKey } from '../core/tables/deposits.ts'
import type { Observation, Payment } from '../core/deposits/observe.ts'
import type { State } from '../core/state.ts'
import type { Sweep } from '../core/tables/sweeps.ts'
import { netOf, waitsForFunds, type Outcome } from '../core/withdrawals/send.ts'
import { withdrawalId, type Intent, type Withdrawal } from '../core/tables/withdrawals.ts'
import { format } from '../money/amount.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/store.ts'
import type { ChainPort, Sighting } from './port.ts'

/** A payment that waits longer than this is offered to the adapter for a higher fee. */
const BUMP_AFTER_SECONDS = 600
const SWEEPS_AT_ONCE = 20
const FAILURES_MAX = 3

/** A transaction of ours whose place (its nonce) another one has taken. */
export interface Displaced {
  readonly id: string
  readonly txid: string
  /** So deep that it can never be mined: a payment is signed anew, a sweep is dropped. */
  readonly dead: boolean
}

export interface DriverParts {
  readonly core: Core<State, Commands>
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
}

/**
 * Carries what the rules decided to a chain, and what the chain says to the rules. It keeps nothing of its own:
 * every step is taken from rows, so that a new process goes on where the last one ended, wherever that was.
 *
 *   REQUEST ─claim─▶ PROCES ─prepare, record─▶ PEND ─broadcast─▶ EXTPEND ─observe─▶ DONE or FAIL
 */
export class ChainDriver {
  readonly port: ChainPort
  /** As of the last look. */
  displaced: readonly Displaced[] = []
  /** Since when the chain has not answered, in milliseconds of the real time; undefined: it does. */
  silentSince: number | undefined
  /** Rounds, and transactions, that failed. */
  errors = 0
  /** What a transaction could not do was told once; it is told again when it is something else. */
  private readonly told = new Map<string, string>()
  /** Of this round: told when the chain itself answers. */
  private troubles: { id: string; error: unknown }[] = []
  private readonly parts: DriverParts
  private running: Promise<void> | undefined
  private again = false
  private hurry = false
  private stopped = false
  private timer: NodeJS.Timeout | undefined

  constructor(port: ChainPort, parts: DriverParts) {
    this.port = port
    this.parts = parts
  }
  start(): void {
    this.stopped = false
    if (this.port.pollMs !== null) this.timer = setInterval(() => void this.step(), this.port.pollMs)
    void this.step()
  }
  async stop(): Promise<void> {
    this.stopped = true
    clearInterval(this.timer)
    await this.running
  }

  /** One round of everything; rounds never overlap, and one that is asked for during another follows it. */
  step(options: { readonly hurry?: boolean } = {}): Promise<void> {
    if (options.hurry === true) this.hurry = true
    this.again = true
    this.running ??= this.rounds().finally(() => (this.running = undefined))
    return this.running
  }
  private async rounds(): Promise<void> {
    // While no command is taken, nothing is sent either: the rows keep what is to be done.
    while (this.again && !this.stopped && this.parts.core.held === undefined) {
      this.again = false
      try {
        this.troubles = []
        // Who has been silent is asked one thing, until the answer comes.
        if (this.silentSince !== undefined) await this.observe()
        this.answers()
        await this.send()
        await this.observe()
        await this.sweep()
        this.tellTroubles()
      } catch (error) {
        this.silent(error)
        return
      }
    }
  }

  /** The rows still say what to do. Told once; what breaks off because the platform stops is nobody's fault. */
  private silent(error: unknown): void {
    if (this.stopped) return
    const { chain } = this.port
    const { log } = this.parts
    this.errors++
    const fields = { chain, error: wordsOf(error) }
    if (this.silentSince !== undefined) return log.debug('a chain still does not answer', fields)
    this.silentSince = Date.now()
    log.warn('a chain could not be followed; it is tried again, and told when it answers', fields)
  }
  private answers(): void {
    if (this.silentSince === undefined) return
    const seconds = Math.round((Date.now() - this.silentSince) / 1000)
    this.silentSince = undefined
    this.parts.log.warn('a chain answers again', { chain: this.port.chain, seconds })
  }
  private tellTroubles(): void {
    if (this.stopped) return
    const { chain } = this.port
    const now = new Map(this.troubles.map(({ id, error }) => [id, wordsOf(error)]))
    for (const id of this.told.keys()) if (!now.has(id)) this.told.delete(id)
    for (const [id, error] of now) {
      if (this.told.get(id) !== error)
        this.parts.log.warn('a transaction did not get on; it is tried again', { chain, id, error })
      this.told.set(id, error)
    }
  }

  private async send(): Promise<void> {
    const { state } = this.parts.core
    const chain = state.world.mustChain(this.port.chain)
    const hurry = this.hurry
    this.hurry = false
    const { sender_stops_at: stop } = chain
    if (chain.paused) return
    let failures = 0
    for (const { id } of state.wallet.withdrawals.unsettled(chain.chain)) {
      const row = (): Withdrawal | undefined => state.wallet.withdrawals.table.get(id)
      const done = await this.attempt(withdrawalId(id), async () => {
        if (waitsForFunds(row()!)) await this.tryFunds(row()!)
        if (stop !== 'REQUEST' && this.isReady(row(), hurry)) await this.claim(row()!)
        if (stop !== 'REQUEST' && stop !== 'PROCES' && row()?.status === 'PROCES') await this.intend(row()!)
        if (stop === null && row()?.status === 'PEND') await this.broadcast(row()!)
      })
      // A node that does not answer at all is not asked for each of them.
      if (!done && ++failures === FAILURES_MAX) return
    }
  }
  private isReady(withdrawal: Withdrawal | undefined, hurry: boolean): boolean {
    if (withdrawal?.status !== 'REQUEST' || withdrawal.internal_to !== 0) return false
    return hurry || withdrawal.send_at <= this.parts.clock.peek()
  }
  private async claim(withdrawal: Withdrawal): Promise<void> {
    const { core } = this.parts
    const { id, currency } = withdrawal
    if (await this.port.covers(currency, format(netOf(withdrawal))))
      await core.submit('withdrawal.claim', { id })
    else await core.submit('withdrawal.short', { id })
  }
  private async tryFunds(withdrawal: Withdrawal): Promise<void> {
    if (await this.port.covers(withdrawal.currency, format(netOf(withdrawal))))
      await this.parts.core.submit('withdrawal.funded', { id: withdrawal.id })
  }
  /** What is signed is on the disk before the next line runs. */
  private async intend(withdrawal: Withdrawal): Promise<void> {
    const { id, currency, address, memo, attempt } = withdrawal
    const amount = format(netOf(withdrawal))
    const intent = await this.port.prepare({ id, attempt: attempt + 1, currency, amount, address, memo })
    await this.parts.core.submit('withdrawal.intend', { id, intent })
  }
  /** Asks the chain first: the last process may have died right after sending. */
  private async broadcast({ id, txid, intent }: Withdrawal): Promise<void> {
    const { known, displaced = 'no' } = await this.port.find(intent!)
    if (displaced === 'deep') await this.parts.core.submit('withdrawal.displace', { id, txid })
    if (displaced !== 'no') return
    if (!known) await this.release(intent!)
    await this.parts.core.submit('withdrawal.sent', { id, txid })
  }
  /** Memory may be ahead of the disk, for good when a commit failed: only what is on the disk leaves the house. */
  private async release(intent: Intent): Promise<void> {
    await this.parts.core.read(() => undefined)
    await this.port.broadcast(intent)
  }

  private async observe(): Promise<void> {
    const { core } = this.parts
    const { chain } = this.port
    const before = core.state.wallet.tips.get(chain)
    const look = await this.port.look(before?.trail ?? [])
    const reorganised = before !== undefined && look.fork < before.height
    const payments = await this.unseen(look.payments)
    const displaced: Displaced[] = []
    const outcomes = await this.outcomes(look.tip.height, reorganised, displaced)
    const sweeps = await this.sweepOutcomes(look.tip.height, reorganised, displaced)
    this.displaced = displaced
    const news = payments.length + outcomes.length + sweeps.length > 0
    if (before?.hash === look.tip.hash && !news && !this.waiting()) return
    const { fork, tip } = look
    await core.submit('chain.observe', {
      chain,
      fork,
      tip,
      payments,
      outcomes,
      ...(sweeps.length > 0 && { sweeps }),
    })
    // A long way is followed in steps; one that reached the tip changes nothing in the next look.
    if (this.port.pollMs !== null && before?.hash !== look.tip.hash) this.again = true
  }
  /** Payments in no block may vanish without a new block. */
  private waiting(): boolean {
    return this.parts.core.state.wallet.deposits
      .tracked(this.port.chain)
      .some(({ height, status }) => height === null && status !== 'INVALID')
  }
  /** Leaves out what was credited so long ago that only the store remembers it. */
  private async unseen(payments: readonly Payment[]): Promise<Payment[]> {
    const { core, store } = this.parts
    const { chain } = this.port
    const kept: Payment[] = []
    const own = core.state.wallet.sweeps.txids(chain)
    for (const payment of payments) {
      // Gas that another key of ours sent before it was changed.
      if (own.has(payment.txid)) continue
      if (
        core.state.wallet.deposits.byOutput.get(outputKey(chain, payment.txid, payment.output)) === undefined
      ) {
        const where = 'where "chain" = ? and "txid" = ? and "output" = ?'
        const [stored] = await store.select(DEPOSIT, where, [chain, payment.txid, payment.output])
        if (stored?.final === true) continue
      }
      kept.push(payment)
    }
    return kept
  }
  /** What became of the payments that we sent. One that the network lost is sent again, the same one. */
  private async outcomes(
    tip: number,
    reorganised: boolean,
    displaced: Displaced[],
  ): Promise<Observation['outcomes'][number][]> {
    const { core, clock } = this.parts
    const list: Observation['outcomes'][number][] = []
    for (const withdrawal of core.state.wallet.withdrawals.unsettled(this.port.chain)) {
      const { id, status, txid, intent, block_number, done_at } = withdrawal
      if (intent === null) continue
      const settling = status === 'EXTPEND'
      const settled = status === 'DONE' && (reorganised || tip - block_number + 1 >= FINAL_DEPTH)
      // One that failed may have been mined since, or be revived by a reorganisation; it is never sent again.
      const failed = status === 'FAIL' && (reorganised || block_number === 0)
      if (status === 'PEND') await this.sighting({ id: withdrawalId(id), intent }, 'report', displaced)
      if (!settling && !settled && !failed) continue
      const seen = await this.sighting({ id: withdrawalId(id), intent }, failed ? 'look' : 'send', displaced)
      if (seen.displaced === 'deep' && settling) await core.submit('withdrawal.displace', { id, txid })
      if (settling && seen.known && seen.height === null)
        await this.bump(withdrawal, clock.peek() - Math.max(withdrawal.send_at, done_at))
      if (isNews(seen, tip) || block_number !== 0 || settled) list.push({ id, ...outcomeOf(seen, tip) })
    }
    return list
  }
  private async sweepOutcomes(
    tip: number,
    reorganised: boolean,
    displaced: Displaced[],
  ): Promise<Observation['outcomes'][number][]> {
    const { core, clock } = this.parts
    const list: Observation['outcomes'][number][] = []
    for (const sweep of core.state.wallet.sweeps.unsettled(this.port.chain)) {
      const { id, status, intent, block_number, at } = sweep
      const settled = status !== 'SENT' && (reorganised || tip - block_number + 1 >= FINAL_DEPTH)
      if (status === 'SIGNED') await this.sighting({ id: `sweep ${id}`, intent }, 'report', displaced)
      if (status === 'SIGNED' || (status !== 'SENT' && !settled)) continue
      const seen = await this.sighting({ id: `sweep ${id}`, intent }, 'send', displaced)
      if (seen.displaced === 'deep') await core.submit('sweep.drop', { id })
      else if (status === 'SENT' && seen.known && seen.height === null)
        await this.bumpSweep(sweep, clock.peek() - at)
      if (isNews(seen, tip) || block_number !== 0) list.push({ id, ...outcomeOf(seen, tip) })
    }
    return list
  }
  /** Where the network lost it, it is sent again; where somebody took its place, that is told. */
  private async sighting(
    { id, intent }: { readonly id: string; readonly intent: Intent },
    how: 'send' | 'report' | 'look',
    displaced: Displaced[],
  ): Promise<Sighting> {
    const seen = await this.port.find(intent)
    if (seen.known || how === 'look') return seen
    const { displaced: by = 'no' } = seen
    if (by === 'no' && how === 'send') await this.attempt(id, () => this.release(intent))
    else if (by !== 'no') displaced.push({ id, txid: intent.txid, dead: by === 'deep' })
    return seen
  }
  /** What one transaction can't do is no reason to stop at the others: the rows still say what to do. */
  private async attempt(id: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.errors++
      this.troubles.push({ id, error })
      return false
    }
  }

  /** Gathers coins in the hot wallet. It may fail without the rest of the round: payments come first. */
  private async sweep(): Promise<void> {
    const { core } = this.parts
    const { chain } = this.port
    if (this.port.nextSweep === undefined || core.state.world.mustChain(chain).paused) return
    for (const sweep of core.state.wallet.sweeps.unsettled(chain))
      if (sweep.status === 'SIGNED') await this.attempt(`sweep ${sweep.id}`, () => this.sendSweep(sweep))
    await this.attempt('next sweep', async () => {
      for (let i = 0; i < SWEEPS_AT_ONCE; i++) {
        const order = await this.port.nextSweep!()
        const sweep = order === undefined ? null : await core.submit('sweep.intend', { chain, ...order })
        if (sweep === null) break
        await this.sendSweep(sweep)
      }
    })
  }
  private async sendSweep({ id, intent }: Sweep): Promise<void> {
    const { known, displaced = 'no' } = await this.port.find(intent)
    if (displaced === 'deep') await this.parts.core.submit('sweep.drop', { id })
    if (displaced !== 'no') return
    // One that the node does not take is offered again at every look, and dearer after a while.
    if (!known) await this.attempt(`sweep ${id}`, () => this.release(intent))
    await this.parts.core.submit('sweep.sent', { id })
  }
  private async bumpSweep({ id, txid, intent }: Sweep, waited: number): Promise<void> {
    const next = await this.dearer(txid, intent, waited)
    if (next === undefined) return
    await this.parts.core.submit('sweep.replace', { id, txid, intent: next })
    await this.release(next)
  }
  private async bump({ id, txid, intent }: Withdrawal, waited: number): Promise<void> {
    const next = await this.dearer(txid, intent!, waited)
    if (next === undefined) return
    await this.parts.core.submit('withdrawal.replace', { id, txid, intent: next })
    await this.release(next)
  }
  private async dearer(txid: string, intent: Intent, waited: number): Promise<Intent | undefined> {
    if (this.port.bump === undefined || waited < BUMP_AFTER_SECONDS * 1e6) return undefined
    const dearer = await this.port.bump(intent, waited / 1e6)
    return dearer === undefined ? undefined : { ...dearer, replaced: [...(intent.replaced ?? []), txid] }
  }
}

/** One line, without what a library adds to it: the node's address, which may hold a key, and the request. */
function wordsOf(error: unknown): string {
  const { shortMessage, message } = error as { shortMessage?: string; message?: string }
  return (shortMessage ?? message ?? String(error)).split('\n', 1)[0]!
}

/** What happened above the block that we have followed is for the next look: books and chain are read at one height. */
const isNews = ({ height }: Sighting, tip: number): boolean => height !== null && height <= tip
function outcomeOf({ txid, height, ok, network_fee }: Sighting, tip: number): Outcome {
  return height !== null && height > tip
    ? { txid, height: null, ok: true, network_fee: '0' }
    : { txid, height, ok, network_fee }
}
