import { bodyDigest, verifySignature } from '../api/signature.ts'

/** More are never kept. */
const SECRETS_MAX = 50_000

export type Proven = readonly [key: string, secret: string, serial: number]
export interface SignedHead {
  readonly method: string
  readonly path: string
  readonly rawQuery: string
  readonly headers: Readonly<Record<string, unknown>>
}
/** Secrets of keys whose right signature the core has seen, and what signatures of them are worth. */
export class KnownSecrets {
  private readonly secrets = new Map<string, { readonly secret: string; readonly serial: number }>()

  learn([key, secret, serial]: Proven): void {
    this.secrets.delete(key)
    if (this.secrets.size >= SECRETS_MAX) this.secrets.delete(this.secrets.keys().next().value!)
    this.secrets.set(key, { secret, serial })
  }
  /** Which secret the signature was held against, and whether it fits; undefined: no secret is known. */
  verdict(
    { method, path, rawQuery, headers }: SignedHead,
    body: Buffer | undefined,
  ): { readonly serial: number; readonly fits: boolean } | undefined {
    const { key, timestamp, sign } = headers as Record<string, string | undefined>
    if (!key || !timestamp || !sign) return undefined
    const known = this.secrets.get(key)
    if (known === undefined) return undefined
    const parts = { method, path, query: rawQuery, bodyDigest: bodyDigest(body), timestamp }
    return { serial: known.serial, fits: verifySignature(known.secret, parts, sign) }
  }
}
