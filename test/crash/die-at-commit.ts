import { readConfig } from '../../src/config.ts'
import { startPlatform } from '../../src/platform.ts'
import { createLog } from '../../src/runtime/log.ts'
import { openStore } from '../../src/store/open.ts'
import { Client, OperatorClient, type Credential } from '../support/client.ts'
import { TOKEN } from '../support/platform.ts'

/**
 * Takes a deposit and a withdrawal all the way, and dies by SIGKILL right after the n-th commit: no handler
 * runs, nothing is flushed. Ends with 0 when the way has fewer commits than n.
 */
export interface Way {
  readonly data: string
  readonly commit: number
  readonly user_id: number
  readonly credential: Credential
  readonly withdrawal: Readonly<Record<string, string>>
}
export async function walk(way: Omit<Way, 'data' | 'commit'>, url: string, now: () => number): Promise<void> {
  const operator = new OperatorClient(url, TOKEN)
  const client = new Client(url, way.credential, now)
  await operator.ok('POST', '/chains/ETH/deposits', { user_id: way.user_id, currency: 'ETH', amount: '3' })
  await client.post('/withdrawals', way.withdrawal)
  await operator.ok('POST', '/chains/ETH/mine', { blocks: 1 })
  await operator.ok('POST', '/chains/ETH/mine', { blocks: 11 })
  await operator.ok('POST', '/chains/ETH/mine', { blocks: 12 })
}

async function main(way: Way): Promise<void> {
  const config = readConfig({
    KONTOR_PORT: '0',
    KONTOR_DATA: way.data,
    KONTOR_OPERATOR_TOKEN: TOKEN,
    KONTOR_AGENTS: 'off',
    KONTOR_LOG: 'error',
    KONTOR_RATE_LIMITS: 'off',
  })
  const store = openStore(config)
  let armed = false
  let commits = 0
  const commit = store.commit.bind(store)
  store.commit = async (batch) => {
    await commit(batch)
    if (armed && ++commits === way.commit) process.kill(process.pid, 'SIGKILL')
  }
  const log = createLog('error', (line) => process.stderr.write(`${line}\n`))
  const platform = await startPlatform(config, log, (error) => console.error(error), store)
  armed = true
  await walk(way, platform.url, () => platform.desk.clock.peek() / 1e6)
  await platform.stop()
}
const [argument] = process.argv.slice(2)
if (argument?.startsWith('{') === true) await main(JSON.parse(argument) as Way)
