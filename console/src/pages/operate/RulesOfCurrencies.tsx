import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { Amount } from '../../parts/Amount.tsx'
import { EditButton, type EditField } from '../../parts/EditButton.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Verdict, useMay } from './common.tsx'

const CURRENCY_FIELDS: readonly EditField[] = [
  { member: 'deposit_enabled', label: 'Deposits are taken', kind: 'flag' },
  { member: 'withdraw_enabled', label: 'Withdrawals are sent', kind: 'flag' },
  { member: 'withdraw_day_limit', label: 'An account withdraws at most a day', kind: 'decimal' },
  { member: 'withdraw_eachtime_limit', label: 'And at most at once', kind: 'decimal' },
  { member: 'approval_amount', label: 'From this amount on operators approve', kind: 'decimal' },
  { member: 'approvals', label: 'How many of them', kind: 'whole' },
]
export function Currencies(): React.JSX.Element {
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
