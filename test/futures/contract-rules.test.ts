import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { completeContract, type GivenContract } from '../../src/core/tables/world/contract-rules.ts'
import type { ContractConfig } from '../../src/core/tables/world/contracts.ts'
import { checkWorld } from '../../src/core/tables/world/world.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { format } from '../../src/money/amount.ts'
import { Floor } from './floor.ts'
import { BTC_USDT, CONTRACTS } from './world.ts'

const GIVEN: GivenContract = {
  group: 'futures',
  settle: 'usdt',
  underlying: 'BTC_USDT',
  type: 'direct',
  quanto_multiplier: '0.0001',
  order_price_round: '0.1',
  mark_price_round: '0.01',
  leverage_max: '100',
  tiers: [
    { risk_limit: '1000', maintenance_rate: '0.005', leverage_max: '100' },
    { risk_limit: '2000', maintenance_rate: '0.01', leverage_max: '50' },
  ],
}
const INVERSE: Partial<ContractConfig> = {
  settle: 'btc',
  underlying: 'BTC_USD',
  type: 'inverse',
  quanto_multiplier: '0',
}
const checked = (...contracts: readonly Partial<ContractConfig>[]): void =>
  checkWorld({
    ...BUILT_IN_WORLD,
    contracts: contracts.map((change) => ({ ...GIVEN, ...change }) as ContractConfig),
  })
const tiers = (...rows: readonly [string, string, string][]): Pick<ContractConfig, 'tiers'> => ({
  tiers: rows.map(([risk_limit, maintenance_rate, leverage_max]) => ({
    risk_limit,
    maintenance_rate,
    leverage_max,
  })),
})

describe('contracts of a configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-contracts-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const read = (content: object, mode = 'sandbox') => {
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify(content))
    return readConfig({
      KONTOR_CONFIG: path,
      KONTOR_MODE: mode,
      ...(mode === 'live' && {
        KONTOR_SECRET_KEY: '5f0c9e3b7a61d84e2c05f7b8916ad3e4407b2d9fc815e63a0fd2b4987c6e1a35',
        KONTOR_OPERATOR_TOKEN: 'ce1b6a5f0d7340f3a1f4d5a86b2c97e80dfb42c6e1954f7a',
        KONTOR_SIMULATED_CHAINS: 'allow',
      }),
    }).world
  }

  test('the built-in ones pass, and so does the least that a file can say', () => {
    checkWorld(BUILT_IN_WORLD)
    checked({})
    checked({}, INVERSE, { group: 'delivery' }, { group: 'delivery', underlying: 'ETH_USDT' })
    const complete = completeContract(GIVEN)
    assert.equal(complete.name, 'BTC_USDT')
    assert.equal(`${complete.mark_bound} ${complete.mark_bound_year} ${complete.orders_limit}`, '0.03 0 100')
    const dated = completeContract({ ...GIVEN, group: 'delivery' })
    assert.equal(`"${dated.name}" ${dated.mark_bound} ${dated.mark_bound_year}`, '"" 0.05 0.04')
    assert.equal(dated.settle_fee_rate, '0.00015')
  })
  test('what does not fit is refused, with the place and the reason', () => {
    const cases: readonly (readonly [Partial<ContractConfig>, RegExp])[] = [
      [{ settle: 'doge' }, /contracts\[0\]\.settle doge is not among settle\.futures \(usdt, btc\)/],
      [{ settle: 'USDT' }, /lower case/],
      [{ underlying: 'ABC_USDT' }, /underlying names ABC, which is not among the currencies/],
      [{ underlying: 'BTC' }, /underlying must be an index such as BTC_USDT, not "BTC"/],
      [{ underlying: 'BTC_USD' }, /a direct contract is on an index in USDT/],
      [{ ...INVERSE, underlying: 'ETH_USD' }, /BTC_USD for settle btc/],
      [{ ...INVERSE, quanto_multiplier: '1' }, /quanto_multiplier must be "0"/],
      [{ quanto_multiplier: '0' }, /quanto_multiplier must be above 0/],
      [{ name: 'OTHER_USDT' }, /name must be its underlying, BTC_USDT/],
      [{ quanto_multiplier: '0.00000001' }, /order_price_round: .* 9 decimals, and USDT has 8/],
      [{ quanto_multiplier: '0.0000001' }, /mark_price_round: .* 9 decimals, and USDT has 8/],
      [{ order_price_round: '0' }, /order_price_round must be above 0/],
      [{ order_size_min: 0 }, /order_size_min must be a whole number from 1/],
      [{ order_size_min: 10, order_size_max: 9 }, /order_size_max must be a whole number from 10/],
      [{ market_order_size_max: '1.5' }, /market_order_size_max/],
      [{ leverage_max: '101' }, /leverage_max must not be above that of the first tier/],
      [{ leverage_min: '0.5' }, /leverage_min must be 1 or more/],
      [{ leverage_max: '10.125' }, /at most 2 decimals/],
      [{ order_price_deviate: '1' }, /order_price_deviate must be above 0 and below 1/],
      [{ mark_bound: '0' }, /mark_bound must be above 0/],
      [{ taker_fee_rate: '0.1' }, /taker_fee_rate must be below 0\.1/],
      [{ funding_interval: 50_000 }, /funding_interval/],
      [{ delisting_time: 20, delisted_time: 10 }, /delisted_time must not be before delisting_time/],
      [{ group: 'delivery', expire_time: 1_800_000_000 }, /expire_time and cycle must be left out/],
      [{ group: 'delivery', name: 'BTC_USDT_20261225' }, /name must be left out, or BTC_USDT/],
      [{ tiers: [] }, /tiers must have 1 to 100/],
      [tiers(['1000', '0.005', '100'], ['1000', '0.01', '50']), /tiers\[1\]\.risk_limit must be above/],
      [
        tiers(['1000', '0.005', '100'], ['2000', '0.005', '50']),
        /tiers\[1\]\.maintenance_rate must be above/,
      ],
      [tiers(['1000', '0.005', '100'], ['2000', '0.006', '100']), /tiers\[1\]\.leverage_max must be below/],
      // 1 / 100 - 0.0005 itself is too much.
      [tiers(['1000', '0.0095', '100']), /tiers\[0\]\.maintenance_rate must be below 1 \/ leverage_max/],
    ]
    for (const [change, message] of cases)
      assert.throws(() => checked(change), message, JSON.stringify(change))
    checked(tiers(['1000', '0.009499999999999999', '100']))
    assert.throws(() => checked({}, {}), /contracts\[1\]: futures\/usdt\/BTC_USDT is there twice/)
  })
  test('a file that names none has the built-in ones that its currencies allow; live mode has none by itself', () => {
    const names = (world: { readonly contracts?: readonly ContractConfig[] }): string[] =>
      (world.contracts ?? []).map(({ group, underlying }) => `${group} ${underlying}`)
    assert.equal(names(read({})).length, 6)
    const { currencies, markets, unified } = BUILT_IN_WORLD
    const left = {
      currencies: currencies.filter(({ currency }) => currency !== 'SOL'),
      markets: markets.filter(({ id }) => id !== 'SOL_USDT'),
      chains: BUILT_IN_WORLD.chains.filter(({ native }) => native !== 'SOL'),
      unified: {
        ...unified,
        isolated: unified.isolated.filter(({ currency_pair }) => currency_pair !== 'SOL_USDT'),
      },
    }
    const without = {
      ...left,
      currencies: left.currencies.map((row) => ({
        ...row,
        chains: row.chains.filter(({ chain }) => chain !== 'SOL'),
      })),
    }
    assert.ok(!names(read(without)).includes('futures SOL_USDT'))
    assert.ok(
      !names(read({ settle: { futures: ['usdt'], delivery: [] } })).some((name) =>
        /USD$|delivery/.test(name),
      ),
    )
    assert.deepEqual(names(read({ contracts: [] })), [])
    assert.equal(read({}, 'live').contracts, undefined)
    assert.equal(names(read({ contracts: [GIVEN] }, 'live')).length, 1)
    assert.throws(
      () => read({ contracts: [{ ...GIVEN, enable_decimal: true }] }),
      /enable_decimal is not known/,
    )
    assert.throws(
      () => read({ contracts: [{ ...GIVEN, settle: 'eth' }] }),
      /KONTOR_CONFIG .*contracts\[0\]\.settle/,
    )
  })
})

test('leverages that nobody has chosen are some that may be chosen', () => {
  for (const [leverage_min, leverage_max, first] of [
    ['1', '125', '10'],
    ['20', '125', '20'],
    ['1', '5', '5'],
  ] as const) {
    const tiers = CONTRACTS.BTC_USDT.tiers.slice(leverage_max === '5' ? -1 : 0)
    const floor = new Floor([{ ...CONTRACTS.BTC_USDT, leverage_min, leverage_max, tiers }])
    const user = floor.holder('1000')
    assert.equal(format(floor.position(user).cross_limit), first)
    const mode = { ...floor.path(user, BTC_USDT), contract: 'BTC_USDT', mode: 'isolated' } as const
    floor.must('futures.margin_mode', mode)
    assert.equal(format(floor.position(user).leverage), first)
  }
})
