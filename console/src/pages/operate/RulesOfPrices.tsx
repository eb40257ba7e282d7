import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { EditButton } from '../../parts/EditButton.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useMay } from './common.tsx'

export function Prices(): React.JSX.Element {
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
