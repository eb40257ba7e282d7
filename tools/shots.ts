import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { linkFor } from '../test/support/console.ts'
import { DESKTOP, PHONE, launch, visit } from '../test/support/browser.ts'
import { TestPlatform } from '../test/support/platform.ts'

/**
 * Pictures of every page, light and dark, desktop and phone: `npm run shots -- FOLDER [words]`. Beside each stands how long it
 * took from its call until its heading was there and the browser had nothing more to do for it.
 */
const PAGES = [
  '/sign-in',
  '/trade/BTC_USDT',
  '/futures/BTC_USDT',
  '/wallet',
  '/wallet/deposit',
  '/wallet/withdraw',
  '/wallet/transfers',
  '/wallet/push',
  '/wallet/ledger',
  '/unified',
  '/sub-accounts',
  '/keys',
  '/settings',
  '/lab/requests',
  '/lab/sockets',
  '/lab/clock',
  '/lab/faults',
  '/lab/chains',
  '/lab/markets',
  '/lab/try',
  '/operate/approvals',
  '/operate/deposits',
  '/operate/treasury',
  '/operate/users',
  '/operate/users/10001',
  '/operate/rules',
  '/operate/solvency',
  '/operate/lending',
  '/operate/audit',
  '/operate/health',
] as const

const [folder = 'shots', ...words] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_OPERATOR_TOKEN: 'x'.repeat(40) })
const browser = (await launch())!
const user_id = platform.platform.credentials.accounts.find(
  ({ login_name }) => login_name === 'demo',
)!.user_id
await liven()
for (const [size, name] of [
  [DESKTOP, 'desktop'],
  [PHONE, 'phone'],
] as const)
  for (const dark of [false, true]) {
    const token = await linkFor(platform, { user_id })
    const { page, context, faults } = await visit(browser, `${platform.url}/enter#${token}`, { size, dark })
    await page.getByRole('navigation').first().waitFor({ state: 'attached' })
    await page.goto(`${platform.url}/enter#${await linkFor(platform, { operator: 'admin' })}`)
    await page.getByRole('navigation').first().waitFor({ state: 'attached' })
    const chosen = JSON.stringify({ theme: dark ? 'dark' : 'light' })
    await page.evaluate(`localStorage.setItem('kontor.prefs', ${JSON.stringify(chosen)})`)
    for (const path of PAGES) {
      if (words.length > 0 && !words.some((word) => path.includes(word))) continue
      const ms = await interactiveMs(page, platform.url + path)
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(1200)
      const file = `${path.slice(1).replaceAll('/', '-')}-${name}-${dark ? 'dark' : 'light'}.png`
      await page.screenshot({ path: join(folder, file) })
      console.log(file, `${ms} ms`, ...faults.splice(0))
    }
    await context.close()
  }

await browser.close()
await platform.stop()
process.exit(0)

async function interactiveMs(page: Page, url: string): Promise<number> {
  const began = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.getByRole('heading').first().waitFor()
  await page.evaluate('new Promise((resolve) => requestIdleCallback(resolve))')
  return Math.round(performance.now() - began)
}

/** Something to see: orders, fills, a deposit on its way, an address, a debt. */
async function liven(): Promise<void> {
  const demo = platform.demo()
  const post = (path: string, body: unknown): Promise<unknown> => demo.post(path, body)
  for (
    let i = 0;
    i < 40 && (await demo.get('/spot/order_book', { currency_pair: 'BTC_USDT' })).body.asks.length === 0;
    i++
  )
    await new Promise((resolve) => setTimeout(resolve, 100))
  for (const [side, price, amount] of [
    ['buy', '59000', '0.25'],
    ['buy', '59400.5', '0.1'],
    ['sell', '61200', '0.05'],
  ])
    await post('/spot/orders', { currency_pair: 'BTC_USDT', side, price, amount })
  await post('/spot/orders', {
    currency_pair: 'BTC_USDT',
    type: 'market',
    side: 'buy',
    amount: '2500',
    time_in_force: 'ioc',
  })
  await post('/spot/price_orders', {
    market: 'BTC_USDT',
    trigger: { price: '50000', rule: '<=', expiration: 86400 },
    put: { type: 'market', side: 'sell', amount: '0.01', time_in_force: 'ioc' },
  })
  const address = (await demo.get('/wallet/deposit_address', { currency: 'BTC' })).body
    .multichain_addresses[0]
  await platform.operator.call('POST', `/chains/${address.chain}/deposits`, {
    currency: 'BTC',
    address: address.address,
    amount: '1.25',
  })
  await platform.operator.call('POST', `/chains/${address.chain}/mine`, { blocks: 1 })
  await demo.put('/unified/unified_mode', { mode: 'multi_currency' })
  await post('/unified/loans', { currency: 'BTC', type: 'borrow', amount: '2' })
  const to = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
  const book = { currency: 'BTC', chain: 'BTC', address: to }
  await platform.operator.call('POST', `/users/${user_id}/saved_addresses`, book)
  await platform.operator.call('POST', `/users/${user_id}/withdrawals`, { ...book, amount: '0.5' })
  await platform.operator.call('PUT', '/faults', [
    { match: { path: '/spot/orders', method: 'POST' }, effect: 'delay', delay_ms: 300, times: 5 },
  ])
}
