import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from '../../src/config.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
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
