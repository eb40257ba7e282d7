import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { refused } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { Trader } from '../support/spot.ts'

type Row = Readonly<Record<string, unknown>>

describe('statements and exports of an account', () => {
  let platform: TestPlatform
  let trader: Trader
  let other: Trader
  before(async () => {
    platform = await TestPlatform.start()
    trader = await Trader.of(platform, { USDT: '1000', BTC: '1' })
    other = await Trader.of(platform, { USDT: '1000' })
    // With oneself too: one trade, two fills.
    for (let i = 0; i < 3; i++) {
      await trader.placed('sell', '0.001', '50000')
      await trader.placed('buy', '0.001', '50000')
    }
    await trader.placed('sell', '0.002', '50000')
    await other.placed('buy', '0.001', '50000')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 86_400 })
    await trader.placed('buy', '0.001', '20000')
  })
  after(() => platform.stop())
  const now = async (): Promise<number> => (await platform.operator.ok('GET', '/status')).now

  test('opening, what moved, closing: they add up, and days join without a gap', async () => {
    const end = Math.floor(await now()) + 1
    const cut = end - 43_200
    const read = async (from: number, to: number) =>
      (await platform.operator.ok('GET', `/users/${trader.user_id}/statement?from=${from}&to=${to}`))
        .accounts as {
        account: string
        currency: string
        opening: string
        movements: { kind: string; count: number; total: string }[]
        closing: string
      }[]
    const [whole, first, second] = [await read(1, end), await read(1, cut), await read(cut, end)]
    for (const { opening, movements, closing } of [...whole, ...first, ...second]) {
      const sum = movements.reduce((total, one) => total + Number(one.total), Number(opening))
      assert.ok(Math.abs(sum - Number(closing)) < 1e-9, JSON.stringify({ opening, movements, closing }))
    }
    const spot = (list: typeof whole) =>
      list.find(({ account, currency }) => account === 'spot' && currency === 'USDT')!
    assert.equal(spot(whole).opening, '0')
    assert.equal(spot(first).closing, spot(second).opening)
    assert.equal(spot(second).closing, spot(whole).closing)
    assert.deepEqual(
      spot(second).movements.map(({ kind, count, total }) => [kind, count, total]),
      [['new_order', 1, '-20']],
    )
    assert.equal(spot(whole).closing, (await trader.money('USDT')).split('/')[0])
    const path = `/users/${trader.user_id}/statement`
    refused(await platform.operator.call('GET', path), 400, 'MISSING_REQUIRED_PARAM')
    refused(await platform.operator.call('GET', `${path}?from=9&to=9`), 400, 'INVALID_PARAM_VALUE')
    refused(await platform.operator.call('GET', '/users/999999/statement?from=1'), 404, 'USER_NOT_FOUND')
  })

  test('every section page by page is the section at once, and nobody else is in it', async () => {
    await setIndex(platform, { BTC: '60000' })
    const [long, short] = [trader, other].map(({ user_id, client }) => new ContractTrader(user_id, client))
    for (const one of [long!, short!])
      await platform.credit(one.user_id, 'USDT', '1000', { account: 'futures', settle: 'usdt' })
    for (const size of [10, -10]) {
      await short!.placed(-size, '60000')
      await long!.placed(size, '60000')
    }
    const { user, keys, sections, balances } = await platform.operator.ok(
      'GET',
      `/users/${trader.user_id}/export`,
    )
    assert.equal(user.user_id, trader.user_id)
    assert.ok(keys.length > 0)
    assert.ok(balances.length > 0)
    assert.doesNotMatch(JSON.stringify([user, keys]), /secret|password/)
    const counts: Record<string, number> = {}
    for (const section of sections as string[]) {
      const path = `/users/${trader.user_id}/export/${section}`
      const { rows: all, next } = (await platform.operator.ok('GET', path)) as { rows: Row[]; next: unknown }
      assert.equal(next, null)
      const paged: Row[] = []
      for (let after = ''; ;) {
        const page = await platform.operator.ok('GET', `${path}?limit=1${after}`)
        paged.push(...(page.rows as Row[]))
        if (page.next === null) break
        after = `&after=${String(page.next)}`
      }
      assert.deepEqual(paged, all, section)
      counts[section] = all.length
      const texts = /"(?:[^"\\]|\\.)*"/g
      assert.doesNotMatch(JSON.stringify(all).replace(texts, '""'), /\d{16}/, `long numbers in ${section}`)
      for (const row of all) if ('user_id' in row) assert.equal(row['user_id'], trader.user_id)
    }
    assert.equal(counts['fills'], 7)
    assert.equal(counts['finished_orders'], 6)
    assert.ok(counts['ledger']! > 20)
    assert.deepEqual(
      ['contract_orders', 'contract_fills', 'contract_book', 'position_closes'].map((name) => counts[name]),
      // Two orders, two fills; what came in and a fee of each: it was closed at the price at which it was opened.
      [2, 2, 3, 1],
    )
    const path = `/users/${trader.user_id}/export`
    refused(await platform.operator.call('GET', `${path}/secrets`), 400, 'INVALID_PARAM_VALUE')
    refused(await platform.operator.call('GET', `${path}/fills?after=1`), 400, 'INVALID_PARAM_VALUE')
    refused(await platform.operator.call('GET', `${path}/fills?after=0.1`), 400, 'INVALID_PARAM_VALUE')
    refused(
      await platform.operator.call('GET', `${path}/fills?after=0.abc.1.maker`),
      400,
      'INVALID_PARAM_VALUE',
      /not of this section/,
    )
    assert.deepEqual(await platform.operator.ok('GET', `${path}/fills?after=99.1.1.maker`), {
      rows: [],
      next: null,
    })
    refused(await platform.operator.call('GET', '/users/999999/export'), 404, 'USER_NOT_FOUND')
    const viewer = await platform.colleague('looks', 'viewer')
    refused(await viewer.call('GET', path), 403, 'FORBIDDEN')
    const noted = (await platform.operator.ok('GET', '/audit?limit=1000')).some(
      ({ action, detail }: { action: string; detail: Row }) =>
        action === 'user.export' && detail['user_id'] === trader.user_id,
    )
    assert.ok(noted, 'the export is in the audit log')
  })

  test('health tells figures of now', async () => {
    const list = await platform.operator.ok('GET', '/health')
    const { memory_bytes, requests_per_second, commits_per_second, busy } = list.at(-1)
    assert.ok(memory_bytes > 10e6 && requests_per_second > 0 && commits_per_second > 0 && busy > 0)
  })
})
