import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'

/**
 * A real Chromium: one that is installed, else the one of `@sparticuz/chromium` (x64), else Playwright's own download, else
 * Debian's package where the tests run as root. None at all fails in CI, and is a loud skip elsewhere.
 */
interface Found {
  readonly path: string
}
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
]

function runnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
function installed(): Found | undefined {
  const named = process.env['KONTOR_TEST_BROWSER']
  if (named !== undefined && named !== '') {
    if (!runnable(named)) throw new Error(`KONTOR_TEST_BROWSER: ${named} can not be run`)
    return { path: named }
  }
  for (const folder of (process.env['PATH'] ?? '').split(delimiter))
    for (const name of NAMES)
      if (folder !== '' && runnable(join(folder, name))) return { path: join(folder, name) }
  return undefined
}
async function packed(): Promise<Found | undefined> {
  if (process.arch !== 'x64' || process.platform !== 'linux') return undefined
  try {
    const { default: shipped } = await import('@sparticuz/chromium')
    const path = await shipped.executablePath()
    // It needs libraries that a bare system may not have: ask it for its version.
    execFileSync(path, ['--version'], { stdio: 'ignore', timeout: 20_000 })
    // Not with the arguments that it ships: they are for one page in one process, without the rules between origins.
    return { path }
  } catch {
    return undefined
  }
}
function downloaded(): Found | undefined {
  const folder = process.env['PLAYWRIGHT_BROWSERS_PATH'] ?? join(homedir(), '.cache', 'ms-playwright')
  if (!existsSync(folder)) return undefined
  for (const name of readdirSync(folder).sort().reverse())
    for (const inside of [
      'chrome-linux/headless_shell',
      'chrome-headless-shell-linux64/chrome-headless-shell',
      'chrome-linux/chrome',
      'chrome-linux64/chrome',
    ])
      if (name.startsWith('chromium') && runnable(join(folder, name, inside)))
        return { path: join(folder, name, inside) }
  return undefined
}
function fromDebian(): Found | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined
  for (const words of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'chromium-headless-shell'],
  ])
    try {
      execFileSync('/usr/bin/apt-get', words, {
        stdio: 'ignore',
        timeout: 180_000,
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      })
    } catch {
      // An old list of packages may do, and without the package there is no browser.
    }
  return installed()
}

let found: Promise<Found | undefined> | undefined
export const findBrowser = (): Promise<Found | undefined> =>
  (found ??= (async () => installed() ?? (await packed()) ?? downloaded() ?? fromDebian())())

/** Undefined: there is none here, and that was said loudly. */
export async function launch(): Promise<Browser | undefined> {
  const browser = await findBrowser()
  if (browser === undefined) {
    const words =
      'no browser for the tests of the console: install chromium-headless-shell, or name one by KONTOR_TEST_BROWSER'
    if (process.env['CI'] !== undefined) throw new Error(words)
    process.stderr.write(`\n${'!'.repeat(100)}\nSKIPPED: ${words}\n${'!'.repeat(100)}\n\n`)
    return undefined
  }
  return chromium.launch({
    executablePath: browser.path,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
}

export const DESKTOP = { width: 1440, height: 900 }
export const PHONE = { width: 390, height: 844 }

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the page, and requests to other origins: a test looks that there are none. */
  readonly faults: string[]
}
/** A browser of somebody's own, on a page. What goes wrong in it is collected. */
export async function visit(
  browser: Browser,
  url: string,
  options: { readonly size?: typeof DESKTOP; readonly dark?: boolean } = {},
): Promise<Visit> {
  const { size = DESKTOP, dark = false } = options
  const context = await browser.newContext({
    viewport: size,
    colorScheme: dark ? 'dark' : 'light',
    hasTouch: size.width < 760,
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(15_000)
  const page = await context.newPage()
  const faults: string[] = []
  const { origin } = new URL(url)
  page.on('pageerror', (error) => faults.push(`page: ${error.message}`))
  page.on('console', (message) => {
    // A refusal is an answer: the browser writes a line for each, which nobody can switch off.
    if (
      message.type() === 'error' &&
      !/Failed to load resource: the server responded with a status of (4|5)\d\d/.test(message.text())
    )
      faults.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const target = new URL(request.url())
    if (!['data:', 'blob:'].includes(target.protocol) && target.origin !== origin)
      faults.push(`request: ${request.url()}`)
  })
  page.on('websocket', (socket) => {
    if (new URL(socket.url()).host !== new URL(origin).host) faults.push(`socket: ${socket.url()}`)
  })
  await page.goto(url)
  return { page, context, faults }
}
