import { HDKey } from '@scure/bip32'
import {
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  http,
  keccak256,
  pad,
  parseEther,
  toHex,
  type Hex,
  type PublicClient,
} from 'viem'
import { mnemonicToAccount, privateKeyToAccount, type LocalAccount } from 'viem/accounts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import type { ChainConfig, CurrencyChain } from '../../src/core/tables/world/chains.ts'
import { startBackend, type Backend } from './backends.ts'
import { TOKEN_BYTECODE } from './token.ts'

const CHAIN_ID = 31337
const MNEMONIC = 'test test test test test test test test test test test junk'
const richAccount = mnemonicToAccount(MNEMONIC)
/** The seed of the deposit addresses in tests: the platform sees its extended public key only. */
export const DEPOSITS = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'")
export const HOT_KEY: Hex = `0x${'42'.repeat(32)}`
export const HOT = privateKeyToAccount(HOT_KEY).address

/** A real EVM node that mines when it is told to. */
export class EvmNode {
  readonly url: string
  readonly client: PublicClient
  token: Hex = '0x'
  private readonly backend: Backend
  /** EDR has no call for a reorganisation: the state before each block, by the height it stood at. */
  private readonly snapshots = new Map<bigint, string>()

  private constructor(backend: Backend) {
    this.url = backend.url
    this.backend = backend
    this.client = createPublicClient({ transport: http(backend.url), cacheTime: 0 })
  }
  static async start(): Promise<EvmNode> {
    const options = { chainId: CHAIN_ID, mnemonic: MNEMONIC, rich: richAccount.address }
    const node = new EvmNode(await startBackend(options))
    const supply = encodeAbiParameters([{ type: 'uint256' }], [10n ** 15n])
    const made = await node.send({ data: `${TOKEN_BYTECODE}${supply.slice(2)}` })
    await node.mine()
    node.token = (await node.client.getTransactionReceipt({ hash: made })).contractAddress!
    return node
  }
  get kind(): Backend['kind'] {
    return this.backend.kind
  }
  stop(): void {
    this.backend.stop()
  }
  rpc(method: string, params: unknown[] = []): Promise<unknown> {
    return this.client.request({ method, params } as never)
  }
  async mine(blocks = 1): Promise<void> {
    for (let i = 0; i < blocks; i++) {
      if (this.kind === 'edr')
        this.snapshots.set(await this.client.getBlockNumber(), (await this.rpc('evm_snapshot')) as string)
      await this.rpc('evm_mine')
    }
  }
  /** Replaces the top blocks by as many empty ones: what was in them is gone, from the waiting room too. */
  async reorg(depth: number): Promise<void> {
    if (this.kind === 'anvil') {
      await this.rpc('anvil_reorg', [depth, []])
      return
    }
    const fork = (await this.client.getBlockNumber()) - BigInt(depth)
    await this.rpc('evm_revert', [this.snapshots.get(fork)!])
    for (const { hash } of (await this.rpc('eth_pendingTransactions')) as { hash: string }[])
      await this.rpc('hardhat_dropTransaction', [hash])
    // Else an empty block could be the same one again.
    await this.rpc('evm_increaseTime', [7])
    await this.mine(depth)
  }
  /** Takes a transaction out of the waiting room. */
  async drop(txid: string): Promise<void> {
    await this.rpc(`${this.kind === 'anvil' ? 'anvil' : 'hardhat'}_dropTransaction`, [txid])
  }
  /** From an account with plenty. */
  send(what: { to?: Hex; value?: bigint; data?: Hex }): Promise<Hex> {
    return this.sendFrom(richAccount, what)
  }
  async sendFrom(account: LocalAccount, what: { to?: Hex; value?: bigint; data?: Hex }): Promise<Hex> {
    const wallet = createWalletClient({ account, transport: http(this.url) })
    const nonce = await this.client.getTransactionCount({ address: account.address, blockTag: 'pending' })
    return wallet.sendTransaction({
      chain: null,
      ...what,
      nonce,
      gas: account === richAccount ? 1_000_000n : 21_000n,
      maxFeePerGas: 20_000_000_000n,
      maxPriorityFeePerGas: 2_000_000_000n,
    })
  }
  pay(to: string, ether: string): Promise<Hex> {
    return this.send({ to: to as Hex, value: parseEther(ether) })
  }
  payToken(to: string, units: bigint): Promise<Hex> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] })
    return this.send({ to: this.token, data })
  }
  /** The token's owner takes somebody's tokens, or gives them back: transfers of them fail meanwhile. */
  async setTokens(owner: string, units: bigint): Promise<void> {
    const words = [owner as Hex, 0n] as const
    const slot = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], words))
    await this.rpc('hardhat_setStorageAt', [this.token, slot, pad(toHex(units), { size: 32 })])
  }
  tokens(owner: string): Promise<bigint> {
    return this.client.readContract({
      address: this.token,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [owner as Hex],
    })
  }
  ether(owner: string): Promise<bigint> {
    return this.client.getBalance({ address: owner as Hex })
  }
}

/** The built-in world with the node as one more chain, EVM: for its coin ETH, and for the token as USDT. */
export function evmWorld(
  node: EvmNode,
  sweeps?: { readonly ETH: string; readonly USDT: string },
): Record<string, unknown> {
  const on = (
    contract_address: string,
    decimal: number,
    withdraw_fix: string,
    sweep_threshold?: string,
  ): CurrencyChain => ({
    chain: 'EVM',
    contract_address,
    decimal,
    deposit_enabled: true,
    withdraw_enabled: true,
    min_deposit_amount: '0.001',
    withdraw_amount_mini: '0.01',
    withdraw_fix,
    withdraw_percent: '0',
    hot_wallet: 'manual',
    ...(sweep_threshold !== undefined && { sweep_threshold }),
  })
  const added = new Map([
    ['ETH', on('', 8, '0.01', sweeps?.ETH)],
    ['USDT', on(node.token, 6, '1', sweeps?.USDT)],
  ])
  const chain: ChainConfig = {
    ...BUILT_IN_WORLD.chains[0]!,
    chain: 'EVM',
    kind: 'evm',
    address_format: 'evm',
    native: 'ETH',
    network_fee: '0',
    min_confirms: 3,
    unlock_confirms: 3,
    send_delay_seconds: 0,
    node: {
      rpc_url: node.url,
      chain_id: CHAIN_ID,
      xpub: DEPOSITS.publicExtendedKey,
      key_env: 'KONTOR_TEST_HOT_KEY',
      ...(sweeps !== undefined && { sweeper_env: 'KONTOR_TEST_SWEEPER' }),
      poll_ms: 3_600_000,
    },
  }
  return {
    chains: [...BUILT_IN_WORLD.chains, chain],
    currencies: BUILT_IN_WORLD.currencies.map((currency) => {
      const more = added.get(currency.currency)
      return more === undefined ? currency : { ...currency, chains: [...currency.chains, more] }
    }),
  }
}
