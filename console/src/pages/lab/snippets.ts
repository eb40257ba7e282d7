/** The same call as three programs would make it, with the key of whoever reads. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: string
}
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const camel = (text: string): string =>
  text
    .replace(/[_-]+(\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/^\w/, (first) => first.toLowerCase())

const upper = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Signed on the way: openssl makes the same five lines. */
export function curl({ method, path, query, body }: Seen, origin: string): string {
  const url = `${origin}${path}${query === '' ? '' : `?${query}`}`
  return [
    `T=$(date +%s)`,
    `H=$(printf %s ${quote(body)} | openssl dgst -sha512 -r | cut -d' ' -f1)`,
    `S=$(printf '%s\\n%s\\n%s\\n%s\\n%s' ${method} ${quote(path)} ${quote(query)} "$H" "$T" | openssl dgst -sha512 -hmac "$SECRET" -r | cut -d' ' -f1)`,
    `curl -X ${method} ${quote(url)} \\`,
    `  -H "KEY: $KEY" -H "Timestamp: $T" -H "SIGN: $S" \\`,
    body === ''
      ? `  -H 'Accept: application/json'`
      : `  -H 'Content-Type: application/json' -d ${quote(body)}`,
  ].join('\n')
}
/** ccxt names each address itself: privateSpotPostOrders. */
export function ccxt({ method, path, query, body }: Seen): string {
  const words = path
    .replace('/api/v4/', '')
    .split('/')
    .map((part) => upper(camel(part.replace(/[{}]/g, ''))))
  const [area = '', ...rest] = words
  const name = `private${area}${upper(method.toLowerCase())}${rest.join('')}`
  const given = body === '' ? JSON.stringify(Object.fromEntries(new URLSearchParams(query))) : body
  return [
    `// exchange = new ccxt.gate({ apiKey, secret }); npx kontor ccxt-urls prints its urls`,
    `await exchange.${name}(${given === '{}' ? '' : given})`,
  ].join('\n')
}
export function gateApi({ method, path, query, body }: Seen, origin: string): string {
  return [
    `const client = new GateApi.ApiClient(${quote(`${origin}/api/v4`)})`,
    `client.setApiKeySecret(KEY, SECRET)`,
    `// ${method} ${path.replace('/api/v4', '')}${query === '' ? '' : `?${query}`}`,
    body === '' ? '' : `const body = ${body}`,
    `// the method of its name is in ${owner(path)}`,
  ]
    .filter((line) => line !== '')
    .join('\n')
}
const OWNERS: Readonly<Record<string, string>> = {
  spot: 'SpotApi',
  wallet: 'WalletApi',
  withdrawals: 'WithdrawalApi',
  sub_accounts: 'SubAccountApi',
  unified: 'UnifiedApi',
  margin: 'MarginApi / MarginUniApi',
  account: 'AccountApi',
}
const owner = (path: string): string => OWNERS[path.replace('/api/v4/', '').split('/')[0] ?? ''] ?? 'its area'

export const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
/** Undefined: this page came without TLS from another machine, and the browser does not reckon there. */
export async function sha512(text: string): Promise<string | undefined> {
  const { subtle } = globalThis.crypto as { subtle?: SubtleCrypto }
  return subtle === undefined
    ? undefined
    : hex(await subtle.digest('SHA-512', new TextEncoder().encode(text)))
}
export async function sign(text: string, secret: string): Promise<string> {
  const { subtle } = globalThis.crypto
  const bytes = new TextEncoder()
  const key = await subtle.importKey('raw', bytes.encode(secret), { name: 'HMAC', hash: 'SHA-512' }, false, [
    'sign',
  ])
  return hex(await subtle.sign('HMAC', key, bytes.encode(text)))
}
