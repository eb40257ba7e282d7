import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launch, visit, type Visit } from '../support/browser.ts'
import { ok } from '../support/client.ts'
import { linkFor } from '../support/console.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'

const browser = await launch()
describe('money in and out', { skip: browser === undefined }, () => {
  let platform: TestPlatform
  let seen: Visit
  before(async () => {
    platform = await TestPlatform.start()
    const user_id = platform.platform.credentials.accounts[0]!.user_id
    seen = await visit(browser!, `${platform.url}/enter#${await linkFor(platform, { user_id })}`)
    await seen.page.getByRole('heading', { name: 'BTC_USDT' }).waitFor()
  })
  after(async () => {
    await (browser as Browser).close()
    await platform.stop()
  })

  test('a deposit on the simulated chain is seen, counts its confirmations, and is done', async () => {
    const { page, faults } = seen
    await platform.operator.ok('PATCH', '/chains/BTC', { auto_mine_seconds: 0 })
    await page.getByRole('link', { name: 'Deposit', exact: true }).click()
    const copy = page.getByRole('button', { name: /^Copy address/ })
    const address = (await copy.first().getAttribute('aria-label'))!.split(': ')[1]!
    await page.getByRole('img', { name: `Address ${address} as a QR code` }).waitFor()
    await platform.operator.ok('POST', '/chains/BTC/deposits', {
      currency: 'BTC',
      address,
      amount: '1.25000001',
    })
    const row = page.getByRole('table', { name: 'Deposits' }).getByRole('row').nth(1)
    await row.getByText('1.25000001').waitFor()
    await platform.operator.ok('POST', '/chains/BTC/mine', { blocks: 1 })
    await row.getByText('1 of 2').waitFor()
    await platform.operator.ok('POST', '/chains/BTC/mine', { blocks: 10 })
    await row.getByText('DONE').waitFor()
    assert.deepEqual(faults, [])
  })
  test('an address is saved, a withdrawal is asked for, and its way can be followed to the end', async () => {
    const { page, faults } = seen
    await page.getByRole('link', { name: 'Withdraw', exact: true }).click()
    await page.getByRole('button', { name: 'Save an address' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Save an address' })
    await dialog.getByLabel('Name').fill('<b>cold</b>')
    await dialog.getByLabel('Currency').click()
    await page.getByRole('option', { name: 'ETH', exact: true }).click()
    await dialog.getByLabel('Address').fill('0x52908400098527886E0F7030069857D2E4169EE7')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const book = page.getByRole('table', { name: 'Address book' })
    // Markup in a name is a name.
    await book.getByText('<b>cold</b>').waitFor()
    assert.equal(await book.locator('b:text-is("cold")').count(), 0)

    const form = page.getByRole('region', { name: 'Withdraw' }).first()
    await form.getByRole('combobox', { name: 'Currency' }).or(form.getByLabel('Currency')).first().click()
    await page.getByRole('option', { name: 'ETH', exact: true }).click()
    await form.getByLabel('From the address book').click()
    await page.getByRole('option', { name: /cold/ }).click()
    await form.getByLabel('Amount, with the fee').fill('1.5')
    await form.getByRole('button', { name: 'Withdraw', exact: true }).click()
    const way = page.getByRole('dialog', { name: 'Withdrawal' })
    await way.getByText('Asked for').waitFor()
    const { body } = await platform.demo().get('/wallet/withdrawals')
    assert.equal(body[0].amount, '1.5')
    const { chain } = body[0] as { chain: string }
    // The policy holds it, and the page says why; an operator lets it go.
    await way.getByText('the address was verified less than 24 h ago').waitFor()
    await way.getByText('The money is held in your account').waitFor()
    await platform.operator.ok('POST', `/withdrawals/${String(body[0].id)}/approve`, { reason: 'known' })
    await way.getByText('the address was verified less than 24 h ago').waitFor({ state: 'detached' })
    // The sender waits for the chain's delay, then the chain for its confirmations.
    for (let i = 0; i < 12; i++) {
      await platform.operator.call('POST', '/clock', { advance_seconds: 120 })
      await platform.operator.call('POST', `/chains/${chain}/mine`, { blocks: 20 })
    }
    await way.getByText('at the address').waitFor()
    assert.deepEqual(faults, [])
  })
  test('forms say themselves what they can know: where a tag belongs, and what is not there to be moved', async () => {
    const { page, faults } = seen
    await page.goto(`${platform.url}/wallet/withdraw?currency=XRP`)
    const form = page.getByRole('region', { name: 'Withdraw' }).first()
    await form.getByLabel('Tag or memo').waitFor()
    await page.goto(`${platform.url}/wallet/withdraw?currency=BTC`)
    await form.getByLabel('Amount, with the fee').fill('1')
    await page.waitForLoadState('networkidle')
    assert.equal(await form.getByLabel('Tag or memo').count(), 0)

    await page.getByRole('link', { name: 'Transfers', exact: true }).click()
    const amount = page.getByLabel('Amount')
    const move = page.getByRole('button', { name: 'Move to Isolated margin BTC_USDT' })
    await amount.fill('99999999')
    await page.getByText(/^Not enough: .* is free$/).waitFor()
    assert.ok(await move.isDisabled())
    await amount.fill('1')
    assert.ok(await move.isEnabled())
    assert.deepEqual(faults, [])
  })

  test('money goes to each account of contracts and back, and the wallet shows what it does there', async () => {
    const { page, faults } = seen
    const demo = new ContractTrader(0, platform.demo())
    const at = async (base: string): Promise<string> =>
      ok(await new ContractTrader(0, platform.demo(), base).get('/accounts')).total as string
    const choose = async (label: 'From' | 'To', name: string): Promise<void> => {
      await page.getByRole('combobox', { name: label, exact: true }).click()
      await page.getByRole('option', { name, exact: true }).click()
    }
    await page.goto(`${platform.url}/wallet/transfers`)
    for (const [name, base, currency] of [
      ['Perpetual USDT contracts', '/futures/usdt', 'USDT'],
      ['Perpetual BTC contracts', '/futures/btc', 'BTC'],
      ['Dated USDT contracts', '/delivery/usdt', 'USDT'],
    ] as const) {
      const before = Number(await at(base))
      await choose('To', name)
      await page.getByLabel('Amount').fill('0.5')
      await page.getByRole('button', { name: `Move to ${name}` }).click()
      await page.getByText(`0.5 ${currency} from Spot to ${name}`).waitFor()
      assert.equal(Number(await at(base)), before + 0.5)
    }
    await choose('From', 'Perpetual USDT contracts')
    await page.getByLabel('Amount').fill('1')
    await page.getByRole('button', { name: 'Move to Spot' }).click()
    await page.getByText('1 USDT from Perpetual USDT contracts to Spot').waitFor()

    await setIndex(platform, { BTC: '60000' })
    const maker = await ContractTrader.of(platform, '100000')
    await maker.placed(-100, '60000')
    await demo.placed(100, '60000')
    await demo.placed(10, '59000')
    await page.goto(`${platform.url}/wallet`)
    const accounts = page.getByRole('table', { name: 'Accounts of contracts' })
    const row = accounts.getByRole('row').filter({ hasText: 'Perpetual USDT' })
    const { total, position_margin } = await demo.account()
    const grouped = (text: string): string => Number(text).toLocaleString('en').replaceAll(',', ' ')
    await row.getByText(grouped(total)).first().waitFor()
    await row.getByText(Number(position_margin).toFixed(2).slice(0, 4)).first().waitFor()
    for (const name of ['Perpetual BTC', 'Dated USDT']) await accounts.getByText(name).waitFor()
    const held = page.getByRole('region', { name: 'Positions: Perpetual USDT' })
    await held.getByText('▲ long').waitFor()
    assert.equal((await demo.position()).size, 100)
    assert.deepEqual(faults, [])
  })
})
