import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { arch, platform } from 'node:process'
import { freePort } from '../support/ports.ts'

/** A node of its own for a test: a real EVM that mines only when it is told to. */
export interface Backend {
  readonly kind: 'anvil' | 'edr'
  readonly url: string
  stop(): void
}
export interface ChainOptions {
  readonly chainId: number
  readonly mnemonic: string
  /** The first account of the mnemonic: it has plenty. */
  readonly rich: string
}

const require = createRequire(import.meta.url)
function installed(name: string): string | undefined {
  try {
    return require.resolve(name)
  } catch {
    return undefined
  }
}

/** anvil where its package is for this machine (or KONTOR_TEST_ANVIL names one), else the engine of Hardhat in this process. */
export async function startBackend(options: ChainOptions): Promise<Backend> {
  const anvil = process.env['KONTOR_TEST_ANVIL'] ?? installed('@foundry-rs/anvil-linux-amd64/bin/anvil')
  const runsHere = process.env['KONTOR_TEST_ANVIL'] !== undefined || (platform === 'linux' && arch === 'x64')
  return anvil !== undefined && runsHere ? startAnvil(anvil, options) : startEdr(options)
}

async function startAnvil(binary: string, { chainId, mnemonic }: ChainOptions): Promise<Backend> {
  const port = await freePort()
  const args = ['--port', String(port), '--chain-id', String(chainId), '--mnemonic', mnemonic]
  const child = spawn(binary, [...args, '--no-mining', '--silent'], { stdio: 'ignore' })
  const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error))
  const url = `http://127.0.0.1:${port}`
  await Promise.race([failed, answers(url, () => child.exitCode !== null)])
  return { kind: 'anvil', url, stop: () => child.kill('SIGKILL') }
}
async function answers(url: string, ended: () => boolean): Promise<void> {
  for (let i = 0; ; i++)
    try {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
      await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return
    } catch (error) {
      if (i === 300 || ended()) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
}

/** The part of the engine's interface that is used here; its platform packages hold the library alone. */
interface Edr {
  readonly L1_CHAIN_TYPE: string
  readonly CANCUN: string
  readonly EdrContext: new () => {
    registerProviderFactory(type: string, factory: unknown): Promise<void>
    createProvider(type: string, ...config: unknown[]): Promise<Provider>
  }
  readonly ContractDecoder: new () => unknown
  l1ProviderFactory(): unknown
  l1GenesisState(hardfork: unknown): unknown[]
  l1HardforkFromString(name: string): unknown
}
interface Provider {
  handleRequest(request: string): Promise<{ readonly data: unknown }>
}
const EDR_PACKAGES: Readonly<Record<string, string>> = {
  'linux-arm64': '@nomicfoundation/edr-linux-arm64-gnu',
  'linux-x64': '@nomicfoundation/edr-linux-x64-gnu',
  'darwin-arm64': '@nomicfoundation/edr-darwin-arm64',
}
const GAS_LIMIT = 30_000_000n

async function startEdr(options: ChainOptions): Promise<Backend> {
  const name = EDR_PACKAGES[`${platform}-${arch}`]
  if (name === undefined) throw new Error(`no EVM node for ${platform}-${arch}: set KONTOR_TEST_ANVIL to one`)
  const provider = await edrProvider(require(name) as Edr, options)
  const server = createServer((request, response) => void serve(provider, request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { kind: 'edr', url: `http://127.0.0.1:${port}`, stop }
}
async function edrProvider(edr: Edr, { chainId, rich }: ChainOptions): Promise<Provider> {
  const context = new edr.EdrContext()
  await context.registerProviderFactory(edr.L1_CHAIN_TYPE, edr.l1ProviderFactory())
  const wealth = { address: Buffer.from(rich.slice(2), 'hex'), balance: 10n ** 22n }
  return context.createProvider(
    edr.L1_CHAIN_TYPE,
    {
      allowBlocksWithSameTimestamp: false,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: false,
      bailOnTransactionFailure: false,
      chainId: BigInt(chainId),
      networkId: BigInt(chainId),
      coinbase: Buffer.alloc(20, 1),
      defaultTransactionGasLimit: GAS_LIMIT,
      genesisState: [...edr.l1GenesisState(edr.l1HardforkFromString(edr.CANCUN)), wealth],
      hardfork: edr.CANCUN,
      initialBaseFeePerGas: 1_000_000_000n,
      initialParentBeaconBlockRoot: Buffer.alloc(32),
      minGasPrice: 0n,
      mining: { autoMine: false, blockGasLimit: GAS_LIMIT, memPool: { order: 'Priority' } },
      network: { genesisBlobGas: { gasUsed: 0n, excessGas: 0n }, genesisBlockGasLimit: GAS_LIMIT },
      observability: {},
      ownedAccounts: [],
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => undefined },
    { subscriptionCallback: () => undefined },
    new edr.ContractDecoder(),
  )
}
async function serve(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const asked = JSON.parse(Buffer.concat(chunks).toString()) as { id: unknown }
  const { data } = await provider.handleRequest(JSON.stringify({ params: [], ...asked }))
  const answer = (typeof data === 'string' ? JSON.parse(data) : data) as object
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...answer }))
}
