import { readFileSync } from 'node:fs'

/** Secrets come from the environment or from a file that it names, never from the command line. */
export const SECRET_SETTINGS = [
  'KONTOR_OPERATOR_TOKEN',
  'KONTOR_SECRET_KEY',
  'KONTOR_DATABASE_URL',
  'KONTOR_READ_URLS',
] as const
export const fileSetting = (setting: string): string => `${setting}_FILE`

type Environment = Readonly<Record<string, string | undefined>>
type Fail = (setting: string, why: string) => never

/** The secret itself, or what stands in the file that `NAME_FILE` names. */
export function readSecret(env: Environment, name: string, fail: Fail): string | undefined {
  const given = env[name] === '' ? undefined : env[name]
  const path = env[fileSetting(name)]
  if (path === undefined || path === '') return given
  if (given !== undefined) fail(name, `and ${fileSetting(name)} are both set; leave one out`)
  try {
    const value = readFileSync(path, 'utf8').trim()
    return value === '' ? fail(fileSetting(name), `names the file ${path}, which is empty`) : value
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return fail(fileSetting(name), `names the file ${path}, which can't be read (${code})`)
  }
}

const POSTGRES = /^postgres(ql)?:\/\//
/** Of one server, or of several of which one takes writes. The value may hold a password: no message repeats it. */
export function databaseUrl(env: Environment, fail: Fail): string | undefined {
  const url = readSecret(env, 'KONTOR_DATABASE_URL', fail)
  if (url === undefined) return undefined
  if (!POSTGRES.test(url)) fail('KONTOR_DATABASE_URL', 'must begin with postgres:// or postgresql://')
  const [, servers = '', query = ''] = /^[^/]*\/\/(?:[^/?#]*@)?([^/?#]*)[^?#]*\??([^#]*)/.exec(url) ?? []
  const wish = new URLSearchParams(query).get('target_session_attrs')
  if (wish !== null && wish !== 'read-write' && wish !== 'primary')
    fail('KONTOR_DATABASE_URL', `target_session_attrs must be read-write or primary, not "${wish}"`)
  if (servers.includes(',') && servers.split(',').includes(''))
    fail('KONTOR_DATABASE_URL', 'names a server without a name')
  return url
}
/** Each of one server that follows the database. */
export function readUrls(env: Environment, fail: Fail): string[] {
  const urls = (readSecret(env, 'KONTOR_READ_URLS', fail) ?? '').split(/[\s,]+/).filter((url) => url !== '')
  if (!urls.every((url) => POSTGRES.test(url)))
    fail(
      'KONTOR_READ_URLS',
      'must be URLs by comma, each of one server and beginning with postgres:// or postgresql://',
    )
  return urls
}

/** A URL with a password in it is a secret; one without may stand on a command line. */
export function urlHoldsPassword(url: string): boolean {
  try {
    const { password, searchParams } = new URL(url)
    if (!url.includes(',')) return password !== '' || searchParams.has('password')
  } catch {
    // Several servers, or several URLs.
  }
  return /:[^/@]*@|[?&]password=/.test(url)
}

const TOKEN_LENGTH_MIN = 32
const TOKEN_BITS_MIN = 90
/** Why nobody should trust a live platform to this token; undefined when it looks random. */
export function weaknessOfToken(token: string): string | undefined {
  if (token.length < TOKEN_LENGTH_MIN)
    return `has ${token.length} characters; live mode wants at least ${TOKEN_LENGTH_MIN}`
  return weakness(token)
}
/** The same of a key of 64 hex digits. */
export const weaknessOfKey = (hex: string): string | undefined => weakness(hex.toLowerCase())

function weakness(text: string): string | undefined {
  if (isRepeated(text)) return 'repeats itself'
  if (isRow(text)) return 'counts up or down'
  return entropyBits(text) < TOKEN_BITS_MIN ? 'does not look random' : undefined
}
/** The same few characters again and again, to the end. */
function isRepeated(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) {
    let same = true
    for (let i = period; same && i < text.length; i++) same = text[i] === text[i - period]
    if (same) return true
  }
  return false
}
/** Nearly every character is the neighbour of the one before, as in 0123456789abcdef. */
function isRow(text: string): boolean {
  let neighbours = 0
  for (let i = 1; i < text.length; i++)
    if (Math.abs(text.charCodeAt(i) - text.charCodeAt(i - 1)) <= 1) neighbours++
  return neighbours > text.length * 0.7
}
/** Shannon's measure over the characters that occur: 32 random hex digits have some 115 bits. */
function entropyBits(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= count * Math.log2(count / text.length)
  return bits
}
