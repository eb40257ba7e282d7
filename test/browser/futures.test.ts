import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launch, visit, type Visit } from '../support/browser.ts'
import { ok } from '../support/client.ts'
import { linkFor } from '../support/console.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const browser = await launch()
describe('trading contracts', { skip: browser === undefined }, () => {
  let platform: TestPlatform
  let seen: Visit
  let trader: ContractTrader
  before(async () => {
    platform = await TestPlatform.start()
    await setIndex(platform, { BTC: '60000', ETH: '3000' })
    trader = await ContractTrader.of(platform, '0')
    const { user_id } = trader
    await platform.credit(user_id, 'USDT', '50000')
    const other = await ContractTrader.of(platform, '1000000')
    for (const [size, price] of [
      [-2000, '60010'],
      [-2000, '60020'],
      [2000, '59990'],
      [2000, '59980'],
    ] as const)
      await other.placed(size, price)
    seen = await visit(browser!, `${platform.url}/enter#${await linkFor(platform, { user_id })}`)
    // The link is used up before another page is called.
    await seen.page.getByRole('heading', { name: 'BTC_USDT' }).waitFor()
    await seen.page.goto(`${platform.url}/futures/BTC_USDT`)
  })
  after(async () => {
    await (browser as Browser).close()
    await platform.stop()
  })

  test('money is moved, leverage is set, and an order is placed and cancelled', async () => {
    const { page, faults } = seen
    const form = page.getByRole('region', { name: 'Order form' })
    const book = page.getByRole('region', { name: 'Order book' })
    const records = page.getByRole('region', { name: 'Positions and orders' })
    await book.getByRole('button', { name: '60 010.0' }).waitFor()
    await page
      .locator('.market-bar')
      .getByText(/^mark\s+(60|59)\s\d\d\d/)
      .waitFor()
    await page
      .locator('.market-bar')
      .getByText(/^funding.*\sin\s\d\d:\d\d:\d\d$/)
      .waitFor()

    await form.getByRole('button', { name: 'Move money' }).click()
    const money = page.getByRole('dialog', { name: 'Move USDT' })
    await money.getByLabel('Amount').fill('10000')
    await money.getByRole('button', { name: 'Move' }).click()
    await money.waitFor({ state: 'detached' })
    await form.getByText('10 000').waitFor()
    assert.equal(ok(await trader.get('/accounts')).total, '10000')

    await form.getByRole('button', { name: /^(Cross|Isolated) \d+×$/ }).click()
    const leverage = page.getByRole('dialog', { name: 'Margin of BTC_USDT' })
    await leverage.getByText('Isolated', { exact: true }).click()
    await leverage.getByLabel('Leverage').first().fill('20')
    await leverage.getByRole('button', { name: 'Set' }).click()
    await leverage.waitFor({ state: 'detached' })
    await form.getByText('Isolated 20×').waitFor()
    assert.equal((await trader.position()).leverage, '20')

    await book.getByRole('button', { name: '59 990.0' }).click()
    await form.getByRole('button', { name: '▲ Buy' }).click()
    await form.getByLabel('Price', { exact: true }).fill('59000')
    await form.getByLabel('Size').fill('100')
    // 100 x 0.0001 x 59000 = 590; a twentieth of it, and two times the fee of 0.05 %.
    await form.getByText('590 USDT').waitFor()
    await form.getByText('30.09 USDT').waitFor()
    await form.getByRole('button', { name: 'Buy long' }).click()
    await book.getByRole('button', { name: '59 000.0' }).waitFor()
    assert.equal(ok(await trader.get('/accounts')).order_margin, '30.09')
    await records.getByRole('tab', { name: 'Open orders 1' }).click()
    await records.getByRole('button', { name: /^Amend order/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Amend the order' })
    await dialog.getByLabel('Price').fill('59100')
    await dialog.getByRole('button', { name: 'Amend' }).click()
    await book.getByRole('button', { name: '59 100.0' }).waitFor()
    await records.getByRole('button', { name: /^Cancel order/ }).click()
    await records.getByText('No open orders').waitFor()
    await book.getByRole('button', { name: '59 100.0' }).waitFor({ state: 'detached' })
    assert.deepEqual(faults, [])
  })

  test('what would be refused is said before it is sent, in the words of the API', async () => {
    const { page } = seen
    const form = page.getByRole('region', { name: 'Order form' })
    const [price, size] = [form.getByLabel('Price', { exact: true }), form.getByLabel('Size')]
    const said = async (label: string): Promise<void> => {
      await form.getByText(label, { exact: true }).waitFor()
      assert.ok(await form.getByRole('button', { name: 'Would be refused' }).isDisabled())
    }
    await size.fill('10')
    await price.fill('60015')
    await form.getByLabel('Good for').selectOption('poc')
    await said('ORDER_POC_IMMEDIATE')
    await form.getByLabel('Good for').selectOption('gtc')
    await price.fill('59000.01')
    await said('INVALID_PRECISION')
    await price.fill('5900')
    await said('PRICE_TOO_DEVIATED')
    await price.fill('59000')
    await size.fill('400000')
    await said('INSUFFICIENT_AVAILABLE')
    for (const [body, label] of [
      [{ size: 10, price: '60015', tif: 'poc' }, 'ORDER_POC_IMMEDIATE'],
      [{ size: 10, price: '59000.01' }, 'INVALID_PRECISION'],
      [{ size: 10, price: '5900' }, 'PRICE_TOO_DEVIATED'],
      [{ size: 400000, price: '59000' }, 'INSUFFICIENT_AVAILABLE'],
    ] as const)
      assert.equal((await trader.post('/orders', { contract: 'BTC_USDT', ...body })).body.label, label)
  })

  test('a filled order is a position, which gets more margin and is closed', async () => {
    const { page, faults } = seen
    const form = page.getByRole('region', { name: 'Order form' })
    const records = page.getByRole('region', { name: 'Positions and orders' })
    await form.getByText('Market', { exact: true }).click()
    await form.getByLabel('Size').fill('1000')
    await form.getByRole('button', { name: 'Buy long' }).click()
    await records.getByRole('tab', { name: 'Positions 1' }).click()
    const positions = records.getByRole('table', { name: 'Positions' })
    const row = positions.getByRole('row').nth(1)
    await row.getByText('▲ long').waitFor()
    await row.getByText('60 010', { exact: true }).waitFor()
    const before = await trader.position()
    assert.equal(`${before.size} ${before.entry_price}`, '1000 60010')
    assert.ok((await row.textContent())!.includes('isolated 20×'))

    await row.getByRole('button', { name: '± Margin of BTC_USDT' }).click()
    const margin = page.getByRole('dialog', { name: 'Margin of the position in BTC_USDT' })
    await margin.getByLabel('Amount').fill('100')
    await margin.getByRole('button', { name: 'Add' }).last().click()
    await margin.waitFor({ state: 'detached' })
    const after = await trader.position()
    assert.equal(Number(after.margin) - Number(before.margin), 100)
    assert.ok(Number(after.liq_price) < Number(before.liq_price))

    await row.getByRole('button', { name: 'Close the long in BTC_USDT' }).click()
    const close = page.getByRole('dialog', { name: 'Close the long in BTC_USDT' })
    await close.getByLabel('How much of it').selectOption('25')
    await close.getByRole('button', { name: 'Sell 250 contracts' }).click()
    await row.getByText('750', { exact: true }).waitFor()
    await row.getByRole('button', { name: 'Close the long in BTC_USDT' }).click()
    await close.getByRole('button', { name: 'Sell 750 contracts' }).click()
    await records.getByText('No position').waitFor()
    assert.equal((await trader.position()).size, 0)
    await records.getByRole('tab', { name: 'Fills' }).click()
    await records.getByRole('table', { name: 'Fills' }).getByText('750').first().waitFor()
    await records.getByRole('tab', { name: 'Closed' }).click()
    await records.getByRole('table', { name: 'Closed positions' }).getByText('▲ long').waitFor()
    assert.deepEqual(faults, [])
  })

  test('orders that wait for a price, trails and chases are made, seen and taken back; the mode is switched', async () => {
    const { page, faults } = seen
    const form = page.getByRole('region', { name: 'Order form' })
    const records = page.getByRole('region', { name: 'Positions and orders' })
    const dialog = page.getByRole('dialog', { name: 'Wait for a price of BTC_USDT' })
    const wait = async (kind: string, side: string, fill: () => Promise<void>): Promise<void> => {
      await form.getByRole('button', { name: 'Wait for a price' }).click()
      await dialog.getByText(kind, { exact: true }).click()
      await dialog.getByText(side, { exact: true }).click()
      await dialog.getByLabel('How many').fill('20')
      await fill()
      await dialog.getByRole('button', { name: /^Wait to/ }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await records.getByRole('tab', { name: 'Waiting' }).click()
    await wait('A price', '▲ Buy', async () => {
      await dialog.getByLabel('Reaches').fill('58000')
      await dialog.getByLabel('Falls to').waitFor()
      await dialog.getByLabel('Order at').fill('57990')
    })
    const triggers = records.getByRole('table', { name: 'Triggers' })
    await triggers.getByText('≤ 58000').waitFor()
    await triggers.getByText('buy 20 at 57990').waitFor()
    const [trigger] = ok(await trader.get('/price_orders', { status: 'open' }))
    assert.deepEqual(
      [trigger.trigger.rule, trigger.trigger.price_type, trigger.initial.size, trigger.initial.price],
      [2, 1, 20, '57990'],
    )
    await wait('Trail', '▼ Sell', async () => {
      await dialog.getByLabel('Trades after a turn of').fill('2')
      await dialog.getByLabel('Follows the').selectOption('index')
    })
    await records.getByRole('table', { name: 'Trails' }).getByText('2%', { exact: true }).waitFor()
    const [trail] = ok(await trader.get('/autoorder/v1/trail/list')).orders
    assert.deepEqual([trail.amount, trail.price_offset, trail.price_type], ['-20', '2%', 2])
    await wait('Chase', '▲ Buy', () => dialog.getByLabel('Never above').fill('60005'))
    const chases = records.getByRole('table', { name: 'Chases' })
    await chases.getByText('59 990').first().waitFor()
    const [chase] = ok(await trader.get('/autoorder/v1/chase/list', { sort_by: 1 })).orders
    assert.deepEqual([chase.amount, chase.price_limit], ['20', '60005'])

    // Not while anything waits.
    await form.getByRole('button', { name: 'Single', exact: true }).click()
    const mode = page.getByRole('dialog', { name: 'Positions settled in USDT' })
    await mode.getByText('Long and short', { exact: true }).click()
    await mode.getByRole('button', { name: 'Switch' }).click()
    await mode.getByText('ORDER_PENDING').waitFor()
    await page.keyboard.press('Escape')
    await mode.waitFor({ state: 'detached' })
    // The lists move up as one of them gets empty: one after the other.
    for (const [name, id, empty] of [
      ['chase', chase.id, 'No chase follows the best price'],
      ['trail', trail.id, 'No trail follows a price'],
      ['trigger', trigger.id, 'No trigger waits'],
    ]) {
      await records.getByRole('button', { name: `Cancel ${name} ${id}` }).click()
      await records.getByText(empty as string).waitFor()
    }
    for (const [from, to, dual] of [
      ['Single', 'Long and short', true],
      ['Dual', 'One position', false],
    ] as const) {
      await form.getByRole('button', { name: from, exact: true }).click()
      await mode.getByText(to, { exact: true }).click()
      await mode.getByRole('button', { name: 'Switch' }).click()
      await mode.waitFor({ state: 'detached' })
      assert.equal((await trader.account()).in_dual_mode, dual)
    }
    await form.getByRole('button', { name: 'Single', exact: true }).waitFor()
    assert.deepEqual(faults, [])
  })

  test('what happens elsewhere is seen at once; dated contracts and those settled in BTC have the same page', async () => {
    const { page, faults } = seen
    const records = page.getByRole('region', { name: 'Positions and orders' })
    await records.getByRole('tab', { name: /^Open orders/ }).click()
    const { id } = await trader.placed(-10, '61000', { text: 't-elsewhere' })
    await records.getByRole('button', { name: `Cancel order ${id}` }).waitFor()
    ok(await trader.delete('/orders'))
    await records.getByText('No open orders').waitFor()

    const dated = ok(await trader.client.get('/delivery/usdt/contracts'))[0].name as string
    const maker = await ContractTrader.of(platform, '1000', { base: '/delivery/usdt' })
    ok(await maker.post('/orders', { contract: dated, size: 7, price: '59000' }), 201)
    await page.getByRole('button', { name: 'BTC_USDT Perpetual USDT: choose another contract' }).click()
    await page.getByRole('menuitem', { name: dated }).click()
    const book = page.getByRole('region', { name: 'Order book' })
    await book.getByRole('button', { name: '59 000.0' }).waitFor()
    await page
      .locator('.market-bar')
      .getByText(/^expires\s+in/)
      .waitFor()
    ok(await maker.post('/orders', { contract: dated, size: 3, price: '59010' }), 201)
    await book.getByRole('button', { name: '59 010.0' }).waitFor()

    await page.goto(`${platform.url}/futures/BTC_USD`)
    const form = page.getByRole('region', { name: 'Order form' })
    await form.getByText('one contract is 1 USD').waitFor()
    await form.getByText('There is no money in this account yet').waitFor()
    await form.getByLabel('Price', { exact: true }).fill('60000')
    await form.getByLabel('Size').fill('60000')
    // Inverse: so many dollars are one bitcoin.
    await form.getByText('1 BTC', { exact: true }).first().waitFor()
    assert.deepEqual(faults, [])
  })
})
