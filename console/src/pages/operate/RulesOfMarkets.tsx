import { call, type Reply } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { EditButton, type EditField } from '../../parts/EditButton.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Verdict, useMay } from './common.tsx'

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
export function Markets(): React.JSX.Element {
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
