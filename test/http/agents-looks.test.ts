import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { opinionText } from '../../src/agents/dice.ts'
import { opinionPrice } from '../../src/core/agents/agents.ts'
import { format } from '../../src/money/amount.ts'
import { ok, refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

const START = 1_790_000_000
const BTC = { currency_pair: 'BTC_USDT' }

describe('a look of the market agents', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_CLOCK: String(START) })
  })
  after(() => platform.stop())
  const row = () => platform.platform.desk.core.state.agents.markets.get('BTC_USDT')!
  const look = (more: object) => ({
    currency_pair: 'BTC_USDT',
    seed: 1,
    fair: '60000',
    anchor: '60000',
    trend: '0',
    over: true,
    cancel: [],
    orders: [],
    ...more,
  })

  test('is one recorded command, in whole numbers and decimal texts, at its own time', async () => {
    await platform.operator.ok('POST', '/clock', { advance_seconds: 40 })
    const looks: { at: number; input: { due_id: number | null; look: Record<string, unknown> } }[] = []
    const types = new Set<string>()
    for (const { commands } of await platform.platform.desk.store.commandsAfter(0, 10_000))
      for (const [at, type, input] of JSON.parse(commands) as [number, string, never][]) {
        types.add(type)
        if (type === 'agents.act') looks.push({ at, input })
      }
    const paced = looks.filter(({ input }) => input.due_id !== null)
    assert.ok(paced.length >= 39, `${paced.length} looks in 40 seconds`)
    const seconds = paced.map(({ at }) => Math.floor(at / 1e6))
    assert.deepEqual(seconds, [...new Set(seconds)].sort(), 'each at a second of its own')
    for (const { input } of looks)
      JSON.stringify(input, (_, value: unknown) => {
        if (typeof value === 'number') assert.ok(Number.isSafeInteger(value), String(value))
        return value
      })
    assert.ok(looks.some(({ input }) => (input.look['orders'] as unknown[]).length > 0))
    assert.equal(types.has('agents.look'), false)
    const { due_failed } = await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.equal(due_failed, 0)
  })

  test('moves nobody’s orders or money but the agents’ own', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '1000')
    const order = { ...BTC, type: 'limit', side: 'buy', amount: '0.001', price: '30000' }
    const { id } = ok(await client.post('/spot/orders', order), 201)
    const { core } = platform.platform.desk
    const before = row()
    await core.submit('agents.act', { due_id: null, look: look({ cancel: [Number(id)] }) })
    assert.equal(ok(await client.get(`/spot/orders/${String(id)}`, BTC)).status, 'open')
    const proof = async () => (await platform.operator.ok('GET', '/ledger/proof')).balanced as boolean
    assert.equal(await proof(), true)
    // More than an agent has, at a price far off, or of an amount that is none: not placed, and nothing made.
    const equity = () => core.state.ledger.balance(0, 'equity', 'USDT')
    const had = equity()
    const orders = [
      ['noise', 'buy', '100000000', '60000'],
      ['noise', 'buy', '0.001', '9'],
      ['momentum', 'sell', '-5', '60000'],
      ['maker', 'sell', '0.0000000001', '60000'],
    ]
    await core.submit('agents.act', { due_id: null, look: look({ orders }) })
    assert.equal(equity(), had)
    assert.equal(await proof(), true)
    await assert.rejects(core.submit('agents.act', { due_id: null, look: look({ fair: '-1' }) }))
    await assert.rejects(core.submit('agents.act', { due_id: null, look: look({ fair: '0' }) }))
    assert.equal(row().fair, '60000', 'a look that fails leaves nothing')
    await core.submit('agents.act', { due_id: null, look: look({ ...before, over: true }) })
  })

  test('opinions are texts that the core can read, and go on from; numbers of older rows are read too', () => {
    for (const opinion of [
      60_000,
      0.1,
      1 / 3,
      70_010.093_812_345_67,
      0.000_001_234_567_890_123,
      1e-9,
      123_456_789.5,
    ]) {
      const text = opinionText(opinion)
      assert.match(text, /^\d+(\.\d{1,18})?$/)
      assert.ok(Math.abs(Number(text) / opinion - 1) < 1e-9, `${text} for ${opinion}`)
      assert.equal(opinionText(Number(text)), text)
      assert.equal(format(opinionPrice(text)!), text)
    }
    assert.equal(opinionText(-0.000_4), '-0.0004')
    assert.equal(opinionText(0), '0')
    assert.equal(format(opinionPrice(70_010.0938)!), '70010.0938')
  })

  test('goes on after a restart from where it was; without agents no scenario is made', async () => {
    const { fair } = row()
    platform = await platform.restart()
    const after = Number(row().fair)
    assert.ok(Math.abs(after / Number(fair) - 1) < 0.01, `${after} after ${String(fair)}`)
    platform = await platform.restart({ KONTOR_AGENTS: 'off' })
    const gap = { name: 'gap', ...BTC }
    refused(
      await platform.operator.call('POST', '/agents/scenario', gap),
      403,
      'REQUEST_FORBIDDEN',
      /KONTOR_AGENTS/,
    )
    const { due_failed } = await platform.operator.ok('POST', '/clock', { advance_seconds: 60 })
    assert.equal(due_failed, 0)
  })
})
