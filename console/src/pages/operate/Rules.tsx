import { Button, Tabs, Textarea } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { client, useShared } from '../../api/query.ts'
import { ActionButton, tellDone } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { EditButton, type EditField } from '../../parts/EditButton.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Failed, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Verdict, useMay } from './common.tsx'

export function Rules(): React.JSX.Element {
  return (
    <Page
      title="Rules"
      lead="Currencies, chains, markets, prices and the policy of withdrawals. In live mode what guards money waits for a second person."
    >
      <Tabs defaultValue="currencies" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="currencies">Currencies</Tabs.Tab>
          <Tabs.Tab value="chains">Chains</Tabs.Tab>
          <Tabs.Tab value="markets">Markets</Tabs.Tab>
          <Tabs.Tab value="prices">Prices</Tabs.Tab>
          <Tabs.Tab value="policy">Policy</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="currencies" pt="md">
          <Currencies />
        </Tabs.Panel>
        <Tabs.Panel value="chains" pt="md">
          <Chains />
        </Tabs.Panel>
        <Tabs.Panel value="markets" pt="md">
          <Markets />
        </Tabs.Panel>
        <Tabs.Panel value="prices" pt="md">
          <Prices />
        </Tabs.Panel>
        <Tabs.Panel value="policy" pt="md">
          <Policy />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

const CURRENCY_FIELDS: readonly EditField[] = [
  { member: 'deposit_enabled', label: 'Deposits are taken', kind: 'flag' },
  { member: 'withdraw_enabled', label: 'Withdrawals are sent', kind: 'flag' },
  { member: 'withdraw_day_limit', label: 'An account withdraws at most a day', kind: 'decimal' },
  { member: 'withdraw_eachtime_limit', label: 'And at most at once', kind: 'decimal' },
  { member: 'approval_amount', label: 'From this amount on operators approve', kind: 'decimal' },
  { member: 'approvals', label: 'How many of them', kind: 'whole' },
]
function Currencies(): React.JSX.Element {
  const may = useMay('operator')
  const query = useShared(['operate', 'currencies'], () => call('GET /operator/v1/currencies'))
  const refresh = [['shared', 'operate', 'currencies']] as const
  return (
    <Card flush label="Currencies">
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Currencies"
            rows={rows}
            rowKey={({ currency }) => currency}
            empty={<Empty>There is no currency.</Empty>}
            columns={[
              {
                name: 'currency',
                cell: ({ currency, name }) => (
                  <span>
                    <b>{currency}</b> <span className="dim">{name}</span>
                  </span>
                ),
              },
              {
                name: 'status',
                cell: ({ status }) => <Status of={status === 'listed' ? 'normal' : status} />,
              },
              {
                name: 'deposits',
                cell: ({ deposit_enabled: on }) => <Verdict well={on}>{on ? 'open' : 'closed'}</Verdict>,
              },
              {
                name: 'withdrawals',
                cell: ({ withdraw_enabled: on }) => <Verdict well={on}>{on ? 'open' : 'closed'}</Verdict>,
              },
              {
                name: 'a day',
                right: true,
                cell: ({ withdraw_day_limit }) => <Amount value={withdraw_day_limit} />,
              },
              {
                name: 'approvals',
                right: true,
                cell: ({ approvals, approval_amount }) => (
                  <span>
                    {approvals} from <Amount value={approval_amount} />
                  </span>
                ),
              },
              { name: 'chains', cell: ({ chains }) => chains.map(({ chain }) => chain).join(', ') },
              {
                name: 'change',
                quiet: true,
                right: true,
                cell: (row) => (
                  <EditButton
                    title={`Change ${row.currency}`}
                    fields={CURRENCY_FIELDS}
                    now={row}
                    why={may}
                    refresh={refresh}
                    save={(body) =>
                      call('PATCH /operator/v1/currencies/{currency}', {
                        path: { currency: row.currency },
                        body,
                      })
                    }
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}

const CHAIN_FIELDS: readonly EditField[] = [
  { member: 'paused', label: 'Paused: nothing is sent, nothing is credited', kind: 'flag' },
  { member: 'min_confirms', label: 'Credited after so many blocks', kind: 'whole' },
  { member: 'unlock_confirms', label: 'Free after so many blocks', kind: 'whole' },
  { member: 'send_delay_seconds', label: 'Withdrawals wait so many seconds', kind: 'whole' },
]
function Chains(): React.JSX.Element {
  const may = useMay('operator')
  const query = useShared(['operate', 'chains'], () => call('GET /operator/v1/chains'), {
    every: 10_000,
    stale: 2_000,
  })
  return (
    <Card flush label="Chains">
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Chains"
            rows={rows}
            rowKey={({ chain }) => chain}
            empty={<Empty>There is no chain.</Empty>}
            columns={[
              {
                name: 'chain',
                cell: ({ chain, name_en }) => (
                  <span>
                    <b>{chain}</b> <span className="dim">{name_en}</span>
                  </span>
                ),
              },
              { name: 'kind', cell: ({ kind }) => kind },
              { name: 'height', right: true, cell: ({ height }) => height },
              { name: 'credited after', right: true, cell: ({ min_confirms }) => min_confirms },
              { name: 'free after', right: true, cell: ({ unlock_confirms }) => unlock_confirms },
              {
                name: 'state',
                cell: ({ paused, hot_wallet_error }) => (
                  <Verdict well={!paused && hot_wallet_error === ''}>
                    {paused ? 'paused' : hot_wallet_error === '' ? 'works' : hot_wallet_error}
                  </Verdict>
                ),
              },
              {
                name: 'change',
                quiet: true,
                right: true,
                cell: (row) => (
                  <EditButton
                    title={`Change ${row.chain}`}
                    fields={CHAIN_FIELDS}
                    now={row}
                    why={may}
                    refresh={[['shared', 'operate', 'chains']]}
                    save={(body) =>
                      call('PATCH /operator/v1/chains/{chain}', { path: { chain: row.chain }, body })
                    }
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}

type Market = Reply<'GET /operator/v1/markets'>[number]
const MARKET_FIELDS: readonly EditField[] = [
  { member: 'trade_status', label: 'Who may trade', kind: ['untradable', 'buyable', 'sellable', 'tradable'] },
  { member: 'fee', label: 'Fee in per cent', kind: 'decimal' },
  { member: 'min_base_amount', label: 'Least amount', kind: 'decimal' },
  { member: 'min_quote_amount', label: 'Least worth', kind: 'decimal' },
  { member: 'max_base_amount', label: 'Most amount', kind: 'decimal' },
  { member: 'max_quote_amount', label: 'Most worth', kind: 'decimal' },
  { member: 'up_rate', label: 'Highest price, times the last', kind: 'decimal' },
  { member: 'down_rate', label: 'Lowest price, times the last', kind: 'decimal' },
]
function Markets(): React.JSX.Element {
  const may = useMay('operator')
  const query = useShared(['operate', 'markets'], () => call('GET /operator/v1/markets'))
  const status = useShared(['operate', 'status'], () => call('GET /operator/v1/status'), {
    every: 5_000,
    stale: 1_000,
  })
  const refresh = [
    ['shared', 'operate', 'markets'],
    ['shared', 'operate', 'status'],
  ] as const
  const halted = new Set(status.data?.markets_halted ?? [])
  const all = status.data?.halted !== null && status.data?.halted !== undefined
  return (
    <Card
      flush
      label="Markets"
      title="Markets"
      actions={
        <ActionButton
          label={all ? 'Resume all' : 'Halt all'}
          color={all ? 'teal' : 'red'}
          disabled={may !== undefined}
          why={may}
          reason={all ? 'asked' : 'needed'}
          refresh={refresh}
          act={(reason) =>
            all
              ? call('POST /operator/v1/markets/resume', { body: { reason } })
              : call('POST /operator/v1/markets/halt', { body: { reason } })
          }
        >
          {all
            ? 'Orders are taken and matched again.'
            : 'No market takes orders or matches; those that wait can be cancelled.'}
        </ActionButton>
      }
    >
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Markets"
            rows={rows}
            rowKey={({ id }) => id}
            empty={<Empty>There is no market.</Empty>}
            columns={[
              { name: 'market', cell: ({ id }) => <b>{id}</b> },
              { name: 'fee', right: true, cell: ({ fee }) => `${fee} %` },
              {
                name: 'least',
                right: true,
                cell: ({ min_base_amount, base, min_quote_amount, quote }) => (
                  <span>
                    <Amount value={min_base_amount} currency={base} /> /{' '}
                    <Amount value={min_quote_amount} currency={quote} />
                  </span>
                ),
              },
              {
                name: 'price bounds',
                right: true,
                cell: ({ up_rate, down_rate }) => `× ${down_rate} to ${up_rate}`,
              },
              { name: 'state', cell: (row) => <MarketState of={row} halted={halted.has(row.id)} /> },
              {
                name: 'change',
                quiet: true,
                right: true,
                cell: (row) => (
                  <div className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
                    <EditButton
                      title={`Change ${row.id}`}
                      fields={MARKET_FIELDS}
                      now={row}
                      why={may}
                      refresh={refresh}
                      save={(body) =>
                        call('PATCH /operator/v1/markets/{currency_pair}', {
                          path: { currency_pair: row.id },
                          body,
                        })
                      }
                    />
                    <ActionButton
                      label={halted.has(row.id) ? 'Resume' : 'Halt'}
                      disabled={may !== undefined}
                      why={may}
                      reason="asked"
                      refresh={refresh}
                      act={(reason) => {
                        const path = { currency_pair: row.id }
                        const body = { reason }
                        return halted.has(row.id)
                          ? call('POST /operator/v1/markets/{currency_pair}/resume', { path, body })
                          : call('POST /operator/v1/markets/{currency_pair}/halt', { path, body })
                      }}
                    >
                      {halted.has(row.id)
                        ? 'Orders are taken and matched again.'
                        : 'No orders and no matching in this market.'}
                    </ActionButton>
                  </div>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
function MarketState({ of, halted }: { readonly of: Market; readonly halted: boolean }): React.JSX.Element {
  if (halted) return <Verdict well={false}>halted</Verdict>
  return <Verdict well={of.trade_status === 'tradable'}>{of.trade_status}</Verdict>
}

function Prices(): React.JSX.Element {
  const may = useMay('operator')
  const query = useShared(['operate', 'prices'], () => call('GET /operator/v1/prices'), {
    every: 5_000,
    stale: 1_000,
  })
  const refresh = [['shared', 'operate', 'prices']] as const
  return (
    <Card flush label="Prices">
      <Loaded of={query}>
        {(prices) => (
          <Table
            label="Prices"
            rows={Object.entries(prices)}
            rowKey={([currency]) => currency}
            empty={<Empty>Nothing has a price.</Empty>}
            columns={[
              { name: 'currency', cell: ([currency]) => <b>{currency}</b> },
              {
                name: 'index price in USDT',
                right: true,
                cell: ([, { price, source }]) =>
                  source === 'none' ? (
                    <span className="wait">no trusted source</span>
                  ) : (
                    <Amount value={price} />
                  ),
              },
              { name: 'from', cell: ([, { source }]) => source },
              {
                name: 'last trade',
                right: true,
                cell: ([, { last }]) => <Amount value={last === '' ? null : last} />,
              },
              { name: 'fixed until', cell: ([, { expires }]) => <Time at={expires} /> },
              {
                name: 'change',
                quiet: true,
                right: true,
                cell: ([currency, { price, source }]) => (
                  <div className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
                    <EditButton
                      title={`Fix the price of ${currency}`}
                      label="Fix"
                      fields={[
                        {
                          member: currency,
                          label: 'Index price in USDT',
                          kind: 'decimal',
                          help: 'Loans are judged by it at once: liquidations may follow.',
                        },
                        {
                          member: 'hours',
                          label: 'For how many hours',
                          kind: 'whole',
                          help: 'Empty: until it is changed.',
                        },
                      ]}
                      now={{ [currency]: price, hours: '' }}
                      why={may}
                      refresh={refresh}
                      save={async ({ hours, ...body }) => {
                        const { now } = await call('GET /operator/v1/clock')
                        const until =
                          typeof hours === 'number' && hours > 0 ? Math.floor(now) + hours * 3600 : undefined
                        return call('PUT /operator/v1/prices', {
                          body: { ...body, ...(until !== undefined && { expires: until }) },
                        })
                      }}
                    />
                    {source === 'operator' ? (
                      <ActionButton
                        label="Release"
                        disabled={may !== undefined}
                        why={may}
                        refresh={refresh}
                        act={() => call('PUT /operator/v1/prices', { body: { [currency]: null } })}
                      >
                        {currency} takes its price from its ordinary source again.
                      </ActionButton>
                    ) : null}
                  </div>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}

function Policy(): React.JSX.Element {
  const may = useMay('admin')
  const query = useShared(['operate', 'policy'], () => call('GET /operator/v1/policy'))
  const [draft, setDraft] = useState<string | undefined>(undefined)
  const [tried, setTried] = useState<Reply<'POST /operator/v1/policy/dry_run'> | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  const text = draft ?? JSON.stringify(query.data ?? {}, null, 2)
  let parsed: Record<string, unknown> | undefined
  try {
    parsed = JSON.parse(text) as Record<string, unknown>
  } catch {
    parsed = undefined
  }
  const attempt = async (act: (policy: Record<string, unknown>) => Promise<void>): Promise<void> => {
    setError(undefined)
    try {
      await act(parsed!)
    } catch (caught) {
      setError(caught)
    }
  }
  return (
    <div className="cols-2">
      <Card title="Policy of withdrawals">
        <Loaded of={query}>
          {() => (
            <div className="stack">
              <Textarea
                aria-label="The policy as JSON"
                classNames={{ input: 'mono' }}
                autosize
                minRows={14}
                maxRows={30}
                spellCheck={false}
                value={text}
                onChange={(event) => {
                  setDraft(event.currentTarget.value)
                  setTried(undefined)
                }}
                error={parsed === undefined ? 'this is no JSON' : undefined}
              />
              {error === undefined ? null : <Failed error={error} />}
              <div className="row">
                <Button
                  variant="default"
                  disabled={parsed === undefined}
                  onClick={() =>
                    void attempt(async (policy) =>
                      setTried(await call('POST /operator/v1/policy/dry_run', { body: { policy } })),
                    )
                  }
                >
                  Try it on what was withdrawn
                </Button>
                <Button
                  disabled={parsed === undefined || draft === undefined || may !== undefined}
                  title={may}
                  onClick={() =>
                    void attempt(async (policy) => {
                      tellDone(
                        await call('PUT /operator/v1/policy', { body: policy }),
                        'The policy is in force',
                      )
                      setDraft(undefined)
                      await client.invalidateQueries({ queryKey: ['shared', 'operate', 'policy'] })
                    })
                  }
                >
                  Put it in force
                </Button>
                <Button variant="subtle" disabled={draft === undefined} onClick={() => setDraft(undefined)}>
                  As it is
                </Button>
              </div>
            </div>
          )}
        </Loaded>
      </Card>
      <Card title="What it would have changed" flush>
        {tried === undefined ? (
          <Empty>
            Change the policy and try it: withdrawals of the past that it would treat differently stand here.
          </Empty>
        ) : (
          <Table
            label="What it would have changed"
            rows={tried.changed}
            rowKey={({ id }) => id}
            empty={<Empty>{tried.judged} withdrawals were judged; none would be treated differently.</Empty>}
            columns={[
              { name: 'id', cell: ({ id }) => id },
              { name: 'account', cell: ({ user_id }) => user_id },
              {
                name: 'amount',
                right: true,
                cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
              },
              { name: 'now', cell: ({ now }) => holdsText(now) },
              { name: 'then', cell: ({ draft: then }) => holdsText(then) },
            ]}
          />
        )}
      </Card>
    </div>
  )
}
const holdsText = (holds: readonly { status: string; reason: string }[]): string =>
  holds.length === 0 ? 'goes at once' : holds.map(({ status, reason }) => `${status}: ${reason}`).join('; ')
