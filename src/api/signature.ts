import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** What a client signs: method, path, query, digest of the body, timestamp; joined by newlines. */
export interface SignedParts {
  readonly method: string
  readonly path: string
  /** As it stands in the URL, without the question mark. */
  readonly query: string
  readonly bodyDigest: string
  /** The header's text, verbatim. */
  readonly timestamp: string
}

const EMPTY_DIGEST = hash('sha512', '', 'hex')
export const bodyDigest = (body: Buffer | undefined): string =>
  body === undefined || body.length === 0 ? EMPTY_DIGEST : hash('sha512', body, 'hex')

export const signatureString = ({ method, path, query, bodyDigest, timestamp }: SignedParts): string =>
  `${method}\n${path}\n${query}\n${bodyDigest}\n${timestamp}`

export const sign = (secret: string, message: string): string =>
  createHmac('sha512', secret).update(message).digest('hex')

export interface Signer {
  readonly key: string
  readonly secret: string
}
export interface ToSign extends Omit<SignedParts, 'bodyDigest'> {
  readonly body: string | undefined
}
/** What a client sends with a request. */
export function signedHeaders({ key, secret }: Signer, { body, ...parts }: ToSign): Record<string, string> {
  const message = signatureString({
    ...parts,
    bodyDigest: bodyDigest(body === undefined ? undefined : Buffer.from(body)),
  })
  return { KEY: key, Timestamp: parts.timestamp, SIGN: sign(secret, message) }
}

/**
 * Clients sign the query as it stands in the URL, or decoded: as UTF-8, as UTF-8 with + for a space, or byte
 * by byte as Latin-1. All four are accepted; each comparison takes the same time whatever differs.
 */
export function verifySignature(secret: string, parts: SignedParts, signature: string): boolean {
  const given = bytesOf(signature)
  if (given === undefined) return false
  const fits = (form: SignedParts): boolean => fitsText(secret, signatureString(form), given)
  return fits(parts) || decodedForms(parts.query).some((query) => fits({ ...parts, query }))
}
/** Whether this very text was signed. */
export function verifyText(secret: string, text: string, signature: string): boolean {
  const given = bytesOf(signature)
  return given !== undefined && fitsText(secret, text, given)
}
const bytesOf = (signature: string): Buffer | undefined =>
  /^[0-9a-fA-F]{128}$/.test(signature) ? Buffer.from(signature, 'hex') : undefined
const fitsText = (secret: string, text: string, given: Buffer): boolean =>
  timingSafeEqual(createHmac('sha512', secret).update(text).digest(), given)

/**
 * A decoded form counts only where it can be read in one way: else `?currency_pair%3DBTC_USDT`, which names no
 * parameter, would carry the signature of `?currency_pair=BTC_USDT` and ask for more than was signed. So the raw
 * query is split first, at & and at the first = of each part, and what comes out of a name or a value must not
 * move these borders. A name that holds % would be one that was encoded twice.
 */
function decodedForms(raw: string): string[] {
  if (!/[%+]/.test(raw)) return []
  const parts = raw.split('&')
  const forms = [decodeUtf8, decodeUtf8Plus, decodeLatin1].map((decode) => decodedForm(parts, decode))
  return [...new Set(forms)].filter((form) => form !== undefined && form !== raw) as string[]
}
type Decode = (text: string) => string | undefined
function decodedForm(parts: readonly string[], decode: Decode): string | undefined {
  const decoded: string[] = []
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = decode(equals === -1 ? part : part.slice(0, equals))
    const value = equals === -1 ? '' : decode(part.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    if (/[=&%]/.test(name) || value.includes('&')) return undefined
    decoded.push(equals === -1 ? name : `${name}=${value}`)
  }
  return decoded.join('&')
}
function decodeUtf8(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
const decodeUtf8Plus = (text: string): string | undefined => decodeUtf8(text.replaceAll('+', '%20'))
const decodeLatin1 = (text: string): string =>
  text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
