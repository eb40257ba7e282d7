import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { replayTraffic, startKontor, type Kontor } from '../src/kontor.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-traffic-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Named {
  readonly id: string
  readonly key: string
  readonly secret: string
}
const ORDER = { currency_pair: 'BTC_USDT', side: 'sell', amount: '0.1', price: '70000', text: 't-mine' }

/** A bot at work: orders, a lost reply, a key that it is given, refusals, and time that passes. */
async function work(world: Kontor): Promise<string[]> {
  const { id } = await world.call<Named>('POST', '/spot/orders', ORDER)
  await world.call('PATCH', `/spot/orders/${id}?currency_pair=BTC_USDT`, { price: '71000' })
  await world.clock.advance(5)
  await world.operator('PUT', '/faults', [
    { effect: 'drop_reply', match: { path: '/spot/orders' }, times: 1 },
  ])
  await world.call('POST', '/spot/orders', { ...ORDER, text: 't-lost' }).catch(() => undefined)
  await world.call('GET', '/spot/orders/t-lost?currency_pair=BTC_USDT')
  await world.call('POST', '/spot/orders', { ...ORDER, amount: '1000' }).catch(() => undefined)
  const perms = [{ name: 'spot', read_only: false }]
  const key = await world.operator<Named>('POST', '/users/10002/keys', { name: 'bot', mode: 1, perms })
  const buy = { ...ORDER, side: 'buy', amount: '0.05', price: '71000', text: 't-bot' }
  const bought = await world.call<Named>('POST', '/spot/orders', buy, { as: key })
  await world.call('GET', `/spot/my_trades?currency_pair=BTC_USDT&order_id=${bought.id}`, undefined, {
    as: key,
  })
  await world.fetch(`${world.url}/api/v4/spot/accounts`, {
    headers: { KEY: 'nobody', SIGN: 'x', Timestamp: '1' },
  })
  await Promise.all(
    Array.from({ length: 5 }, (_, i) => world.call('POST', '/spot/orders', { ...ORDER, text: `t-${i}` })),
  )
  await world.call('DELETE', '/spot/orders?currency_pair=BTC_USDT')
  return [world.secret, world.operatorToken, key.secret]
}

describe('a recorded session', () => {
  const file = join(folder, 'session.jsonl')
  let secrets: string[]
  before(async () => {
    const world = await startKontor({ port: 'none', record: file, agents: false })
    secrets = await work(world)
    await world.close()
  })

  test('holds requests and answers, and no secret', () => {
    const text = readFileSync(file, 'utf8')
    for (const secret of secrets) assert.ok(!text.includes(secret))
    const lines = text.trim().split('\n')
    assert.equal(lines.length, 17, 'a header, and every request but the one that was not let in')
    assert.ok(lines.some((line) => line.includes('"dropped":true')))
  })
  test('is the same when it is sent again', async () => {
    assert.deepEqual(await replayTraffic(file), { requests: 16, differences: [] })
  })
  test('tells what has changed since', async () => {
    const changed = join(folder, 'changed.jsonl')
    const text = readFileSync(file, 'utf8')
    // As if fees had been others then, and as if one more order had been there.
    writeFileSync(changed, text.replace(/"fee":"[1-9][^"]*"|"fee":"0\.0*[1-9][^"]*"/, '"fee":"0.5"'))
    const { differences } = await replayTraffic(changed)
    assert.equal(differences.length, 1)
    assert.match(differences[0]!.where, /^reply\.(0\.)?fee$/)
    assert.equal(differences[0]!.recorded, '"0.5"')
  })
  test('is sent to a platform that runs, where the same things have other names and times', async () => {
    const world = await startKontor({ agents: false, clock: '2030-05-05' })
    for (let i = 0; i < 3; i++) await world.call('POST', '/spot/orders', { ...ORDER, text: undefined })
    await world.call('DELETE', '/spot/orders?currency_pair=BTC_USDT')
    const credentials = { operator_token: world.operatorToken, accounts: world.accounts }
    const report = await replayTraffic(file, { against: world.url, credentials })
    // What stood there before is in the counters of the accounts, and nowhere else.
    assert.deepEqual(
      report.differences.filter(({ where }) => !where.endsWith('update_id')),
      [],
    )
    await world.close()
  })
  test('that is none, or was cut off, says so', async () => {
    const bad = join(folder, 'bad.jsonl')
    writeFileSync(bad, '{"some": "thing"}\n')
    await assert.rejects(replayTraffic(bad), /is not a recorded session.*kontor record FILE/)
    writeFileSync(bad, readFileSync(file, 'utf8').slice(0, -40))
    await assert.rejects(replayTraffic(bad), /line 17: is not a request; was the file cut off/)
    writeFileSync(bad, readFileSync(file, 'utf8').replace('"kontor_session":1', '"kontor_session":9'))
    await assert.rejects(replayTraffic(bad), /recorded in format 9/)
    await assert.rejects(startKontor({ record: file, clock: 'real' }), /needs a clock that stands/)
  })
})
