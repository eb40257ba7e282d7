import { randomBytes } from 'node:crypto'
import type { Random } from '../sim/random.ts'
import { faultOfRefusal } from './judge.ts'
import { once } from './wire.ts'

/** Bytes that are almost a request, or none at all; `whole` is a request that is in order. */
export function brokenBytes(whole: Buffer, random: Random): Buffer {
  const text = whole.toString('latin1')
  const from = (changed: string): Buffer => Buffer.from(changed, 'latin1')
  const end = text.indexOf('\r\n\r\n')
  const line = (added: string): Buffer => from(`${text.slice(0, end)}\r\n${added}${text.slice(end)}`)
  const kinds: readonly (() => Buffer)[] = [
    () => whole.subarray(0, random.below(whole.length)),
    () =>
      from(
        text.replace(
          /Content-Length: \d+/i,
          `Content-Length: ${random.pick(['999', '1', '-1', '0x10', '1e3', '99999999999999999999', '2, 3', ' '])}`,
        ),
      ),
    () => line('Content-Length: 3'),
    () => line('Transfer-Encoding: chunked'),
    () => line('Transfer-Encoding: chunked, identity'),
    () => line('Transfer-Encoding: xchunked'),
    () => line(' folded: yes'),
    () => line('No colon'),
    () => line(': no name'),
    () => line('Bad\u0000Name: 1'),
    () => line('X: a\u0000b'),
    () => line(`X: ${'x'.repeat(20_000)}`),
    () => line(Array.from({ length: 3_000 }, (_, i) => `X${i}: 1`).join('\r\n')),
    () => line('Host: evil.example'),
    () => line('Connection: close, keep-alive, upgrade\r\nUpgrade: websocket'),
    () =>
      line('Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: x'),
    () => from(text.replaceAll('\r\n', '\n')),
    () =>
      from(
        text.replace(
          'HTTP/1.1',
          random.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'XTTP/1.1', '']),
        ),
      ),
    () =>
      from(
        text.replace(
          /^\w+/,
          random.pick(['get', 'FOO', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT', 'PROPFIND', '', 'G\u0000T']),
        ),
      ),
    () =>
      from(
        text.replace(
          /^(\w+) (\S+)/,
          (_, method: string, path: string) =>
            `${method} ${random.pick(['*', `http://127.0.0.1${path}`, `//${path}`, path.slice(1), `${path}#x`, `${path} x`, `${path}\u0001`, `/${'x'.repeat(17_000)}`, '/\u00ff', '/%'])}`,
        ),
      ),
    () => from(text.replace('Host: 127.0.0.1\r\n', '')),
    () => from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => Buffer.from('1603010200010001fc0303', 'hex'),
    () => randomBytes(1 + random.below(300)),
    () => from('\r\n\r\n\r\n'),
    () =>
      from(
        `${text.slice(0, end)}\r\nTransfer-Encoding: chunked\r\n\r\n${random.pick(['zz\r\n', '5\r\nab\r\n', 'ffffffffffffffffff\r\n', '-1\r\n', '1\r\nab\r\n0\r\n\r\n', '5;\u0000\r\nabcde\r\n0\r\n\r\n', '0\r\nBad Trailer\r\n\r\n'])}`,
      ),
    // Several at once, of which the last is not whole.
    () => Buffer.concat([whole, whole, whole.subarray(0, whole.length >> 1)]),
    () => Buffer.concat([...Array.from({ length: 60 }, () => whole)]),
    () => Buffer.concat([whole, Buffer.from('rubbish'), whole]),
  ]
  return random.pick(kinds)()
}

const NO_BODY = /^(HEAD|OPTIONS) /
/** What is wrong with the answer to such bytes; undefined: nothing. Silence is no fault where no request was whole. */
export async function faultOfBroken(url: string, bytes: Buffer): Promise<string | undefined> {
  const { replies, ended, rest } = await once(url, bytes, true)
  const silent = NO_BODY.test(bytes.toString('latin1', 0, 10))
  if (!ended) return 'the connection was not ended in 5 s'
  if (rest > 0 && !silent) return `${rest} bytes that are no whole reply`
  for (const { status, body } of replies) {
    if (status < 300 || status === 304) continue
    if (status >= 500) return `${status} ${body.toString().slice(0, 200)}`
    if (silent) continue
    let told: unknown
    try {
      told = JSON.parse(body.toString())
    } catch {
      return `${status} not JSON: ${body.toString().slice(0, 200)}`
    }
    const fault = faultOfRefusal(told)
    if (fault !== undefined) return `${status} ${fault}`
  }
  return undefined
}
