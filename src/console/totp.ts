import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../runtime/secrets.ts'

/** Codes by time (RFC 6238): HMAC-SHA1, steps of 30 seconds, six digits, as every authenticator app makes them. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_SECONDS = 30
/** Clocks of telephones differ. */
const TOLERANCE = [0, -1, 1] as const

export const newFactorSecret = (): string => base32(randomBytes(20))
export function base32(bytes: Buffer): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET[parseInt(five.padEnd(5, '0'), 2)]!).join('')
}
function bytesOf(secret: string): Buffer {
  let bits = ''
  for (const letter of secret) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
}
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const number = mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}
export const stepAt = (seconds: number): number => Math.floor(seconds / STEP_SECONDS)
/** The step that a code belongs to, of the present one and its neighbours; null: none of them. */
export function stepOf(secret: string, code: string, seconds: number): number | null {
  if (!/^\d{6}$/.test(code)) return null
  for (const off of TOLERANCE) {
    const step = stepAt(seconds) + off
    if (timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code))) return step
  }
  return null
}

const RECOVERY_CODES = 10
/** 80 bits each: nobody finds one by its hash. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(10)).toLowerCase().match(/.{4}/g)!.join('-'),
  )
export const recoveryHash = (code: string): string => sha256(code.toLowerCase().replace(/[^a-z2-7]/g, ''))
