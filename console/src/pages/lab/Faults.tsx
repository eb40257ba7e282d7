import { Button, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call, type Body } from '../../api/client.ts'
import { client, useShared } from '../../api/query.ts'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { WithOperator } from './common.tsx'

type Rule = Body<'POST /operator/v1/faults'>
interface InForce {
  readonly match?: Readonly<Record<string, unknown>>
  readonly effect?: string
  readonly status?: number
  readonly label?: string
  readonly delay_ms?: number
  readonly sequence?: readonly { readonly effect: string }[]
  readonly times?: number
  readonly probability?: number
  readonly left?: number | null
}
const EFFECTS = [
  { value: 'error', label: 'an error instead of the answer' },
  { value: 'delay', label: 'a delay' },
  { value: 'drop_reply', label: 'the reply is lost, the work is done' },
  { value: 'duplicate', label: 'it arrives twice' },
  { value: 'disconnect', label: 'the socket is cut' },
  { value: 'gap', label: 'a frame is missing' },
]
const KEYS = [
  ['shared', 'lab', 'faults'],
  ['shared', 'lab', 'report'],
] as const
const again = async (): Promise<void> => {
  await Promise.all(KEYS.map((queryKey) => client.invalidateQueries({ queryKey })))
}

export function Faults(): React.JSX.Element {
  return (
    <Page
      title="Faults"
      lead="Every failure on demand, and what your client did about it. Rules act on what fits them, in their order."
    >
      <WithOperator>
        <Rules />
        <Report />
      </WithOperator>
    </Page>
  )
}

function Rules(): React.JSX.Element {
  const rules = useShared(['lab', 'faults'], () => call('GET /operator/v1/faults'), {
    every: 1_000,
    stale: 500,
  })
  const list = (rules.data ?? []) as readonly InForce[]
  const drop = async (index: number): Promise<void> => {
    try {
      const kept = list.filter((_, i) => i !== index).map(({ left: _left, ...rule }) => rule)
      await call('PUT /operator/v1/faults', { body: kept as Rule[] })
      await again()
    } catch (error) {
      toastError(error)
    }
  }
  return (
    <div className="cols-2">
      <Card title="Rules in force" flush>
        <Loaded of={rules}>
          {() => (
            <Table
              label="Rules in force"
              rows={list.map((rule, index) => ({ rule, index }))}
              rowKey={({ index }) => index}
              mark={({ rule }) => String(rule.left ?? '')}
              empty={<Empty>Nothing fails. Add a rule beside.</Empty>}
              columns={[
                {
                  name: 'acts on',
                  cell: ({ rule }) => <span className="mono small">{matchText(rule.match ?? {})}</span>,
                },
                { name: 'effect', cell: ({ rule }) => effectText(rule) },
                {
                  name: 'left',
                  right: true,
                  cell: ({ rule }) => (rule.left === null || rule.left === undefined ? 'always' : rule.left),
                },
                {
                  name: 'drop',
                  quiet: true,
                  right: true,
                  cell: ({ index }) => (
                    <Button size="xs" variant="default" onClick={() => void drop(index)}>
                      Take back
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      <NewRule />
    </div>
  )
}
const matchText = (match: Readonly<Record<string, unknown>>): string => {
  const words = Object.entries(match).filter(([, value]) => value !== null && value !== undefined)
  return words.length === 0
    ? 'every call'
    : words.map(([name, value]) => `${name} ${String(value)}`).join(', ')
}
function effectText({ effect, status, label, delay_ms, sequence, probability }: InForce): string {
  if (sequence !== undefined && sequence.length > 0)
    return `in turn: ${sequence.map((one) => one.effect).join(', ')}`
  const words = [effect ?? '', status, label, delay_ms === undefined ? undefined : `${delay_ms} ms`]
  const often = probability === undefined || probability === 1 ? '' : ` (${probability * 100} % of them)`
  return words.filter((word) => word !== undefined).join(' ') + often
}

function NewRule(): React.JSX.Element {
  const [effect, setEffect] = useState('error')
  const [path, setPath] = useState('')
  const [method, setMethod] = useState('')
  const [channel, setChannel] = useState('')
  const [status, setStatus] = useState('503')
  const [label, setLabel] = useState('TOO_BUSY')
  const [delay, setDelay] = useState('2000')
  const [times, setTimes] = useState('1')
  const [share, setShare] = useState('')
  const [error, setError] = useState<unknown>(undefined)
  const add = async (): Promise<void> => {
    setError(undefined)
    const rule: object = {
      match: {
        ...(path !== '' && { path }),
        ...(method !== '' && { method }),
        ...(channel !== '' && { channel }),
      },
      effect,
      ...(effect === 'error' && { status: Number(status), label }),
      ...(effect === 'delay' && { delay_ms: Number(delay) }),
      ...(times !== '' && { times: Number(times) }),
      ...(share !== '' && { probability: Number(share) / 100 }),
    }
    try {
      await call('POST /operator/v1/faults', { body: rule })
      toast('The rule is in force')
      await again()
    } catch (caught) {
      setError(caught)
    }
  }
  return (
    <Card title="New rule">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <Select
          label="What happens"
          data={EFFECTS}
          value={effect}
          onChange={(value) => setEffect(value ?? 'error')}
        />
        {effect === 'error' ? (
          <div className="cols-2">
            <TextInput
              label="Status"
              value={status}
              onChange={(event) => setStatus(event.currentTarget.value)}
            />
            <TextInput
              label="Label"
              value={label}
              onChange={(event) => setLabel(event.currentTarget.value)}
            />
          </div>
        ) : null}
        {effect === 'delay' ? (
          <TextInput
            label="Milliseconds"
            value={delay}
            onChange={(event) => setDelay(event.currentTarget.value)}
          />
        ) : null}
        <div className="cols-2">
          <Select
            label="Method"
            data={[{ value: '', label: 'any' }, 'GET', 'POST', 'PUT', 'PATCH', 'DELETE']}
            value={method}
            onChange={(value) => setMethod(value ?? '')}
          />
          <TextInput
            label="Path"
            placeholder="/spot/orders, /wallet/*"
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
          />
        </div>
        <div className="cols-2">
          <TextInput
            label="Channel of a socket"
            placeholder="spot.order_place"
            value={channel}
            onChange={(event) => setChannel(event.currentTarget.value)}
          />
          <div className="cols-2">
            <TextInput
              label="How often"
              placeholder="always"
              value={times}
              onChange={(event) => setTimes(event.currentTarget.value)}
            />
            <TextInput
              label="Share in %"
              placeholder="100"
              value={share}
              onChange={(event) => setShare(event.currentTarget.value)}
            />
          </div>
        </div>
        {error === undefined ? null : <Failed error={error} />}
        <Button type="submit">Add the rule</Button>
      </form>
    </Card>
  )
}

function Report(): React.JSX.Element {
  const report = useShared(
    ['lab', 'report'],
    () => call('GET /operator/v1/faults/report', { query: { limit: 100 } }),
    {
      every: 2_000,
      stale: 500,
    },
  )
  return (
    <Card title="What clients did after each fault" flush>
      <Loaded of={report}>
        {({ faults }) => (
          <Table
            label="What clients did after each fault"
            rows={faults}
            rowKey={({ id }) => id}
            empty={<Empty>No fault has acted yet.</Empty>}
            columns={[
              { name: 'time', cell: ({ time }) => <Time at={time} /> },
              {
                name: 'fault',
                cell: ({ effect, status, label }) => `${effect} ${status ?? ''} ${label ?? ''}`.trim(),
              },
              {
                name: 'call',
                cell: ({ method, path }) => <span className="mono wrap">{`${method} ${path}`}</span>,
              },
              { name: 'then', cell: ({ outcome }) => <Status of={outcome} /> },
              {
                name: 'again after',
                right: true,
                cell: ({ first_retry_ms }) => (first_retry_ms === null ? '–' : `${first_retry_ms} ms`),
              },
              { name: 'tries', right: true, cell: ({ retries }) => retries },
              { name: 'money moved', cell: ({ money }) => (money === 'none' ? '–' : <Status of={money} />) },
              { name: 'advice', cell: ({ advice }) => <span className="dim">{advice}</span> },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
