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

/**
 * Clients sign the query as it stands in the URL, or decoded: as UTF-8, as UTF-8 with + for a space, or byte
 * by byte as Latin-1. All four are accepted; each comparison takes the same time whatever differs.
 */
export function verifySignature(secret: string, parts: SignedParts, signature: string): boolean {
  if (!/^[0-9a-fA-F]{128}$/.test(signature)) return false
  const given = Buffer.from(signature, 'hex')
  const fits = (form: SignedParts): boolean =>
    timingSafeEqual(createHmac('sha512', secret).update(signatureString(form)).digest(), given)
  return fits(parts) || decodedForms(parts.query).some((query) => fits({ ...parts, query }))
}

function decodedForms(raw: string): string[] {
  if (!/[%+]/.test(raw)) return []
  const forms = [decodeUtf8(raw), decodeUtf8Plus(raw), decodeLatin1(raw)]
  return [...new Set(forms)].filter((form) => form !== undefined && form !== raw) as string[]
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
