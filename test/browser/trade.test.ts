import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { launch, visit, type Visit } from '../support/browser.ts'
import { linkFor } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'
import { until } from '../support/raw.ts'

const browser = await launch()
describe('trading', { skip: browser === undefined }, () => {
  let platform: TestPlatform
  let seen: Visit
  before(async () => {
    platform = await TestPlatform.start()
    const user_id = platform.platform.credentials.accounts[0]!.user_id
    const other = await platform.user()
    await platform.credit(other.user_id, 'BTC', '10')
    await platform.credit(other.user_id, 'USDT', '1000000')
    for (const [side, price] of [
      ['sell', '60100'],
      ['sell', '60200'],
      ['buy', '59900'],
      ['buy', '59800'],
    ])
      await other.client.post('/spot/orders', { currency_pair: 'BTC_USDT', side, price, amount: '0.5' })
    seen = await visit(browser!, `${platform.url}/enter#${await linkFor(platform, { user_id })}`)
  })
  after(async () => {
    await (browser as Browser).close()
    await platform.stop()
  })

  test('an order is placed, amended and cancelled, and the book moves with it', async () => {
    const { page } = seen
    const book = page.getByRole('region', { name: 'Order book' })
    const row = (price: string) => book.getByRole('button', { name: price })
    await row('59 900.0').waitFor()
    await page.locator('.market-bar').getByText('index 60 000').waitFor()
    // A price of the book fills the form.
    await row('59 900.0').click()
    const form = page.getByRole('region', { name: 'Order form' })
    assert.equal(await form.getByLabel('Price', { exact: true }).inputValue(), '59900')
    await form.getByRole('button', { name: '▲ Buy' }).click()
    await form.getByLabel('Price', { exact: true }).fill('59950.5')
    await form.getByLabel('Amount', { exact: true }).fill('0.25')
    await form.getByText('14 987.625').waitFor()
    await form.getByRole('button', { name: 'Buy BTC' }).click()
    await row('59 950.5').waitFor()
    assert.match((await row('59 950.5').textContent())!, /0\.25/)

    const orders = page.getByRole('region', { name: 'Orders' })
    await orders.getByRole('button', { name: /^Amend order/ }).click()
    const dialog = page.getByRole('dialog', { name: 'Amend the order' })
    await dialog.getByLabel('Price').fill('59940')
    await dialog.getByRole('button', { name: 'Amend' }).click()
    await row('59 940.0').waitFor()
    await row('59 950.5').waitFor({ state: 'detached' })
    const { body } = await platform.demo().get('/spot/open_orders')
    assert.equal(body[0].orders[0].price, '59940')

    await orders.getByRole('button', { name: /^Cancel order/ }).click()
    await row('59 940.0').waitFor({ state: 'detached' })
    await orders.getByText('No open orders').waitFor()
    assert.deepEqual(seen.faults, [])
  })
  test('what would be refused is said before it is sent, in the words of the API', async () => {
    const { page } = seen
    const form = page.getByRole('region', { name: 'Order form' })
    await form.getByLabel('Price', { exact: true }).fill('60150')
    await form.getByLabel('Amount', { exact: true }).fill('0.1')
    await form.getByLabel('Good for').selectOption('poc')
    await form.getByText('a post-only order would match at once').waitFor()
    await form.getByText('POC_FILL_IMMEDIATELY').waitFor()
    const send = form.getByRole('button', { name: 'Would be refused' })
    assert.ok(await send.isDisabled())
    await form.getByLabel('Good for').selectOption('fok')
    await form.getByLabel('Amount', { exact: true }).fill('0.6')
    await form.getByText('FOK_NOT_FILL').waitFor()
    await form.getByLabel('Good for').selectOption('gtc')
    await form.getByLabel('Amount', { exact: true }).fill('0.1234567')
    await form.getByText('INVALID_PRECISION').waitFor()
    await form.getByLabel('Amount', { exact: true }).fill('20')
    await form.getByText('BALANCE_NOT_ENOUGH').waitFor()
    // And what is said is what the platform would have answered.
    const refused = await platform.demo().post('/spot/orders', {
      currency_pair: 'BTC_USDT',
      side: 'buy',
      price: '60150',
      amount: '0.1',
      time_in_force: 'poc',
    })
    assert.equal(refused.body.label, 'POC_FILL_IMMEDIATELY')
  })
  test('a fill from elsewhere is seen at once, without a reload', async () => {
    const { page, faults } = seen
    const orders = page.getByRole('region', { name: 'Orders' })
    await orders.getByRole('tab', { name: 'Fills' }).click()
    await orders.getByText('Nothing was traded yet').waitFor()
    await platform.demo().post('/spot/orders', {
      currency_pair: 'BTC_USDT',
      type: 'market',
      side: 'buy',
      amount: '601',
      time_in_force: 'ioc',
    })
    await orders.getByRole('table', { name: 'Fills' }).getByText('60 100').waitFor()
    await page.getByRole('region', { name: 'Trades' }).getByText('60 100.0').waitFor()
    assert.deepEqual(faults, [])
  })
  test('a market order and a stop are sent by the form as they were meant', async () => {
    const { page, faults } = seen
    const form = page.getByRole('region', { name: 'Order form' })
    const sent = async (path: string, button: string) => {
      const reply = page.waitForResponse(
        (one) => one.request().method() === 'POST' && one.url().endsWith(path),
      )
      await form.getByRole('button', { name: button }).click()
      return (await reply).json()
    }
    await form.getByRole('button', { name: '▲ Buy' }).click()
    await form.getByText('Market', { exact: true }).click()
    await form.getByLabel('Amount', { exact: true }).fill('1202')
    const bought = await sent('/spot/orders', 'Buy BTC')
    assert.deepEqual(
      [bought.type, bought.side, bought.status, bought.filled_amount, bought.filled_total],
      ['market', 'buy', 'closed', '0.02', '1202'],
    )
    await form.getByRole('button', { name: '▼ Sell' }).click()
    await form.getByText('in BTC', { exact: true }).click()
    await form.getByLabel('Amount', { exact: true }).fill('0.01')
    assert.equal((await sent('/spot/orders', 'Sell BTC')).filled_total, '599')
    // Below the last price, so it fires when the price falls to it.
    await form.getByText('Stop', { exact: true }).click()
    await form.getByLabel('Trigger price').fill('59000')
    await form.getByLabel('Price', { exact: true }).fill('58900')
    await form.getByLabel('Amount', { exact: true }).fill('0.03')
    const { id_string } = await sent('/spot/price_orders', 'Sell BTC')
    const { body } = await platform.demo().get(`/spot/price_orders/${id_string}`)
    assert.deepEqual([body.trigger.price, body.trigger.rule], ['59000', '<='])
    assert.deepEqual(
      [body.put.type, body.put.side, body.put.price, body.put.amount],
      ['limit', 'sell', '58900', '0.03'],
    )
    const orders = page.getByRole('region', { name: 'Orders' })
    await orders.getByRole('tab', { name: 'Triggers' }).click()
    await orders.getByRole('table', { name: 'Triggers' }).getByText('<= 59000').waitFor()
    await form.getByText('Limit', { exact: true }).click()
    assert.deepEqual(faults, [])
  })
  test("the line of one's own order is dragged in the chart, and amends it when that is confirmed", async () => {
    const { page, faults } = seen
    const orders = page.getByRole('region', { name: 'Orders' })
    await orders.getByRole('tab', { name: /^Open orders/ }).click()
    const order = await platform
      .demo()
      .post('/spot/orders', { currency_pair: 'BTC_USDT', side: 'buy', price: '60000', amount: '0.1' })
    const id = String(order.body.id)
    await orders.getByRole('button', { name: `Amend order ${id}` }).waitFor()
    const chart = page.getByRole('img', { name: /^Candles of BTC_USDT/ })
    const { x, y, height } = (await chart.boundingBox())!
    const across = x + 100
    let at: number | undefined
    for (let down = 4; down < height && at === undefined; down += 4) {
      await page.mouse.move(across, y + down)
      if ((await page.evaluate("document.querySelector('.chart-box').style.cursor")) === 'ns-resize')
        at = y + down
    }
    assert.ok(at !== undefined, 'a line that can be taken hold of')
    const priceNow = async (): Promise<string> =>
      (await platform.demo().get(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' })).body.price
    const dialog = page.getByRole('dialog', { name: 'Amend the order' })
    for (const confirmed of [false, true]) {
      await page.mouse.move(across, at)
      await page.mouse.down()
      await page.mouse.move(across, at + 10)
      await page.mouse.move(across, at + 20)
      await page.mouse.up()
      const wanted = await dialog.getByLabel('Price').inputValue()
      assert.ok(Number(wanted) < 60000 && Number(wanted) > 59000, wanted)
      assert.equal(await priceNow(), '60000')
      if (confirmed) await dialog.getByRole('button', { name: 'Amend' }).click()
      else await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      assert.equal(await priceNow(), confirmed ? wanted : '60000')
    }
    // The command bar finds it by its id.
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Search or command' }).fill(id)
    await page.getByRole('option', { name: `${id}: buy 0.1 BTC_USDT` }).click()
    const facts = page.getByRole('dialog', { name: `Order ${id}` })
    await facts.getByText('59 9').waitFor()
    await facts.getByRole('button', { name: 'To the market' }).click()
    await orders.getByRole('button', { name: `Cancel order ${id}` }).click()
    await orders.getByText('No open orders').waitFor()
    assert.deepEqual(faults, [])
  })
  test('a line that was lost comes back by itself, and says so meanwhile', async () => {
    const { page, context } = seen
    const notice = page.getByText('Offline: what you see is as of')
    await context.setOffline(true)
    // A line that the page was just making when it went offline is there a moment later.
    await until(async () => {
      for (const { conn_id } of await platform.operator.ok('GET', '/sockets'))
        await platform.operator.call('DELETE', `/sockets/${conn_id}`)
      await sleep(200)
      return notice.isVisible()
    })
    await context.setOffline(false)
    await notice.waitFor({ state: 'detached' })
    const order = await platform
      .demo()
      .post('/spot/orders', { currency_pair: 'BTC_USDT', side: 'buy', price: '59111', amount: '0.1' })
    assert.equal(order.status, 201)
    await page.getByRole('region', { name: 'Order book' }).getByRole('button', { name: '59 111.0' }).waitFor()
    // And so do one's own orders, whatever the tests before this one left open.
    await page.getByRole('tab', { name: /^Open orders/ }).click()
    await page.getByRole('table', { name: 'Open orders' }).getByText('59 111').first().waitFor()
  })
})
