import '../operate/operate.css'
import { Button, PasswordInput, SegmentedControl, Select, TextInput, Textarea } from '@mantine/core'
import { useState } from 'react'
import { access, call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'
import { ccxt, curl, sha512, sign, type Seen } from './snippets.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required?: boolean
  readonly schema?: { readonly enum?: readonly unknown[]; readonly type?: string }
}
interface Operation {
  readonly summary?: string
  readonly security?: readonly unknown[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>
  }
}
interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly items?: Schema
}
interface Call {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly operation: Operation
}
async function calls(): Promise<readonly Call[]> {
  const response = await fetch('/openapi.json', { credentials: 'omit' })
  const document = (await response.json()) as { paths: Record<string, Record<string, Operation>> }
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
}

export function TryIt(): React.JSX.Element {
  const list = useShared(['lab', 'openapi'], calls, { stale: Infinity })
  const wanted = new URLSearchParams(location.search).get('call')
  const [name, setName] = useState(wanted ?? 'GET /api/v4/spot/accounts')
  return (
    <Page
      title="Try it"
      lead="Any call of the reference, signed here in the page as a client signs it. A secret that you type stays in this page and goes nowhere."
    >
      <Loaded of={list}>
        {(all) => {
          const chosen = all.find((one) => one.name === name)
          return (
            <>
              <Select
                aria-label="Call"
                searchable
                data={all.map((one) => one.name)}
                value={name}
                onChange={(value) => setName(value ?? name)}
                nothingFoundMessage="No such call"
              />
              {chosen === undefined ? (
                <Card>
                  <Empty>There is no such call: {name}</Empty>
                </Card>
              ) : (
                <Attempt key={chosen.name} of={chosen} />
              )}
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

/** Something to begin with: the members that must be there. */
function sketch(schema: Schema | undefined): unknown {
  if (schema?.enum !== undefined) return schema.enum[0]
  if (schema?.type === 'array') return [sketch(schema.items)]
  if (schema?.properties === undefined)
    return schema?.type === 'integer' || schema?.type === 'number' ? 0 : ''
  const { properties, required = [] } = schema
  return Object.fromEntries(required.map((member) => [member, sketch(properties[member])]))
}
interface Answered {
  readonly lines: readonly string[]
  readonly status: number
  readonly ms: number
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string
}

/** Signed by a key, with the session of this browser, or by nobody. */
async function attempt(
  { method, path, query, body }: Seen,
  by: { readonly key: string; readonly secret: string } | 'session' | undefined,
): Promise<Answered> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== '') headers['Content-Type'] = 'application/json'
  let lines: readonly string[] = []
  if (by === 'session') {
    if (method !== 'GET')
      headers['X-Kontor-CSRF'] = path.startsWith('/operator/') ? access.csrf.operator : access.csrf.account
    if (access.account !== undefined) headers['X-Kontor-Account'] = String(access.account)
  } else if (by !== undefined) {
    const digest = await sha512(body)
    if (digest === undefined) throw new Error('this browser signs only on pages of localhost or with TLS')
    const { now } = await call('GET /console/v1/platform')
    lines = [method, path, query, digest, String(Math.floor(now / 1000))]
    const SIGN = await sign(lines.join('\n'), by.secret)
    Object.assign(headers, { KEY: by.key, Timestamp: lines[4], SIGN })
  }
  const session = by === 'session'
  const url =
    (session && !path.startsWith('/console/') ? `/console${path}` : path) + (query === '' ? '' : `?${query}`)
  const began = performance.now()
  const response = await fetch(url, {
    method,
    headers,
    credentials: session ? 'same-origin' : 'omit',
    cache: 'no-store',
    ...(body !== '' && { body }),
  })
  const text = await response.text()
  return {
    lines,
    status: response.status,
    ms: performance.now() - began,
    headers: [...response.headers].filter(([header]) => header.startsWith('x-')),
    text,
  }
}

function Attempt({ of }: { readonly of: Call }): React.JSX.Element {
  const { method, path, operation } = of
  const parameters = operation.parameters ?? []
  const content = Object.values(operation.requestBody?.content ?? {})[0]
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(
    content === undefined ? '' : JSON.stringify(content.example ?? sketch(content.schema), null, 2),
  )
  const operator = path.startsWith('/operator/')
  const console = path.startsWith('/console/')
  const open = operation.security !== undefined && operation.security.length === 0
  const [as, setAs] = useState<'key' | 'session'>(operator || console ? 'session' : 'key')
  const [key, setKey] = useState('')
  const [secret, setSecret] = useState('')
  const [answered, setAnswered] = useState<Answered | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const [busy, setBusy] = useState(false)
  const missing = parameters.filter(({ name, required }) => required === true && (values[name] ?? '') === '')
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const query = new URLSearchParams(
    parameters
      .filter((one) => one.in === 'query' && (values[one.name] ?? '') !== '')
      .map(({ name }) => [name, values[name]!]),
  ).toString()
  const compact = (): string => (body.trim() === '' ? '' : JSON.stringify(JSON.parse(body)))
  const seen = (): Seen => ({
    method,
    path: filled,
    query,
    body: safely(compact),
  })

  const send = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      const by = open ? undefined : as === 'key' ? { key, secret } : 'session'
      setAnswered(await attempt({ ...seen(), body: content === undefined ? '' : compact() }, by))
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="cols-2">
      <Card title={operation.summary ?? of.name}>
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void send()
          }}
        >
          {open ? (
            <span className="dim">Public: nobody has to sign.</span>
          ) : operator || console ? (
            <span className="dim">Goes with the session of this browser.</span>
          ) : (
            <>
              <SegmentedControl
                aria-label="Who calls"
                value={as}
                onChange={setAs}
                data={[
                  { value: 'key', label: 'signed by a key' },
                  { value: 'session', label: 'as this session' },
                ]}
              />
              {as === 'key' ? (
                <div className="cols-2">
                  <TextInput
                    label="Key"
                    value={key}
                    autoComplete="off"
                    onChange={(event) => setKey(event.currentTarget.value.trim())}
                  />
                  <PasswordInput
                    label="Secret"
                    value={secret}
                    autoComplete="off"
                    onChange={(event) => setSecret(event.currentTarget.value.trim())}
                  />
                </div>
              ) : null}
            </>
          )}
          {parameters.map(({ name, required, schema }) =>
            schema?.enum === undefined ? (
              <TextInput
                key={name}
                label={name}
                required={required === true}
                value={values[name] ?? ''}
                onChange={(event) => {
                  const next = event.currentTarget.value
                  setValues((last) => ({ ...last, [name]: next }))
                }}
              />
            ) : (
              <Select
                key={name}
                label={name}
                required={required === true}
                clearable
                data={schema.enum.map(String)}
                value={values[name] ?? null}
                onChange={(value) => setValues((last) => ({ ...last, [name]: value ?? '' }))}
              />
            ),
          )}
          {content === undefined ? null : (
            <Textarea
              label="Body"
              classNames={{ input: 'mono' }}
              autosize
              minRows={4}
              maxRows={20}
              spellCheck={false}
              value={body}
              onChange={(event) => setBody(event.currentTarget.value)}
            />
          )}
          {error === undefined ? null : <Failed error={error} />}
          <Button
            type="submit"
            loading={busy}
            disabled={missing.length > 0 || (as === 'key' && !open && (key === '' || secret === ''))}
          >
            Send
          </Button>
        </form>
      </Card>
      <Card title={answered === undefined ? 'Answer' : `${answered.status} in ${answered.ms.toFixed(1)} ms`}>
        {answered === undefined ? (
          <div className="stack">
            <span className="dim">The answer comes here. The same call elsewhere:</span>
            <pre className="json">{curl(seen(), location.origin)}</pre>
            {path.startsWith('/api/v4/') ? <pre className="json">{ccxt(seen())}</pre> : null}
          </div>
        ) : (
          <div className="stack" role="status">
            <pre className="json">
              {safely(() => JSON.stringify(JSON.parse(answered.text), null, 2), answered.text)}
            </pre>
            {answered.lines.length === 0 ? null : (
              <div>
                <b>What was signed</b>
                <ol className="trace mono wrap">
                  {answered.lines.map((line, i) => (
                    <li key={i}>{line === '' ? <span className="dim">(empty)</span> : line}</li>
                  ))}
                </ol>
              </div>
            )}
            {answered.headers.length === 0 ? null : (
              <pre className="json">
                {answered.headers.map(([header, value]) => `${header}: ${value}`).join('\n')}
              </pre>
            )}
          </div>
        )}
      </Card>
    </div>
  )
}
function safely(make: () => string, otherwise = ''): string {
  try {
    return make()
  } catch {
    return otherwise
  }
}
