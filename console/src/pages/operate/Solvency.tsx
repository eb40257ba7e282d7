import { Button } from '@mantine/core'
import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { dec, sum } from '../../lib/decimal.ts'
import { download } from '../../lib/download.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Verdict } from './common.tsx'

const OWN = ['equity', 'fees', 'interest', 'network_fees', 'insurance', 'insurance:margin', 'lending.pool']

export function Solvency(): React.JSX.Element {
  const proof = useShared(
    ['operate', 'proof'],
    async () => ({ ...(await call('GET /operator/v1/ledger/proof')), seen: Date.now() }),
    { every: 15_000, stale: 5_000 },
  )
  const save = async (): Promise<void> => {
    try {
      const told = await call('GET /operator/v1/ledger/liabilities')
      download(`liabilities-${told.sequence}.json`, 'application/json', JSON.stringify(told, null, 1))
    } catch (error) {
      toastError(error)
    }
  }
  return (
    <Page
      title="Solvency"
      lead="What is owed to users, what is in custody, what is the platform's own; each currency adds up to zero, and the chains are asked."
      actions={
        <Button variant="default" onClick={() => void save()}>
          Download proof of liabilities
        </Button>
      }
    >
      <Loaded of={proof}>
        {({ balanced, reserves_match, currencies, reserves, sequence, state_hash, seen }) => (
          <>
            <Card>
              <div className="row between">
                <div role="status">
                  <Verdict well={balanced}>
                    {balanced ? 'balanced' : 'does not balance'} at sequence {sequence}, <Time at={seen} />
                  </Verdict>
                  {' · '}
                  <Verdict well={reserves_match}>
                    {reserves_match ? 'reserves match the chains' : 'reserves differ from the chains'}
                  </Verdict>
                </div>
                <Copyable value={state_hash} shown={ends(state_hash, 8)} what="the hash of the state" />
              </div>
            </Card>
            <Card title="Currencies" flush>
              <Table
                label="Currencies"
                rows={currencies}
                rowKey={({ currency }) => currency}
                empty={<Empty>Nothing was ever booked.</Empty>}
                columns={[
                  { name: 'currency', cell: ({ currency }) => <b>{currency}</b> },
                  {
                    name: 'owed to users',
                    right: true,
                    cell: ({ user_liabilities }) => <Amount value={user_liabilities} places={8} align />,
                  },
                  {
                    name: 'in custody',
                    right: true,
                    cell: ({ custody }) => <Amount value={custody} places={8} align />,
                  },
                  {
                    name: "platform's own",
                    right: true,
                    cell: ({ accounts }) => (
                      <Amount value={sum(OWN.map((name) => dec(accounts[name])))} places={8} align />
                    ),
                  },
                  {
                    name: 'sum',
                    right: true,
                    cell: ({ total }) => <Verdict well={dec(total) === 0n}>{total}</Verdict>,
                  },
                ]}
              />
            </Card>
            <Card title="Reserves" flush>
              <Table
                label="Reserves"
                rows={reserves}
                rowKey={({ chain, currency }) => `${chain} ${currency}`}
                empty={<Empty>No coins are in custody.</Empty>}
                columns={[
                  { name: 'chain', cell: ({ chain }) => <b>{chain}</b> },
                  { name: 'currency', cell: ({ currency }) => currency },
                  {
                    name: 'ledger says',
                    right: true,
                    cell: ({ custody }) => <Amount value={custody} places={8} align />,
                  },
                  {
                    name: 'in blocks, not booked yet',
                    right: true,
                    cell: ({ unbooked }) => <Amount value={unbooked} places={8} align />,
                  },
                  {
                    name: 'chain says',
                    right: true,
                    cell: ({ on_chain }) => <Amount value={on_chain} places={8} align />,
                  },
                  {
                    name: 'difference',
                    right: true,
                    cell: ({ difference, error }) =>
                      error === '' ? (
                        <Verdict well={difference === '0'}>{difference ?? '–'}</Verdict>
                      ) : (
                        <Verdict well={false}>{error}</Verdict>
                      ),
                  },
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  )
}
