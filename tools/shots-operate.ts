import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { linkFor } from '../test/support/console.ts'
import { DESKTOP, PHONE, launch, visit } from '../test/support/browser.ts'
import { TestPlatform } from '../test/support/platform.ts'
import { Trader } from '../test/support/spot.ts'

const [folder = 'shots', ...words] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_OPERATOR_TOKEN: 'x'.repeat(40) })
const user_id = platform.platform.credentials.accounts.find(({ login_name }) => login_name === 'demo')!.user_id
const op = platform.operator
await op.ok('POST', `/users/${user_id}/saved_addresses`, { currency: 'BTC', chain: 'BTC', address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' })
await op.ok('POST', `/users/${user_id}/withdrawals`, { currency: 'BTC', chain: 'BTC', amount: '0.5', address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' })
await op.ok('POST', `/chains/BTC/fund`, { currency: 'BTC', amount: '2' })
const a = await Trader.of(platform, { BTC: '1' })
const b = await Trader.of(platform, { USDT: '100000' })
await a.placed('sell', '0.5', '40000')
await b.placed('buy', '0.5', '90000')
const dep = await op.ok('POST', '/chains/ETH/deposits', { user_id, currency: 'ETH', amount: '1.5' })
console.log(dep)
const [d] = await op.ok('GET', '/deposits?limit=1')
if (d !== undefined) await op.call('POST', `/deposits/${d.id}/hold`, { reason: 'looked at' })
const PAGES = ['/operate/approvals','/operate/deposits','/operate/treasury','/operate/users',`/operate/users/${user_id}`,'/operate/rules','/operate/solvency','/operate/lending','/operate/audit','/operate/health']
const browser = (await launch())!
for (const [size, name] of [[DESKTOP, 'desktop'], [PHONE, 'phone']] as const)
  for (const dark of [false, true]) {
    const token = await linkFor(platform, { operator: "admin" })
    const { page, context, faults } = await visit(browser, `${platform.url}/enter#${token}`, { size, dark })
    await page.getByRole('navigation').first().waitFor({ state: 'attached' })
    const chosen = JSON.stringify({ theme: dark ? 'dark' : 'light' })
    await page.evaluate(`localStorage.setItem('kontor.prefs', ${JSON.stringify(chosen)})`)
    for (const path of PAGES) {
      if (words.length > 0 && !words.some((word) => path.includes(word))) continue
      if ((name === 'phone') !== dark) continue
      await page.goto(platform.url + path)
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(800)
      const file = `${path.slice(1).replaceAll('/', '-')}-${name}-${dark ? 'dark' : 'light'}.png`
      await page.screenshot({ path: join(folder, file) })
      console.log(file, ...faults.splice(0))
    }
    await context.close()
  }
await browser.close()
await platform.stop()
process.exit(0)
