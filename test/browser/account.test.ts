import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launch, visit, type Visit } from '../support/browser.ts'
import { linkFor } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'

const browser = await launch()
describe('keys, sub-accounts and loans', { skip: browser === undefined }, () => {
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

  test('a key is made, its secret shown once, and a call signed with it is answered', async () => {
    const { page, faults } = seen
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Make a key' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('<img src=x onerror=alert(1)>')
    await dialog.getByLabel('spot', { exact: true }).selectOption('read')
    await dialog.getByRole('button', { name: 'Make', exact: false }).click()
    const copied = async (what: string): Promise<string> =>
      (await dialog.getByRole('button', { name: new RegExp(`^Copy ${what}: `) }).getAttribute('aria-label'))!
        .split(': ')
        .at(-1)!
    const key = await copied('key')
    const secret = await copied('secret')
    await dialog.getByRole('button', { name: 'I have it' }).click()
    // Markup in a name is a name.
    await page.getByRole('table', { name: 'API keys' }).getByText('<img src=x onerror=alert(1)>').waitFor()
    assert.equal(await page.locator('img[src="x"]').count(), 0)
    assert.doesNotMatch(await page.content(), new RegExp(secret))
    const client = platform.client({ key, secret })
    assert.equal((await client.get('/spot/accounts')).status, 200)
    assert.equal(
      (await client.post('/spot/orders', { currency_pair: 'BTC_USDT', side: 'buy', amount: '1', price: '1' }))
        .body.label,
      'READ_ONLY',
    )
    await page.getByRole('button', { name: /^Delete key <img/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: false }).last().click()
    await page
      .getByRole('table', { name: 'API keys' })
      .getByText('<img src=x onerror=alert(1)>')
      .waitFor({ state: 'detached' })
    assert.equal((await client.get('/spot/accounts')).status, 401)
    assert.deepEqual(faults, [])
  })

  test('a sub-account is made, looked at, locked and unlocked', async () => {
    const { page, faults } = seen
    await page.getByRole('link', { name: 'Sub-accounts' }).click()
    await page.getByRole('button', { name: 'Make a sub-account' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Make a sub-account' })
    await dialog.getByLabel('Name').fill('grid_bot')
    await dialog.getByRole('button').last().click()
    const row = page.getByRole('table', { name: 'Sub-accounts' }).getByRole('row', { name: /grid_bot/ })
    await row.waitFor()
    const sub = async () =>
      (await platform.demo().get('/sub_accounts')).body.find(
        ({ login_name }: { login_name: string }) => login_name === 'grid_bot',
      )
    assert.equal((await sub()).state, 1)
    await row.getByRole('button', { name: 'Lock grid_bot' }).click()
    await page
      .getByRole('dialog', { name: /^Lock grid_bot/ })
      .getByRole('button', { name: /Lock/ })
      .last()
      .click()
    await row.getByRole('button', { name: 'Unlock grid_bot' }).waitFor()
    assert.equal((await sub()).state, 2)
    await row.getByRole('button', { name: 'Unlock grid_bot' }).click()
    await row.getByRole('button', { name: 'Lock grid_bot' }).waitFor()
    assert.equal((await sub()).state, 1)
    await row.getByRole('button', { name: 'Look at grid_bot' }).click()
    await page.getByRole('button', { name: 'Account grid_bot' }).waitFor()
    await page.getByRole('button', { name: 'Account grid_bot' }).click()
    await page.getByRole('menuitem', { name: /demo/ }).first().click()
    await page.getByRole('button', { name: 'Account demo' }).waitFor()
    assert.deepEqual(faults, [])
  })

  test('the mode is switched, money is borrowed and repaid to the last unit', async () => {
    const { page, faults } = seen
    await page.getByRole('link', { name: 'Unified' }).click()
    await page
      .getByRole('button', { name: /switch/i })
      .first()
      .click()
    const switching = page.getByRole('dialog', { name: 'Switch the mode' })
    await switching.getByText('What changes').waitFor()
    await switching.getByRole('button', { name: 'Switch', exact: true }).click()
    await page.getByRole('button', { name: 'Borrow' }).first().click()
    const loan = page.getByRole('dialog', { name: 'Borrow' })
    await loan.getByLabel('Amount').fill('250')
    await loan.getByRole('button', { name: 'Borrow' }).click()
    await loan.waitFor({ state: 'detached' })
    const owed = async (): Promise<string> =>
      (await platform.demo().get('/unified/accounts')).body.balances.USDT.total_liab
    assert.ok(Number(await owed()) >= 250)
    await page.getByRole('button', { name: 'Repay' }).first().click()
    const repaying = page.getByRole('dialog', { name: 'Repay' })
    await repaying.getByRole('button', { name: 'Repay all of it' }).click()
    await repaying.getByRole('button', { name: 'Repay', exact: true }).click()
    await repaying.waitFor({ state: 'detached' })
    assert.equal(Number(await owed()), 0)
    assert.deepEqual(faults, [])
  })
})
