import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { EditButton, type EditField } from '../../parts/EditButton.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Verdict, useMay } from './common.tsx'

const CHAIN_FIELDS: readonly EditField[] = [
  { member: 'paused', label: 'Paused: nothing is sent, nothing is credited', kind: 'flag' },
  { member: 'min_confirms', label: 'Credited after so many blocks', kind: 'whole' },
  { member: 'unlock_confirms', label: 'Free after so many blocks', kind: 'whole' },
  { member: 'send_delay_seconds', label: 'Withdrawals wait so many seconds', kind: 'whole' },
]
export function Chains(): React.JSX.Element {
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
