import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { HDKey } from '@scure/bip32'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import type { WorldConfig } from '../../src/core/tables/world/config.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { kontor } from '../support/process.ts'
import { Trader } from '../support/spot.ts'

const PAIR = { currency_pair: 'BTC_USDT' }
const precisionOf = (precision: number, amount_precision = 5): Partial<WorldConfig> => ({
  markets: BUILT_IN_WORLD.markets.map((market) =>
    market.id === 'BTC_USDT' ? { ...market, precision, amount_precision } : market,
  ),
})
const without = (pair: string): Partial<WorldConfig> => ({
  markets: BUILT_IN_WORLD.markets.filter(({ id }) => id !== pair),
})

/** Whole, so that nothing but what the chain holds stands in the way; nobody answers there. */
const NODE = {
  rpc_url: 'http://127.0.0.1:1',
  chain_id: 31337,
  xpub: HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).publicExtendedKey,
  key_env: 'KONTOR_TEST_HOT_KEY',
}
process.env['KONTOR_TEST_HOT_KEY'] = '42'.repeat(32)

describe('a changed configuration file', () => {
  let folder: string
  let platform: TestPlatform
  before(() => (folder = mkdtempSync(join(tmpdir(), 'kontor-config-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (world: Partial<WorldConfig>): Record<string, string> => {
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify(world))
    return { KONTOR_CONFIG: path }
  }
  const doctor = async (env: Record<string, string>): Promise<string> =>
    (await kontor(['doctor', '--data', platform.data], { KONTOR_PORT: '0', ...env })).output

  test('finer prices: orders that rest keep their place in a book that counts in the new ticks', async () => {
    platform = await TestPlatform.start(file(precisionOf(1)))
    const seller = await Trader.of(platform, { BTC: '10' })
    const buyer = await Trader.of(platform, { USDT: '10000000' })
    await seller.placed('sell', '1', '50001.1')
    platform = await platform.restart(file(precisionOf(2)))
    const [sell, buy] = [seller, buyer].map(
      ({ user_id, client }) => new Trader(user_id, platform.client(client.credential)),
    ) as [Trader, Trader]
    await sell.placed('sell', '1', '50000.15')
    const limited = await buy.placed('buy', '1', '50000.12')
    assert.equal(limited.status, 'open', 'limited at 50000.12 it does not buy at 50000.15')
    const taken = await buy.placed('buy', '2', '50001.1')
    assert.equal(taken.status, 'closed')
    assert.equal(taken.avg_deal_price, '50000.625', 'the better price first, then the one from before')
    await sell.placed('sell', '0.5', '60000.25')
  })
  test('coarser prices that an order does not fit: one line, exit 2, and nothing is changed', async () => {
    const env = file(precisionOf(1))
    assert.match(
      await doctor(env),
      /WRONG configuration: markets: BTC_USDT has precision 1 .* KONTOR_CANCEL_ORDERS/,
    )
    await assert.rejects(
      platform.restart(env),
      /KONTOR_CONFIG markets: BTC_USDT has precision 1.* 2 orders wait/,
    )
    platform = await TestPlatform.start(file(precisionOf(2)), platform.data)
    const { asks, bids } = ok(await platform.client().get('/spot/order_book', PAIR))
    assert.deepEqual([asks, bids], [[['60000.25', '0.5']], [['50000.12', '1']]])
  })
  test('a market with orders can not go; with their cancelling it can, and every later start is well', async () => {
    const env = file(without('BTC_USDT'))
    await assert.rejects(platform.restart(env), /KONTOR_CONFIG markets: BTC_USDT is gone, but 2 orders wait/)
    const cancelling = { ...env, KONTOR_CANCEL_ORDERS: 'BTC_USDT' }
    assert.match(await doctor(cancelling), /ok {4}configuration: changed, and can be taken in/)
    platform = await TestPlatform.start(cancelling, platform.data)
    assert.equal((await platform.client().get('/spot/order_book', PAIR)).body.label, 'INVALID_CURRENCY_PAIR')
    assert.equal((await platform.operator.ok('GET', '/ledger/proof')).balanced, true)
    platform = await platform.restart()
    platform = await platform.restart(file({}))
    const { asks, bids } = ok(await platform.client().get('/spot/order_book', PAIR))
    assert.deepEqual([asks, bids], [[], []], 'it came back empty, and nobody’s money is locked')
  })
  test('a currency that somebody holds, a precision that balances do not fit, a chain with coins: refused', async () => {
    const user = await platform.user()
    await platform.credit(user.user_id, 'DOGE', '1.12345678')
    const currencies = BUILT_IN_WORLD.currencies
    const chain = BUILT_IN_WORLD.chains.find(({ chain }) => chain === 'SOL')!
    await platform.operator.ok('POST', '/chains/SOL/deposits', {
      user_id: user.user_id,
      currency: 'SOL',
      amount: '5',
    })
    await platform.operator.ok('POST', '/chains/SOL/mine', { blocks: 100 })
    for (const [world, expected] of [
      [
        {
          ...without('DOGE_USDT'),
          currencies: currencies.filter(({ currency }) => currency !== 'DOGE'),
          chains: BUILT_IN_WORLD.chains.filter(({ native }) => native !== 'DOGE'),
        },
        /DOGE is gone, but .* holds/,
      ],
      [
        {
          currencies: currencies.map((row) => (row.currency === 'POINT' ? { ...row, precision: 0 } : row)),
        },
        /POINT has precision 0, but .* holds .*POINT/,
      ],
      [
        {
          chains: BUILT_IN_WORLD.chains.map((row) =>
            row === chain
              ? { ...row, kind: 'evm' as const, address_format: 'evm', tagged: false, node: NODE }
              : row,
          ),
        },
        /SOL is evm, not simulated, but .* SOL are in custody there/,
      ],
    ] as [Partial<WorldConfig>, RegExp][]) {
      if (String(expected).includes('POINT')) await platform.credit(user.user_id, 'POINT', '0.5')
      const env = file(world)
      await assert.rejects(platform.restart(env), expected)
      platform = await TestPlatform.start(file({}), platform.data)
    }
    await platform.stop()
  })
})
