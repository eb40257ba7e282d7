import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Json, useMay } from './common.tsx'
import type { Of } from './common.tsx'

export function Orders({ uid }: Of): React.JSX.Element {
  const may = useMay('operator')
  const key = ['operate', 'user', uid, 'orders']
  const query = useShared(
    key,
    () => call('GET /operator/v1/orders', { query: { user_id: uid, limit: 200 } }),
    { every: 3_000, stale: 1_000 },
  )
  return (
    <Card
      flush
      label="Open orders"
      title="Open orders"
      actions={
        <ActionButton
          label="Cancel all"
          color="red"
          disabled={may !== undefined || (query.data?.length ?? 0) === 0}
          why={may}
          refresh={[['shared', ...key]]}
          act={() => call('DELETE /operator/v1/orders', { query: { user_id: uid } })}
        >
          Every open order of account {uid} is cancelled; what they hold is free again.
        </ActionButton>
      }
    >
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Open orders"
            rows={rows}
            rowKey={({ id }) => id}
            empty={<Empty>No order is open.</Empty>}
            columns={[
              { name: 'time', cell: ({ create_time_ms }) => <Time at={create_time_ms} /> },
              { name: 'market', cell: ({ currency_pair }) => currency_pair },
              { name: 'side', cell: ({ side }) => side },
              { name: 'price', right: true, cell: ({ price }) => <Amount value={price} /> },
              { name: 'left', right: true, cell: ({ left }) => <Amount value={left} /> },
              { name: 'account', cell: ({ account }) => account },
              { name: 'id', cell: ({ id }) => <Copyable value={id} what="the id" /> },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
export function Withdrawals({ uid }: Of): React.JSX.Element {
  const query = useShared(['operate', 'user', uid, 'withdrawals'], () =>
    call('GET /operator/v1/withdrawals', { query: { user_id: uid, limit: 100 } }),
  )
  return (
    <Card flush label="Withdrawals">
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Withdrawals"
            rows={rows}
            rowKey={({ id }) => id}
            empty={<Empty>Nothing was withdrawn yet.</Empty>}
            columns={[
              { name: 'time', cell: ({ timestamp }) => <Time at={timestamp} /> },
              { name: 'id', cell: ({ id }) => id },
              {
                name: 'amount',
                right: true,
                cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
              },
              { name: 'chain', cell: ({ chain }) => chain },
              {
                name: 'to',
                cell: ({ address }) => <Copyable value={address} shown={ends(address)} what="the address" />,
              },
              { name: 'status', cell: ({ status }) => <Status of={status} /> },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
export function Keys({ uid }: Of): React.JSX.Element {
  const may = useMay('operator')
  const key = ['operate', 'user', uid, 'keys']
  const query = useShared(key, () => call('GET /operator/v1/users/{uid}/keys', { path: { uid } }))
  return (
    <Card flush label="Keys">
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Keys"
            rows={rows}
            rowKey={({ key: name }) => name}
            empty={<Empty>The account has no API key.</Empty>}
            columns={[
              { name: 'name', cell: ({ name }) => (name === '' ? '–' : name) },
              {
                name: 'key',
                cell: ({ key: name }) => <Copyable value={name} shown={ends(name)} what="the key" />,
              },
              {
                name: 'may',
                cell: ({ perms }) =>
                  perms.map(({ name, read_only }) => (read_only ? `${name} (read)` : name)).join(', '),
              },
              {
                name: 'from',
                cell: ({ ip_whitelist }) =>
                  ip_whitelist.length === 0 ? 'anywhere' : ip_whitelist.join(', '),
              },
              { name: 'last used', cell: ({ last_access }) => <Time at={last_access} form="relative" /> },
              { name: 'state', cell: ({ state }) => <Status of={state === 1 ? 'normal' : 'locked'} /> },
              {
                name: 'decide',
                quiet: true,
                right: true,
                cell: ({ key: name, state }) => (
                  <ActionButton
                    label={state === 1 ? 'Disable' : 'Enable'}
                    disabled={may !== undefined}
                    why={may}
                    refresh={[['shared', ...key]]}
                    act={() =>
                      call('PATCH /operator/v1/users/{uid}/keys/{key}', {
                        path: { uid, key: name },
                        body: { state: state === 1 ? 2 : 1 },
                      })
                    }
                  >
                    {state === 1
                      ? 'Calls with this key are refused from now on, and its sockets are closed.'
                      : 'Calls with this key are taken again.'}
                  </ActionButton>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
export function Risk({ uid }: Of): React.JSX.Element {
  const explained = useShared(['operate', 'user', uid, 'risk'], () =>
    call('GET /operator/v1/users/{uid}/risk/explain', { path: { uid } }),
  )
  const steps = useShared(['operate', 'user', uid, 'liquidations'], () =>
    call('GET /operator/v1/users/{uid}/liquidations', { path: { uid }, query: { limit: 200 } }),
  )
  return (
    <div className="stack">
      <Card title="Figures" flush>
        <Loaded of={explained}>
          {({ figures, level, mode }) => (
            <Table
              label="Figures"
              rows={Object.entries(figures)}
              rowKey={([name]) => name}
              empty={<Empty>There is nothing to reckon.</Empty>}
              columns={[
                { name: `figure (${mode}, ${level})`, cell: ([name]) => name.replaceAll('_', ' ') },
                {
                  name: 'value',
                  right: true,
                  cell: ([, { value }]) => <Amount value={value} places={8} align />,
                },
                { name: 'how', cell: ([, { formula }]) => <span className="dim small">{formula}</span> },
              ]}
            />
          )}
        </Loaded>
      </Card>
      <Card title="Warnings and liquidations" flush>
        <Loaded of={steps}>
          {(rows) => (
            <Table
              label="Warnings and liquidations"
              rows={rows}
              rowKey={({ id }) => id}
              empty={<Empty>The account was never near its limits.</Empty>}
              columns={[
                { name: 'time', cell: ({ at }) => <Time at={at} /> },
                { name: 'scope', cell: ({ scope }) => scope },
                { name: 'step', cell: ({ step }) => <Status of={step} /> },
                {
                  name: 'amount',
                  right: true,
                  cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
                },
                {
                  name: 'detail',
                  cell: ({ detail }) => (
                    <details>
                      <summary>why</summary>
                      <Json of={detail} />
                    </details>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
    </div>
  )
}
