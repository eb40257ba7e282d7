import { bodyDigest, sign, signatureString } from '../src/api/signature.ts'

export interface Signer {
  readonly port: number
  readonly key: string
  readonly secret: string
}
/** A whole request as bytes, signed at this moment. */
export function signedRequest(
  { port, key, secret }: Signer,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  query: string,
  body: object | undefined,
): Buffer {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const text = body === undefined ? '' : JSON.stringify(body)
  const digest = bodyDigest(text === '' ? undefined : Buffer.from(text))
  const message = signatureString({ method, path, query, bodyDigest: digest, timestamp })
  const head = `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nKEY: ${key}\r\nTimestamp: ${timestamp}\r\nSIGN: ${sign(secret, message)}\r\n`
  return Buffer.from(
    text === ''
      ? `${head}\r\n`
      : `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}
