import assert from 'node:assert/strict'
import { after, mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AgentDriver } from '../../src/agents/driver.ts'
import { createLog } from '../../src/runtime/log.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient } from '../support/socket.ts'
import { until } from '../support/venue.ts'

const BUSY = 1_000_000
const IDLE = 120_000_000

test('agents rest when nobody asks, but not while somebody listens', async () => {
  const platform = await TestPlatform.start({ KONTOR_AGENTS: 'on' })
  after(() => platform.stop())
  // The agents' own state is real; what they want done is only noted.
  const { desk } = platform.platform
  const paces: number[] = []
  const core = Object.create(desk.core, {
    submit: {
      value: (type: string, input: { every: number }) => {
        if (type === 'agents.pace') paces.push(input.every)
        return Promise.resolve(null)
      },
    },
  }) as typeof desk.core
  const { clock } = desk
  const log = createLog('error', () => undefined)
  mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() })
  const driver = new AgentDriver({ core, clock, log, seed: 1, requests: () => 0, stands: false })
  const minutes = async (count: number): Promise<void> => {
    for (let second = 0; second < count * 60; second++) {
      mock.timers.tick(1_000)
      await turn()
    }
  }
  let listens = true
  driver.watched = () => listens
  await driver.start()
  await minutes(5)
  assert.deepEqual(paces, [BUSY])
  listens = false
  await minutes(3)
  assert.deepEqual(paces, [BUSY, IDLE])
  listens = true
  await minutes(1)
  assert.deepEqual(paces, [BUSY, IDLE, BUSY])
  driver.stop()
  mock.timers.reset()
})
test('a subscription counts as listening, an open socket alone does not', async () => {
  const start = mock.method(AgentDriver.prototype, 'start')
  const platform = await TestPlatform.start({ KONTOR_AGENTS: 'on' })
  after(() => platform.stop())
  const agents = start.mock.calls[0]!.this as AgentDriver
  const socket = await SocketClient.open(platform.url, platform.now)
  assert.equal(agents.watched(), false)
  await socket.subscribe('spot.tickers', ['BTC_USDT'])
  assert.equal(agents.watched(), true)
  await socket.close()
  await until('it has gone', () => !agents.watched())
})
