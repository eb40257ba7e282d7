import { existsSync } from 'node:fs'
import { dirname } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>
type Fail = (setting: string, why: string) => never

function given(env: Environment, name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}
const SANDBOX = ['KONTOR_CREDENTIALS', 'KONTOR_DEMO_KEY', 'KONTOR_DEMO_SECRET'] as const

/** What people who test with a sandbox set; live mode has none of it. */
export interface TestSettings {
  /** Everything is kept in memory, nothing on the disk: for tests. */
  readonly memory: boolean
  /** Where a sandbox writes its keys; undefined: into the data folder. */
  readonly credentials: string | undefined
  /** Key and secret of the demo account, where somebody chose them. */
  readonly demo: { readonly key: string; readonly secret: string } | undefined
}
export function testSettings(env: Environment, mode: string, fail: Fail): TestSettings {
  const memory = given(env, 'KONTOR_MEMORY') ?? 'off'
  if (memory !== 'on' && memory !== 'off') fail('KONTOR_MEMORY', `must be on or off, not "${memory}"`)
  if (mode === 'live') {
    if (memory === 'on') fail('KONTOR_MEMORY', 'is for sandboxes: a live platform keeps what it acknowledges')
    for (const name of SANDBOX)
      if (given(env, name) !== undefined) fail(name, 'can be set in sandbox mode only')
  }
  if (
    memory === 'on' &&
    (given(env, 'KONTOR_DATABASE_URL') ?? given(env, 'KONTOR_DATABASE_URL_FILE')) !== undefined
  )
    fail('KONTOR_MEMORY', 'and KONTOR_DATABASE_URL exclude each other')
  if (memory === 'on' && given(env, 'KONTOR_HEAD') !== undefined)
    fail('KONTOR_MEMORY', 'and KONTOR_HEAD exclude each other: there is nothing to hold against it')
  const credentials = given(env, 'KONTOR_CREDENTIALS')
  if (credentials !== undefined && !existsSync(dirname(credentials)))
    fail('KONTOR_CREDENTIALS', `${credentials} can't be written: there is no folder ${dirname(credentials)}`)
  return { memory: memory === 'on', credentials, demo: demo(env, fail) }
}
function demo(env: Environment, fail: Fail): TestSettings['demo'] {
  const key = given(env, 'KONTOR_DEMO_KEY')
  const secret = given(env, 'KONTOR_DEMO_SECRET')
  if (key === undefined && secret === undefined) return undefined
  if (key === undefined || !/^[0-9A-Za-z]{8,64}$/.test(key))
    fail('KONTOR_DEMO_KEY', 'must be 8 to 64 letters and digits, and be set with KONTOR_DEMO_SECRET')
  if (secret === undefined || !/^[\x21-\x7e]{8,128}$/.test(secret))
    fail('KONTOR_DEMO_SECRET', 'must be 8 to 128 printable characters, and be set with KONTOR_DEMO_KEY')
  return { key, secret }
}

const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?$/
/** As browsers write them: scheme, name, port, and nothing after. */
export function cors(env: Environment, fail: Fail): string[] {
  const value = given(env, 'KONTOR_CORS')
  if (value === undefined || value === 'off') return []
  const origins = value.split(',').map((one) => one.trim().toLowerCase())
  for (const origin of origins)
    if (origin !== '*' && !ORIGIN.test(origin))
      fail(
        'KONTOR_CORS',
        `"${origin}" is not an origin; list them by comma, such as https://bot.example.com, or say *`,
      )
  return origins
}
