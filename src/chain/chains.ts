import { setTimeout as sleep } from 'node:timers/promises'
import { notFound } from '../labels.ts'
import type { ChainConfig } from '../core/tables/world/chains.ts'
import { ChainDriver, type Displaced, type DriverParts } from './driver.ts'
import type { ChainPort } from './port.ts'
import { SimulatedChain } from './simulated.ts'

/** Builds the adapter of a chain; a kind that is missing here can't be configured. */
export type PortFactory = (config: ChainConfig, parts: DriverParts) => ChainPort | Promise<ChainPort>

const simulated: PortFactory = ({ chain }, parts) => new SimulatedChain(parts, chain)
/** Loaded only where a chain needs it: the library costs memory and start-up time. */
const evm: PortFactory = async (config, parts) => (await import('./evm/evm.ts')).openEvm(config, parts)

/** How long a start waits for the first look at all chains. */
const SETTLE_MS = 5_000

/** What keeps the chains of a configuration from being served, looked at before anything is touched. */
export async function checkChainKeys(chains: readonly ChainConfig[]): Promise<void> {
  for (const config of chains) if (config.kind === 'evm') (await import('./evm/evm.ts')).readKeys(config)
}

/** Every chain with whoever follows it. */
export class Chains {
  private readonly drivers = new Map<string, ChainDriver>()
  private readonly parts: DriverParts
  private readonly factories: Readonly<Partial<Record<ChainConfig['kind'], PortFactory>>>

  constructor(
    parts: DriverParts,
    factories: Readonly<Partial<Record<ChainConfig['kind'], PortFactory>>> = {},
  ) {
    this.parts = parts
    this.factories = { simulated, evm, ...factories }
  }
  /** After the state is loaded: whatever the last process left half done is taken up again. */
  async start(): Promise<void> {
    for (const config of this.parts.core.state.world.allChains) {
      const factory = this.factories[config.kind]
      if (factory === undefined)
        throw new TypeError(`chain ${config.chain}: no adapter for kind ${config.kind}`)
      const driver = new ChainDriver(await factory(config, this.parts), this.parts)
      this.drivers.set(config.chain, driver)
      driver.start()
    }
    // A node that is silent keeps nobody else waiting.
    await Promise.race([this.settle(), sleep(SETTLE_MS, undefined, { ref: false })])
  }
  /** What is asked of a node is broken off: the rows say how far it got. */
  async stop(): Promise<void> {
    const drivers = [...this.drivers.values()]
    this.drivers.clear()
    await Promise.all(
      drivers.map(async (driver) => {
        const stopped = driver.stop()
        await driver.port.close?.()
        await stopped
      }),
    )
  }
  port(chain: string): ChainPort {
    const driver = this.drivers.get(chain)
    return driver?.port ?? notFound('NOT_FOUND', `chain: there is no chain "${chain}"`)
  }
  /** Transactions of ours whose nonce somebody else used, as of the last look. */
  displaced(chain: string): readonly Displaced[] {
    return this.drivers.get(chain)?.displaced ?? []
  }
  /** In milliseconds; undefined: it answers. */
  silentSince(chain: string): number | undefined {
    return this.drivers.get(chain)?.silentSince
  }
  errors(chain: string): number {
    return this.drivers.get(chain)?.errors ?? 0
  }
  /** Looks and sends now; resolves when that is done. `hurry`: withdrawals are not left their time to be cancelled. */
  async step(chain: string, options: { readonly hurry?: boolean } = {}): Promise<void> {
    // Nobody follows a chain while the platform stops or is reset: the rows keep what is to be done.
    await this.drivers.get(chain)?.step(options)
  }
  /** All chains once. */
  async settle(): Promise<void> {
    await Promise.all([...this.drivers.values()].map((driver) => driver.step()))
  }
}
