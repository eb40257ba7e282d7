import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { codeAt } from '../support/totp.ts'
import { launch, visit } from '../support/browser.ts'
import { linkFor } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'

const browser = await launch()
describe('coming in', { skip: browser === undefined }, () => {
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

  test('a link signs in, and its token stands neither in the address nor in the history', async () => {
    const token = await linkFor(platform, { user_id })
    const { page, faults, context } = await visit(browser!, `${platform.url}/enter#${token}`)
    await page.getByRole('heading', { name: 'BTC_USDT' }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/trade/BTC_USDT')
    await page.goBack()
    assert.ok(!page.url().includes(token))
    const cookies = await context.cookies()
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite, path }) => ({ name, httpOnly, sameSite, path })),
      [{ name: 'kontor_session', httpOnly: true, sameSite: 'Strict', path: '/' }],
    )
    assert.deepEqual(faults, [])
    await context.close()

    const second = await visit(browser!, `${platform.url}/enter#${token}`)
    await second.page.getByText('Sign in with a password').waitFor()
    // It held no name and no password that could be wrong.
    await second.page.getByText('The link does not work').waitFor()
    assert.equal(await second.page.title(), 'Sign in by link · Kontor')
    await second.context.close()
  })
  test('an answer from before the link was used does not sign out again', async () => {
    const { page, context, faults } = await visit(
      browser!,
      `${platform.url}/enter#${await linkFor(platform, { user_id })}`,
    )
    await page.getByRole('heading', { name: 'BTC_USDT' }).waitFor()
    // What the page asked first is answered last.
    const late = page.waitForResponse((reply) => reply.url().endsWith('/console/v1/session'))
    const entered = page.waitForResponse((reply) => reply.url().endsWith('/console/v1/enter'))
    await page.route('**/console/v1/session', async (route) => {
      const answer = await route.fetch()
      await entered
      await page.getByRole('heading', { name: 'BTC_USDT' }).waitFor()
      await route.fulfill({ response: answer })
    })
    await page.goto(`${platform.url}/enter#${await linkFor(platform, { operator: 'admin' })}`)
    const approvals = page.getByRole('navigation').getByRole('link', { name: 'Approvals' }).first()
    await approvals.waitFor()
    await late
    await page.waitForTimeout(300)
    await approvals.click()
    await page.getByRole('heading', { name: 'Approvals' }).waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })
  test('who is nobody gets to sign in, and comes back to where he wanted to go', async () => {
    const { page, context, faults } = await visit(
      browser!,
      `${platform.url}/enter#${await linkFor(platform, { user_id })}`,
    )
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('New password', { exact: true }).fill('four green words here')
    await page.getByLabel('New password again').fill('four green words here')
    await page.getByRole('button', { name: 'Set the password' }).click()
    await page.getByText('Other sessions have ended').waitFor()
    // The second factor.
    await page.getByRole('button', { name: 'Switch it on' }).click()
    const secret = (await page
      .getByRole('button', { name: /^Copy secret/ })
      .getAttribute('aria-label'))!.split(': ')[1]!
    await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(secret, Date.now() / 1000 - 30))
    await page.getByRole('button', { name: 'Confirm' }).click()
    const dialog = page.getByRole('dialog', { name: 'Recovery codes' })
    await dialog.waitFor()
    const recovery = await dialog.getByRole('listitem').allTextContents()
    assert.equal(recovery.length, 10)
    await dialog.getByRole('button', { name: 'I have them' }).click()
    await page.getByRole('button', { name: 'Account demo' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()

    await page.goto(`${platform.url}/wallet/ledger`)
    const name = page.getByLabel('Name')
    await name.fill('demo')
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Name, password or code is wrong').waitFor()
    await page.getByRole('textbox', { name: 'Password' }).fill('four green words here')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('textbox', { name: 'Code' }).fill(codeAt(secret, Date.now() / 1000))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Ledger' }).waitFor()
    assert.deepEqual(faults, [])
    await context.close()
  })
})
