import '../operate/operate.css'
import { Button, Checkbox, Drawer, Select, Tabs, TextInput } from '@mantine/core'
import { useEffect, useMemo, useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { useSession } from '../../api/query.ts'
import { download } from '../../lib/download.ts'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Empty, Failed } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { ccxt, curl, gateApi, sha512 } from './snippets.ts'

type Request = Reply<'GET /console/v1/requests'>['requests'][number]
const KEPT = 1_000
const POLL_MS = 1_000

/** Live: the log is asked for what follows the last one that is here. */
function useRequests(all: boolean): {
  readonly list: readonly Request[]
  readonly error: unknown
  readonly paused: boolean
  readonly pause: (on: boolean) => void
  readonly clear: () => void
} {
  const [list, setList] = useState<readonly Request[]>([])
  const [paused, pause] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    if (paused) return undefined
    let over = false
    let last: number | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    const look = async (): Promise<void> => {
      try {
        const query = last === undefined ? { limit: 200 } : { after: last, limit: 1_000 }
        const reply = all
          ? await call('GET /operator/v1/requests', { query })
          : await call('GET /console/v1/requests', { query })
        if (over) return
        setError(undefined)
        // A reset begins to count anew.
        const fresh = last === undefined || reply.last < last
        last = reply.last
        if (fresh) setList([...reply.requests].reverse())
        else if (reply.requests.length > 0)
          setList((before) => [...[...reply.requests].reverse(), ...before].slice(0, KEPT))
      } catch (caught) {
        if (!over) setError(caught)
      }
      if (!over) timer = setTimeout(() => void look(), POLL_MS)
    }
    void look()
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [paused, all])
  return { list, error, paused, pause, clear: () => setList([]) }
}

export const labelOf = (reply: string): string => /"label":"([A-Z0-9_]+)"/.exec(reply)?.[1] ?? ''

export function Requests(): React.JSX.Element {
  const session = useSession()
  const operator = session?.operator ?? null
  const [all, setAll] = useState(session?.account === null)
  const { list, error, paused, pause, clear } = useRequests(all && operator !== null)
  const [words, setWords] = useState('')
  const [key, setKey] = useState('')
  const [failed, setFailed] = useState(false)
  const [open, setOpen] = useState<Request | undefined>(undefined)
  const keys = useMemo(
    () => [...new Set(list.map((one) => one.key ?? ''))].filter((one) => one !== ''),
    [list],
  )
  const shown = list.filter(
    (one) =>
      (!failed || one.status >= 400) &&
      (key === '' || one.key === key) &&
      `${one.method} ${one.path} ${one.status} ${labelOf(one.reply)}`
        .toLowerCase()
        .includes(words.toLowerCase()),
  )
  return (
    <Page
      title="Requests"
      lead="What your clients really send, as it comes: what was signed, what was answered, how long it took, what is left of the limit."
      actions={
        <>
          <Button variant="default" onClick={() => pause(!paused)}>
            {paused ? 'Go on' : 'Pause'}
          </Button>
          <Button variant="default" onClick={clear}>
            Clear
          </Button>
          <Button
            variant="default"
            disabled={shown.length === 0}
            onClick={() => download('kontor.har', 'application/json', har(shown))}
          >
            HAR
          </Button>
        </>
      }
    >
      <Card
        flush
        label="Requests"
        title={
          <div className="row">
            <TextInput
              aria-label="Find in path, status or label"
              placeholder="path, status or label"
              value={words}
              onChange={(event) => setWords(event.currentTarget.value)}
            />
            <Select
              aria-label="Key"
              w={180}
              data={[
                { value: '', label: 'All keys' },
                ...keys.map((one) => ({ value: one, label: ends(one) })),
              ]}
              value={key}
              onChange={(value) => setKey(value ?? '')}
            />
            <Checkbox
              label="failed only"
              checked={failed}
              onChange={(event) => setFailed(event.currentTarget.checked)}
            />
            {operator === null || session?.account === null ? null : (
              <Checkbox
                label="of everybody"
                checked={all}
                onChange={(event) => setAll(event.currentTarget.checked)}
              />
            )}
          </div>
        }
        actions={paused ? <span className="wait">paused</span> : null}
      >
        {error === undefined ? null : <Failed error={error} />}
        <Table
          label="Requests"
          rows={shown}
          rowKey={({ id }) => id}
          onRow={setOpen}
          empty={
            <Empty>
              {list.length === 0
                ? 'No call yet. Point a client at this address, or try: npx kontor call GET /spot/accounts'
                : 'No call fits.'}
            </Empty>
          }
          columns={[
            { name: 'time', cell: ({ time }) => <Time at={time} /> },
            { name: 'method', cell: ({ method }) => <b>{method}</b> },
            {
              name: 'path',
              cell: ({ path, query }) => (
                <span className="mono wrap">
                  {path}
                  <span className="dim">{query === '' ? '' : `?${ends(query, 20)}`}</span>
                </span>
              ),
            },
            {
              name: 'answer',
              cell: ({ status, reply, dropped }) => (
                <span className={status < 400 ? 'good' : 'bad'}>
                  {status} {labelOf(reply)} {dropped ? '(kept back by a fault)' : ''}
                </span>
              ),
            },
            { name: 'took, ms', right: true, cell: ({ micros }) => (micros / 1000).toFixed(1) },
            {
              name: 'key',
              cell: ({ key: name, operator: who }) => (
                <span className="mono">{name === null ? (who ?? '–') : ends(name, 4)}</span>
              ),
            },
            {
              name: 'left',
              right: true,
              cell: ({ remain, limit }) => (remain === null ? '–' : `${remain} of ${limit ?? '–'}`),
            },
          ]}
        />
      </Card>
      <Drawer
        opened={open !== undefined}
        onClose={() => setOpen(undefined)}
        position="right"
        size="xl"
        title={open === undefined ? '' : `${open.method} ${open.path}`}
      >
        {open === undefined ? null : <Detail of={open} />}
      </Drawer>
    </Page>
  )
}

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
function Detail({ of }: { readonly of: Request }): React.JSX.Element {
  const [digest, setDigest] = useState<string | undefined>(undefined)
  const whole = of.body.length === of.body_length
  useEffect(() => {
    let over = false
    void sha512(of.body).then((value) => {
      if (!over) setDigest(value)
    })
    return () => {
      over = true
    }
  }, [of])
  const hint = of.status === 401 ? hintOf(of.reply) : undefined
  const socket = of.method === 'WS'
  return (
    <div className="stack">
      <Facts
        of={[
          ['answer', `${of.status} ${labelOf(of.reply)}`],
          ['time', <Time key="t" at={of.time} />],
          ['took', `${(of.micros / 1000).toFixed(2)} ms`],
          ['key', of.key === null ? 'none' : <Copyable key="k" value={of.key} what="the key" />],
          ['from', of.ip],
          of.remain !== null && ['left of the limit', `${of.remain} of ${of.limit ?? '–'}`],
          of.ignored.length > 0 && [
            'nothing reads',
            <span key="i" className="wait">
              {of.ignored.join(', ')}
            </span>,
          ],
        ]}
      />
      <Tabs defaultValue={of.status === 401 ? 'signed' : 'reply'} keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="reply">Reply</Tabs.Tab>
          <Tabs.Tab value="body">Body</Tabs.Tab>
          {socket ? null : <Tabs.Tab value="signed">What is signed</Tabs.Tab>}
          {socket ? null : <Tabs.Tab value="same">Same call as</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="reply" pt="sm">
          <pre className="json">{of.reply === '' ? '(empty)' : pretty(of.reply)}</pre>
          {of.reply.length < of.reply_length ? (
            <span className="dim small">cut; it had {of.reply_length} bytes</span>
          ) : null}
        </Tabs.Panel>
        <Tabs.Panel value="body" pt="sm">
          <pre className="json">{of.body === '' ? '(empty)' : pretty(of.body)}</pre>
        </Tabs.Panel>
        <Tabs.Panel value="signed" pt="sm">
          <div className="stack">
            <span className="dim">
              Five lines, joined by line ends and signed with HMAC-SHA512 under the secret. As the platform
              saw them:
            </span>
            <ol className="trace mono wrap">
              <li>{of.method}</li>
              <li>{of.path}</li>
              <li>{of.query === '' ? <span className="dim">(empty: no query)</span> : of.query}</li>
              <li>
                {!whole ? (
                  <span className="dim">SHA-512 of the body, which is longer than what is kept</span>
                ) : (
                  (digest ?? <span className="dim">SHA-512 of the body</span>)
                )}
              </li>
              <li>{of.timestamp ?? <span className="wait">no Timestamp header came</span>}</li>
            </ol>
            {hint === undefined ? null : (
              <div className="wait">
                <b>Where it differs:</b> {hint}
              </div>
            )}
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="same" pt="sm">
          <div className="stack">
            {(
              [
                ['curl', curl(of, location.origin)],
                ['ccxt', ccxt(of)],
                ['gate-api', gateApi(of, location.origin)],
              ] as const
            ).map(([name, text]) => (
              <div key={name}>
                <div className="row between">
                  <b>{name}</b>
                  <Copyable value={text} shown="copy" what={`the call as ${name}`} mono={false} />
                </div>
                <pre className="json">{text}</pre>
              </div>
            ))}
          </div>
        </Tabs.Panel>
      </Tabs>
    </div>
  )
}
/** The platform's own words on a wrong signature stand in its reply. */
function hintOf(reply: string): string | undefined {
  try {
    const { label: _label, message, ...more } = JSON.parse(reply) as Record<string, unknown>
    const rest = Object.values(more).filter((value) => typeof value === 'string')
    return [message, ...rest].join(' ')
  } catch {
    return undefined
  }
}
function har(list: readonly Request[]): string {
  const entries = [...list].reverse().map((one) => ({
    startedDateTime: new Date(one.time * 1000).toISOString(),
    time: one.micros / 1000,
    request: {
      method: one.method,
      url: `${location.origin}${one.path}${one.query === '' ? '' : `?${one.query}`}`,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [],
      queryString: [...new URLSearchParams(one.query)].map(([name, value]) => ({ name, value })),
      ...(one.body !== '' && { postData: { mimeType: 'application/json', text: one.body } }),
      headersSize: -1,
      bodySize: one.body_length,
    },
    response: {
      status: one.status,
      statusText: labelOf(one.reply),
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [],
      content: { size: one.reply_length, mimeType: 'application/json', text: one.reply },
      redirectURL: '',
      headersSize: -1,
      bodySize: one.reply_length,
    },
    cache: {},
    timings: { send: 0, wait: one.micros / 1000, receive: 0 },
  }))
  return JSON.stringify(
    { log: { version: '1.2', creator: { name: 'Kontor', version: '1' }, entries } },
    null,
    1,
  )
}
