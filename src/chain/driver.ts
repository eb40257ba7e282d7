import type { Core } from '../core/core.ts'
import type { Commands } from '../core/commands.ts'
import { FINAL_DEPTH } from '../core/chains/tips.ts'
import { DEPOSIT, outputKey } from '../core/deposits/deposits.ts'
import type { Observation, Payment } from '../core/deposits/observe.ts'
import type { State } from '../core/state.ts'
import { netOf, waitsForFunds } from '../core/withdrawals/send.ts'
import type { Intent, Withdrawal } from '../core/withdrawals/withdrawals.ts'
import { format } from '../money/amount.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import type { Store } from '../store/store.ts'
import type { ChainPort } from './port.ts'

/** A payment that waits longer than this is offered to the adapter for a higher fee. */
const BUMP_AFTER_SECONDS = 600

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
    while (this.again && !this.stopped) {
      this.again = false
      try {
        await this.send()
        await this.observe()
      } catch (error) {
        // A node that does not answer, or a platform that is stopping: the rows still say what to do.
        this.parts.log.warn('a chain could not be followed; it is tried again', {
          chain: this.port.chain,
          error,
        })
        return
      }
    }
  }

  private async send(): Promise<void> {
    const { state } = this.parts.core
    const chain = state.world.mustChain(this.port.chain)
    const hurry = this.hurry
    this.hurry = false
    const { sender_stops_at: stop } = chain
    if (chain.paused) return
    for (const { id } of state.wallet.withdrawals.unsettled(chain.chain)) {
      const row = (): Withdrawal | undefined => state.wallet.withdrawals.table.get(id)
      if (waitsForFunds(row()!)) await this.tryFunds(row()!)
      if (stop !== 'REQUEST' && this.isReady(row(), hurry)) await this.claim(row()!)
      if (stop !== 'REQUEST' && stop !== 'PROCES' && row()?.status === 'PROCES') await this.intend(row()!)
      if (stop === null && row()?.status === 'PEND') await this.broadcast(row()!)
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
    const { known } = await this.port.find(intent!)
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
    const outcomes = await this.outcomes(look.tip.height, reorganised)
    if (before?.hash === look.tip.hash && payments.length === 0 && outcomes.length === 0 && !this.waiting())
      return
    await core.submit('chain.observe', { chain, fork: look.fork, tip: look.tip, payments, outcomes })
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
    for (const payment of payments) {
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
  /** What became of the transactions that we sent. One that the network lost is sent again, the same one. */
  private async outcomes(tip: number, reorganised: boolean): Promise<Observation['outcomes'][number][]> {
    const { core, clock } = this.parts
    const list: Observation['outcomes'][number][] = []
    for (const withdrawal of core.state.wallet.withdrawals.unsettled(this.port.chain)) {
      const { id, status, intent, block_number, done_at } = withdrawal
      if (intent === null) continue
      const settling = status === 'EXTPEND'
      const settled = status === 'DONE' && (reorganised || tip - block_number + 1 >= FINAL_DEPTH)
      if (!settling && !settled) continue
      const { known, ...outcome } = await this.port.find(intent)
      if (!known) await this.release(intent)
      else if (settling && outcome.height === null)
        await this.bump(withdrawal, clock.peek() - Math.max(withdrawal.send_at, done_at))
      const news = outcome.height !== null || block_number !== 0 || settled
      if (news) list.push({ id, ...outcome })
    }
    return list
  }
  private async bump({ id, txid, intent }: Withdrawal, waited: number): Promise<void> {
    if (this.port.bump === undefined || waited < BUMP_AFTER_SECONDS * 1e6) return
    const dearer = await this.port.bump(intent!, waited / 1e6)
    if (dearer === undefined) return
    const replaced = [...(intent!.replaced ?? []), txid]
    const next = { ...dearer, replaced }
    await this.parts.core.submit('withdrawal.replace', { id, txid, intent: next })
    await this.release(next)
  }
}
