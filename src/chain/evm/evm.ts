import { ECDH } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import {
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseGwei,
  type Hex,
  type PublicClient,
} from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import type { ChainTip } from '../../core/chains/tips.ts'
import type { ChainConfig } from '../../core/world/chains.ts'
import { netOf } from '../../core/withdrawals/send.ts'
import type { Intent } from '../../core/withdrawals/withdrawals.ts'
import { amountOf, format, type Amount } from '../../money/amount.ts'
import type { DriverParts } from '../driver.ts'
import type { ChainPort, Look, PaymentOrder, Sighting } from '../port.ts'
import { scan } from './scan.ts'
import { readSettings, type EvmSettings } from './settings.ts'
import { signerOf, type Signer, type UnsignedTransaction } from './signer.ts'
import { Tokens, toAmount, toUnits } from './tokens.ts'

const TIMEOUT_MS = 10_000
/** Where the node can't say: a plain payment, and a token's transfer. */
const PLAIN_GAS = 21_000n
const TOKEN_GAS = 100_000n
/** A payment may be made dearer once in so many seconds of waiting. */
const BUMP_SECONDS = 600
const QUESTIONS_AT_ONCE = 20

/** What is kept in an intent's `raw`, as text: JSON has no bigint. */
interface Kept {
  readonly nonce: number
  readonly to: string
  readonly value: string
  readonly data: string
  readonly gas: string
  readonly max_fee: string
  readonly priority_fee: string
  readonly signed: string
}

/** Reads the settings and the key; the node is asked only later, so that a silent one does not stop the start. */
export function openEvm(config: ChainConfig, parts: DriverParts): EvmChain {
  const settings = readSettings(config)
  const client = createPublicClient({
    transport: http(settings.rpc_url, { timeout: TIMEOUT_MS, retryCount: 1 }),
    cacheTime: 0,
  })
  return new EvmChain(config, settings, signerOf(settings), client, parts)
}

/** A real EVM node behind the chain port. */
export class EvmChain implements ChainPort {
  readonly chain: string
  readonly pollMs: number
  readonly hotWallet: Hex
  private readonly native: string
  private readonly settings: EvmSettings
  private readonly signer: Signer
  private readonly client: PublicClient
  private readonly parts: DriverParts
  private readonly tokens: Tokens
  private readonly account: HDKey
  private checked = false

  constructor(
    config: ChainConfig,
    settings: EvmSettings,
    signer: Signer,
    client: PublicClient,
    parts: DriverParts,
  ) {
    this.chain = config.chain
    this.native = config.native
    this.settings = settings
    this.signer = signer
    this.client = client
    this.parts = parts
    this.pollMs = settings.poll_ms
    this.hotWallet = signer.address
    this.account = HDKey.fromExtendedKey(settings.xpub).deriveChild(0)
    const currencies = parts.core.state.world.allCurrencies.flatMap(({ currency, chains }) =>
      chains
        .filter(({ chain, contract_address }) => chain === config.chain && contract_address !== '')
        .map(({ contract_address }) => [currency, contract_address] as const),
    )
    this.tokens = new Tokens(client, currencies)
  }

  /** Child 0/USER_ID: user ids are never given twice, and so are addresses. */
  depositAddress(userId: number): Promise<string> {
    const { publicKey } = this.account.deriveChild(userId)
    const point = ECDH.convertKey(publicKey!, 'secp256k1', undefined, 'hex', 'uncompressed') as string
    return Promise.resolve(publicKeyToAddress(`0x${point}`))
  }
  async look(trail: ChainTip['trail']): Promise<Look> {
    await this.checkNetwork()
    const { addresses } = this.parts.core.state.wallet
    return scan(
      {
        client: this.client,
        tokens: this.tokens,
        native: this.native,
        isOurs: (address) => addresses.owner(this.chain, address, '') !== undefined,
        startBlock: this.settings.start_block,
      },
      trail,
    )
  }
  private async checkNetwork(): Promise<void> {
    if (this.checked) return
    const id = await this.client.getChainId()
    if (id !== this.settings.chain_id)
      throw new Error(`the node is on chain ${id}, the configuration says ${this.settings.chain_id}`)
    this.checked = true
  }

  async holdings(): Promise<Record<string, string>> {
    const { wallet } = this.parts.core.state
    const height = wallet.tips.get(this.chain)?.height
    const block = height === undefined ? undefined : BigInt(height)
    const owners: Hex[] = [this.hotWallet]
    for (const { chain, address } of wallet.addresses.deposit.values())
      if (chain === this.chain) owners.push(address as Hex)
    const currencies = new Map<string, (owner: Hex) => Promise<Amount>>([
      [this.native, (owner) => this.coins(owner, block)],
    ])
    for (const contract of this.tokens.contracts) {
      const token = await this.tokens.at(contract)
      currencies.set(token.currency, (owner) => this.tokens.balance(token, owner, block))
    }
    const held: Record<string, string> = {}
    for (const [currency, ask] of currencies) {
      let sum = 0n
      for (let i = 0; i < owners.length; i += QUESTIONS_AT_ONCE)
        for (const one of await Promise.all(owners.slice(i, i + QUESTIONS_AT_ONCE).map(ask))) sum += one
      held[currency] = format(sum as Amount)
    }
    return held
  }
  private async coins(owner: Hex, block?: bigint): Promise<Amount> {
    const wei = await this.client.getBalance({
      address: owner,
      ...(block !== undefined && { blockNumber: block }),
    })
    return toAmount(wei, 18)
  }

  async covers(currency: string, amount: string): Promise<boolean> {
    const { max } = await this.fees()
    const token = await this.tokens.of(currency)
    const gas = (token === undefined ? PLAIN_GAS : TOKEN_GAS) * max
    const needs = new Map<string, bigint>([[this.native, gas]])
    needs.set(currency, (needs.get(currency) ?? 0n) + amountOf(amount))
    // What was promised and is in no block yet still counts as spent.
    for (const one of this.parts.core.state.wallet.withdrawals.unsettled(this.chain)) {
      const promised =
        ['PROCES', 'PEND'].includes(one.status) || (one.status === 'EXTPEND' && one.block_number === 0)
      if (!promised) continue
      needs.set(one.currency, (needs.get(one.currency) ?? 0n) + netOf(one))
      needs.set(this.native, needs.get(this.native)! + TOKEN_GAS * max)
    }
    if ((await this.coins(this.hotWallet)) < needs.get(this.native)!) return false
    return token === undefined || (await this.tokens.balance(token, this.hotWallet)) >= needs.get(currency)!
  }
  private async fees(): Promise<{ max: bigint; priority: bigint }> {
    const { maxFeePerGas, maxPriorityFeePerGas } = await this.client.estimateFeesPerGas({
      chain: null,
      type: 'eip1559',
    })
    const cap = parseGwei(String(this.settings.max_fee_gwei))
    const max = maxFeePerGas < cap ? maxFeePerGas : cap
    return { max, priority: maxPriorityFeePerGas < max ? maxPriorityFeePerGas : max }
  }

  async prepare({ currency, amount, address }: PaymentOrder): Promise<Intent> {
    await this.checkNetwork()
    const token = await this.tokens.of(currency)
    const units = toUnits(amountOf(amount), token?.decimals ?? 18)
    const call =
      token === undefined
        ? { to: address as Hex, value: units, data: '0x' as Hex }
        : {
            to: token.contract,
            value: 0n,
            data: encodeFunctionData({
              abi: erc20Abi,
              functionName: 'transfer',
              args: [address as Hex, units],
            }),
          }
    const { max, priority } = await this.fees()
    return this.sign({
      ...call,
      chainId: this.settings.chain_id,
      nonce: await this.nextNonce(),
      gas: await this.gasFor(call, token === undefined ? PLAIN_GAS : TOKEN_GAS),
      maxFeePerGas: max,
      maxPriorityFeePerGas: priority,
    })
  }
  /** The chain's count, or one above the highest that is on our disk: two recorded payments never share one. */
  private async nextNonce(): Promise<number> {
    const mined = await this.client.getTransactionCount({ address: this.hotWallet, blockTag: 'latest' })
    let next = mined
    for (const { intent } of this.parts.core.state.wallet.withdrawals.unsettled(this.chain))
      if (intent !== null) next = Math.max(next, (intent.raw as unknown as Kept).nonce + 1)
    return next
  }
  private async gasFor(call: { to: Hex; value: bigint; data: Hex }, fallback: bigint): Promise<bigint> {
    try {
      const gas = await this.client.estimateGas({ account: this.hotWallet, ...call })
      return (gas * 5n) / 4n
    } catch {
      // It would fail as things are now: the chain decides, and a failure is a state of its own.
      return fallback
    }
  }
  private async sign(transaction: UnsignedTransaction): Promise<Intent> {
    const { txid, signed } = await this.signer.sign(transaction)
    const { nonce, to, value, data, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction
    const raw: Kept = {
      nonce,
      to,
      value: String(value),
      data,
      gas: String(gas),
      max_fee: String(maxFeePerGas),
      priority_fee: String(maxPriorityFeePerGas),
      signed,
    }
    return { txid, raw: { ...raw } }
  }

  /** The same bytes again are the same payment: the nonce lets only one of them in. */
  async broadcast(intent: Intent): Promise<void> {
    const { signed } = intent.raw as unknown as Kept
    try {
      await this.client.sendRawTransaction({ serializedTransaction: signed as Hex })
    } catch (error) {
      if (!(await this.find(intent)).known) throw error
    }
  }
  async find(intent: Intent): Promise<Sighting> {
    // A cheaper copy that was replaced may be the one that was mined.
    for (const txid of [intent.txid, ...(intent.replaced ?? [])]) {
      const receipt = await orNothing(
        this.client.getTransactionReceipt({ hash: txid as Hex }),
        TransactionReceiptNotFoundError,
      )
      if (receipt === undefined) continue
      const { blockNumber, status, gasUsed, effectiveGasPrice } = receipt
      const network_fee = format(toAmount(gasUsed * effectiveGasPrice, 18))
      return { txid, known: true, height: Number(blockNumber), ok: status === 'success', network_fee }
    }
    const waiting = await orNothing(
      this.client.getTransaction({ hash: intent.txid as Hex }),
      TransactionNotFoundError,
    )
    return { txid: intent.txid, known: waiting !== undefined, height: null, ok: true, network_fee: '0' }
  }
  /** Only what another payment has taken the nonce of can never be mined. */
  async abandon(intent: Intent): Promise<boolean> {
    if ((await this.find(intent)).known) return false
    const mined = await this.client.getTransactionCount({ address: this.hotWallet, blockTag: 'latest' })
    return mined > (intent.raw as unknown as Kept).nonce
  }
  async bump(intent: Intent, waitedSeconds: number): Promise<Intent | undefined> {
    if ((intent.replaced?.length ?? 0) >= Math.floor(waitedSeconds / BUMP_SECONDS)) return undefined
    const kept = intent.raw as unknown as Kept
    const now = await this.fees()
    // Nodes take a replacement from a tenth above; the cap of the settings is never passed.
    const dearer = (old: string, wanted: bigint): bigint => {
      const least = (BigInt(old) * 5n) / 4n + 1n
      return least > wanted ? least : wanted
    }
    const maxFeePerGas = dearer(kept.max_fee, now.max)
    if (maxFeePerGas > parseGwei(String(this.settings.max_fee_gwei))) return undefined
    return this.sign({
      chainId: this.settings.chain_id,
      nonce: kept.nonce,
      to: kept.to as Hex,
      value: BigInt(kept.value),
      data: kept.data as Hex,
      gas: BigInt(kept.gas),
      maxFeePerGas,
      maxPriorityFeePerGas: dearer(kept.priority_fee, now.priority),
    })
  }
}

async function orNothing<T>(
  answer: Promise<T>,
  missing: abstract new (...given: never[]) => Error,
): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof missing) return undefined
    throw error
  }
}
