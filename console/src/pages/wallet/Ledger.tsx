import { Autocomplete, Button, Select, TextInput } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Query, type Reply } from '../../api/client.ts'
import { own, useAccount, useChosen } from '../../api/query.ts'
import { csv } from '../../lib/csv.ts'
import { download } from '../../lib/download.ts'
import { utcText } from '../../lib/time.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loading, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useCurrencies } from './money.ts'

type Line = Reply<'GET /api/v4/spot/account_book'>[number]
const PAGE = 100
const MOST = 20_000
const day = (text: string, end: boolean): number | undefined => {
  const at = text === '' ? NaN : new Date(`${text}T${end ? '23:59:59' : '00:00:00'}`).getTime()
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000)
}

export function Ledger(): React.JSX.Element {
  const { currency: asked } = useSearch({ from: '/frame/wallet/ledger' })
  const account = useAccount()
  const currencies = useCurrencies().data ?? []
  const [currency, setCurrency] = useState<string | null>(asked ?? null)
  const [type, setType] = useState('')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const [busy, setBusy] = useState(false)
  useChosen()
  const filter: Query<'GET /api/v4/spot/account_book'> = {
    limit: PAGE,
    ...(currency !== null && { currency }),
    ...(type !== '' && { type }),
    ...(day(from, false) !== undefined && { from: day(from, false)! }),
    ...(day(to, true) !== undefined && { to: day(to, true)! }),
  }
  const read = (page: number): Promise<readonly Line[]> =>
    call('GET /api/v4/spot/account_book', { query: { ...filter, page } })
  const book = useInfiniteQuery({
    queryKey: own('ledger', filter),
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: 1,
    getNextPageParam: (last, all) => (last.length < PAGE ? undefined : all.length + 1),
  })
  const lines = book.data?.pages.flat()
  const types = [...new Set(lines?.map((line) => line.type) ?? [])].sort()
  const save = async (): Promise<void> => {
    setBusy(true)
    try {
      const all: Line[] = []
      for (let page = 1; all.length < MOST; page++) {
        const more = await read(page)
        all.push(...more)
        if (more.length < PAGE) break
      }
      const rows = all.map((line) => [
        line.id,
        utcText(line.time),
        line.currency,
        line.type,
        line.change,
        line.balance,
        line.code,
        line.text,
      ])
      download(
        `kontor-ledger-${account?.login_name ?? 'account'}.csv`,
        'text/csv',
        csv(['id', 'time_utc', 'currency', 'type', 'change', 'balance', 'code', 'text'], rows),
      )
    } catch (error) {
      toastError(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Page
      title="Ledger"
      lead="Every change of the spot account, with the balance after it."
      actions={
        <Button
          variant="default"
          loading={busy}
          disabled={lines === undefined || lines.length === 0}
          onClick={() => void save()}
        >
          Save as CSV
        </Button>
      }
    >
      <Card>
        <div className="filters">
          <Select
            label="Currency"
            searchable
            clearable
            allowDeselect
            placeholder="all"
            data={currencies.map((one) => one.currency)}
            value={currency}
            onChange={setCurrency}
          />
          <Autocomplete label="Kind" placeholder="all" data={types} value={type} onChange={setType} />
          <TextInput
            label="From"
            type="date"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            label="To"
            type="date"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
        </div>
      </Card>
      <Card flush label="Lines">
        {lines === undefined ? (
          book.error === null ? (
            <Loading rows={8} />
          ) : (
            <Failed error={book.error} retry={() => void book.refetch()} />
          )
        ) : (
          <Table
            label="Ledger"
            columns={[
              { name: 'Time', cell: ({ time }) => <Time at={time} /> },
              { name: 'Currency', cell: (line) => <b>{line.currency}</b> },
              {
                name: 'Kind',
                cell: (line) => <span title={line.code}>{line.type.replaceAll('_', ' ')}</span>,
              },
              {
                name: 'Change',
                right: true,
                cell: ({ change }) => <Amount value={change} signed places={8} align />,
              },
              {
                name: 'Balance',
                right: true,
                cell: ({ balance }) => <Amount value={balance} places={8} align />,
              },
              { name: 'Note', cell: ({ text }) => <span className="wrap small">{text}</span> },
              { name: 'Line', cell: ({ id }) => <Copyable value={id} what="line id" /> },
            ]}
            rows={lines}
            rowKey={({ id, currency: of }) => `${id} ${of}`}
            empty={
              <Empty>
                {currency === null && type === '' && from === '' && to === ''
                  ? 'Nothing has moved yet.'
                  : 'Nothing fits this filter.'}
              </Empty>
            }
            more={
              book.hasNextPage ? (
                <div className="more">
                  <Button
                    size="xs"
                    variant="subtle"
                    loading={book.isFetchingNextPage}
                    onClick={() => void book.fetchNextPage()}
                  >
                    Older ones
                  </Button>
                </div>
              ) : null
            }
          />
        )}
      </Card>
    </Page>
  )
}
