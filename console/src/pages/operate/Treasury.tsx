import { Button, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { usePlatform, useShared } from '../../api/query.ts'
import { dec } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { FormModal } from '../../parts/FormModal.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Verdict, useMay } from './common.tsx'

type Treasury = Reply<'GET /operator/v1/treasury'>
type Own = Treasury['currencies'][number]
type Wallet = Treasury['hot_wallets'][number]
const KEY = ['shared', 'operate', 'treasury']

export function Treasury(): React.JSX.Element {
  const query = useShared(['operate', 'treasury'], () => call('GET /operator/v1/treasury'), {
    every: 10_000,
    stale: 2_000,
  })
  const may = useMay('admin')
  const [paying, setPaying] = useState<Own | undefined>(undefined)
  const [filling, setFilling] = useState<Wallet | undefined>(undefined)
  return (
    <Page
      title="Treasury"
      lead="The platform's own money. Earnings are paid to an account of the house and leave from there by withdrawal, under everybody's rules."
    >
      <Loaded of={query}>
        {({ currencies, hot_wallets }) => (
          <>
            <Card title="Own money" flush>
              <Table
                label="Own money"
                rows={currencies}
                rowKey={({ currency }) => currency}
                empty={<Empty>Nothing was earned yet.</Empty>}
                columns={[
                  { name: 'currency', cell: ({ currency }) => <b>{currency}</b> },
                  { name: 'fees', right: true, cell: ({ fees }) => <Amount value={fees} places={8} align /> },
                  {
                    name: 'interest',
                    right: true,
                    cell: ({ interest }) => <Amount value={interest} places={8} align />,
                  },
                  {
                    name: 'network fees',
                    right: true,
                    cell: ({ network_fees }) => <Amount value={network_fees} places={8} align />,
                  },
                  {
                    name: 'equity',
                    right: true,
                    cell: ({ equity }) => <Amount value={equity} places={8} align />,
                  },
                  {
                    name: 'insurance',
                    right: true,
                    cell: ({ insurance, insurance_margin }) => (
                      <Amount value={dec(insurance) + dec(insurance_margin)} places={8} align />
                    ),
                  },
                  {
                    name: 'lending pool',
                    right: true,
                    cell: ({ lending_pool }) => <Amount value={lending_pool} places={8} align />,
                  },
                  {
                    name: 'pay out',
                    quiet: true,
                    right: true,
                    cell: (row) => {
                      const none = dec(row.fees_payable) <= 0n && dec(row.interest_payable) <= 0n
                      return (
                        <Button
                          size="xs"
                          variant="default"
                          disabled={none || may !== undefined}
                          title={may ?? (none ? 'Nothing is left after what the networks took.' : undefined)}
                          onClick={() => setPaying(row)}
                        >
                          Pay out
                        </Button>
                      )
                    },
                  },
                ]}
              />
            </Card>
            <Card title="Hot wallets" flush>
              <Table
                label="Hot wallets"
                rows={hot_wallets}
                rowKey={({ chain, currency }) => `${chain} ${currency}`}
                empty={<Empty>No chain has a hot wallet.</Empty>}
                columns={[
                  { name: 'chain', cell: ({ chain }) => <b>{chain}</b> },
                  { name: 'currency', cell: ({ currency }) => currency },
                  {
                    name: 'holds',
                    right: true,
                    cell: ({ held }) => <Amount value={held} places={8} align />,
                  },
                  {
                    name: 'waits to be sent',
                    right: true,
                    cell: ({ waiting }) => <Amount value={waiting} places={8} align />,
                  },
                  {
                    name: 'state',
                    cell: ({ short, error, currency }) =>
                      error !== '' ? (
                        <Verdict well={false}>{error}</Verdict>
                      ) : dec(short) > 0n ? (
                        <Verdict well={false}>
                          <Amount value={short} currency={currency} /> short
                        </Verdict>
                      ) : (
                        <Verdict well>enough</Verdict>
                      ),
                  },
                  {
                    name: 'top up',
                    quiet: true,
                    right: true,
                    cell: (row) => (
                      <Button size="xs" variant="default" onClick={() => setFilling(row)}>
                        Top up
                      </Button>
                    ),
                  },
                ]}
              />
            </Card>
          </>
        )}
      </Loaded>
      {paying === undefined ? null : <PayOut of={paying} close={() => setPaying(undefined)} />}
      {filling === undefined ? null : <TopUp of={filling} close={() => setFilling(undefined)} />}
    </Page>
  )
}

function PayOut({ of, close }: { readonly of: Own; readonly close: () => void }): React.JSX.Element {
  const [from, setFrom] = useState<'fees' | 'interest'>(dec(of.fees_payable) > 0n ? 'fees' : 'interest')
  const payable = from === 'fees' ? of.fees_payable : of.interest_payable
  const [amount, setAmount] = useState(payable)
  const [user, setUser] = useState('')
  const [reason, setReason] = useState('')
  const body = { from, currency: of.currency, amount, user_id: Number(user), reason }
  return (
    <FormModal
      title={`Pay out ${of.currency}`}
      verb="Pay out"
      ready={user !== '' && reason !== '' && amount !== ''}
      send={() => call('POST /operator/v1/treasury/payouts', { body })}
      done="Paid out"
      refresh={[KEY]}
      close={close}
    >
      <Select
        label="Out of"
        data={['fees', 'interest']}
        value={from}
        onChange={(value) => {
          const next = value as 'fees' | 'interest'
          setFrom(next)
          setAmount(next === 'fees' ? of.fees_payable : of.interest_payable)
        }}
      />
      <AmountInput
        label="Amount"
        description={`At most ${payable}: what was earned, less what the networks took.`}
        currency={of.currency}
        value={amount}
        onChange={setAmount}
      />
      <TextInput
        label="To which main account (user id)"
        inputMode="numeric"
        value={user}
        onChange={(event) => setUser(event.currentTarget.value.replace(/\D/g, ''))}
      />
      <TextInput
        label="Reason"
        value={reason}
        maxLength={200}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormModal>
  )
}

function TopUp({ of, close }: { readonly of: Wallet; readonly close: () => void }): React.JSX.Element {
  const simulated = usePlatform()?.mode === 'sandbox'
  const [amount, setAmount] = useState(of.short !== null && dec(of.short) > 0n ? of.short : '')
  const [reason, setReason] = useState('')
  const path = { chain: of.chain }
  const { currency } = of
  return (
    <FormModal
      title={`Top up ${of.currency} on ${of.chain}`}
      verb={simulated ? 'Fill' : 'Book'}
      ready={amount !== '' && (simulated || reason !== '')}
      send={() =>
        simulated
          ? call('POST /operator/v1/chains/{chain}/fund', { path, body: { currency, amount } })
          : call('POST /operator/v1/chains/{chain}/book', { path, body: { currency, amount, reason } })
      }
      done={`The wallet of ${of.chain} is filled`}
      refresh={[KEY]}
      close={close}
    >
      <span className="dim">
        {simulated
          ? 'Coins of the operator appear in the wallet, and are booked.'
          : 'First send your own coins to the hot wallet. When they have arrived, book them here; two admins do it.'}
      </span>
      <AmountInput label="Amount" currency={of.currency} value={amount} onChange={setAmount} data-autofocus />
      {simulated ? null : (
        <TextInput
          label="Reason"
          value={reason}
          maxLength={200}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
      )}
    </FormModal>
  )
}
