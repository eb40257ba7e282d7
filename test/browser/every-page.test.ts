import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { DESKTOP, PHONE, launch, visit } from '../support/browser.ts'
import { linkFor } from '../support/console.ts'
import { TestPlatform } from '../support/platform.ts'
import { LONG } from '../support/size.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Every route of the table that has no parameter, and a market. */
const table = readFileSync(new URL('../../../console/src/routes.tsx', import.meta.url), 'utf8')
export const PATHS = [...table.matchAll(/\bpage\(\s*'(\/[^']*)'/g)].map(([, path]) =>
  path!.replace(/\$pair|\$contract/, 'BTC_USDT').replace('$uid', '10001'),
)

/** Words of a button that are cut, rows of the book that are halved, and columns of amounts with room for nobody. */
const CUT = `(() => {
  const wrong = []
  for (const one of document.querySelectorAll('.mantine-Button-label, th, h1, h2'))
    if (one.scrollWidth > one.clientWidth + 1 && !one.querySelector('.sr')) wrong.push('cut: ' + one.textContent)
  for (const side of document.querySelectorAll('.book-side')) {
    const box = side.getBoundingClientRect()
    for (const row of side.children) {
      const { left, top, bottom } = row.getBoundingClientRect()
      if (left < box.right && (top < box.top - 1 || bottom > box.bottom + 1)) wrong.push('half a row: ' + row.textContent)
    }
  }
  for (const table of document.querySelectorAll('table.cards')) {
    const rows = [...table.tBodies[0].rows]
    for (let at = 0; at < (rows[0]?.cells.length ?? 0); at++) {
      const cells = rows.map((row) => row.cells[at])
      if (cells.some((cell) => cell.querySelector('.pad')) && cells.every((cell) => cell.querySelector('.pad') || !cell.querySelector('.amount')))
        wrong.push('room for nobody: ' + table.getAttribute('aria-label') + ' ' + cells[0].dataset.name)
    }
  }
  return wrong
})()`

const browser = await launch()
describe('every page', { skip: browser === undefined }, () => {
  let platform: TestPlatform
  let user_id = 0
  before(async () => {
    // With agents: books, trades and candles are there to be looked at.
    platform = await TestPlatform.start({ KONTOR_AGENTS: 'on' })
    user_id = platform.platform.credentials.accounts[0]!.user_id
  })
  after(async () => {
    await (browser as Browser).close()
    await platform.stop()
  })
  assert.ok(PATHS.length > 10)

  for (const [size, name] of [
    [DESKTOP, 'desktop'],
    [PHONE, 'phone'],
  ] as const)
    // Each size in one light, unless there is time: what differs is colours, which both lights show once.
    for (const dark of LONG ? [false, true] : [size === PHONE])
      test(`${name}, ${dark ? 'dark' : 'light'}: no error, no other origin, nothing cut off, no serious fault by axe`, async () => {
        const token = await linkFor(platform, { user_id })
        const { page, context, faults } = await visit(browser!, `${platform.url}/enter#${token}`, {
          size,
          dark,
        })
        await page.getByRole('heading', { name: 'BTC_USDT' }).waitFor()
        // Both rooms at once, as in a browser of somebody who tries the sandbox.
        await page.goto(`${platform.url}/enter#${await linkFor(platform, { operator: 'admin' })}`)
        await page.getByRole('heading', { name: 'BTC_USDT' }).waitFor()
        const wrong: string[] = []
        for (const path of [...PATHS, '/sign-in']) {
          await page.goto(platform.url + path)
          await page.getByRole('heading', { level: 1 }).first().waitFor()
          await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
          const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          if (Number(wide) > 0) wrong.push(`${path} is ${String(wide)} px too wide`)
          wrong.push(...(await page.evaluate<string[]>(CUT)).map((one) => `${path} ${one}`))
          // By the console's own context: its policy lets no other script in.
          await page.evaluate(axe)
          const found = await page.evaluate<string[]>(
            `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations
              .filter(({ impact }) => impact === 'serious' || impact === 'critical')
              .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ': ' + html.slice(0, 160) + ' ' + (any[0]?.message ?? ''))))`,
          )
          wrong.push(...found.map((one) => `${path} ${one}`))
        }
        assert.deepEqual([...wrong, ...faults], [])
        await context.close()
      })
})
