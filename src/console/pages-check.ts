import { isIP } from 'node:net'
import { header } from '../api/passage.ts'
import type { PlainRequest } from '../http/exchange.ts'
import { refuse } from '../labels.ts'

type Headers = PlainRequest['headers']

/**
 * Whether a request comes from a page of ours, as far as the browser tells. A page elsewhere (another port of this
 * machine included, which cookies know no difference of) is refused, whatever cookie it carries.
 */
export function checkPage(headers: Headers, method: string): void {
  const site = header(headers['sec-fetch-site'])
  const safe = method === 'GET'
  if (site !== undefined && site !== 'same-origin' && !(site === 'none' && safe))
    refuse(
      'FORBIDDEN',
      `Sec-Fetch-Site: ${site.slice(0, 40)}: only pages of this address may call the console`,
    )
  const origin = header(headers['origin'])
  const host = header(headers['host'])
  if (origin !== undefined) {
    if (!isOriginOf(origin, host)) refuseOrigin('Origin', origin)
    return
  }
  const referer = header(headers['referer'])
  if (!safe && referer !== undefined && !isOriginOf(originIn(referer), host)) refuseOrigin('Referer', referer)
}
function refuseOrigin(name: string, value: string): never {
  refuse('FORBIDDEN', `${name}: ${value.slice(0, 80)}: only pages of this address may call the console`)
}
const originIn = (url: string): string => /^https?:\/\/[^/?#]+/i.exec(url)?.[0] ?? ''

/** An origin of the very host and port that the request was sent to; TLS may end before us, so either scheme is good. */
export function isOriginOf(origin: string, host: string | undefined): boolean {
  const match = /^(https?):\/\/([^/?#@]+)$/i.exec(origin)
  if (match === null || host === undefined) return false
  const [, scheme, named] = match as unknown as [string, string, string]
  const port = scheme.toLowerCase() === 'https' ? ':443' : ':80'
  const plain = (name: string): string => {
    const lower = name.toLowerCase()
    return lower.endsWith(port) ? lower.slice(0, -port.length) : lower
  }
  return plain(named) === plain(host)
}

/** A name that only this machine itself answers to. */
export function isLoopback(host: string | undefined): boolean {
  const name = (host ?? '')
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || isLoopbackIp(name)
}
const isLoopbackIp = (name: string): boolean => isIP(name) === 4 && name.startsWith('127.')
