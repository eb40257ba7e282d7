import { createHash } from 'node:crypto'

/** Base58, with and without checksum, and bech32: the alphabets that addresses are written in. */
export const BITCOIN_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
export const RIPPLE_ALPHABET = 'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz'

export const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()

export function base58(bytes: Uint8Array, alphabet: string): string {
  let value = BigInt(`0x0${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  while (value > 0n) {
    text = alphabet[Number(value % 58n)]! + text
    value /= 58n
  }
  for (const byte of bytes) {
    if (byte !== 0) break
    text = alphabet[0]! + text
  }
  return text
}
/** undefined when a character is not of the alphabet. */
export function fromBase58(text: string, alphabet: string): Buffer | undefined {
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit === -1) return undefined
    value = value * 58n + BigInt(digit)
  }
  const hex = value === 0n ? '' : value.toString(16)
  let zeros = 0
  while (zeros < text.length && text[zeros] === alphabet[0]) zeros++
  return Buffer.concat([Buffer.alloc(zeros), Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')])
}
const checksum = (payload: Uint8Array): Buffer => sha256(sha256(payload)).subarray(0, 4)

/** A version byte, the payload and four bytes of double SHA-256. */
export function base58Check(version: number, payload: Uint8Array, alphabet: string): string {
  const body = Buffer.concat([Buffer.from([version]), payload])
  return base58(Buffer.concat([body, checksum(body)]), alphabet)
}
export function fromBase58Check(
  text: string,
  alphabet: string,
): { readonly version: number; readonly payload: Buffer } | undefined {
  const bytes = fromBase58(text, alphabet)
  if (bytes === undefined || bytes.length < 5) return undefined
  const body = bytes.subarray(0, -4)
  if (!checksum(body).equals(bytes.subarray(-4))) return undefined
  return { version: body[0]!, payload: body.subarray(1) }
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
/** Witness version 0 is sealed with bech32, later ones with bech32m. */
const sealOf = (version: number): number => (version === 0 ? 1 : 0x2bc830a3)

function polymod(values: readonly number[]): number {
  let check = 1
  for (const value of values) {
    const top = check >>> 25
    check = ((check & 0x1ffffff) << 5) ^ value
    for (let i = 0; i < 5; i++) if (((top >>> i) & 1) === 1) check ^= GENERATORS[i]!
  }
  return check >>> 0
}
const expand = (prefix: string): number[] => [
  ...Array.from(prefix, (c) => c.charCodeAt(0) >>> 5),
  0,
  ...Array.from(prefix, (c) => c.charCodeAt(0) & 31),
]
/** Regroups bits; undefined when what is left over is not padding. */
function regroup(data: readonly number[], from: number, to: number, pad: boolean): number[] | undefined {
  let value = 0
  let bits = 0
  const out: number[] = []
  for (const item of data) {
    value = (value << from) | item
    bits += from
    while (bits >= to) {
      bits -= to
      out.push((value >>> bits) & ((1 << to) - 1))
    }
    value &= (1 << bits) - 1
  }
  if (pad) return bits === 0 ? out : [...out, (value << (to - bits)) & ((1 << to) - 1)]
  return bits >= from || value !== 0 ? undefined : out
}

export function segwit(prefix: string, version: number, program: Uint8Array): string {
  const data = [version, ...regroup([...program], 8, 5, true)!]
  const seal = polymod([...expand(prefix), ...data, 0, 0, 0, 0, 0, 0]) ^ sealOf(version)
  const check = Array.from({ length: 6 }, (_, i) => (seal >>> (5 * (5 - i))) & 31)
  return `${prefix}1${[...data, ...check].map((value) => BECH32[value]).join('')}`
}
export function fromSegwit(
  text: string,
  prefix: string,
): { readonly version: number; readonly program: Buffer } | undefined {
  if (text !== text.toLowerCase() && text !== text.toUpperCase()) return undefined
  const lower = text.toLowerCase()
  if (!lower.startsWith(`${prefix}1`) || lower.length > 90) return undefined
  const values = Array.from(lower.slice(prefix.length + 1), (character) => BECH32.indexOf(character))
  if (values.length < 7 || values.includes(-1)) return undefined
  const version = values[0]!
  if (version > 16 || polymod([...expand(prefix), ...values]) !== sealOf(version)) return undefined
  const program = regroup(values.slice(1, -6), 5, 8, false)
  if (program === undefined || program.length < 2 || program.length > 40) return undefined
  if (version === 0 && program.length !== 20 && program.length !== 32) return undefined
  return { version, program: Buffer.from(program) }
}
