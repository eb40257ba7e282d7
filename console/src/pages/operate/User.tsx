import { Button, Tabs, TextInput } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { download } from '../../lib/download.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Empty, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Json, UserLink, useMay } from './common.tsx'
import { stateWord } from './Users.tsx'

export function User(): React.JSX.Element {
  const { uid: text = '' } = useParams({ strict: false })
  const uid = Number(text)
  const path = { uid }
  const may = useMay('operator')
  const user = useShared(['operate', 'user', uid], () => call('GET /operator/v1/users/{uid}', { path }))
  const refresh = [['shared', 'operate', 'user', uid]] as const
  return (
    <Page
      title={`Account ${text}`}
      actions={
        <>
          <Export uid={uid} />
          <Loaded of={user} rows={1}>
            {({ state }) =>
              state === 2 ? (
                <ActionButton
                  label="Unfreeze"
                  disabled={may !== undefined}
                  why={may}
                  refresh={refresh}
                  act={() => call('PATCH /operator/v1/users/{uid}', { path, body: { state: 1 } })}
                >
                  The account can trade and withdraw again.
                </ActionButton>
              ) : (
                <ActionButton
                  label="Freeze"
                  color="red"
                  disabled={may !== undefined}
                  why={may}
                  type={{ text, what: `Type ${text}` }}
                  refresh={refresh}
                  act={() => call('PATCH /operator/v1/users/{uid}', { path, body: { state: 2 } })}
                >
                  Its orders are cancelled, its withdrawals that were not sent are stopped, its keys do
                  nothing until it is unfrozen.
                </ActionButton>
              )
            }
          </Loaded>
        </>
      }
    >
      <Loaded of={user}>
        {(row) => (
          <Card title={row.login_name}>
            <Facts
              of={[
                ['state', <Status key="s" of={stateWord(row.state)} />],
                ['email', row.email === '' ? '–' : row.email],
                ['main account', row.parent === 0 ? 'is one' : <UserLink id={row.parent} />],
                ['tier', `VIP ${row.vip}`],
                ['since', <Time key="t" at={row.create_time} />],
                ['takes pushes', row.push_acceptance],
                ['may withdraw a day', row.withdraw_day_limit ?? 'as everybody'],
              ]}
            />
          </Card>
        )}
      </Loaded>
      <Tabs defaultValue="balances" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="balances">Balances</Tabs.Tab>
          <Tabs.Tab value="statement">Statement</Tabs.Tab>
          <Tabs.Tab value="orders">Open orders</Tabs.Tab>
          <Tabs.Tab value="withdrawals">Withdrawals</Tabs.Tab>
          <Tabs.Tab value="keys">Keys</Tabs.Tab>
          <Tabs.Tab value="risk">Risk</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="balances" pt="md">
          <Balances uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="statement" pt="md">
          <Statement uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="orders" pt="md">
          <Orders uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="withdrawals" pt="md">
          <Withdrawals uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="keys" pt="md">
          <Keys uid={uid} />
        </Tabs.Panel>
        <Tabs.Panel value="risk" pt="md">
          <Risk uid={uid} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}
interface Of {
  readonly uid: number
}

/** Page after page, with how far it has got; leaving the page gives it up. */
function Export({ uid }: Of): React.JSX.Element {
  const may = useMay('operator')
  const [busy, setBusy] = useState<string | undefined>(undefined)
  const run = async (): Promise<void> => {
    try {
      setBusy('account')
      const whole: Record<string, unknown> = {
        ...(await call('GET /operator/v1/users/{uid}/export', { path: { uid } })),
      }
      let rows = 0
      for (const section of whole['sections'] as Section[]) {
        const all: unknown[] = []
        for (let after: string | null | undefined; after !== null;) {
          setBusy(`${section}, ${rows} records`)
          const page: Reply<'GET /operator/v1/users/{uid}/export/{section}'> = await call(
            'GET /operator/v1/users/{uid}/export/{section}',
            { path: { uid, section }, query: { limit: 5_000, ...(after !== undefined && { after }) } },
          )
          all.push(...page.rows)
          rows += page.rows.length
          after = page.next
        }
        whole[section] = all
      }
      delete whole['sections']
      download(`account-${uid}.json`, 'application/json', JSON.stringify(whole, null, 1))
      toast('The export is downloaded', `${rows} records; it is noted in the audit log.`)
    } catch (error) {
      toastError(error)
    } finally {
      setBusy(undefined)
    }
  }
  return (
    <Button
      size="xs"
      variant="default"
      disabled={may !== undefined || busy !== undefined}
      title={may}
      onClick={() => void run()}
    >
      {busy === undefined ? 'Export data' : `Reading ${busy} …`}
    </Button>
  )
}
type Section =
  | 'deposits'
  | 'withdrawals'
  | 'pushes_sent'
  | 'pushes_received'
  | 'sub_transfers'
  | 'small_balances'
  | 'finished_orders'
  | 'fills'
  | 'price_orders'
  | 'pov_orders'
  | 'loans'
  | 'interest'
  | 'liquidations'
  | 'ledger'

function Balances({ uid }: Of): React.JSX.Element {
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
function Statement({ uid }: Of): React.JSX.Element {
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

function Orders({ uid }: Of): React.JSX.Element {
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
function Withdrawals({ uid }: Of): React.JSX.Element {
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
function Keys({ uid }: Of): React.JSX.Element {
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
function Risk({ uid }: Of): React.JSX.Element {
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
