import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { signatureString, type SignedParts } from './signature.ts'

/**
 * Which mistake fits a signature that does not: the usual ones are tried, one at a time, until one gives the very
 * bytes that were sent. Sandbox only, and only for a failure that was counted; so many tries at most, of which
 * each is one HMAC over a short text.
 */
export interface Mistake {
  /** For programs. */
  readonly mistake: string
  /** For people: what was done, and how to mend it. */
  readonly words: string
}
export interface Attempt {
  readonly key: string
  readonly secret: string
  readonly parts: SignedParts
  readonly body: Buffer | undefined
  readonly sign: string
  /** Names and secrets of the account's other keys. */
  readonly others: Iterable<readonly [key: string, secret: string]>
}
const TRIES_MAX = 100
/** Longer bodies are not written in other ways. */
const BODY_MAX = 64 * 1024
const ORDERED_MAX = 4

type Algorithm = 'sha512' | 'sha256' | 'sha1' | 'md5'
/** What SIGN looks like: the bytes in it, and what is wrong with that form by itself. */
interface Form {
  readonly bytes: Buffer
  readonly algorithm: Algorithm
  readonly wrong: Mistake | undefined
}
interface Try {
  readonly mistake: Mistake
  readonly text: string
  readonly secret?: string | Buffer
  /** No HMAC, but a plain hash of the text. */
  readonly plain?: boolean
}

export function mistakeOf(attempt: Attempt): Mistake {
  const form = formOf(attempt.sign)
  if (form === undefined)
    return {
      mistake: 'form',
      words: `SIGN has ${attempt.sign.length} characters and is neither hex nor base64 of a hash; it must be 128 hex digits`,
    }
  const right = signatureString(attempt.parts)
  if (form.wrong !== undefined && fits(form, attempt.secret, { mistake: form.wrong, text: right }))
    return form.wrong
  let left = TRIES_MAX
  for (const one of tries(attempt, right)) {
    if (left-- === 0) break
    if (!fits(form, attempt.secret, one)) continue
    if (form.wrong === undefined) return one.mistake
    return {
      mistake: `${form.wrong.mistake}+${one.mistake.mistake}`,
      words: `${form.wrong.words}; and ${one.mistake.words}`,
    }
  }
  return {
    mistake: 'unknown',
    words:
      'no usual mistake fits' +
      (form.wrong === undefined ? '' : ` (beside this: ${form.wrong.words})`) +
      ', so the secret is most likely not that of this key, or another text was signed than the one in signature_string',
  }
}

function fits({ bytes, algorithm }: Form, secret: string, one: Try): boolean {
  const made =
    one.plain === true
      ? Buffer.from(hash(algorithm, one.text, 'hex'), 'hex')
      : createHmac(algorithm, one.secret ?? secret)
          .update(one.text)
          .digest()
  return made.length === bytes.length && timingSafeEqual(made, bytes)
}

const BYTES: Readonly<Record<number, Algorithm>> = { 64: 'sha512', 32: 'sha256', 20: 'sha1', 16: 'md5' }
const NAMES = { sha512: 'SHA-512', sha256: 'SHA-256', sha1: 'SHA-1', md5: 'MD5' } as const
function formOf(sign: string): Form | undefined {
  const hex = /^(0x)?((?:[0-9a-f]{2})+)$/i.exec(sign)
  if (hex !== null) {
    const bytes = Buffer.from(hex[2]!, 'hex')
    const algorithm = BYTES[bytes.length]
    if (algorithm !== undefined)
      return { bytes, algorithm, wrong: wrongForm(algorithm, hex[1] === undefined ? 'hex' : '0x') }
  }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(sign)) return undefined
  const bytes = Buffer.from(sign, 'base64')
  // The hex text, and then base64 of that.
  if (bytes.length === 128 && /^[0-9a-f]+$/i.test(bytes.toString('latin1')))
    return {
      bytes: Buffer.from(bytes.toString('latin1'), 'hex'),
      algorithm: 'sha512',
      wrong: wrongForm('sha512', 'base64'),
    }
  const algorithm = BYTES[bytes.length]
  return algorithm === undefined ? undefined : { bytes, algorithm, wrong: wrongForm(algorithm, 'base64') }
}
function wrongForm(algorithm: Algorithm, written: 'hex' | '0x' | 'base64'): Mistake | undefined {
  const names: string[] = []
  const words: string[] = []
  if (algorithm !== 'sha512') {
    names.push(algorithm)
    words.push(`SIGN was made with HMAC-${NAMES[algorithm]}; use HMAC-SHA512`)
  }
  if (written !== 'hex') {
    names.push(written === '0x' ? 'prefix_0x' : 'base64')
    words.push(`SIGN is written ${written === '0x' ? 'with 0x before it' : 'as base64'}; send plain hex`)
  }
  return names.length === 0 ? undefined : { mistake: names.join('+'), words: words.join('; and ') }
}

/** Cheap and usual ones first. */
function* tries(attempt: Attempt, right: string): Generator<Try> {
  const { parts } = attempt
  const text = (mistake: string, words: string, change: Partial<SignedParts>): Try => ({
    mistake: { mistake, words },
    text: signatureString({ ...parts, ...change }),
  })
  yield text('method_case', 'the method was signed in lower case; sign it in upper case, such as GET', {
    method: parts.method.toLowerCase(),
  })
  yield* paths(parts, text)
  yield* bodies(attempt, text)
  yield* times(parts, text)
  yield* joints(parts)
  yield* secrets(attempt, right)
  yield* queries(parts, text)
}
type Text = (mistake: string, words: string, change: Partial<SignedParts>) => Try

function* paths({ path, query }: SignedParts, text: Text): Generator<Try> {
  const words = 'the path was signed without /api/v4 before it; sign the whole path of the URL'
  yield text('path_prefix', words, { path: path.replace(/^\/api\/v4/, '') })
  yield text('path_prefix', words, { path: path.replace(/^\/api/, '') })
  yield text('path_slash', 'the path was signed without the / at its beginning', { path: path.slice(1) })
  if (query === '') return
  yield text('query_missing', 'the query was not signed; put what follows the ? into the third line', {
    query: '',
  })
  const joined = 'the query was signed as part of the path; it has a line of its own, without the ?'
  yield text('query_in_path', joined, { path: `${path}?${query}`, query: '' })
  yield text('query_in_path', joined, { path: `${path}?${query}` })
  yield text('query_mark', 'the query was signed with the ? before it; leave it out', { query: `?${query}` })
}

function* bodies({ parts, body }: Attempt, text: Text): Generator<Try> {
  const sha512 = (of: string): string => hash('sha512', of, 'hex')
  const none = body === undefined || body.length === 0
  const raw = none ? '' : body.length <= BODY_MAX ? body.toString() : undefined
  yield text(
    'body_digest_missing',
    'the line of the body was left empty; put the SHA-512 of the body there, in hex',
    {
      bodyDigest: '',
    },
  )
  if (none) {
    for (const empty of ['{}', 'null', '""', '[]', 'undefined', 'None'])
      yield text('body_not_sent', `a body ${empty} was signed, but none was sent; sign an empty text`, {
        bodyDigest: sha512(empty),
      })
  } else
    yield text('body_not_signed', 'the body was sent but not signed: the digest is that of an empty text', {
      bodyDigest: sha512(''),
    })
  if (raw === undefined) return
  yield text('body_hash', 'the body was hashed with SHA-256; its line is the SHA-512 of it', {
    bodyDigest: hash('sha256', raw, 'hex'),
  })
  yield text('body_plain', 'the body itself was signed; its line is the SHA-512 of it, in hex', {
    bodyDigest: raw,
  })
  yield text('body_digest_form', 'the digest of the body was written in upper case; write it in lower case', {
    bodyDigest: parts.bodyDigest.toUpperCase(),
  })
  yield text('body_digest_form', 'the digest of the body was written as base64; write it in hex', {
    bodyDigest: Buffer.from(parts.bodyDigest, 'hex').toString('base64'),
  })
  if (none) return
  const words =
    'another text of the body was signed than the one that was sent (spaces, order of members, or a line break); make the text once, and sign and send that'
  for (const other of otherTexts(raw)) yield text('body_not_as_sent', words, { bodyDigest: sha512(other) })
}
/** The same JSON as other programs write it. */
function otherTexts(raw: string): Set<string> {
  const texts = new Set([raw.trim(), `${raw}\n`])
  try {
    const value = JSON.parse(raw) as unknown
    for (const one of [value, sorted(value)]) {
      texts.add(JSON.stringify(one))
      texts.add(spaced(one))
      texts.add(JSON.stringify(one, null, 2))
      texts.add(JSON.stringify(one, null, 4))
    }
    // Sent as JSON, signed as a form.
    if (value !== null && typeof value === 'object')
      texts.add(
        new URLSearchParams(
          Object.entries(value).map(([name, one]): [string, string] => [name, String(one)]),
        ).toString(),
      )
  } catch {
    // No JSON, or nested too deep: there is no other way to write it.
  }
  texts.delete(raw)
  return texts
}
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(sorted)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, one]) => [name, sorted(one)]))
}
/** As Python's json writes it: a space after each comma and colon. */
function spaced(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}: ${spaced(one)}`)
    .join(', ')}}`
}

function* times({ timestamp }: SignedParts, text: Text): Generator<Try> {
  const [whole] = timestamp.split('.') as [string]
  const words =
    'the time was signed in milliseconds and sent in seconds; sign the very text of the header Timestamp'
  yield text('timestamp_milliseconds', words, { timestamp: `${whole}000` })
  yield text('timestamp_milliseconds', words, { timestamp: String(Math.floor(Number(timestamp) * 1000)) })
  const other =
    'another text of the time was signed than the one in the header Timestamp; sign it as it is sent'
  const now = Number(whole)
  for (const one of [whole, `${whole}.0`, String(now - 1), String(now + 1)])
    if (one !== timestamp) yield text('timestamp_text', other, { timestamp: one })
}

function* joints({ method, path, query, bodyDigest, timestamp }: SignedParts): Generator<Try> {
  const lines = [method, path, query, bodyDigest, timestamp]
  const mistake = {
    mistake: 'separator',
    words: 'the five parts were not joined by single line breaks (\\n), with none at the end',
  }
  for (const between of ['', '\\n', '\r\n', ' ', '&']) yield { mistake, text: lines.join(between) }
  yield { mistake, text: `${lines.join('\n')}\n` }
  yield { mistake, text: lines.filter((line) => line !== '').join('\n') }
  const order = {
    mistake: 'order',
    words: 'the parts were signed in another order; it is method, path, query, digest of the body, Timestamp',
  }
  yield { mistake: order, text: [timestamp, method, path, query, bodyDigest].join('\n') }
  yield { mistake: order, text: [method, path, bodyDigest, query, timestamp].join('\n') }
}

function* secrets({ key, secret, others }: Attempt, text: string): Generator<Try> {
  const of = (mistake: string, words: string, one: string | Buffer): Try => ({
    mistake: { mistake, words },
    text,
    secret: one,
  })
  yield of('secret_is_key', 'SIGN was made with the API key; make it with the secret', key)
  yield of(
    'secret_decoded',
    'the secret was decoded from hex before it was used; it is used as the text that it is',
    Buffer.from(secret, 'hex'),
  )
  for (const space of ['\n', '\r\n', ' '])
    yield of('secret_space', 'the secret was used with a line break or space after it', secret + space)
  const plain = {
    mistake: 'no_hmac',
    words: 'SIGN is a plain hash; it must be an HMAC, keyed with the secret',
  }
  for (const one of [text, text + secret, secret + text]) yield { mistake: plain, text: one, plain: true }
  for (const [name, other] of others)
    yield of('wrong_secret', `the secret is that of another key of this account, ${name}`, other)
}

function* queries({ query }: SignedParts, text: Text): Generator<Try> {
  if (query === '') return
  const coded =
    'the query was signed in another encoding than it was sent in; sign what stands in the URL, byte by byte'
  for (const one of new Set([
    encodeURI(query),
    encodeURIComponent(query),
    new URLSearchParams(query).toString(),
  ]))
    if (one !== query) yield text('query_encoding', coded, { query: one })
  const words = 'the parameters of the query were signed in another order than they were sent in'
  const list = query.split('&')
  const orders =
    list.length <= ORDERED_MAX ? permutations(list) : [[...list].sort(), [...list].sort().reverse()]
  for (const order of orders) {
    const one = order.join('&')
    if (one !== query) yield text('query_order', words, { query: one })
  }
}
function permutations<T>(list: readonly T[]): T[][] {
  if (list.length <= 1) return [[...list]]
  return list.flatMap((first, i) => permutations(list.toSpliced(i, 1)).map((rest) => [first, ...rest]))
}
