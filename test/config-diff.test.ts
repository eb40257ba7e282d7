import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { BUILT_IN_WORLD } from '../src/core/world/built-in.ts'
import type { WorldConfig } from '../src/core/tables/world/config.ts'
import { LIVE, TestPlatform } from './support/platform.ts'
import { kontor } from './support/process.ts'
import { Trader } from './support/spot.ts'

const { markets, currencies, limits } = BUILT_IN_WORLD
const change = (id: string, member: object): Partial<WorldConfig> => ({
  markets: markets.map((market) => (market.id === id ? { ...market, ...member } : market)),
})

describe('kontor config diff', () => {
  let platform: TestPlatform
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kontor-diff-'))
    platform = await TestPlatform.start()
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const file = (world: unknown): string => {
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify(world))
    return path
  }
  const diff = (world: unknown, env: Record<string, string> = {}): ReturnType<typeof kontor> =>
    kontor(['config', 'diff', file(world), '--data', platform.data], env)

  test('beside a running platform: what differs, member by member, and nothing is touched', async () => {
    const same = await diff(JSON.parse(JSON.stringify(BUILT_IN_WORLD)))
    assert.deepEqual([same.code, same.output, same.errors], [0, 'nothing differs\n', ''])
    // Another order of members and rows, and defaults that are left out, are no change.
    const [btc, ...rest] = markets
    const { fee: _, up_rate: __, ...brief } = btc!
    assert.equal((await diff({ markets: [...rest, brief] })).output, 'nothing differs\n')
    const { code, output } = await diff({
      ...change('BTC_USDT', { fee: '0.1' }),
      limits: { ...limits, open_orders_max: 7 },
      currencies: currencies.map((row) =>
        row.currency === 'BTC'
          ? { ...row, chains: row.chains.map((on) => ({ ...on, withdraw_fix: '0.5' })) }
          : row,
      ),
    })
    const lines = output.trimEnd().split('\n')
    assert.equal(code, 0)
    assert.equal(lines.shift(), '3 members differ from what the database has:')
    assert.equal(lines.pop(), 'nothing breaks')
    const before = currencies.find(({ currency }) => currency === 'BTC')!.chains[0]!.withdraw_fix
    assert.deepEqual(lines.sort(), [
      `  currencies.BTC.chains.BTC.withdraw_fix: "${before}" → "0.5"`,
      '  limits.open_orders_max: nothing → 7',
      '  markets.BTC_USDT.fee: "0.2" → "0.1"',
    ])
    assert.equal((await platform.operator.call('GET', '/status')).status, 200, 'it goes on')
    const shown = await platform.operator.ok('GET', '/markets/BTC_USDT')
    assert.equal(shown.fee, '0.2')
  })
  test('what the next start would refuse: exit 1, unless it is told to cancel', async () => {
    const trader = await Trader.of(platform, { BTC: '1' })
    await trader.placed('sell', '1', '70000')
    const without = { markets: markets.filter(({ id }) => id !== 'BTC_USDT') }
    const { code, output } = await diff(without)
    assert.equal(code, 1)
    assert.match(output, /^1 member differs .*\n {2}markets\.BTC_USDT: \{.* → nothing$/m)
    assert.match(
      output,
      /^BREAKS markets: BTC_USDT is gone, but 1 order waits .*KONTOR_CANCEL_ORDERS=BTC_USDT$/m,
    )
    const cancelling = await diff(without, { KONTOR_CANCEL_ORDERS: 'BTC_USDT' })
    assert.deepEqual([cancelling.code, cancelling.output.endsWith('nothing breaks\n')], [0, true])
    const node = BUILT_IN_WORLD.chains.map((row) => (row.chain === 'ETH' ? { ...row, kind: 'evm' } : row))
    assert.match((await diff({ chains: node })).output, /^BREAKS chains: ETH\.node\.rpc_url must be/m)
  })
  test('an operator’s change at run time goes on to count, and that is told', async () => {
    await platform.operator.ok('PATCH', '/markets/ETH_USDT', { fee: '0.15' })
    const { code, output } = await diff(change('ETH_USDT', { fee: '0.1', slippage: '0.5' }))
    assert.equal(code, 0)
    assert.match(
      output,
      /^note {3}markets\.ETH_USDT\.fee was changed at run time: "0\.15" goes on to count$/m,
    )
    assert.doesNotMatch(output, /^note .*slippage/m)
  })
  test('a file that is wrong: one line that names the member, exit 2; so says doctor', async () => {
    for (const [world, message] of [
      [{ marketz: [] }, /^KONTOR_CONFIG .*world\.json: marketz is not known; did you mean markets\?$/],
      [
        { currencies: currencies.map((row) => ({ ...row, withdraw_enabld: true })) },
        /: currencies\[0\]\.withdraw_enabld is not known; did you mean withdraw_enabled\?; .* and \d+ more$/,
      ],
      [
        change('BTC_USDT', { fee: 0.2 }),
        /: markets\[0\]\.fee must be a decimal string such as "1\.5", not 0\.2$/,
      ],
      [change('BTC_USDT', { precision: 9 }), /: market BTC_USDT: precision \+ amount_precision/],
    ] as const) {
      const { code, output, errors } = await diff(world)
      assert.deepEqual([code, output], [2, ''])
      assert.match(errors, /^kontor: [^\n]*\n$/)
      assert.match(errors.slice('kontor: '.length, -1), message)
      const doctor = await kontor(['doctor', '--config', file(world), '--data', platform.data, '--port', '0'])
      assert.equal(doctor.code, 2)
      const [line] = /(?<=^WRONG settings: ).*$/m.exec(doctor.output)!
      assert.match(line, message)
      const start = await kontor(['start', '--config', file(world), '--data', platform.data, '--port', '0'])
      assert.deepEqual([start.code, start.errors], [2, errors])
    }
    for (const [args, message] of [
      [['config'], /^kontor: something is missing; usage: kontor config diff/],
      [['config', 'dif'], /^kontor: there is no "config dif"; usage: /],
      [['config', 'diff', 'a', 'b'], /^kontor: "b" is one word too many/],
      [['config', 'diff', '/no/such'], /^kontor: KONTOR_CONFIG names the file \/no\/such/],
    ] as const) {
      const { code, errors } = await kontor(args)
      assert.equal(code, 2)
      assert.match(errors, message)
    }
  })
  test('doctor counts what differs', async () => {
    const args = [
      '--config',
      file(change('BTC_USDT', { fee: '0.1' })),
      '--data',
      platform.data,
      '--port',
      '0',
    ]
    const { output } = await kontor(['doctor', ...args])
    assert.match(
      output,
      /^ok {4}configuration: changed, and can be taken in \(1 member differs; kontor config diff/m,
    )
  })
  test('no database yet: nothing to compare with, and none is made', async () => {
    const data = join(folder, 'none')
    const { code, output } = await kontor(['config', 'diff', file({}), '--data', data])
    assert.equal(code, 0)
    assert.match(output, /^there is no database yet/)
    assert.throws(() => readFileSync(join(data, 'kontor.db')), /ENOENT/)
    assert.equal((await kontor(['config', 'diff', file({ marketz: [] }), '--data', data])).code, 2)
  })
  test('a live database is compared as a live platform reads the file, without its secrets', async () => {
    const live = await TestPlatform.start({ ...LIVE })
    try {
      const args = ['config', 'diff', '--data', live.data]
      const allow = { KONTOR_SIMULATED_CHAINS: 'allow' }
      assert.equal((await kontor(args, allow)).output, 'nothing differs\n')
      const { policy } = BUILT_IN_WORLD
      const { internal_transfers: _, push_transfers: __, early_credit_usdt: ___, ...rules } = policy
      const changed = await kontor([...args, file({ policy: { ...rules, cancel_seconds: 9 } })], allow)
      assert.equal(changed.code, 0)
      assert.match(
        changed.output,
        /^1 member differs .*\n {2}policy\.cancel_seconds: 0 → 9\nnote .*two admins/m,
      )
    } finally {
      await live.stop()
    }
  })
})
