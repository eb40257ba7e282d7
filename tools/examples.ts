import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EXAMPLES } from '../src/docs/examples.ts'
import { consoleEndpoints, operatorEndpoints, tradingEndpoints } from '../src/endpoints.ts'
import { worth, type Exchange } from '../test/support/recorder.ts'

/** Every endpoint by its name in the reference, in the order of the reference. */
export const ENDPOINT_NAMES: readonly string[] = [
  ...tradingEndpoints.map(({ method, path }) => `${method} /api/v4${path}`),
  ...operatorEndpoints(undefined as never).map(({ method, path }) => `${method} /operator/v1${path}`),
  ...consoleEndpoints({ surface: 'all' } as never).map(({ method, path }) => `${method} /console/v1${path}`),
]
const ITEMS = 2
const ROW = 12
const MEMBERS = 80
const WORDS: Readonly<Record<string, string>> = {
  secret: 'SECRET',
  token: 'TOKEN',
  token_first_half: 'HALF',
  token_second_half: 'HALF',
  password: 'PASSWORD',
  current: 'PASSWORD',
  next: 'PASSWORD',
  code: 'CODE',
  csrf: 'CSRF',
  invitation: 'TOKEN',
  otpauth_url: 'otpauth://totp/Kontor:demo?secret=SECRET&issuer=Kontor',
  key: 'KEY',
}
/** Lists are cut to what shows their form; whoever could use a secret of a test finds a word in its place. */
function shown(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return WORDS[name] ?? masked(value)
  if (Array.isArray(value)) {
    // A row of values, such as a candle, is whole or nothing.
    const row = value.every((item) => item === null || typeof item !== 'object')
    return value.slice(0, row ? ROW : ITEMS).map((item) => (name === 'recovery_codes' ? 'CODE' : shown(item)))
  }
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MEMBERS)
      .map(([member, inner]) => [member, shown(inner, member)]),
  )
}
/** API keys are 32 hex digits, tokens of links 64. */
const masked = (text: string): string =>
  text.replace(/(?<![0-9a-fA-F])[0-9a-f]{32}(?![0-9a-fA-F])/g, 'KEY').replace(/(?<=#)[0-9a-f]{64}$/, 'TOKEN')
export const exampleOf = ({ path, body, status, reply }: Exchange): string =>
  JSON.stringify({ path: masked(path), body: shown(body), status, reply: shown(reply) })

function main(): void {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const folder = mkdtempSync(join(tmpdir(), 'kontor-examples-'))
  const some = process.argv.length > 2
  // Where tests fail, so do their exchanges; those that are there are real all the same.
  spawnSync('npm', ['test', '--', ...(some ? process.argv.slice(2) : ['http/', 'evm/', 'console/'])], {
    cwd: root,
    env: { ...process.env, KONTOR_RECORD: folder },
    stdio: 'inherit',
  })
  const best = new Map<string, Exchange>()
  for (const file of readdirSync(folder))
    for (const [name, exchange] of Object.entries(
      JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, Exchange>,
    )) {
      const before = best.get(name)
      if (before === undefined || worth(exchange) > worth(before)) best.set(name, exchange)
    }
  rmSync(folder, { recursive: true, force: true })
  const lines = ENDPOINT_NAMES.flatMap((name) => {
    const exchange = best.get(name)
    const before = EXAMPLES.get(name)
    // A run of some tests alone adds what is missing; a run of all makes everything anew.
    const example = exchange === undefined || (some && before !== undefined) ? before : exampleOf(exchange)
    return example === undefined ? [] : [`  [${JSON.stringify(name)}, ${JSON.stringify(example)}],`]
  })
  const missing = ENDPOINT_NAMES.filter((name) => !best.has(name) && !EXAMPLES.has(name))
  writeFileSync(
    join(root, 'src/docs/examples.ts'),
    `/** Made by \`npm run examples\` from exchanges of the tests. Each is JSON: path, body, status, reply. */
export const EXAMPLES: ReadonlyMap<string, string> = new Map([
${lines.join('\n')}
])
`,
  )
  process.stdout.write(`${lines.length} examples; missing: ${missing.join(', ') || 'none'}\n`)
}
if (process.argv[1]?.endsWith('examples.js') === true) main()
