import { CALL_CHANNELS } from '../sockets/call-channels.ts'
import type { CallChannel } from '../sockets/call-forms.ts'
import { CHANNELS } from '../sockets/channels.ts'
import type { Channel } from '../sockets/payloads.ts'
import { ADDRESSES, prefixIn } from '../sockets/products.ts'
import { escape } from './escape.ts'

export interface Section {
  readonly id: string
  readonly title: string
  readonly intro?: string
  readonly articles: readonly string[]
}
/** What sockets serve, from the declarations that serve it. */
export function channelSections(): Section[] {
  return [
    {
      id: 'sockets',
      title: 'WebSocket: channels',
      intro: `<p>On the port of HTTP, at <code>/ws/v4/</code>; contracts have an address for each group and settle currency, such as <code>/v4/ws/usdt</code>. A subscription is one text frame, <code>{"time", "id", "channel", "event": "subscribe", "payload"}</code>,
and is answered before its first push. Private channels carry <code>"auth": {"method": "api_key", "KEY", "SIGN"}</code>: the lowercase hex HMAC-SHA512, keyed with the secret, of
<code>channel=…&amp;event=subscribe&amp;time=…</code>. From the terminal: <code>kontor watch spot.tickers BTC_USDT</code>.</p>`,
      articles: CHANNELS.map(channelArticle),
    },
    {
      id: 'socket-calls',
      title: 'WebSocket: calls',
      intro: `<p>The REST calls of the same name over a socket: <code>{"time", "channel", "event": "api", "payload": {"req_id", "req_param"}}</code>, after one login.
Parameters, permissions, limits and labels are those of the endpoint.</p>`,
      articles: CALL_CHANNELS.map(callArticle),
    },
  ]
}
const addressOf = (channel: string): string => `at ${ADDRESSES[prefixIn(channel)] ?? ADDRESSES['spot']!}`

/** Where one of several will do, or another at other addresses. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  spot: 'spot or margin',
  futures: 'futures, at the addresses of dated contracts delivery',
}
function channelArticle({ name, summary, access, payload, pace }: Channel): string {
  const facts = [
    access === 'public' ? 'public' : `signed, permission ${PERMISSIONS[access] ?? access}`,
    addressOf(name),
    pace,
  ]
  return article(name, summary, facts, `<p>Payload: <code>${escape(payload)}</code></p>`)
}
function callArticle({ channel, summary, kind, acks, limited, window, rest }: CallChannel): string {
  const facts = [
    kind === 'login' ? 'signed' : 'after a login',
    addressOf(channel),
    ...(acks ? ['an ack first'] : []),
    ...(limited ? ["counts in the endpoint's rate limit"] : []),
    ...(window === undefined
      ? []
      : [`${window.requests} in ${window.seconds} s with the other calls of its kind`]),
  ]
  const stands = rest.map((one) => {
    const [method, path] = one.split(' ') as [string, string]
    const id = `${method}-/api/v4${path}`.replace(/[^\w]+/g, '-')
    return `<a href="#${id}"><code>${escape(`${method} /api/v4${path}`)}</code></a>`
  })
  return article(channel, summary, facts, stands.length === 0 ? '' : `<p>Stands for ${stands.join(', ')}</p>`)
}
const article = (name: string, summary: string, facts: readonly string[], more: string): string =>
  `<article id="${name}" data-text="${escape(`websocket ${name} ${summary}`.toLowerCase())}">
<h3><a href="#${name}"><b>WS</b> ${escape(name)}</a></h3>
<p>${escape(summary)}.</p><p class="facts">${facts.map((fact) => `<span>${escape(fact)}</span>`).join('')}</p>${more}</article>`
