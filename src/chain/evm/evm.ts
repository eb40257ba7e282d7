import { ECDH } from 'node:crypto'
import { HDKey } from '@scure/bip32'
import {
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  createPublicClient,
  http,
  parseGwei,
  type Hex,
} from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { ConfigError } from '../../config.ts'
import type { ChainTip } from '../../core/tables/tips.ts'
import type { ChainConfig } from '../../core/tables/world/chains.ts'
import { netOf } from '../../core/withdrawals/send.ts'
import type { Intent } from '../../core/tables/withdrawals.ts'
import { amountOf, format, type Amount } from '../../money/amount.ts'
import type { DriverParts } from '../driver.ts'
import type { ChainPort, Look, PaymentOrder, Sighting, SweepOrder } from '../port.ts'
import { EvmRpc, PLAIN_GAS, TOKEN_GAS, type Fees } from './rpc.ts'
import { scan } from './scan.ts'
import { readSettings } from './settings.ts'
import type { EvmSettings } from '../../config-file.ts'
import { depositSignersOf, signerOf, type DepositSigners, type Signer } from './signer.ts'
import { EvmSweeper } from './sweeper.ts'
import { Tokens, toAmount, toUnits } from './tokens.ts'
import { keptOf, signIntent, transferCall } from './transaction.ts'

const TIMEOUT_MS = 10_000
/** A payment may be made dearer once in so many seconds of waiting. */
const BUMP_SECONDS = 600

/** Reads the settings and the keys; the node is asked only later, so that a silent one does not stop the start. */
export function openEvm(config: ChainConfig, parts: DriverParts): EvmChain {
  const { settings, signer, depositSigners } = readKeys(config)
  const closing = new AbortController()
  const client = createPublicClient({
    transport: http(settings.rpc_url, {
      timeout: TIMEOUT_MS,
      retryCount: 1,
      // Whoever stops does not wait for a node that is silent.
      fetchFn: (input, init) => {
        const signals = [closing.signal, ...(init?.signal ? [init.signal] : [])]
        return fetch(input, { ...init, signal: AbortSignal.any(signals) })
      },
    }),
    cacheTime: 0,
  })
  const contracts = parts.core.state.world.allCurrencies.flatMap(({ currency, chains }) =>
    chains
      .filter(({ chain, contract_address }) => chain === config.chain && contract_address !== '')
      .map(({ contract_address }) => [currency, contract_address] as const),
  )
  const rpc = new EvmRpc(client, settings, new Tokens(client, contracts), config.native)
  return new EvmChain(config.chain, rpc, signer, depositSigners, parts, closing)
}
/** All that a chain needs beside its node; what is missing is one line that names the chain. */
export function readKeys(config: ChainConfig): {
  readonly settings: EvmSettings
  readonly signer: Signer
  readonly depositSigners: DepositSigners | undefined
} {
  try {
    const settings = readSettings(config)
    try {
      HDKey.fromExtendedKey(settings.xpub)
    } catch {
      throw new ConfigError('node.xpub is not a whole extended public key')
    }
    return { settings, signer: signerOf(settings), depositSigners: depositSignersOf(settings) }
  } catch (error) {
    const { message } = error as Error
    const place = `chains: ${config.chain}`
    throw new ConfigError(`KONTOR_CONFIG ${message.startsWith(place) ? message : `${place}: ${message}`}`)
  }
}

/** A real EVM node behind the chain port. */
export class EvmChain implements ChainPort {
  readonly chain: string
  readonly pollMs: number
  readonly hotAddress: Hex
  readonly sweeper: EvmSweeper | undefined
  private readonly rpc: EvmRpc
  private readonly signer: Signer
  private readonly depositSigners: DepositSigners | undefined
  private readonly parts: DriverParts
  private readonly account: HDKey
  private readonly closing: AbortController

  constructor(
    chain: string,
    rpc: EvmRpc,
    signer: Signer,
    depositSigners: DepositSigners | undefined,
    parts: DriverParts,
    closing: AbortController,
  ) {
    this.closing = closing
    this.chain = chain
    this.rpc = rpc
    this.signer = signer
    this.depositSigners = depositSigners
    this.parts = parts
    this.pollMs = rpc.settings.poll_ms
    this.hotAddress = signer.address
    this.account = HDKey.fromExtendedKey(rpc.settings.xpub).deriveChild(0)
    const hot = {
      signer,
      nextNonce: () => this.nextNonce(),
      canSpare: (coins: bigint, fees: Fees) => this.canSpare(coins, fees),
    }
    this.sweeper =
      depositSigners === undefined ? undefined : new EvmSweeper(chain, parts, rpc, depositSigners, hot)
  }

  close(): Promise<void> {
    this.closing.abort()
    return Promise.resolve()
  }
  /** Child 0/USER_ID: user ids are never given twice, and so are addresses. */
  depositAddress(userId: number): Promise<string> {
    const { publicKey } = this.account.deriveChild(userId)
    const point = ECDH.convertKey(publicKey!, 'secp256k1', undefined, 'hex', 'uncompressed') as string
    return Promise.resolve(publicKeyToAddress(`0x${point}`))
  }
  async look(trail: ChainTip['trail']): Promise<Look> {
    await this.rpc.checkNetwork()
    const { addresses } = this.parts.core.state.wallet
    return scan(
      {
        client: this.rpc.client,
        tokens: this.rpc.tokens,
        native: this.rpc.native,
        hotWallet: this.hotAddress,
        isOurs: (address) => addresses.owner(this.chain, address, '') !== undefined,
        startBlock: this.rpc.settings.start_block,
      },
      trail,
    )
  }
  async holdings(): Promise<Record<string, string>> {
    const { wallet } = this.parts.core.state
    const height = wallet.tips.get(this.chain)?.height
    const owners: Hex[] = [this.hotAddress]
    for (const { chain, address } of wallet.addresses.deposit.values())
      if (chain === this.chain) owners.push(address as Hex)
    return texts(await this.rpc.holdings(owners, height === undefined ? undefined : BigInt(height)))
  }
  async hotWallet(): Promise<Record<string, string>> {
    return texts(await this.rpc.holdings([this.hotAddress]))
  }
  nextSweep(): Promise<SweepOrder | undefined> {
    return this.sweeper === undefined ? Promise.resolve(undefined) : this.sweeper.next()
  }

  async covers(currency: string, amount: string): Promise<boolean> {
    const { max } = await this.rpc.fees()
    const { native, tokens } = this.rpc
    const token = await tokens.of(currency)
    const needs = this.promised(max)
    const need = (coin: string, more: bigint): void => void needs.set(coin, (needs.get(coin) ?? 0n) + more)
    need(native, (token === undefined ? PLAIN_GAS : TOKEN_GAS) * max)
    need(currency, amountOf(amount))
    if ((await this.rpc.coins(this.hotAddress)) < needs.get(native)!) return false
    return token === undefined || (await tokens.balance(token, this.hotAddress)) >= needs.get(currency)!
  }
  private async canSpare(coins: bigint, { max }: Fees): Promise<boolean> {
    const promised = this.promised(max).get(this.rpc.native) ?? 0n
    return (await this.rpc.coins(this.hotAddress)) >= promised + coins + PLAIN_GAS * max
  }
  /** What the hot wallet was told to pay and is in no block yet still counts as spent. */
  private promised(maxFee: bigint): Map<string, bigint> {
    const { native } = this.rpc
    const { withdrawals, sweeps } = this.parts.core.state.wallet
    const sums = new Map<string, bigint>()
    const add = (currency: string, amount: bigint, gas: bigint): void => {
      sums.set(currency, (sums.get(currency) ?? 0n) + amount)
      sums.set(native, (sums.get(native) ?? 0n) + gas * maxFee)
    }
    for (const one of withdrawals.unsettled(this.chain))
      if (['PROCES', 'PEND'].includes(one.status) || (one.status === 'EXTPEND' && one.block_number === 0))
        add(one.currency, netOf(one), TOKEN_GAS)
    for (const one of sweeps.unsettled(this.chain))
      if (one.kind === 'gas' && ['SIGNED', 'SENT'].includes(one.status) && one.block_number === 0)
        add(one.currency, one.amount, PLAIN_GAS)
    return sums
  }

  async prepare({ currency, amount, address }: PaymentOrder): Promise<Intent> {
    await this.rpc.checkNetwork()
    const token = await this.rpc.tokens.of(currency)
    const call = transferCall(token, address as Hex, toUnits(amountOf(amount), token?.decimals ?? 18))
    const { max, priority } = await this.rpc.fees()
    // It may fail as things are now: the chain decides, and a failure is a state of its own.
    const fallback = token === undefined ? PLAIN_GAS : TOKEN_GAS
    return signIntent(this.signer, {
      ...call,
      chainId: this.rpc.settings.chain_id,
      nonce: await this.nextNonce(),
      gas: (await this.rpc.gasFor(this.hotAddress, call)) ?? fallback,
      maxFeePerGas: max,
      maxPriorityFeePerGas: priority,
    })
  }
  /** The chain's count, or one above the highest that is on our disk: two recorded payments never share one. */
  private async nextNonce(): Promise<number> {
    const { withdrawals, sweeps } = this.parts.core.state.wallet
    let next = await this.rpc.count(this.hotAddress)
    for (const { intent } of withdrawals.unsettled(this.chain))
      if (intent !== null) next = Math.max(next, keptOf(intent).nonce + 1)
    for (const { kind, intent } of sweeps.unsettled(this.chain))
      if (kind === 'gas') next = Math.max(next, keptOf(intent).nonce + 1)
    return next
  }

  /** The same bytes again are the same payment: the nonce lets only one of them in. */
  async broadcast(intent: Intent): Promise<void> {
    const { signed } = keptOf(intent)
    try {
      await this.rpc.client.sendRawTransaction({ serializedTransaction: signed as Hex })
    } catch (error) {
      if (!(await this.find(intent)).known) throw error
    }
  }
  async find(intent: Intent): Promise<Sighting> {
    const { client } = this.rpc
    // A cheaper copy that was replaced may be the one that was mined.
    for (const txid of [intent.txid, ...(intent.replaced ?? [])]) {
      const receipt = await orNothing(
        client.getTransactionReceipt({ hash: txid as Hex }),
        TransactionReceiptNotFoundError,
      )
      if (receipt === undefined) continue
      const { blockNumber, status, gasUsed, effectiveGasPrice } = receipt
      const network_fee = format(toAmount(gasUsed * effectiveGasPrice, 18))
      return { txid, known: true, height: Number(blockNumber), ok: status === 'success', network_fee }
    }
    const unmined = { txid: intent.txid, height: null, ok: true, network_fee: '0' }
    const waiting = client.getTransaction({ hash: intent.txid as Hex })
    if ((await orNothing(waiting, TransactionNotFoundError)) !== undefined) return { ...unmined, known: true }
    return { ...unmined, known: false, displaced: await this.displaced(intent) }
  }
  /** Whether another transaction has used its nonce: for now, or so deep that this one can never be mined. */
  private async displaced(intent: Intent): Promise<'no' | 'shallow' | 'deep'> {
    const { nonce, from } = keptOf(intent)
    const sender = (from ?? this.hotAddress) as Hex
    if ((await this.rpc.count(sender)) <= nonce) return 'no'
    const { wallet, world } = this.parts.core.state
    const deep = (wallet.tips.get(this.chain)?.height ?? 0) - world.mustChain(this.chain).unlock_confirms + 1
    return deep >= 0 && (await this.rpc.count(sender, BigInt(deep))) > nonce ? 'deep' : 'shallow'
  }
  /** Dead is what lost its nonce to another payment, or failed in a block, and lies `unlock_confirms` deep. */
  async abandon(intent: Intent): Promise<boolean> {
    const { known, height, ok, displaced } = await this.find(intent)
    if (!known) return displaced === 'deep'
    if (height === null || ok) return false
    const { wallet, world } = this.parts.core.state
    const tip = wallet.tips.get(this.chain)?.height ?? 0
    return tip - height + 1 >= world.mustChain(this.chain).unlock_confirms
  }
  async bump(intent: Intent, waitedSeconds: number): Promise<Intent | undefined> {
    if ((intent.replaced?.length ?? 0) >= Math.floor(waitedSeconds / BUMP_SECONDS)) return undefined
    const kept = keptOf(intent)
    const now = await this.rpc.fees()
    // Nodes take a replacement from a tenth above; the cap of the settings is never passed.
    const dearer = (old: string, wanted: bigint): bigint => {
      const least = (BigInt(old) * 5n) / 4n + 1n
      return least > wanted ? least : wanted
    }
    const maxFeePerGas = dearer(kept.max_fee, now.max)
    if (maxFeePerGas > parseGwei(String(this.rpc.settings.max_fee_gwei))) return undefined
    const gas = BigInt(kept.gas)
    const from = (kept.from ?? this.hotAddress) as Hex
    let signer: Signer | undefined = this.signer
    let value = BigInt(kept.value)
    if (from !== this.hotAddress) {
      // A sweep pays its fee out of what it moves, or out of the gas that was sent for it.
      const held = await this.rpc.coins(from)
      if (kept.data === '0x') value = held - gas * maxFeePerGas
      if (value < 0n || held < value + gas * maxFeePerGas) return undefined
      const owner = this.parts.core.state.wallet.addresses.owner(this.chain, from, '')
      signer = owner === undefined ? undefined : this.depositSigners?.of(owner.user_id)
    }
    return signer === undefined
      ? undefined
      : signIntent(signer, {
          chainId: this.rpc.settings.chain_id,
          nonce: kept.nonce,
          to: kept.to as Hex,
          value,
          data: kept.data as Hex,
          gas,
          maxFeePerGas,
          maxPriorityFeePerGas: dearer(kept.priority_fee, now.priority),
        })
  }
}
const texts = (held: ReadonlyMap<string, Amount>): Record<string, string> =>
  Object.fromEntries([...held].map(([currency, amount]) => [currency, format(amount)]))

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
