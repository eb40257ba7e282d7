import { gzipSync } from 'node:zlib'
import { bodyDigest, sign, signatureString } from '../../src/api/signature.ts'
import type { Credential } from '../support/client.ts'
import type { Random } from '../sim/random.ts'
import type { Forged } from './forge.ts'

type Lines = [name: string, value: string][]
export type Proof =
  { readonly credential: Credential; readonly now: number } | { readonly lines: Lines } | undefined

/** The head lines that a request needs to be let in. */
export function proofLines(forged: Forged, prefix: string, proof: Proof): Lines {
  if (proof === undefined) return []
  if ('lines' in proof) return [...proof.lines]
  const timestamp = String(Math.floor(proof.now))
  const { method, query, body } = forged
  const message = signatureString({
    method,
    path: prefix + forged.path,
    query,
    bodyDigest: bodyDigest(body),
    timestamp,
  })
  return [
    ['KEY', proof.credential.key],
    ['Timestamp', timestamp],
    ['SIGN', sign(proof.credential.secret, message)],
  ]
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  KEY: ['', '0', 'x'.repeat(32), '__proto__', 'constructor', 'é', '0'.repeat(32), 'x'.repeat(4_000)],
  Timestamp: [
    '',
    '0',
    '-1',
    'NaN',
    '1e999',
    '1794758736.5e3',
    '99999999999999999999',
    '0x10',
    ' ',
    '1794758736123',
    '١٢٣',
  ],
  SIGN: ['', '0', 'g'.repeat(128), '0'.repeat(128), '0'.repeat(127), 'F'.repeat(129), 'x'.repeat(4_000)],
  Authorization: [
    '',
    'Bearer',
    'Bearer ',
    'Basic Og==',
    'Bearer x y',
    `Bearer ${'x'.repeat(4_000)}`,
    'Bearer __proto__',
    'bearer\tx',
  ],
  Cookie: [
    '',
    'kontor_session=',
    'kontor_session=x; kontor_session=y',
    ';;;=',
    `kontor_operator=${'0'.repeat(64)}`,
    '=',
    '__proto__=1',
  ],
  'X-Kontor-CSRF': ['', 'x', '0'.repeat(64), 'é'],
  'X-Kontor-Account': ['', '0', '-1', '10001', 'NaN', '1e3', '999999999999999', '__proto__'],
}
/** What else a client may say of its request. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  Accept: [
    '',
    '*/*',
    'text/html',
    'application/json;q=0',
    ',,,',
    ';',
    'a/b;c=d,application/*',
    'x'.repeat(3_000),
  ],
  'Content-Type': [
    '',
    'text/plain',
    'application/json',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'a',
    ';',
    'multipart/form-data; boundary=x',
  ],
  'Content-Encoding': ['gzip', 'br', 'identity', 'x'],
  'X-Gate-Exptime': ['', '0', '-1', 'NaN', '1e999', '99999999999999999999', '1794758736123', 'x'],
  'X-Gate-Channel-Id': ['', 'é', 'x'.repeat(300), '__proto__', 'a b'],
  'X-Gate-Size-Decimal': ['', '0', '1', 'true', 'x', '__proto__'],
  'X-Client-Request-Id': ['', 'x'.repeat(65), 'ok', 'é', 'a\tb'],
  'X-Forwarded-For': ['', '1.2.3.4', '::1, x', ','.repeat(500), '999.1.1.1'],
  Expect: ['100-continue', 'x'],
  Origin: ['', 'null', 'http://evil.example', 'http://127.0.0.1', '://'],
  Referer: ['', 'http://evil.example/', 'x'],
  'Sec-Fetch-Site': ['cross-site', 'none', 'same-origin', ''],
  'User-Agent': ['', 'é', 'x'.repeat(2_000)],
  Host: ['evil.example', '', '127.0.0.1:1', '[::1]', 'localhost', '127.0.0.1, evil'],
  Upgrade: ['h2c', 'websocket', 'x'],
  Range: ['bytes=0-1'],
  'If-None-Match': ['*'],
  'X-HTTP-Method-Override': ['DELETE'],
  __proto__x: ['1'],
}
const names = Object.keys(MORE)

/** Heads with a fault: something is missing, doubled, huge, or not what it should be. */
export function spoilLines(lines: Lines, random: Random): void {
  const how = random.below(6)
  const at = random.below(Math.max(1, lines.length))
  const line = lines[at]
  if (how <= 1 || line === undefined) {
    const name = random.pick(names)
    lines.push([name, random.pick(MORE[name]!)])
  } else if (how === 2) lines.splice(at, 1)
  else if (how === 3)
    lines.push([line[0], random.chance(0.5) ? line[1] : random.pick(VALUES[line[0]] ?? ['x'])])
  else if (how === 4) lines[at] = [line[0], random.pick(VALUES[line[0]] ?? ['x'])]
  else
    lines[at] = [
      random.chance(0.5) ? line[0].toLowerCase() : `${line[0]} `.trim().toUpperCase(),
      `  ${line[1]}\t`,
    ]
}

/** A whole request. `chunks`: its body comes in pieces of the transfer. */
export function requestBytes(
  forged: Forged,
  prefix: string,
  lines: Lines,
  chunks: Random | undefined,
): Buffer {
  const { method, query } = forged
  const target = `${prefix}${forged.path}${query === '' ? '' : `?${query}`}`
  const given = new Set(lines.map(([name]) => name.toLowerCase()))
  const packed =
    forged.body !== undefined &&
    lines.some(([name, value]) => name === 'Content-Encoding' && value === 'gzip')
  const body = packed ? gzipSync(forged.body) : forged.body
  let head = `${method} ${target} HTTP/1.1\r\n`
  if (!given.has('host')) head += 'Host: 127.0.0.1\r\n'
  for (const [name, value] of lines) head += `${name}: ${value}\r\n`
  if (body !== undefined && !given.has('content-type')) head += 'Content-Type: application/json\r\n'
  if (body === undefined)
    return Buffer.from(
      `${head}${method === 'GET' || method === 'DELETE' ? '' : 'Content-Length: 0\r\n'}\r\n`,
      'latin1',
    )
  if (chunks === undefined)
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`, 'latin1'), body])
  const parts: Buffer[] = [Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`, 'latin1')]
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, 1 + chunks.below(Math.max(8, body.length >> 3)))
    parts.push(
      Buffer.from(`${size.toString(16)}${chunks.chance(0.2) ? ';a=b' : ''}\r\n`),
      body.subarray(at, at + size),
      Buffer.from('\r\n'),
    )
    at += size
  }
  parts.push(Buffer.from(`0\r\n${chunks.chance(0.2) ? 'X-Trailer: 1\r\n' : ''}\r\n`))
  return Buffer.concat(parts)
}
