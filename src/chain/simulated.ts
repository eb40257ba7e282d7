import type { Core } from '../machine/core.ts'
import type { Commands } from '../core/commands.ts'
import { FINAL_DEPTH, type ChainTip } from '../core/tables/tips.ts'
import type { Payment } from '../core/deposits/observe.ts'
import { blockHash, simTxid } from '../core/sim/blocks.ts'
import { SIM_TX, type SimTx } from '../core/tables/sim.ts'
import type { State } from '../core/state.ts'
import type { Intent } from '../core/tables/withdrawals.ts'
import { amountOf, format, subtract, type Amount } from '../money/amount.ts'
import type { Store } from '../store/store.ts'
import type { DriverParts } from './driver.ts'
import { findFork, type ChainPort, type Look, type PaymentOrder, type Sighting } from './port.ts'

const payment = (tx: SimTx): Payment => ({
  txid: tx.txid,
  output: 0,
  address: tx.address,
  memo: tx.memo,
  currency: tx.currency,
  amount: format(tx.amount),
  height: tx.height,
})

/** A chain in the platform's own store, behind the same port as a real one. */
export class SimulatedChain implements ChainPort {
  readonly chain: string
  readonly pollMs = null
  private readonly core: Core<State, Commands>
  private readonly store: Pick<Store, 'select'>
  /** Made by this process, and not sent yet: nobody has to be asked about them. */
  private readonly fresh = new Set<string>()

  constructor({ core, store }: Pick<DriverParts, 'core' | 'store'>, chain: string) {
    this.core = core
    this.store = store
    this.chain = chain
  }
  depositAddress(): Promise<null> {
    return Promise.resolve(null)
  }
  async look(trail: ChainTip['trail']): Promise<Look> {
    // The blocks of the clock take effect first; row and transactions are read in the same turn.
    const { sim } = this.core.state
    const before = sim.txsOf(this.chain)
    const advanced = this.core.submit('sim.advance', { chain: this.chain })
    const row = sim.chains.get(this.chain)
    const txs = sim.txsOf(this.chain)
    // So many blocks may have come at once that what was mined in the first of them is final, and left out there, by now.
    const there = new Set(txs.map(({ txid }) => txid))
    txs.push(...before.filter(({ txid, state }) => state === 'mined' && !there.has(txid)))
    const tip = await advanced
    const fork = await findFork(
      trail,
      (height) => (height <= tip.height ? blockHash(row!, height) : undefined),
      FINAL_DEPTH,
    )
    const payments = txs
      .filter(({ kind, ok, state, height }) => {
        if (kind !== 'in' || !ok || state === 'lost') return false
        return height === null || height > fork
      })
      .map(payment)
    return { fork, tip, payments }
  }
  holdings(): Promise<Record<string, string>> {
    // A block may be there that nobody has looked at, after a crash above all.
    return this.heldAt(this.core.state.wallet.tips.get(this.chain)?.height ?? 0)
  }
  hotWallet(): Promise<Record<string, string>> {
    return this.heldAt(Infinity)
  }
  private heldAt(height: number): Promise<Record<string, string>> {
    const { sim, world } = this.core.state
    const held = sim.heldAt(this.chain, world.mustChain(this.chain).native, height)
    return Promise.resolve(
      Object.fromEntries([...held].map(([currency, amount]) => [currency, format(amount)])),
    )
  }
  async covers(currency: string, amount: string): Promise<boolean> {
    const { state } = this.core
    const { native, network_fee } = state.world.mustChain(this.chain)
    const fee = amountOf(network_fee)
    const wanted = new Map<string, Amount>([[currency, amountOf(amount)]])
    wanted.set(native, ((wanted.get(native) ?? 0n) + fee) as Amount)
    for (const [coin, need] of wanted) {
      const free = state.sim.spendable(this.chain, coin, native)
      if (free >= need) continue
      const on = state.world.findCurrency(coin)?.chains.find(({ chain }) => chain === this.chain)
      if (on?.hot_wallet === 'manual') return false
      const missing = format(subtract(need, free))
      await this.core.submit('sim.fund', { chain: this.chain, currency: coin, amount: missing, actor: null })
    }
    return true
  }
  prepare(order: PaymentOrder): Promise<Intent> {
    const { address_format, network_fee } = this.core.state.world.mustChain(this.chain)
    const { currency, amount, address, memo } = order
    const txid = simTxid(address_format, `kontor withdrawal ${this.chain} ${order.id} ${order.attempt}`)
    this.fresh.add(txid)
    return Promise.resolve({ txid, raw: { currency, amount, address, memo, network_fee } })
  }
  async broadcast({ txid, raw }: Intent): Promise<void> {
    const { currency, amount, address, memo, network_fee } = raw as Record<string, string>
    this.fresh.delete(txid)
    await this.core.submit('sim.broadcast', {
      chain: this.chain,
      txid,
      currency: currency!,
      amount: amount!,
      address: address!,
      memo: memo!,
      network_fee: network_fee!,
    })
  }
  async find({ txid }: Intent): Promise<Sighting> {
    const tx = await this.tx(txid)
    return {
      txid,
      known: tx !== undefined && tx.state !== 'lost',
      height: tx?.height ?? null,
      ok: tx?.ok ?? true,
      network_fee: format(tx?.network_fee ?? amountOf('0')),
    }
  }
  /** A chain forgets nothing: what is final has left memory, and is known all the same. */
  private async tx(txid: string): Promise<SimTx | undefined> {
    const known = this.core.state.sim.tx(this.chain, txid)
    if (known !== undefined || this.fresh.has(txid)) return known
    const [stored] = await this.store.select(SIM_TX, 'where "chain" = ? and "txid" = ?', [this.chain, txid])
    return stored
  }
  /** In a block it has no effect then; else the network forgets it, and takes nothing for it. */
  async abandon({ txid }: Intent): Promise<boolean> {
    const tx = await this.tx(txid)
    // In a block that no reorganisation reaches: it has paid, or never will.
    if (tx?.final === true) return !tx.ok
    const put = (state: 'failed' | 'lost') =>
      this.core.submit('sim.transaction', { chain: this.chain, txid, state, actor: null })
    if (tx?.ok === true) await put('failed')
    if (tx !== undefined && this.core.state.sim.tx(this.chain, txid)?.state !== 'mined') await put('lost')
    return true
  }
}
