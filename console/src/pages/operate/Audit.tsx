import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { csv } from '../../lib/csv.ts'
import { download } from '../../lib/download.ts'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Json } from './common.tsx'

const PAGE = 500

export function Audit(): React.JSX.Element {
  const [from, setFrom] = useState(1)
  const [words, setWords] = useState('')
  const list = useShared(
    ['operate', 'audit', from],
    () => call('GET /operator/v1/audit', { query: { from, limit: PAGE } }),
    { stale: 2_000 },
  )
  const found = (list.data ?? [])
    .filter(({ operator, action, detail }) =>
      `${operator} ${action} ${JSON.stringify(detail)}`.toLowerCase().includes(words.toLowerCase()),
    )
    .reverse()
  return (
    <Page
      title="Audit log"
      lead="What operators did. Each record carries the hash of the one before it, so that none can go or change unnoticed."
      actions={
        <Button
          variant="default"
          disabled={found.length === 0}
          onClick={() =>
            download(
              'audit.csv',
              'text/csv',
              csv(
                ['id', 'time', 'operator', 'action', 'detail', 'hash'],
                found.map(({ id, at, operator, action, detail, hash }) => [
                  String(id),
                  at,
                  operator,
                  action,
                  JSON.stringify(detail),
                  hash,
                ]),
              ),
            )
          }
        >
          CSV
        </Button>
      }
    >
      <Card
        flush
        label="Records"
        title={
          <TextInput
            aria-label="Find in this page of records"
            placeholder="find: name, action, anything within"
            w={300}
            maw="100%"
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
          />
        }
        actions={
          <>
            <Button
              size="xs"
              variant="subtle"
              disabled={from <= 1}
              onClick={() => setFrom(Math.max(1, from - PAGE))}
            >
              Older
            </Button>
            <Button
              size="xs"
              variant="subtle"
              disabled={(list.data?.length ?? 0) < PAGE}
              onClick={() => setFrom((list.data?.at(-1)?.id ?? from) + 1)}
            >
              Newer
            </Button>
          </>
        }
      >
        <Loaded of={list}>
          {() => (
            <Table
              label="Records"
              rows={found}
              rowKey={({ id }) => id}
              empty={<Empty>{words === '' ? 'Nobody has done anything yet.' : 'No record says that.'}</Empty>}
              columns={[
                { name: 'id', cell: ({ id }) => <span className="num">{id}</span> },
                { name: 'time', cell: ({ time }) => <Time at={time} /> },
                { name: 'who', cell: ({ operator }) => operator },
                { name: 'what', cell: ({ action }) => <b>{action}</b> },
                {
                  name: 'detail',
                  cell: ({ detail }) => (
                    <details>
                      <summary className="mono small">{ends(JSON.stringify(detail), 28)}</summary>
                      <Json of={detail} />
                    </details>
                  ),
                },
                {
                  name: 'hash',
                  cell: ({ hash }) => <Copyable value={hash} shown={hash.slice(0, 8)} what="the hash" />,
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  )
}
