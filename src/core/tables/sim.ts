import { ZERO, negate, subtract, type Amount } from '../../money/amount.ts'
import { GroupIndex, Table, type TableSpec } from '../../machine/table.ts'

/**
 * Simulated chains live in the platform's own store, as tables beside the ledger but never read by its rules:
 * the rules hear of them only through the chain port, like of any node outside. Blocks come by the clock and
 * exist only as numbers, so that an idle chain costs nothing and a month passes in no time.
 */
export interface SimChain {
  readonly chain: string
  /** Height at `since`; grows by one each `seconds` from there on (0: by hand only). */
  readonly base: number
  readonly since: number
  readonly seconds: number
  /** [from height, salt]: block hashes from this height on were changed by a reorganisation. */
  readonly forks: readonly (readonly [from: number, salt: number])[]
  /** The due item that wakes whoever follows the chain; 0 when nothing is awaited. */
  readonly wake: number
}
export const SIM_CHAIN: TableSpec<SimChain> = {
  name: 'sim_chain',
  key: ['chain'],
  columns: { chain: 'text', base: 'int', since: 'int', seconds: 'int', forks: 'json', wake: 'int' },
}
export interface SimTx {
  readonly chain: string
  readonly txid: string
  readonly kind: 'in' | 'out'
  readonly address: string
  readonly memo: string
  readonly currency: string
  readonly amount: Amount
  readonly network_fee: Amount
  /** pending: in the next block; stuck: in none until freed; lost: the network forgot it. */
  readonly state: 'pending' | 'stuck' | 'mined' | 'lost'
  /** A transaction that fails is mined too, and moves nothing. */
  readonly ok: boolean
  readonly height: number | null
  /** Goes into the first block after this moment. */
  readonly ready_at: number
  readonly at: number
  readonly final: boolean
}
export const SIM_TX: TableSpec<SimTx> = {
  name: 'sim_tx',
  key: ['chain', 'txid'],
  columns: {
    chain: 'text',
    txid: 'text',
    kind: 'text',
    address: 'text',
    memo: 'text',
    currency: 'text',
    amount: 'amount',
    network_fee: 'amount',
    state: 'text',
    ok: 'bool',
    height: 'int',
    ready_at: 'int',
    at: 'int',
    final: 'bool',
  },
  live: ({ final }) => !final,
}
/** The platform's own coins on a chain. */
export interface SimWallet {
  readonly chain: string
  readonly currency: string
  readonly amount: Amount
}
export const SIM_WALLET: TableSpec<SimWallet> = {
  name: 'sim_wallet',
  key: ['chain', 'currency'],
  columns: { chain: 'text', currency: 'text', amount: 'amount' },
}

/** What a transaction in a block moves to the platform's wallet, or from it, with what the chain takes. */
export function coinsOf(tx: SimTx, native: string): [currency: string, amount: Amount][] {
  if (tx.kind === 'in') return tx.ok ? [[tx.currency, tx.amount]] : []
  const fee: [string, Amount] = [native, negate(tx.network_fee)]
  return tx.ok ? [[tx.currency, negate(tx.amount)], fee] : [fee]
}

export class SimChains {
  readonly chains = new Table(SIM_CHAIN)
  readonly txs = new Table(SIM_TX)
  readonly wallets = new Table(SIM_WALLET)
  private readonly byChain = new GroupIndex(this.txs, ({ chain, final }) => (final ? undefined : chain))

  txsOf(chain: string): SimTx[] {
    return [...this.byChain.get(chain)].sort((a, b) => a.at - b.at || (a.txid < b.txid ? -1 : 1))
  }
  tx(chain: string, txid: string): SimTx | undefined {
    return this.txs.get(`${chain}/${txid}`)
  }
  held(chain: string, currency: string): Amount {
    return this.wallets.get(`${chain}/${currency}`)?.amount ?? ZERO
  }
  /** What the hot wallet held when the chain was of this height. */
  heldAt(chain: string, native: string, height: number): Map<string, Amount> {
    const held = new Map<string, Amount>()
    for (const row of this.wallets.values()) if (row.chain === chain) held.set(row.currency, row.amount)
    for (const tx of this.byChain.get(chain)) {
      if (tx.state !== 'mined' || tx.height! <= height) continue
      for (const [currency, amount] of coinsOf(tx, native))
        held.set(currency, subtract(held.get(currency) ?? ZERO, amount))
    }
    return held
  }
  /** What the hot wallet can still spend: less what is on its way out. */
  spendable(chain: string, currency: string, native: string): Amount {
    let free = this.held(chain, currency)
    for (const tx of this.byChain.get(chain)) {
      if (tx.kind !== 'out' || tx.state === 'mined' || !tx.ok) continue
      if (tx.currency === currency) free = subtract(free, tx.amount)
      if (native === currency) free = subtract(free, tx.network_fee)
    }
    return free
  }
}
