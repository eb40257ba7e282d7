/** Writes the few forms of DER that certificates are made of. Nothing is ever read with it. */

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts)
export const set = (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts)
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]))
export const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes)
export const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value))
/** A positive number, its highest byte first. */
export function integer(bytes: Uint8Array): Buffer {
  let from = 0
  while (from < bytes.length - 1 && bytes[from] === 0) from++
  const rest = bytes.subarray(from)
  return tagged(0x02, Buffer.from((rest[0] ?? 0) >= 0x80 ? [0] : []), rest)
}
/** `unused`: bits at the end of the last byte that do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), bytes)
/** `[n]` around a whole value. */
export const explicit = (n: number, part: Uint8Array): Buffer => tagged(0xa0 | n, part)
/** `[n]` in place of a value's own tag. */
export const implicit = (n: number, bytes: Uint8Array): Buffer => tagged(0x80 | n, bytes)

export function oid(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number) as [number, number, ...number[]]
  const bytes: number[] = []
  for (const part of [first * 40 + second, ...rest]) {
    const sevens = [part % 128]
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128))
      sevens.unshift(0x80 | (left % 128))
    bytes.push(...sevens)
  }
  return tagged(0x06, Buffer.from(bytes))
}
/** Years are of two digits until 2049, and of four from then on. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]|\.\d+/g, '')
  return at.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : tagged(0x18, Buffer.from(digits, 'latin1'))
}
