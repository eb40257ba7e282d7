import { Tabs } from '@mantine/core'
import { call } from '../../api/client.ts'
import { useOwn } from '../../api/query.ts'
import { percent } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'

export function Records(): React.JSX.Element {
  const loans = useOwn(['unified-loans'], () => call('GET /api/v4/unified/loans', { query: {} }), {
    every: 10_000,
  })
  const records = useOwn(['unified-records'], () => call('GET /api/v4/unified/loan_records', { query: {} }))
  const interest = useOwn(['unified-interest'], () =>
    call('GET /api/v4/unified/interest_records', { query: {} }),
  )
  return (
    <section className="card" aria-label="Loans">
      <Tabs defaultValue="loans" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="loans">Loans</Tabs.Tab>
          <Tabs.Tab value="records">Borrowed and repaid</Tabs.Tab>
          <Tabs.Tab value="interest">Interest</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="loans">
          <Loaded of={loans}>
            {(list) => (
              <Table
                label="Loans"
                columns={[
                  { name: 'Currency', cell: ({ currency }) => <b>{currency}</b> },
                  { name: 'Amount', right: true, cell: ({ amount }) => <Amount value={amount} /> },
                  { name: 'Kind', cell: ({ type }) => type },
                  { name: 'Since', cell: ({ create_time }) => <Time at={create_time} form="minute" /> },
                ]}
                rows={list}
                rowKey={({ currency, type, currency_pair }) => `${currency} ${type} ${currency_pair}`}
                mark={({ amount }) => amount}
                empty={<Empty>Nothing is borrowed.</Empty>}
              />
            )}
          </Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="records">
          <Loaded of={records}>
            {(list) => (
              <Table
                label="Borrowed and repaid"
                columns={[
                  { name: 'Time', cell: ({ create_time }) => <Time at={create_time} /> },
                  {
                    name: 'What',
                    cell: ({ type, repayment_type }) =>
                      repayment_type === '' || repayment_type === 'none'
                        ? type
                        : `${type}, ${repayment_type.replaceAll('_', ' ')}`,
                  },
                  {
                    name: 'Amount',
                    right: true,
                    cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
                  },
                ]}
                rows={list}
                rowKey={({ id }) => id}
                empty={<Empty>Nothing was borrowed yet.</Empty>}
              />
            )}
          </Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="interest">
          <Loaded of={interest}>
            {(list) => (
              <Table
                label="Interest"
                columns={[
                  { name: 'Time', cell: ({ create_time }) => <Time at={create_time} form="minute" /> },
                  {
                    name: 'Interest',
                    right: true,
                    cell: ({ interest: amount, currency }) => <Amount value={amount} currency={currency} />,
                  },
                  {
                    name: 'Rate by the hour',
                    right: true,
                    cell: ({ actual_rate }) => <span className="num">{percent(actual_rate, 6)}</span>,
                  },
                  { name: 'State', cell: ({ status }) => (status === 1 ? 'charged' : 'failed') },
                ]}
                rows={list}
                rowKey={({ create_time, currency, type }) => `${create_time} ${currency} ${type}`}
                empty={<Empty>No interest was charged yet.</Empty>}
              />
            )}
          </Loaded>
        </Tabs.Panel>
      </Tabs>
    </section>
  )
}
