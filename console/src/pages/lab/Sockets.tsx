import { call } from '../../api/client.ts'
import { useOwn, useSession, useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'

export function Sockets(): React.JSX.Element {
  const session = useSession()
  const operator = session?.operator ?? null
  const account = session?.account ?? null
  const sockets = useShared(
    ['lab', 'sockets', operator?.name],
    () => (operator === null ? call('GET /console/v1/sockets') : call('GET /operator/v1/sockets')),
    { every: 1_000, stale: 500 },
  )
  const limits = useOwn(['limits'], () => call('GET /console/v1/limits'), {
    every: 1_000,
    stale: 500,
    enabled: account !== null,
  })
  return (
    <Page
      title="Sockets and limits"
      lead="Who is connected, what flows, and how much of each rate window is left."
    >
      <Card title="Sockets" flush>
        <Loaded of={sockets}>
          {(rows) => (
            <Table
              label="Sockets"
              rows={rows}
              rowKey={({ conn_id }) => conn_id}
              empty={<Empty>Nobody is connected. Try: npx kontor watch spot.trades BTC_USDT</Empty>}
              columns={[
                {
                  name: 'connection',
                  cell: ({ conn_id }) => <Copyable value={conn_id} what="the connection" />,
                },
                { name: 'product', cell: ({ product }) => product },
                { name: 'from', cell: ({ ip }) => ip },
                {
                  name: 'accounts',
                  cell: ({ user_ids }) => (user_ids.length === 0 ? '–' : user_ids.join(', ')),
                },
                { name: 'since', cell: ({ since }) => <Time at={since} form="relative" /> },
                { name: 'subscriptions', right: true, cell: ({ subscriptions }) => subscriptions },
                { name: 'frames in', right: true, cell: ({ frames_in }) => frames_in },
                { name: 'frames out', right: true, cell: ({ frames_out }) => frames_out },
                { name: 'bytes waiting', right: true, cell: ({ queue_bytes }) => queue_bytes },
                {
                  name: 'cut',
                  quiet: true,
                  right: true,
                  cell: ({ conn_id }) =>
                    operator === null ? null : (
                      <ActionButton
                        label="Close"
                        color="red"
                        refresh={[['shared', 'lab', 'sockets']]}
                        act={() => call('DELETE /operator/v1/sockets/{conn_id}', { path: { conn_id } })}
                        done="The connection is closed"
                      >
                        Its client sees a close with the code 1008, as it would if an operator threw it out.
                      </ActionButton>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {account === null ? null : (
        <Card title="Rate windows in use" flush>
          <Loaded of={limits}>
            {(rows) => (
              <Table
                label="Rate windows in use"
                rows={rows}
                rowKey={({ bucket, market }) => `${bucket} ${market}`}
                empty={<Empty>No window is in use: none of your keys has called just now.</Empty>}
                columns={[
                  { name: 'window', cell: ({ bucket }) => <span className="mono">{bucket}</span> },
                  { name: 'market', cell: ({ market }) => (market === '' ? '–' : market) },
                  {
                    name: 'used',
                    cell: ({ limit, remain }) => (
                      <div className="meter" style={{ minWidth: 120 }} aria-hidden>
                        <i style={{ width: `${Math.min(100, ((limit - remain) / limit) * 100)}%` }} />
                      </div>
                    ),
                  },
                  { name: 'left', right: true, cell: ({ remain, limit }) => `${remain} of ${limit}` },
                  { name: 'in', right: true, cell: ({ seconds }) => `${seconds} s` },
                  { name: 'free again', cell: ({ reset }) => <Time at={reset} /> },
                ]}
              />
            )}
          </Loaded>
        </Card>
      )}
    </Page>
  )
}
