import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ContractConfig } from '../../src/core/tables/world/contracts.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { ok, refused } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

/** The same figures, written as somebody may. */
const loose = (text: string): string => `0${text}${text.includes('.') ? '' : '.'}00`
const RULES = [
  'quanto_multiplier',
  'order_price_round',
  'mark_price_round',
  'leverage_min',
  'leverage_max',
  'cross_leverage_default',
  'maker_fee_rate',
  'taker_fee_rate',
  'order_price_deviate',
  'market_order_slip_ratio',
  'market_order_size_max',
  'interest_rate',
  'funding_rate_limit',
  'funding_impact_value',
  'mark_bound',
  'settle_fee_rate',
  'basis_impact_value',
] as const satisfies readonly (keyof ContractConfig)[]

describe('the rules of a contract whose file was written loosely', () => {
  let platform: TestPlatform
  const folder = mkdtempSync(join(tmpdir(), 'kontor-terms-'))
  before(async () => {
    const contracts = BUILT_IN_WORLD.contracts!.map((row) => {
      const figures = RULES.map((name) => [name, loose(row[name])] as const)
      const tiers = row.tiers.map((tier) =>
        Object.fromEntries(Object.entries(tier).map(([name, text]) => [name, loose(text as string)])),
      )
      return { ...row, ...Object.fromEntries(figures), tiers }
    })
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify({ contracts }))
    platform = await TestPlatform.start({ KONTOR_CONFIG: path })
    await setIndex(platform, { BTC: '60000', ETH: '3000', SOL: '150' })
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  /** Every text of a reply that is a number, wherever it is. */
  function figuresIn(value: unknown, path = ''): [string, string][] {
    if (typeof value === 'string') return /^-?[\d.]+$/.test(value) ? [[path, value]] : []
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([name, inner]) => figuresIn(inner, `${path}.${name}`))
  }
  function areCanonical(reply: unknown): void {
    const figures = figuresIn(reply)
    assert.ok(figures.length > 0)
    for (const [path, text] of figures) assert.match(text, /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/, path)
  }

  test('are told as canonical decimals to clients', async () => {
    const anybody = platform.client()
    for (const path of [
      '/futures/usdt/contracts',
      '/futures/usdt/contracts_all',
      '/futures/usdt/contracts/BTC_USDT',
      '/futures/btc/contracts',
      '/delivery/usdt/contracts',
      '/futures/usdt/risk_limit_tiers',
      '/delivery/usdt/risk_limit_tiers',
    ])
      areCanonical(ok(await anybody.get(path)))
    const contract = ok(await anybody.get('/futures/usdt/contracts/BTC_USDT'))
    assert.equal(`${contract.order_price_round} ${contract.taker_fee_rate}`, '0.1 0.0005')
  })

  test('and to operators, what they write themselves too', async () => {
    const { operator } = platform
    areCanonical(await operator.ok('GET', '/contracts'))
    const path = '/contracts/futures/usdt/SOL_USDT'
    const change = { order_price_deviate: '0.30', funding_rate_limit: '0.00750' }
    const changed = await operator.ok('PATCH', path, change)
    assert.equal(`${changed.order_price_deviate} ${changed.funding_rate_limit}`, '0.3 0.0075')
    assert.deepEqual(await operator.ok('GET', path), changed)
    const shown = ok(await platform.client().get('/futures/usdt/contracts/SOL_USDT'))
    assert.equal(`${shown.order_price_deviate} ${shown.funding_rate_limit}`, '0.3 0.0075')
    const [one, two] = [await ContractTrader.of(platform, '1000'), await ContractTrader.of(platform, '1000')]
    await one.placed(-1, '60000')
    await two.placed(1, '60000')
    refused(await one.place(1, '60000.05'), 400, 'INVALID_PRECISION', /multiple of 0\.1,/)
    areCanonical(await operator.ok('GET', `/users/${one.user_id}/futures/usdt/explain`))
  })
})

test('a table that a file calls the same for both groups is that of perpetual contracts among theirs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-tables-'))
  // Named by their underlying where the file says nothing else.
  const contracts = BUILT_IN_WORLD.contracts!.map(({ risk_limit_table: _same, ...row }) =>
    row.group === 'delivery' ? { ...row, leverage_max: '5', tiers: row.tiers.slice(-1) } : row,
  )
  const path = join(folder, 'world.json')
  writeFileSync(path, JSON.stringify({ contracts }))
  const platform = await TestPlatform.start({ KONTOR_CONFIG: path })
  const anybody = platform.client()
  const { risk_limit_table: table_id } = await (await ContractTrader.of(platform, '1')).position()
  assert.equal(table_id, 'BTC_USDT')
  assert.deepEqual(
    ok(await anybody.get('/futures/usdt/risk_limit_table', { table_id })),
    ok(await anybody.get('/futures/usdt/risk_limit_tiers', { contract: 'BTC_USDT' })),
  )
  await platform.stop()
  rmSync(folder, { recursive: true, force: true })
})
