import { once } from 'node:events'
import { spawn, type ChildProcess } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { HDKey } from '@scure/bip32'
import {
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  http,
  parseEther,
  type Hex,
  type PublicClient,
} from 'viem'
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import type { ChainConfig, CurrencyChain } from '../../src/core/world/chains.ts'
import { TOKEN_BYTECODE } from './token.ts'

const CHAIN_ID = 31337
const MNEMONIC = 'test test test test test test test test test test test junk'
const richAccount = mnemonicToAccount(MNEMONIC)
/** The seed of the deposit addresses in tests: the platform sees its extended public key only. */
export const DEPOSITS = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'")
export const HOT_KEY: Hex = `0x${'42'.repeat(32)}`
export const HOT = privateKeyToAccount(HOT_KEY).address

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** A real EVM node that mines when it is told to. */
export class EvmNode {
  readonly url: string
  readonly client: PublicClient
  token: Hex = '0x'
  private readonly child: ChildProcess

  private constructor(url: string, child: ChildProcess) {
    this.url = url
    this.child = child
    this.client = createPublicClient({ transport: http(url), cacheTime: 0 })
  }
  static async start(): Promise<EvmNode> {
    const port = await freePort()
    const cli = createRequire(import.meta.url).resolve('ganache/dist/node/cli.js')
    const options = ['--server.port', String(port), '--wallet.mnemonic', MNEMONIC]
    const chain = ['--chain.chainId', String(CHAIN_ID), '--miner.blockTime', '1000000', '--logging.quiet']
    const child = spawn(process.execPath, [cli, ...options, ...chain], { stdio: 'ignore' })
    const node = new EvmNode(`http://127.0.0.1:${port}`, child)
    for (let i = 0; ; i++)
      try {
        await node.client.getChainId()
        break
      } catch (error) {
        if (i === 150 || child.exitCode !== null) throw error
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    const supply = encodeAbiParameters([{ type: 'uint256' }], [10n ** 15n])
    const made = await node.send({ data: `${TOKEN_BYTECODE}${supply.slice(2)}` })
    await node.mine()
    node.token = (await node.client.getTransactionReceipt({ hash: made })).contractAddress!
    return node
  }
  stop(): void {
    this.child.kill('SIGKILL')
  }
  rpc(method: string, params: unknown[] = []): Promise<unknown> {
    return this.client.request({ method, params } as never)
  }
  async mine(blocks = 1): Promise<void> {
    for (let i = 0; i < blocks; i++) await this.rpc('evm_mine')
  }
  /** From an account with plenty. */
  async send(what: { to?: Hex; value?: bigint; data?: Hex }): Promise<Hex> {
    const wallet = createWalletClient({ account: richAccount, transport: http(this.url) })
    const nonce = await this.client.getTransactionCount({ address: richAccount.address, blockTag: 'pending' })
    return wallet.sendTransaction({
      chain: null,
      ...what,
      nonce,
      gas: 1_000_000n,
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
export function evmWorld(node: EvmNode): Record<string, unknown> {
  const on = (contract_address: string, decimal: number, withdraw_fix: string): CurrencyChain => ({
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
  })
  const added = new Map([
    ['ETH', on('', 8, '0.01')],
    ['USDT', on(node.token, 6, '1')],
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
