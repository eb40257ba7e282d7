import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launch, visit, type Visit } from '../support/browser.ts'
import { linkFor } from '../support/console.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const browser = await launch()
describe('the rooms of operators and of who builds bots', { skip: browser === undefined }, () => {
  let platform: TestPlatform
  let user_id = 0
  before(async () => {
    platform = await TestPlatform.start()
    user_id = platform.platform.credentials.accounts[0]!.user_id
  })
  after(async () => {
    await (browser as Browser).close()
    await platform.stop()
  })
  const enter = async (whose: { user_id: number } | { operator: string }): Promise<Visit> => {
    const seen = await visit(browser!, `${platform.url}/enter#${await linkFor(platform, whose)}`)
    // Not before it is signed in: the page that does it has a heading too.
    await seen.page.getByRole('navigation').first().waitFor({ state: 'attached' })
    return seen
  }
  const go = (page: Page, name: string): Promise<void> =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click()

  test('two operators approve a withdrawal, each the exact statement, and it arrives', async () => {
    await platform.colleague('anna')
    await platform.colleague('bert')
    await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '1', approvals: 2 })
    await platform.operator.ok('POST', `/users/${user_id}/saved_addresses`, {
      currency: 'ETH',
      address: ADDRESS,
      name: 'cold',
    })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 90_000 })
    const demo = platform.demo()
    const asked = await demo.post('/withdrawals', {
      currency: 'ETH',
      chain: 'ETH',
      amount: '2.5',
      address: ADDRESS,
    })
    assert.equal(asked.status, 200, asked.text)
    const id = String(asked.body.id)
    for (const [i, name] of ['anna', 'bert'].entries()) {
      const { page, context, faults } = await enter({ operator: name })
      const card = page.getByRole('region', { name: `Withdrawal ${id}` })
      await card.getByText(`${i} of 2 approvals`).waitFor()
      await card.getByRole('button', { name: 'Approve' }).click()
      const dialog = page.getByRole('dialog', { name: 'Approve' })
      await dialog.getByText(ADDRESS.match(/.{1,4}/g)!.join(' ')).waitFor()
      const yes = dialog.getByRole('button', { name: 'Approve' })
      const typed = dialog.getByLabel(/last four characters/)
      await typed.fill('9999')
      assert.ok(await yes.isDisabled(), 'not without the end of the address')
      await typed.fill(ADDRESS.slice(-4))
      await yes.click()
      await dialog.waitFor({ state: 'detached' })
      if (i === 0) {
        await card.getByText('1 of 2 approvals').waitFor()
        assert.ok(await card.getByRole('button', { name: 'Approve' }).isDisabled(), 'not twice by one person')
      } else await card.waitFor({ state: 'detached' })
      assert.deepEqual(faults, [])
      await context.close()
    }
    await platform.operator.ok('POST', '/chains/ETH/fund', { currency: 'ETH', amount: '10' })
    for (let i = 0; i < 12; i++) {
      await platform.operator.call('POST', '/clock', { advance_seconds: 120 })
      await platform.operator.call('POST', '/chains/ETH/mine', { blocks: 20 })
    }
    const { body } = await demo.get('/wallet/withdrawals')
    assert.equal(body.find((one: { id: string }) => one.id === id).status, 'DONE')
  })

  test('a call is found in the inspector, with what was signed, and its mistake', async () => {
    const { page, context, faults } = await enter({ user_id })
    await go(page, 'Requests')
    const demo = platform.demo()
    await demo.get('/spot/open_orders', 'page=1&limit=7')
    await demo.post('/spot/orders', { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.1' })
    const table = page.getByRole('table', { name: 'Requests' })
    await table.getByText('MISSING_REQUIRED_PARAM').waitFor()
    await page.getByLabel('Find in path, status or label').fill('open_orders')
    await table.getByText('MISSING_REQUIRED_PARAM').waitFor({ state: 'detached' })
    await table.getByRole('row').nth(1).click()
    const detail = page.getByRole('dialog')
    await detail.getByRole('tab', { name: 'What is signed' }).click()
    const lines = await detail.getByRole('listitem').allTextContents()
    assert.deepEqual(lines.slice(0, 3), ['GET', '/api/v4/spot/open_orders', 'page=1&limit=7'])
    // SHA-512 of nothing.
    assert.match(lines[3]!, /^cf83e1357eefb8bd/)
    assert.match(lines[4]!, /^\d{10}$/)
    await detail.getByRole('tab', { name: 'Same call as' }).click()
    await detail.getByText('privateSpotGetOpenOrders').waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })

  test('a call is tried in the page, signed there by a key of one’s own', async () => {
    const { page, context, faults } = await enter({ user_id })
    await page.goto(`${platform.url}/docs`)
    await page.locator('a[href*="spot%2Faccounts"]', { hasText: 'Try it' }).first().click()
    const { key, secret } = platform.platform.credentials
    await page.getByLabel('Key', { exact: true }).fill(key)
    await page.getByLabel('Secret', { exact: true }).fill(secret)
    await page.getByLabel('currency', { exact: true }).fill('BTC')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { name: /^200 in/ }).waitFor()
    await page.getByText('"currency": "BTC"').waitFor()
    await page.getByLabel('Secret', { exact: true }).fill(`${secret}x`)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { name: /^401 in/ }).waitFor()
    await page.getByText('INVALID_SIGNATURE').waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })

  test('the clock is moved, and the page follows', async () => {
    const { page, context, faults } = await enter({ user_id })
    await go(page, 'Clock')
    await page.getByText('This steers the sandbox').waitFor()
    await page.goto(`${platform.url}/enter#${await linkFor(platform, { operator: 'admin' })}`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await go(page, 'Clock')
    const before = (await platform.operator.ok('GET', '/clock')).now as number
    await page.getByRole('button', { name: '+1 d' }).click()
    await page.getByText(/^It is .* now$/).waitFor()
    const after = (await platform.operator.ok('GET', '/clock')).now as number
    assert.ok(after - before >= 86_400 && after - before < 86_500, String(after - before))
    await page.getByText(/ahead of the real time/).waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })

  test('the command bar moves the clock and brings a deposit, where an operator is signed in', async () => {
    const { page, context, faults } = await enter({ user_id })
    const bar = page.getByRole('combobox', { name: 'Search or command' })
    await page.getByRole('navigation').first().waitFor()
    await page.keyboard.press('/')
    await bar.fill('advance clock one day')
    await page.getByText('Nothing is called so.').waitFor()
    await page.goto(`${platform.url}/enter#${await linkFor(platform, { operator: 'admin' })}`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    const before = (await platform.operator.ok('GET', '/clock')).now
    await page.getByRole('navigation').first().waitFor()
    await page.keyboard.press('/')
    await bar.fill('advance clock one day')
    await page.getByRole('option', { name: /one day/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('The clock moved by one day').waitFor()
    assert.ok((await platform.operator.ok('GET', '/clock')).now - before >= 86_400)
    await page.getByRole('navigation').first().waitFor()
    await page.keyboard.press('/')
    await bar.fill('deposit 0.75 btc')
    await page.getByRole('option', { name: /Deposit 0.75 BTC/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByText(/0.75 BTC is on its way/).waitFor()
    await platform.operator.ok('POST', '/chains/BTC/mine', { blocks: 10 })
    const { body } = await platform.demo().get('/wallet/deposits', { currency: 'BTC' })
    assert.equal(body[0].amount, '0.75')
    assert.deepEqual(faults, [])
    await context.close()
  })
  test('a fault rule is made and taken back, a block is mined and taken back', async () => {
    const { page, context, faults } = await enter({ operator: 'admin' })
    await go(page, 'Faults')
    await page.getByLabel('Path').fill('/wallet/total_balance')
    await page.getByRole('button', { name: 'Add the rule' }).click()
    const rules = page.getByRole('table', { name: 'Rules in force' })
    await rules.getByText('path /wallet/total_balance').waitFor()
    assert.equal((await platform.demo().get('/wallet/total_balance')).status, 503)
    await page
      .getByRole('table', { name: 'What clients did after each fault' })
      .getByText('TOO_BUSY')
      .waitFor()
    // No block comes by itself between the two looks.
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
    const [one] = (await platform.operator.ok('GET', '/chains')).filter(
      ({ chain }: { chain: string }) => chain === 'ETH',
    )
    await go(page, 'Chains')
    await page.getByRole('button', { name: 'Mine 1' }).click()
    await page.getByRole('heading', { name: new RegExp(`^ETH at block ${Number(one.height) + 1}`) }).waitFor()
    await page.getByRole('button', { name: String(Number(one.height) + 1), exact: true }).click()
    await page.getByRole('button', { name: 'Reorganise 1 block' }).click()
    const dialog = page.getByRole('dialog', { name: 'Reorganise 1 block' })
    await dialog.getByRole('button', { name: 'Reorganise 1 block' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(faults, [])
    await context.close()
  })

  test('a contract is changed, halted and resumed, its fund is filled, and a liquidation is seen', async () => {
    await setIndex(platform, { BTC: '60000' })
    const rich = await ContractTrader.of(platform, '1000000')
    const poor = await ContractTrader.of(platform, '700')
    await rich.placed(-1_000, '60000')
    await poor.placed(1_000, '60000')
    const { page, context, faults } = await enter({ operator: 'admin' })
    await go(page, 'Rules')
    await page.getByRole('tab', { name: 'Contracts' }).click()
    const row = page
      .getByRole('table', { name: 'Contracts' })
      .getByRole('row')
      .filter({ hasText: 'ETH_USDT' })
      .filter({ hasText: 'futures usdt' })
    await row.getByRole('button', { name: 'Change' }).click()
    const change = page.getByRole('dialog', { name: 'Change ETH_USDT' })
    await change.getByLabel('Most open orders of an account').fill('77')
    await change.getByRole('button', { name: 'Change 1' }).click()
    await change.waitFor({ state: 'detached' })
    const rules = () => platform.operator.ok('GET', '/contracts/futures/usdt/ETH_USDT')
    assert.equal((await rules()).orders_limit, 77)
    for (const [verb, status, words] of [
      ['Halt', 'circuit_breaker', 'circuit breaker'],
      ['Resume', 'trading', 'trading'],
    ] as const) {
      await row.getByRole('button', { name: verb }).click()
      const dialog = page.getByRole('dialog', { name: verb })
      if (verb === 'Halt') await dialog.getByLabel('Type ETH_USDT to halt it').fill('ETH_USDT')
      await dialog.getByRole('button', { name: verb }).click()
      await dialog.waitFor({ state: 'detached' })
      await row.getByText(words).waitFor()
      assert.equal((await rules()).status, status)
    }
    await setIndex(platform, { BTC: '53000' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: 1 })
    assert.equal((await poor.position()).size, 0)
    await go(page, 'Lending')
    const funds = page.getByRole('table', { name: 'Insurance of contracts' })
    const usdt = funds.getByRole('row').filter({ hasText: 'USDT' })
    const fund = async (): Promise<number> =>
      Number(
        (await platform.operator.ok('GET', '/insurance')).find(
          (one: { settle: string }) => one.settle === 'usdt',
        ).balance,
      )
    const before = await fund()
    await usdt.getByRole('button', { name: 'Fill the fund of USDT' }).click()
    const fill = page.getByRole('dialog', { name: 'Fill the insurance of contracts with USDT' })
    await fill.getByLabel('Amount').fill('1234')
    await fill.getByRole('button', { name: 'Fill' }).click()
    await fill.waitFor({ state: 'detached' })
    assert.equal(((await fund()) - before).toFixed(4), '1234.0000')
    await page.getByRole('table', { name: 'Positions of the funds' }).getByText('BTC_USDT').waitFor()
    await page.getByRole('table', { name: 'Liquidations' }).getByText('BTC_USDT').first().waitFor()
    assert.deepEqual(faults, [])
    await context.close()
    await platform.operator.ok('PUT', '/prices', { BTC: null })
  })
  test('the books are proven, an account is frozen, and the audit log says who did it', async () => {
    const { page, context, faults } = await enter({ operator: 'admin' })
    await go(page, 'Solvency')
    await page.getByText(/✓ balanced at sequence \d+/).waitFor()
    await go(page, 'Users')
    const made = await platform.user()
    await page.getByLabel(/Find by user id/).fill(String(made.user_id))
    const row = page.getByRole('table', { name: 'Users' }).getByRole('row').nth(1)
    await row.getByText(String(made.user_id)).first().click()
    await page.getByRole('heading', { name: `Account ${made.user_id}` }).waitFor()
    await page.getByRole('button', { name: 'Freeze' }).click()
    const dialog = page.getByRole('dialog', { name: 'Freeze' })
    await dialog.getByLabel(`Type ${made.user_id}`).fill(String(made.user_id))
    await dialog.getByRole('button', { name: 'Freeze' }).click()
    await page.getByRole('button', { name: 'Unfreeze' }).waitFor()
    assert.equal((await platform.operator.ok('GET', `/users/${made.user_id}`)).state, 2)
    await go(page, 'Audit log')
    await page.getByRole('table', { name: 'Records' }).getByText('user.change').first().waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })
})
