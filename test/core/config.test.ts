import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import type { UnifiedConfig } from '../../src/core/tables/world/unified.ts'
import { SECRET_KEY, TOKEN } from '../support/platform.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-config-'))
const file = (content: string): string => {
  const path = join(folder, `${Math.random()}.json`)
  writeFileSync(path, content)
  return path
}

test('defaults', () => {
  const config = readConfig({})
  assert.deepEqual(
    [config.host, config.port, config.data, config.mode, config.rateLimits, config.agents, config.trustProxy],
    ['127.0.0.1', 8080, './data', 'sandbox', 1, true, 0],
  )
})
interface LendingFault {
  /** Of USDT, and of BTC_USDT. */
  readonly discounts?: readonly (readonly [discount: string, lower: string, upper: string])[]
  readonly margins?: readonly (readonly [rate: string, lower: string, upper: string, leverage: string])[]
  readonly isolated?: readonly (readonly [mmr: string, upper: string, leverage: string])[]
  readonly twice?: boolean
}
const LENDING_FAULTS: readonly (readonly [LendingFault, RegExp])[] = [
  [{ discounts: [['1', '0', '100']] }, /USDT discount_tiers: the last tier must have no upper_limit/],
  [{ discounts: [['1', '5', '+']] }, /USDT discount_tiers: lower_limit "5" must be 0/],
  [
    {
      discounts: [
        ['0.9', '0', '100'],
        ['1', '100', '+'],
      ],
    },
    /USDT: discounts .* must not rise/,
  ],
  [{ margins: [] }, /USDT margin_tiers: the last tier must have no upper_limit/],
  [{ margins: [['0.03', '0', '0', '10']] }, /USDT margin_tiers: upper_limit "0" must be above 0/],
  [
    {
      margins: [
        ['0.03', '0', '100', '10'],
        ['0.05', '200', '', '5'],
      ],
    },
    /USDT margin_tiers: lower_limit "200" must be 100/,
  ],
  [
    {
      margins: [
        ['0.03', '0', '', '10'],
        ['0.05', '100', '', '5'],
      ],
    },
    /USDT margin_tiers: only the last tier/,
  ],
  [
    {
      margins: [
        ['0.03', '0', '100', '5'],
        ['0.05', '100', '', '10'],
      ],
    },
    /USDT margin_tiers: leverage must not rise/,
  ],
  [{ margins: [['0.1', '0', '', '10']] }, /USDT margin_tiers: the maintenance rate must be .* below/],
  [{ margins: [['0.5', '0', '', '0.5']] }, /USDT margin_tiers: leverage must be at least 1/],
  [{ isolated: [] }, /BTC_USDT tiers: the last tier must have no upper_limit/],
  [{ isolated: [['0.05', '', '1']] }, /BTC_USDT tiers: leverage must be above 1/],
  [{ isolated: [['0', '', '10']] }, /BTC_USDT tiers: the maintenance rate must be above 0/],
  [{ isolated: [['0.5', '', '3']] }, /BTC_USDT tiers: the maintenance rate must be .* below/],
  [
    {
      isolated: [
        ['0.05', '200', '10'],
        ['0.08', '100', '5'],
        ['0.1', '', '3'],
      ],
    },
    /BTC_USDT tiers: upper_limit "100" must be above 200/,
  ],
  [
    {
      isolated: [
        ['0.08', '200', '10'],
        ['0.05', '', '5'],
      ],
    },
    /BTC_USDT tiers: maintenance rates must not fall/,
  ],
  [{ twice: true }, /unified\.isolated BTC_USDT is there twice/],
]
function unifiedWith({ discounts, margins, isolated, twice }: LendingFault): UnifiedConfig {
  const { unified } = BUILT_IN_WORLD
  const rows = unified.isolated.map((row) =>
    isolated === undefined || row.currency_pair !== 'BTC_USDT'
      ? row
      : { ...row, tiers: isolated.map(([mmr, upper_limit, leverage]) => ({ mmr, upper_limit, leverage })) },
  )
  return {
    ...unified,
    isolated: twice === true ? [...rows, rows[0]!] : rows,
    currencies: unified.currencies.map((row) =>
      row.currency !== 'USDT'
        ? row
        : {
            ...row,
            ...(discounts !== undefined && {
              discount_tiers: discounts.map(([discount, lower_limit, upper_limit], i) => ({
                ...{ tier: String(i + 1), discount, lower_limit, upper_limit, leverage: '10' },
              })),
            }),
            ...(margins !== undefined && {
              margin_tiers: margins.map(([margin_rate, lower_limit, upper_limit, leverage], i) => ({
                ...{ tier: String(i + 1), margin_rate, lower_limit, upper_limit, leverage },
              })),
            }),
          },
    ),
  }
}

test('each wrong setting is one line that names it', () => {
  const live = {
    KONTOR_MODE: 'live',
    KONTOR_SECRET_KEY: SECRET_KEY,
    KONTOR_OPERATOR_TOKEN: TOKEN,
    KONTOR_SIMULATED_CHAINS: 'allow',
  }
  for (const [env, message] of [
    [{ KONTOR_PORT: '99999' }, /^KONTOR_PORT .*65535.*"99999"/],
    [{ KONTOR_PORT: 'http' }, /^KONTOR_PORT/],
    [{ KONTOR_MODE: 'prod' }, /^KONTOR_MODE .*sandbox, live.*"prod"/],
    [{ KONTOR_DATABASE_URL: 'mysql://user:hunter2@x' }, /^KONTOR_DATABASE_URL (?!.*hunter2)/],
    [{ KONTOR_SECRET_KEY: 'short' }, /^KONTOR_SECRET_KEY .*64 hex/],
    [{ KONTOR_OPERATOR_TOKEN: 'x' }, /^KONTOR_OPERATOR_TOKEN/],
    [{ KONTOR_RATE_LIMITS: '-1' }, /^KONTOR_RATE_LIMITS/],
    [{ ...live, KONTOR_RATE_LIMITS: 'off' }, /^KONTOR_RATE_LIMITS .*sandbox/],
    [{ KONTOR_AGENTS: 'maybe' }, /^KONTOR_AGENTS/],
    [{ KONTOR_AGENTS_SEED: 'x' }, /^KONTOR_AGENTS_SEED/],
    [{ KONTOR_CLOCK: '12' }, /^KONTOR_CLOCK/],
    [{ ...live, KONTOR_CLOCK: '1790000000' }, /^KONTOR_CLOCK .*sandbox/],
    [{ KONTOR_LOG: 'loud' }, /^KONTOR_LOG/],
    [{ KONTOR_TRUST_PROXY: 'yes' }, /^KONTOR_TRUST_PROXY/],
    [{ ...live, KONTOR_SECRET_KEY: undefined }, /^KONTOR_SECRET_KEY is required in live mode/],
    [{ ...live, KONTOR_SECRET_KEY: '0'.repeat(64) }, /^KONTOR_SECRET_KEY repeats itself/],
    [{ ...live, KONTOR_SECRET_KEY: 'ab'.repeat(32) }, /^KONTOR_SECRET_KEY repeats itself/],
    [{ ...live, KONTOR_OPERATOR_TOKEN: 'long-enough-or-not' }, /^KONTOR_OPERATOR_TOKEN has 18 characters/],
    [{ ...live, KONTOR_OPERATOR_TOKEN: 'x'.repeat(64) }, /^KONTOR_OPERATOR_TOKEN repeats itself/],
    [
      { ...live, KONTOR_OPERATOR_TOKEN: '0123456789abcdefghijklmnopqrstuvwxyz' },
      /^KONTOR_OPERATOR_TOKEN counts up/,
    ],
    [
      { ...live, KONTOR_OPERATOR_TOKEN: 'aqqaaqaqaqqqaaqaqaqqaqaaqaqaqqqa' },
      /^KONTOR_OPERATOR_TOKEN does not look random/,
    ],
    [{ ...live, KONTOR_RATE_LIMITS: '1000' }, /^KONTOR_RATE_LIMITS must be from 0.1 to 100 in live mode/],
    [{ ...live, KONTOR_RATE_LIMITS: '0.001' }, /^KONTOR_RATE_LIMITS/],
    [{ KONTOR_RATE_LIMITS: '0' }, /^KONTOR_RATE_LIMITS/],
    [{ KONTOR_RATE_LIMITS: '999999999' }, /^KONTOR_RATE_LIMITS/],
    [{ ...live, KONTOR_AUTH_FAILURES: '1000000' }, /^KONTOR_AUTH_FAILURES/],
    [{ KONTOR_AUTH_FAILURES: '0' }, /^KONTOR_AUTH_FAILURES/],
    [{ ...live, KONTOR_TIMESTAMPS: 'either' }, /^KONTOR_TIMESTAMPS is strict in live mode/],
    [{ KONTOR_TIMESTAMPS: 'loose' }, /^KONTOR_TIMESTAMPS/],
    [{ KONTOR_HOSTS: 'http://x/' }, /^KONTOR_HOSTS "http:\/\/x\/" is not a host name/],
    [{ KONTOR_CONNECTIONS: '0' }, /^KONTOR_CONNECTIONS/],
    [
      { ...live, KONTOR_SIMULATED_CHAINS: undefined },
      /^KONTOR_SIMULATED_CHAINS is not set, and BTC, ETH, .* are simulated/,
    ],
    [{ KONTOR_SIMULATED_CHAINS: 'yes' }, /^KONTOR_SIMULATED_CHAINS must be one of allow, hide/],
    [{ KONTOR_SECRET_KEY_FILE: '/no/such/file' }, /^KONTOR_SECRET_KEY_FILE .*can't be read \(ENOENT\)/],
    [
      { KONTOR_OPERATOR_TOKEN: TOKEN, KONTOR_OPERATOR_TOKEN_FILE: file('x') },
      /^KONTOR_OPERATOR_TOKEN and .*both/,
    ],
    [{ KONTOR_OPERATOR_TOKEN_FILE: file(' ') }, /^KONTOR_OPERATOR_TOKEN_FILE .*empty/],
    [{ KONTOR_DATABASE_URL_FILE: file('mysql://u:hunter2@x') }, /^KONTOR_DATABASE_URL (?!.*hunter2)/],
    [{ ...live, KONTOR_OPERATOR_TOKEN: undefined }, /^KONTOR_OPERATOR_TOKEN is required in live mode/],
    [{ KONTOR_CONFIG: '/no/such/file' }, /^KONTOR_CONFIG names the file/],
    [{ KONTOR_CONFIG: file('{') }, /^KONTOR_CONFIG .* is not JSON/],
    [{ KONTOR_CONFIG: file('[]') }, /^KONTOR_CONFIG .* must hold a JSON object/],
    [
      {
        KONTOR_CONFIG: file(
          JSON.stringify({ currencies: [...BUILT_IN_WORLD.currencies, BUILT_IN_WORLD.currencies[0]] }),
        ),
      },
      /^KONTOR_CONFIG .*currencies\[\d+\]\.currency BTC is there twice/,
    ],
    [
      { KONTOR_CONFIG: file(JSON.stringify({ limits: { ...BUILT_IN_WORLD.limits, keys_max: 0 } })) },
      /^KONTOR_CONFIG .*keys_max/,
    ],
    ...LENDING_FAULTS.map(
      ([change, message]) =>
        [{ KONTOR_CONFIG: file(JSON.stringify({ unified: unifiedWith(change) })) }, message] as const,
    ),
  ] as const)
    assert.throws(
      () => readConfig(env),
      (error: Error) =>
        error instanceof ConfigError && message.test(error.message) && !error.message.includes('\n'),
      String(message),
    )
  assert.equal(readConfig(live).mode, 'live')
})
test('secrets come from files too, and a live platform can start without simulated chains', () => {
  const config = readConfig({
    KONTOR_MODE: 'live',
    KONTOR_SECRET_KEY_FILE: file(`${SECRET_KEY}\n`),
    KONTOR_OPERATOR_TOKEN_FILE: file(`${TOKEN}\n`),
    KONTOR_DATABASE_URL_FILE: file('postgres://kontor:hunter2@127.0.0.1/kontor\n'),
    KONTOR_SIMULATED_CHAINS: 'hide',
  })
  assert.deepEqual(
    [config.secretKey, config.operatorToken, config.databaseUrl, config.timestamps],
    [SECRET_KEY, TOKEN, 'postgres://kontor:hunter2@127.0.0.1/kontor', 'strict'],
  )
  assert.deepEqual([config.world.chains, config.rehearsed], [[], []])
  assert.ok(config.world.currencies.every(({ chains }) => chains.length === 0))
})
test('a file changes the sections that it names', () => {
  const config = readConfig({
    KONTOR_CONFIG: file(JSON.stringify({ limits: { ...BUILT_IN_WORLD.limits, keys_max: 3 } })),
  })
  assert.equal(config.world.limits.keys_max, 3)
  assert.deepEqual(config.world.currencies, BUILT_IN_WORLD.currencies)
})
