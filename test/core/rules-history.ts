import { createHash } from 'node:crypto'
import { commands } from '../../src/core/commands.ts'
import { simulatedAddress } from '../../src/core/chains/address-formats.ts'
import { PLAIN } from '../../src/core/spot/place.ts'
import { State } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { Tx } from '../../src/machine/table.ts'
import { Chaos } from '../futures/chaos.ts'
import type { Outcome } from '../spot/engine.ts'
import { packed } from '../support/packed.ts'

/** A command as the log has it. */
export type Recorded = readonly [at: number, type: string, input: unknown]
type Commands = typeof commands
type Handler = (ctx: object, input: unknown) => unknown

/** What each command changes, as a short hash of its rows, in the order in which they are carried out. */
export function changesOf(history: readonly Recorded[]): string[] {
  const state = new State()
  return history.map(([at, type, input], i) => {
    const handler = (commands as Readonly<Record<string, Handler | undefined>>)[type]
    if (handler === undefined) return 'there is no such command'
    const tx = new Tx()
    try {
      handler({ state, tx, at }, input)
      state.check()
    } catch (error) {
      tx.rollback()
      return `it fails: ${(error as Error).message}`
    }
    const batch = new Batch()
    batch.add(tx, at, type, '')
    const { body } = packed(batch, i + 1, at)
    for (const [table, keys] of batch.touched) table.retire(keys.keys(), () => false)
    return createHash('sha256').update(body).digest('hex').slice(0, 12)
  })
}

/** Contracts, unified accounts and spot by accounts that do anything, and what wallets do beside them: by commands alone. */
class Recorder extends Chaos {
  // The world is configured before this object is whole.
  declare made: Recorded[] | undefined
  override run<T extends keyof Commands>(
    type: T,
    input: Parameters<Commands[T]>[1],
  ): Outcome<ReturnType<Commands[T]>> {
    const outcome = super.run(type, input)
    if (!('label' in outcome))
      (this.made ??= []).push([this.at, type, JSON.parse(JSON.stringify(input)) as unknown])
    return outcome
  }
  /** It would write rows that no command writes. */
  override markAt(): void {
    this.drain()
  }
  /** All that has to do with money on its way. */
  wallet(): void {
    const [one, two] = [
      this.user({ USDT: '100000', BTC: '10', ETH: '50' }),
      this.user({ USDT: '100000', BTC: '10', DOGE: '3' }),
    ]
    const sub = this.user({ USDT: '100' }, { parent_id: one })
    const address = simulatedAddress('evm', 'outside', 'somebody')
    this.must('saved_address.save', {
      user_id: one,
      currency: 'ETH',
      chain: 'ETH',
      address,
      name: '',
      tag: '',
      verified: true,
      verified_at: 1,
      actor: 'op',
    })
    const ask = (amount: string): number =>
      this.must('withdrawal.request', {
        user_id: one,
        currency: 'ETH',
        chain: 'ETH',
        amount,
        address,
        memo: null,
        withdraw_order_id: null,
        asset_class: null,
        known_id: null,
        requested_by: null,
      }).id
    const [paid, held, cancelled] = [ask('1'), ask('2'), ask('3')]
    this.must('withdrawal.cancel', { id: cancelled, user_id: one })
    const by = { reason: 'look', actor: 'op' }
    this.must('withdrawal.divert', { id: held, status: 'REVIEW', ...by })
    this.must('withdrawal.reject', { id: held, ...by })
    this.must('withdrawal.claim', { id: paid })
    const intent = { txid: `0x${'ab'.repeat(32)}`, raw: {} } as never
    this.must('withdrawal.intend', { id: paid, intent })
    this.must('withdrawal.sent', { id: paid, txid: `0x${'ab'.repeat(32)}` })
    const tip = (height: number) => ({ height, hash: `0x${String(height).padStart(64, '0')}` })
    const own = this.must('address.ensure', { user_id: two, chain: 'ETH' } as never)
    const { address: to } = own as unknown as { address: string }
    const payment = (amount: string, n: number, height: number | null) => ({
      txid: `0x${String(n).padStart(64, 'c')}`,
      output: 0,
      address: to,
      memo: '',
      currency: 'ETH',
      amount,
      height,
    })
    const see = (
      fork: number,
      height: number,
      payments: ReturnType<typeof payment>[],
      done = false,
    ): void => {
      const outcome = { txid: `0x${'ab'.repeat(32)}`, height: 11, ok: true, network_fee: '0.0005' }
      const outcomes = done ? [{ id: paid, ...outcome }] : []
      this.must('chain.observe', { chain: 'ETH', fork, tip: tip(height), payments, outcomes })
    }
    see(0, 10, [payment('1', 1, 10), payment('0.0001', 2, 10), payment('2', 3, null)])
    this.must('deposit.block', { id: 3, ...by })
    see(10, 30, [payment('2', 3, 12)], true)
    // A reorganisation takes all three, and brings them back.
    see(5, 40, [])
    see(
      40,
      80,
      [1, 2, 3].map((n) => payment(['1', '0.0001', '2'][n - 1]!, n, 45)),
    )
    const place = (user_id: number, side: 'buy' | 'sell', amount: string, price: string, more = {}) =>
      this.run('spot.place', {
        user_id,
        order: {
          ...PLAIN,
          currency_pair: 'BTC_USDT',
          type: 'limit',
          side,
          amount,
          price,
          time_in_force: null,
          ...more,
        },
      })
    const stop = { trigger_price: '61000', order_price: '0' }
    place(one, 'sell', '0.5', '60000', { iceberg: '0.1' })
    place(two, 'buy', '0.3', '60100', { stop_profit: stop })
    place(two, 'buy', '0.1', '59000', { text: 't-mine' })
    this.run('spot.amend', {
      user_id: two,
      id: 't-mine',
      currency_pair: 'BTC_USDT',
      amount: '0.2',
      price: null,
      amend_text: null,
      stop_profit: null,
      stop_loss: null,
    })
    place(one, 'sell', '0.05', '61000')
    place(two, 'buy', '0.05', '61000')
    const transfer = { user_id: one, currency: 'USDT', currency_pair: null, settle: 'usdt' }
    this.run('transfer.create', { ...transfer, from: 'spot', to: 'futures', amount: '500' })
    this.run('transfer.create', {
      ...transfer,
      from: 'spot',
      to: 'margin',
      amount: '500',
      currency_pair: 'BTC_USDT',
    })
    const loan = { user_id: one, type: 'borrow', repaid_all: false, text: null, known_id: null } as const
    this.run('margin.loan', { ...loan, scope: 'BTC_USDT', currency: 'USDT', amount: '100' })
    this.run('small_balance.convert', { user_id: two, currency: [], is_all: true })
    this.run('spot.cancel_all', {
      user_id: two,
      currency_pair: null,
      side: null,
      account: null,
      trade_quote: null,
    })
    this.run('push.create', { user_id: two, receive_uid: one, currency: 'USDT', amount: '7' })
    this.run('sub_account.lock', { main: one, user_id: sub, locked: true } as never)
    this.advance(61)
  }
}
/** The same whenever it is made by the same rules. */
export function makeHistory(): readonly Recorded[] {
  const chaos = new Recorder(7, 6, undefined, ['classic', 'multi_currency', 'portfolio'])
  chaos.waiters = true
  for (let i = 0; i < 90; i++) chaos.step()
  chaos.wallet()
  // What chases make due by the second would go on for ever.
  while (chaos.made!.length < 1_000) chaos.step()
  return chaos.made!
}
