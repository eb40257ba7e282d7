import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { linkFor } from '../test/support/console.ts'
import { DESKTOP, PHONE, launch, visit } from '../test/support/browser.ts'
import { TestPlatform } from '../test/support/platform.ts'

/** Pictures of every page, light and dark, desktop and phone: `npm run shots -- FOLDER [words]`. */
const PAGES = ['/sign-in', '/trade/BTC_USDT'] as const

const [folder = 'shots', ...words] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const platform = await TestPlatform.start({ KONTOR_AGENTS: 'on', KONTOR_OPERATOR_TOKEN: 'x'.repeat(40) })
const browser = (await launch())!
const user_id = platform.platform.credentials.accounts.find(
  ({ login_name }) => login_name === 'demo',
)!.user_id
for (const [size, name] of [
  [DESKTOP, 'desktop'],
  [PHONE, 'phone'],
] as const)
  for (const dark of [false, true]) {
    const token = await linkFor(platform, { user_id })
    const { page, context, faults } = await visit(browser, `${platform.url}/enter#${token}`, { size, dark })
    await page.getByRole('navigation').first().waitFor({ state: 'attached' })
    const chosen = JSON.stringify({ theme: dark ? 'dark' : 'light' })
    await page.evaluate(`localStorage.setItem('kontor.prefs', ${JSON.stringify(chosen)})`)
    for (const path of PAGES) {
      if (words.length > 0 && !words.some((word) => path.includes(word))) continue
      await page.goto(platform.url + path)
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(1200)
      const file = `${path.slice(1).replaceAll('/', '-')}-${name}-${dark ? 'dark' : 'light'}.png`
      await page.screenshot({ path: join(folder, file) })
      console.log(file, ...faults.splice(0))
    }
    await context.close()
  }
await browser.close()
await platform.stop()
process.exit(0)
