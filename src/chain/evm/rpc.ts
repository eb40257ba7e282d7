import { parseGwei, type Hex, type PublicClient } from 'viem'
import type { Amount } from '../../money/amount.ts'
import type { EvmSettings } from '../../config-file.ts'
import { toAmount, type Tokens } from './tokens.ts'
import type { TransferCall } from './transaction.ts'

export interface Fees {
  readonly max: bigint
  readonly priority: bigint
}
const QUESTIONS_AT_ONCE = 20

/** The questions that payments and sweeps ask a node. */
export class EvmRpc {
  readonly client: PublicClient
  readonly settings: EvmSettings
  readonly tokens: Tokens
  readonly native: string
  private checked = false

  constructor(client: PublicClient, settings: EvmSettings, tokens: Tokens, native: string) {
    this.client = client
    this.settings = settings
    this.tokens = tokens
    this.native = native
  }
  async checkNetwork(): Promise<void> {
    if (this.checked) return
    const id = await this.client.getChainId()
    if (id !== this.settings.chain_id)
      throw new Error(`the node is on chain ${id}, the configuration says ${this.settings.chain_id}`)
    this.checked = true
  }
  async coins(owner: Hex, block?: bigint): Promise<Amount> {
    const wei = await this.client.getBalance({
      address: owner,
      ...(block !== undefined && { blockNumber: block }),
    })
    return toAmount(wei, 18)
  }
  /** What these addresses hold together, by currency. */
  async holdings(owners: readonly Hex[], block?: bigint): Promise<Map<string, Amount>> {
    const questions = new Map<string, (owner: Hex) => Promise<Amount>>([
      [this.native, (owner) => this.coins(owner, block)],
    ])
    for (const contract of this.tokens.contracts) {
      const token = await this.tokens.at(contract)
      questions.set(token.currency, (owner) => this.tokens.balance(token, owner, block))
    }
    const held = new Map<string, Amount>()
    for (const [currency, ask] of questions) {
      let sum = 0n
      for (let i = 0; i < owners.length; i += QUESTIONS_AT_ONCE)
        for (const one of await Promise.all(owners.slice(i, i + QUESTIONS_AT_ONCE).map(ask))) sum += one
      held.set(currency, sum as Amount)
    }
    return held
  }
  async fees(): Promise<Fees> {
    const { maxFeePerGas, maxPriorityFeePerGas } = await this.client.estimateFeesPerGas({
      chain: null,
      type: 'eip1559',
    })
    const cap = parseGwei(String(this.settings.max_fee_gwei))
    const max = maxFeePerGas < cap ? maxFeePerGas : cap
    return { max, priority: maxPriorityFeePerGas < max ? maxPriorityFeePerGas : max }
  }
  /** What a call takes, with a quarter to spare unless it is the least there is; undefined: it would fail now. */
  async gasFor(from: Hex, call: TransferCall): Promise<bigint | undefined> {
    try {
      const gas = await this.client.estimateGas({ account: from, ...call })
      return gas <= PLAIN_GAS ? PLAIN_GAS : (gas * 5n) / 4n
    } catch {
      return undefined
    }
  }
  /** How many transactions of an address are in blocks, up to one of them. */
  count(address: Hex, block?: bigint): Promise<number> {
    return this.client.getTransactionCount(
      block === undefined ? { address, blockTag: 'latest' } : { address, blockNumber: block },
    )
  }
}
/** A plain payment, which is the least that any transaction takes; and a token's transfer where the node can't say. */
export const PLAIN_GAS = 21_000n
export const TOKEN_GAS = 100_000n
