import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseCandles } from '../../src/cli/candles.ts'
import { ok, refused } from '../support/client.ts'
import { withoutContracts } from '../support/plain-world.ts'
import { kontor } from '../support/process.ts'
import { LIVE, TestPlatform } from '../support/platform.ts'
import { proveBalanced } from '../support/wallet.ts'

type Candle = [number, string, string, string, string, string]
/** A path that no agent would draw: it doubles, and falls below where it began. */
function series(count: number, interval: number): Candle[] {
  let before = 50_000
  return Array.from({ length: count }, (_, i) => {
    const open = before
    const close = Math.round((40_000 + 30_000 * Math.abs(Math.sin(i / 9))) * 10) / 10
    before = close
    const high = Math.max(open, close) + 12.3
    const low = Math.min(open, close) - 7.1
    const texts = [open, high, low, close].map((price) => price.toFixed(1))
    return [1_704_067_200 + i * interval, ...texts, String(1 + (i % 7))] as Candle
  })
}

describe('candles from elsewhere', () => {
  let platform: TestPlatform
  const folder = mkdtempSync(join(tmpdir(), 'kontor-candles-'))
  before(async () => {
    const clock = { KONTOR_AGENTS: 'on', KONTOR_CLOCK: '1790000100' }
    platform = await TestPlatform.start({ ...withoutContracts(), ...clock })
  })
  after(async () => {
    await platform.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('a day and a half of hours, in portions, come out of the market as they went in', async () => {
    const list = series(36, 3_600)
    const pair = { currency_pair: 'BTC_USDT', interval: 3_600 }
    const call = (body: object) => platform.operator.call('POST', '/agents/candles', { ...pair, ...body })
    const first = ok(await call({ candles: list.slice(0, 25) }))
    assert.equal(first.from % 3_600, 0)
    assert.ok(first.from >= 1_790_000_100 && first.from < 1_790_003_700)
    // Not a second run over the first; not out of turn; not twice.
    refused(await call({ candles: list.slice(25) }), 403, 'REQUEST_FORBIDDEN', /are being played/)
    refused(
      await call({ candles: list.slice(20), shift: first.shift }),
      400,
      'INVALID_PARAM_VALUE',
      /lasts until/,
    )
    const second = ok(await call({ candles: list.slice(25), shift: first.shift }))
    assert.equal(second.until, first.from + 36 * 3_600)
    await platform.operator.ok('POST', '/clock', { now: second.until + 10 })
    const shown = ok(
      await platform.client().get('/spot/candlesticks', {
        currency_pair: 'BTC_USDT',
        interval: '1h',
        from: first.from,
        to: second.until - 1,
      }),
    ) as string[][]
    assert.equal(shown.length, 36)
    for (const [i, [time, , close, high, low, open]] of shown.entries()) {
      const [began, o, h, l, c] = list[i]!
      assert.equal(Number(time), began + first.shift)
      assert.deepEqual([open, high, low, close].map(Number), [o, h, l, c].map(Number), `candle ${i}`)
    }
    await proveBalanced(platform)
    // The agents go on from there, and the next file may come.
    await platform.operator.ok('POST', '/clock', { advance_seconds: 600 })
    const agents = await platform.operator.ok('GET', '/agents')
    const btc = agents.find(({ currency_pair }: { currency_pair: string }) => currency_pair === 'BTC_USDT')
    assert.equal(btc.scenario, '')
  })
  test('another scenario ends a run: what is left of it is not traded', async () => {
    const fair = async (): Promise<number> =>
      (await platform.operator.ok('GET', '/agents')).find(
        ({ currency_pair }: { currency_pair: string }) => currency_pair === 'ETH_USDT',
      ).fair
    const price = String(Math.round((await fair()) * 3))
    const candle = (i: number): Candle => [1_704_067_200 + i * 60, price, price, price, price, '1']
    await platform.operator.ok('POST', '/agents/candles', {
      currency_pair: 'ETH_USDT',
      interval: 60,
      candles: [candle(0), candle(1)],
    })
    const before = await fair()
    await platform.operator.ok('POST', '/agents/scenario', {
      name: 'thin_book',
      currency_pair: 'ETH_USDT',
      seconds: 5,
    })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 300 })
    assert.ok((await fair()) < before * 1.5)
  })
  test('what can not be is refused, and nothing of it is played', async () => {
    const call = (candles: unknown[], interval = 60) =>
      platform.operator.call('POST', '/agents/candles', { currency_pair: 'SOL_USDT', interval, candles })
    const good: Candle = [1_704_067_200, '150', '151', '149', '150.5', '10']
    refused(await call([]), 400, 'INVALID_PARAM_VALUE', /\[\] must hold from 1 to 1000/)
    refused(await call([[...good.slice(0, 5)]]), 400, 'INVALID_PARAM_VALUE', /must be \[time, open/)
    refused(
      await call([[1, 150, '151', '149', '150', '1']]),
      400,
      'INVALID_PARAM_VALUE',
      /open must be a decimal/,
    )
    refused(
      await call([[good[0], '150', '149', '149', '150', '1']]),
      400,
      'INVALID_PARAM_VALUE',
      /must enclose/,
    )
    refused(await call([good, good]), 400, 'INVALID_PARAM_VALUE', /begins before/)
    refused(
      await call([[good[0], '9000', '9000', '9000', '9000', '1']]),
      400,
      'PRICE_THRESHOLD_EXCEEDED',
      /too far/,
    )
    refused(
      await call([good, [good[0] + 999_999_999, '150', '150', '150', '150', '1']]),
      400,
      'INVALID_PARAM_VALUE',
      /too many would wait/,
    )
    assert.equal(
      (
        await platform.operator.call('POST', '/agents/candles', {
          currency_pair: 'SOL_USDT',
          interval: 60,
          candles: [good],
          shift: 5,
        })
      ).status,
      403,
    )
    const live = await TestPlatform.start({ ...LIVE })
    assert.equal((await live.operator.call('POST', '/agents/candles', {})).status, 404)
    await live.stop()
  })
  test('the file: headings in any order, dates and milliseconds, newest first', async () => {
    const rows = parseCandles(
      'close;open;high;low;vol;Date\n2;1;3;0.5;9;2024-01-01 01:00:00\n1;1;1;1;4;2024-01-01',
      'x',
    )
    assert.deepEqual(rows, [
      [1_704_067_200, '1', '1', '1', '1', '4'],
      [1_704_070_800, '1', '3', '0.5', '2', '9'],
    ])
    assert.deepEqual(parseCandles('1704067200000,1,1,1,1,1\n', 'x'), [
      [1_704_067_200, '1', '1', '1', '1', '1'],
    ])
    assert.throws(() => parseCandles('1704067200,1,1,one,1,1', 'x'), /x, line 1: .* is not time,open/)
    assert.throws(() => parseCandles('time,open,high,low,close\n', 'x'), /has no column "volume"/)
    const file = join(folder, 'doge.csv')
    writeFileSync(
      file,
      series(1_500, 60)
        .map(([t]) => `${t},0.15,0.16,0.14,0.15,1000`)
        .join('\n'),
    )
    const run = await kontor(['candles', 'import', file, 'doge', '--data', platform.data])
    assert.equal(run.errors, '')
    assert.match(run.output, /^candles +1500 of DOGE_USDT\nfrom .*Z\nuntil .*Z\n$/)
    const missing = await kontor(['candles', 'import', `${file}.not`, 'doge', '--data', platform.data])
    assert.equal(missing.code, 2)
    assert.match(missing.errors, /^kontor: .*doge.csv.not can't be read: [^\n]*\n$/)
  })
})
