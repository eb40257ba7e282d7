import { call, type Reply } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { percent } from '../../lib/decimal.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { EditButton, type EditField } from '../../parts/EditButton.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Verdict, useMay } from './common.tsx'

type Contract = Reply<'GET /operator/v1/contracts'>[number]
const FIELDS: readonly EditField[] = [
  { member: 'order_price_deviate', label: 'Furthest price from the mark, as a share', kind: 'decimal' },
  { member: 'order_size_max', label: 'Most contracts in an order', kind: 'whole' },
  { member: 'market_order_slip_ratio', label: 'Slippage of market orders, as a share', kind: 'decimal' },
  { member: 'orders_limit', label: 'Most open orders of an account', kind: 'whole' },
  { member: 'funding_rate_limit', label: 'Largest funding rate, as a share', kind: 'decimal' },
  { member: 'leverage_max', label: 'Most leverage', kind: 'decimal' },
]
const REFRESH = [['shared', 'operate', 'contracts']] as const
const pathOf = ({ group, settle, name }: Contract) => ({
  group: group as 'futures' | 'delivery',
  settle,
  contract: name,
})

export function Contracts(): React.JSX.Element {
  const may = useMay('operator')
  const query = useShared(['operate', 'contracts'], () => call('GET /operator/v1/contracts'), {
    every: 10_000,
  })
  return (
    <Card flush title="Contracts">
      <Loaded of={query}>
        {(rows) => (
          <Table
            label="Contracts"
            rows={rows}
            rowKey={({ group, settle, name }) => `${group} ${settle} ${name}`}
            empty={<Empty>There is no contract.</Empty>}
            columns={[
              {
                name: 'contract',
                cell: ({ group, settle, name }) => (
                  <span>
                    <b>{name}</b> <span className="dim small">{`${group} ${settle}`}</span>
                  </span>
                ),
              },
              {
                name: 'fees',
                right: true,
                cell: ({ maker_fee_rate, taker_fee_rate }) =>
                  `${percent(maker_fee_rate, 3)} / ${percent(taker_fee_rate, 3)}`,
              },
              { name: 'leverage', right: true, cell: ({ leverage_max }) => `${leverage_max}×` },
              { name: 'order at most', right: true, cell: ({ order_size_max }) => order_size_max },
              {
                name: 'from the mark',
                right: true,
                cell: ({ order_price_deviate }) => `± ${percent(order_price_deviate, 1)}`,
              },
              { name: 'tiers', right: true, cell: ({ tiers }) => tiers.length },
              {
                name: 'state',
                cell: ({ status }) => (
                  <Verdict well={status === 'trading'}>{status.replaceAll('_', ' ')}</Verdict>
                ),
              },
              {
                name: 'change',
                quiet: true,
                right: true,
                cell: (row) => <Buttons row={row} may={may} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
function Buttons({
  row,
  may,
}: {
  readonly row: Contract
  readonly may: string | undefined
}): React.JSX.Element {
  const halted = row.status === 'circuit_breaker'
  return (
    <div className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
      <EditButton
        title={`Change ${row.name}`}
        fields={
          row.group === 'futures' ? FIELDS : FIELDS.filter(({ member }) => member !== 'funding_rate_limit')
        }
        now={row}
        why={may}
        refresh={REFRESH}
        save={(body) =>
          call('PATCH /operator/v1/contracts/{group}/{settle}/{contract}', { path: pathOf(row), body })
        }
      />
      {halted || row.status === 'trading' ? (
        <ActionButton
          label={halted ? 'Resume' : 'Halt'}
          color={halted ? 'teal' : 'red'}
          disabled={may !== undefined}
          why={may}
          refresh={REFRESH}
          {...(!halted && { type: { text: row.name, what: `Type ${row.name} to halt it` } })}
          act={() =>
            call('PATCH /operator/v1/contracts/{group}/{settle}/{contract}', {
              path: pathOf(row),
              body: { status: halted ? 'trading' : 'circuit_breaker' },
            })
          }
        >
          {halted
            ? 'Orders are taken and matched again.'
            : 'No orders and no matching in this contract; orders that wait can be cancelled.'}
        </ActionButton>
      ) : null}
    </div>
  )
}
