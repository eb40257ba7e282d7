import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'
import type { Identity, Role } from './certificates.ts'

/** What a process needs to show who it is, and to know the others. */
export interface Credentials extends Identity {
  readonly ca: string
}
/** SHA-256 fingerprints of certificates that are good no longer, one in a line. */
export const WITHDRAWN = 'withdrawn'

/** Of this node where it has some of its own, else those of its role. */
export function readCredentials(folder: string, node: string, role: Role): Credentials {
  const ca = fileIn(folder, 'authority.crt')
  const name = [node, role].find((one) => existsSync(join(folder, `${one}.crt`)))
  if (name === undefined)
    throw new ConfigError(
      `KONTOR_CERTS ${folder} has no ${node === role ? '' : `${node}.crt (KONTOR_NODE) and no `}${role}.crt; kontor certs FOLDER makes a first set`,
    )
  const [cert, key] = [fileIn(folder, `${name}.crt`), fileIn(folder, `${name}.key`)]
  try {
    const read = new X509Certificate(cert)
    const authority = new X509Certificate(ca)
    if (Date.parse(read.validTo) < Date.now() || Date.parse(authority.validTo) < Date.now())
      throw new Error(
        `it ended on ${Date.parse(read.validTo) < Date.now() ? read.validTo : authority.validTo}`,
      )
  } catch (error) {
    throw new ConfigError(
      `KONTOR_CERTS ${join(folder, `${name}.crt`)} can't be used: ${(error as Error).message}`,
    )
  }
  return { ca, cert, key }
}
const SOON_MS = 30 * 86_400_000
/** Days until one of them ends, where that is soon. */
export function endsSoon({ ca, cert }: Credentials): number | undefined {
  const left = Math.min(...[ca, cert].map((one) => Date.parse(new X509Certificate(one).validTo))) - Date.now()
  return left > SOON_MS ? undefined : Math.floor(left / 86_400_000)
}
function fileIn(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), 'utf8')
  } catch (error) {
    throw new ConfigError(
      `KONTOR_CERTS ${join(folder, file)} can't be read (${(error as NodeJS.ErrnoException).code ?? 'fault'}); kontor certs FOLDER makes a first set`,
    )
  }
}
/** Fingerprints without their colons, in lower case. */
export function withdrawnIn(folder: string): ReadonlySet<string> {
  const path = join(folder, WITHDRAWN)
  if (!existsSync(path)) return new Set()
  const lines = readFileSync(path, 'utf8').split('\n')
  return new Set(lines.map((line) => plainFingerprint(line.split('#')[0]!)).filter((line) => line !== ''))
}
export const plainFingerprint = (text: string): string => text.replace(/[\s:]/g, '').toLowerCase()
