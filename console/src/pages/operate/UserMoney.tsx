import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { download } from '../../lib/download.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Of } from './common.tsx'

export function Balances({ uid }: Of): React.JSX.Element {
  const query = useShared(
    ['operate', 'user', uid, 'balances'],
    () => call('GET /operator/v1/users/{uid}/balances', { path: { uid } }),
    { every: 5_000, stale: 1_000 },
  )
  return (
    <Card flush label="Balances">
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Balances"
            rows={rows}
            rowKey={({ account, currency, currency_pair, settle }) =>
              `${account} ${currency_pair}${settle} ${currency}`
            }
            empty={<Empty>The account never held anything.</Empty>}
            columns={[
              {
                name: 'account',
                cell: ({ account, currency_pair, settle }) => `${account} ${currency_pair}${settle}`.trim(),
              },
              { name: 'currency', cell: ({ currency }) => <b>{currency}</b> },
              {
                name: 'free',
                right: true,
                cell: ({ available }) => <Amount value={available} places={8} align />,
              },
              { name: 'held', right: true, cell: ({ locked }) => <Amount value={locked} places={8} align /> },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}

const DAY = 86_400
const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)
export function Statement({ uid }: Of): React.JSX.Element {
  const clock = useShared(['operate', 'clock'], () => call('GET /operator/v1/clock'))
  const now = clock.data?.now ?? 0
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const first = Date.parse(from === '' ? dayOf(now - 30 * DAY) : from) / 1000
  const last = Date.parse(to === '' ? dayOf(now) : to) / 1000 + DAY
  const query = useShared(
    ['operate', 'user', uid, 'statement', first, last],
    () => call('GET /operator/v1/users/{uid}/statement', { path: { uid }, query: { from: first, to: last } }),
    { enabled: Number.isFinite(first) && Number.isFinite(last) && clock.data !== undefined },
  )
  const lines = (query.data?.accounts ?? []).flatMap(({ account, currency, opening, movements, closing }) => [
    {
      key: `${account} ${currency} o`,
      account,
      currency,
      what: 'opening',
      count: '',
      total: opening,
      edge: true,
    },
    ...movements.map(({ kind, count, total }) => ({
      key: `${account} ${currency} ${kind}`,
      account: '',
      currency: '',
      what: kind.replaceAll('_', ' '),
      count: String(count),
      total,
      edge: false,
    })),
    {
      key: `${account} ${currency} c`,
      account: '',
      currency,
      what: 'closing',
      count: '',
      total: closing,
      edge: true,
    },
  ])
  return (
    <Card
      flush
      label="Statement"
      title="Statement"
      actions={
        <>
          <TextInput
            type="date"
            aria-label="From which day (UTC)"
            value={from === '' ? dayOf(now - 30 * DAY) : from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            type="date"
            aria-label="To which day (UTC)"
            value={to === '' ? dayOf(now) : to}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
          <Button
            size="xs"
            variant="default"
            disabled={query.data === undefined}
            onClick={() =>
              download(`statement-${uid}.json`, 'application/json', JSON.stringify(query.data, null, 1))
            }
          >
            Download
          </Button>
        </>
      }
    >
      <Loaded of={query}>
        {() => (
          <Table
            label="Statement"
            rows={lines}
            rowKey={({ key }) => key}
            empty={<Empty>Nothing moved in this time, and nothing was there.</Empty>}
            columns={[
              { name: 'account', cell: ({ account }) => account },
              { name: 'currency', cell: ({ currency, edge }) => (edge ? <b>{currency}</b> : '') },
              { name: 'what', cell: ({ what, edge }) => (edge ? <b>{what}</b> : what) },
              { name: 'bookings', right: true, cell: ({ count }) => count },
              {
                name: 'amount',
                right: true,
                cell: ({ total, edge }) => <Amount value={total} places={8} align signed={!edge} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
