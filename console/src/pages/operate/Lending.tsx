import { Button, Select } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { percent } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { FormModal } from '../../parts/FormModal.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { useMay } from './common.tsx'
import { ContractFunds } from './ContractFunds.tsx'

type Pool = Reply<'GET /operator/v1/lending'>[number]

export function Lending(): React.JSX.Element {
  const may = useMay('admin')
  const pools = useShared(['operate', 'lending'], () => call('GET /operator/v1/lending'), {
    every: 10_000,
    stale: 2_000,
  })
  const [filling, setFilling] = useState<Pool | undefined>(undefined)
  return (
    <Page
      title="Lending and insurance"
      lead="What can be borrowed, what is lent, and the funds that cover what a liquidation could not. An account's liquidations stand on its own page."
    >
      <Card flush label="Pools and funds">
        <Loaded of={pools}>
          {(rows) => (
            <Table
              label="Pools and funds"
              rows={rows}
              rowKey={({ currency }) => currency}
              empty={<Empty>No currency is lent here.</Empty>}
              columns={[
                { name: 'currency', cell: ({ currency }) => <b>{currency}</b> },
                {
                  name: 'free in the pool',
                  right: true,
                  cell: ({ pool }) => <Amount value={pool} places={8} align />,
                },
                { name: 'lent', right: true, cell: ({ lent }) => <Amount value={lent} places={8} align /> },
                { name: 'in use', right: true, cell: ({ utilisation }) => percent(utilisation) },
                {
                  name: 'interest a year',
                  right: true,
                  cell: ({ hourly_rate }) =>
                    hourly_rate === '' ? '–' : `${(Number(hourly_rate) * 876_000).toFixed(2)} %`,
                },
                {
                  name: 'interest due',
                  right: true,
                  cell: ({ accrued }) => <Amount value={accrued} places={8} align />,
                },
                {
                  name: 'insurance',
                  right: true,
                  cell: ({ insurance }) => <Amount value={insurance} places={8} align />,
                },
                {
                  name: 'insurance of margin',
                  right: true,
                  cell: ({ insurance_margin }) => <Amount value={insurance_margin} places={8} align />,
                },
                {
                  name: 'fill',
                  quiet: true,
                  right: true,
                  cell: (row) => (
                    <Button
                      size="xs"
                      variant="default"
                      disabled={may !== undefined}
                      title={may}
                      onClick={() => setFilling(row)}
                    >
                      Fill
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      <ContractFunds />
      {filling === undefined ? null : <Fill of={filling} close={() => setFilling(undefined)} />}
    </Page>
  )
}
function Fill({ of, close }: { readonly of: Pool; readonly close: () => void }): React.JSX.Element {
  const [fund, setFund] = useState<'pool' | 'insurance' | 'insurance:margin'>('pool')
  const [amount, setAmount] = useState('')
  return (
    <FormModal
      title={`Fill with ${of.currency}`}
      verb="Fill"
      ready={amount !== ''}
      send={() => call('POST /operator/v1/lending/fund', { body: { currency: of.currency, fund, amount } })}
      done="Filled"
      refresh={[['shared', 'operate', 'lending']]}
      close={close}
    >
      <span className="dim">It comes out of the operator's equity.</span>
      <Select
        label="Which"
        value={fund}
        onChange={(value) => setFund(value as typeof fund)}
        data={[
          { value: 'pool', label: 'Lending pool' },
          { value: 'insurance', label: 'Insurance of unified accounts' },
          { value: 'insurance:margin', label: 'Insurance of margin accounts' },
        ]}
      />
      <AmountInput label="Amount" currency={of.currency} value={amount} onChange={setAmount} data-autofocus />
    </FormModal>
  )
}
