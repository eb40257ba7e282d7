import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../../src/config.ts'
import { startPlatform, type Platform } from '../../src/platform.ts'
import { createLog } from '../../src/runtime/log.ts'
import { openStore } from '../../src/store/open.ts'
import { Client, OperatorClient, type Credential } from '../support/client.ts'
import { TOKEN } from '../support/platform.ts'

/** What happens until the process dies. */
export type Walk =
  /** A deposit and a withdrawal all the way, on a simulated chain. */
  | { readonly kind: 'simulated'; readonly user_id: number; readonly withdrawal: Body }
  /** A withdrawal all the way, on a real chain. */
  | { readonly kind: 'evm'; readonly rpc: string; readonly withdrawal: Body }
  /** Blocks come, and coins are gathered. */
  | { readonly kind: 'sweep'; readonly rpc: string; readonly blocks: readonly number[] }
  /** An index price moves, and what follows from it for positions. */
  | { readonly kind: 'index'; readonly prices: Body }
  /** The clock moves to a second, through everything that falls due. */
  | { readonly kind: 'clock'; readonly now: number }
  /** Whatever others ask for, until it dies. */
  | { readonly kind: 'serve' }
type Body = Readonly<Record<string, string>>

/** Dies by SIGKILL right before or after the n-th commit: no handler runs, nothing is flushed. Ends with 0 when there are fewer. */
export interface Death {
  readonly env: Readonly<Record<string, string>>
  readonly commit: number
  readonly when?: 'before' | 'after'
  readonly credential: Credential
  readonly walk: Walk
}

async function take(
  walk: Exclude<Walk, { kind: 'serve' }>,
  credential: Credential,
  platform: Platform,
): Promise<void> {
  const { url, desk } = platform
  const operator = new OperatorClient(url, TOKEN)
  const client = new Client(url, credential, () => desk.clock.peek() / 1e6)
  if (walk.kind === 'simulated') {
    await operator.ok('POST', '/chains/ETH/deposits', { user_id: walk.user_id, currency: 'ETH', amount: '3' })
    await client.post('/withdrawals', walk.withdrawal)
    for (const blocks of [1, 11, 12]) await operator.ok('POST', '/chains/ETH/mine', { blocks })
    return
  }
  if (walk.kind === 'index') {
    await operator.ok('PUT', '/prices', walk.prices)
    // Each step of a liquidation is a command of its own.
    await sleep(700)
    return
  }
  if (walk.kind === 'clock') {
    await operator.ok('POST', '/clock', { now: walk.now })
    return
  }
  const step = (): Promise<void> => desk.chains.step('EVM', { hurry: true })
  if (walk.kind === 'evm') await client.post('/withdrawals', walk.withdrawal)
  await step()
  for (const blocks of walk.kind === 'evm' ? [1, 2] : walk.blocks) {
    for (let i = 0; i < blocks; i++) await mine(walk.rpc)
    await step()
  }
}
async function mine(rpc: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'evm_mine', params: [] })
  await fetch(rpc, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

async function main({ env, commit: last, when = 'after', credential, walk }: Death): Promise<void> {
  const config = readConfig({
    KONTOR_PORT: '0',
    KONTOR_OPERATOR_TOKEN: TOKEN,
    KONTOR_AGENTS: 'off',
    KONTOR_LOG: 'error',
    KONTOR_RATE_LIMITS: 'off',
    ...env,
  })
  const store = openStore(config)
  let armed = false
  let commits = 0
  const commit = store.commit.bind(store)
  const strike = (): void => {
    if (armed && ++commits === last) process.kill(process.pid, 'SIGKILL')
  }
  store.commit = async (batch) => {
    if (when === 'before') strike()
    const hash = await commit(batch)
    if (when === 'after') strike()
    return hash
  }
  const log = createLog('error', (line) => process.stderr.write(`${line}\n`))
  const platform = await startPlatform(config, log, (error) => console.error(error), store)
  armed = true
  if (walk.kind === 'serve') {
    console.log(`kontor ready on ${platform.url}`)
    return
  }
  await take(walk, credential, platform)
  await platform.stop()
}
const [argument] = process.argv.slice(2)
if (argument?.startsWith('{') === true) await main(JSON.parse(argument) as Death)
