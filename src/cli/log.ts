import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { countOf, drive, type OperatorApi } from './operator-api.ts'

const POLL_MS = 500
interface Logged {
  readonly id: number
  readonly time: number
  readonly micros: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly user_id: number | null
  readonly operator: string | null
  readonly status: number
  readonly dropped: boolean
  readonly ignored: readonly string[]
  readonly body: string
  readonly body_length: number
  readonly reply: string
  readonly reply_length: number
}
interface Page {
  readonly last: number
  readonly missed: number
  readonly requests: readonly Logged[]
}

export const log = drive({
  usage: 'kontor log [--user USER] [--path PATH] [--status 4xx] [--limit N] [--once] [--json]',
  detail: `Shows the last requests with their bodies and replies, and goes on as more come, until Ctrl-C. Headers, signatures,
passwords, secrets and tokens are not shown; a text over 4 KB is cut. With --json one line is one request.`,
  options: {
    user: { value: 'USER', help: 'of one account: a login name or id' },
    path: { value: 'PATH', help: 'such as /spot/orders, or /spot/* (/api/v4 may be left out)' },
    status: { value: 'STATUS', help: 'such as 401, or 4xx' },
    limit: { value: 'N', help: 'how many of the past (default: 20)' },
    once: { help: 'shows those of the past and ends' },
  },
  words: [0, 0],
  run: async (api, { values, flags }) => {
    const { user, path, status } = values
    const limit = countOf(values, 'limit', 1_000) ?? '20'
    const user_id = user === undefined ? undefined : String((await api.user(user)).user_id)
    const show = flags.has('json') ? (one: Logged) => JSON.stringify(one) : entry
    const filter = { user_id, path, status }
    const page = await api.get<Page>('/requests', { ...filter, limit })
    // A reader that has seen enough, such as head, ends it.
    const gone = once(process.stdout, 'error').then(() => true)
    write(page, show)
    if (!flags.has('once')) await follow(api, filter, page.last, (next) => write(next, show), gone)
    return undefined
  },
})
async function follow(
  api: OperatorApi,
  filter: Readonly<Record<string, string | undefined>>,
  from: number,
  show: (page: Page) => void,
  gone: Promise<boolean>,
): Promise<void> {
  for (let after = from; ;) {
    if (await Promise.race([gone, sleep(POLL_MS, false)])) return
    const page = await api.get<Page>('/requests', { ...filter, after: String(after), limit: '1000' })
    // A reset or a restart began anew.
    after = page.last
    show(page)
  }
}
function write({ missed, requests }: Page, show: (one: Logged) => string): void {
  if (missed > 0) process.stderr.write(`kontor: ${missed} requests came too fast to be shown\n`)
  for (const one of requests) process.stdout.write(`${show(one)}\n`)
}
function entry(one: Logged): string {
  const at = new Date(one.time * 1000).toISOString()
  const who =
    one.user_id !== null ? `user ${one.user_id}` : one.operator !== null ? `operator ${one.operator}` : '-'
  const target = quiet(`${one.path}${one.query === '' ? '' : `?${one.query}`}`)
  const lost = one.dropped ? ' (reply dropped)' : ''
  const unread = one.ignored.length > 0 ? ` (ignored: ${quiet(one.ignored.join(', '))})` : ''
  const head = `${at} ${one.status} ${one.method} ${target} ${who} ${(one.micros / 1000).toFixed(1)} ms${lost}${unread}`
  return [head, text('>', one.body, one.body_length), text('<', one.reply, one.reply_length)]
    .filter((line) => line !== '')
    .join('\n')
}
function text(mark: string, content: string, length: number): string {
  if (content === '') return ''
  return `  ${mark} ${quiet(content)}${length > Buffer.byteLength(content) ? ` … (${length} bytes)` : ''}`
}
/** Line breaks and whatever else moves a terminal's cursor are shown as escapes: anybody may have sent them. */
export const quiet = (content: string): string =>
  content.replace(
    /[\u0000-\u001f\u007f-\u009f]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
