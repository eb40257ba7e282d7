import { Button, SegmentedControl, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Body } from '../../api/client.ts'
import { refreshOwn, useAccount, useOwn, useSession } from '../../api/query.ts'
import { dec, parse } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Status } from '../../parts/Status.tsx'
import { Empty, Failed, Loaded, toast } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { usePairs } from '../trade/market.ts'
import { useSpotBalances } from './money.ts'

export function Transfers(): React.JSX.Element {
  const account = useAccount()
  const [kind, setKind] = useState<'own' | 'sub'>('own')
  const sub = account?.kind === 'sub'
  return (
    <Page title="Transfers" lead="Between your own accounts: at once, without a fee.">
      <Card
        title="Transfer"
        actions={
          sub ? null : (
            <SegmentedControl
              size="xs"
              aria-label="Between"
              value={kind}
              onChange={setKind}
              data={[
                { value: 'own', label: 'Spot and margin' },
                { value: 'sub', label: 'Main and sub-accounts' },
              ]}
            />
          )
        }
      >
        {kind === 'own' || sub ? <OwnForm /> : <SubForm />}
      </Card>
      {sub ? null : <History />}
    </Page>
  )
}
type Place = Body<'POST /api/v4/wallet/transfers'>['from']

function OwnForm(): React.JSX.Element {
  const { currency: asked } = useSearch({ from: '/frame/wallet/transfers' })
  const balances = useSpotBalances()
  const pairs = usePairs().data ?? []
  const [from, setFrom] = useState<Place>('spot')
  const [pair, setPair] = useState('BTC_USDT')
  const [currency, setCurrency] = useState(asked ?? 'USDT')
  const [amount, setAmount] = useState('')
  const to: Place = from === 'spot' ? 'margin' : 'spot'
  const margin = useOwn(['margin-accounts'], () => call('GET /api/v4/margin/accounts'))
  const sides = pair.split('_')
  const chosen = sides.includes(currency) ? currency : sides[1]!
  const row = margin.data?.find((one) => one.currency_pair === pair)
  const free =
    from === 'spot'
      ? balances.data?.find((one) => one.currency === chosen)?.available
      : row === undefined
        ? undefined
        : row.base.currency === chosen
          ? row.base.available
          : row.quote.available
  const value = amount === '' ? undefined : parse(amount)
  const why =
    value !== undefined && free !== undefined && value > dec(free) ? `Not enough: ${free} is free` : undefined
  const transfer = useMutation({
    mutationFn: () =>
      call('POST /api/v4/wallet/transfers', {
        body: { currency: chosen, from, to, amount, currency_pair: pair },
      }),
    onSuccess: () => {
      toast('Moved', `${amount} ${chosen} from ${from} to ${to}`)
      setAmount('')
      void refreshOwn()
    },
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        transfer.mutate()
      }}
    >
      <div className="cols-2">
        <Select
          label="From"
          data={[
            { value: 'spot', label: 'Spot' },
            { value: 'margin', label: 'Isolated margin' },
          ]}
          value={from}
          onChange={(next) => setFrom(next ?? 'spot')}
        />
        <Select
          label="Market of the margin account"
          searchable
          data={pairs.map(({ id }) => id)}
          value={pair}
          onChange={(next) => setPair(next ?? 'BTC_USDT')}
        />
      </div>
      <div className="cols-2">
        <Select
          label="Currency"
          data={sides}
          value={chosen}
          onChange={(next) => setCurrency(next ?? chosen)}
        />
        <AmountInput label="Amount" currency={chosen} value={amount} onChange={setAmount} error={why} />
      </div>
      <Facts
        of={[
          [`Free in ${from}`, <Amount key="f" value={free} currency={chosen} />],
          ['To', to === 'spot' ? 'Spot' : `Isolated margin ${pair}`],
        ]}
      />
      {transfer.error === null ? null : <Failed error={transfer.error} />}
      <Button
        type="submit"
        loading={transfer.isPending}
        disabled={value === undefined || value <= 0n || why !== undefined}
      >
        Move {from === 'spot' ? 'to margin' : 'to spot'}
      </Button>
    </form>
  )
}

function SubForm(): React.JSX.Element {
  const subs = (useSession()?.account?.accounts ?? []).filter(({ kind }) => kind === 'sub')
  const balances = useSpotBalances()
  const [direction, setDirection] = useState<'to' | 'from'>('to')
  const [sub, setSub] = useState<string | null>(null)
  const [currency, setCurrency] = useState('USDT')
  const [amount, setAmount] = useState('')
  const chosen = subs.find(({ user_id }) => String(user_id) === sub) ?? subs[0]
  const value = amount === '' ? undefined : parse(amount)
  const ofSub = useOwn(['sub-balances'], () => call('GET /api/v4/wallet/sub_account_balances', { query: {} }))
  const free =
    direction === 'to'
      ? balances.data?.find((one) => one.currency === currency)?.available
      : ofSub.data?.find(({ uid }) => uid === String(chosen?.user_id))?.available[currency]
  const why =
    value !== undefined && free !== undefined && value > dec(free) ? `Not enough: ${free} is free` : undefined
  const transfer = useMutation({
    mutationFn: () =>
      call('POST /api/v4/wallet/sub_account_transfers', {
        body: { sub_account: chosen!.user_id, currency, amount, direction },
      }),
    onSuccess: () => {
      toast('Moved', `${amount} ${currency} ${direction} ${chosen?.login_name ?? ''}`)
      setAmount('')
      void refreshOwn()
    },
  })
  if (chosen === undefined)
    return <Empty action={<a href="/sub-accounts">Make a sub-account</a>}>There is no sub-account yet.</Empty>
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        transfer.mutate()
      }}
    >
      <div className="cols-2">
        <Select
          label="Direction"
          data={[
            { value: 'to', label: 'Main to sub-account' },
            { value: 'from', label: 'Sub-account to main' },
          ]}
          value={direction}
          onChange={(next) => setDirection(next === 'from' ? 'from' : 'to')}
        />
        <Select
          label="Sub-account"
          data={subs.map(({ user_id, login_name }) => ({ value: String(user_id), label: login_name }))}
          value={String(chosen.user_id)}
          onChange={setSub}
        />
      </div>
      <div className="cols-2">
        <Select
          label="Currency"
          searchable
          data={(balances.data ?? []).map((one) => one.currency)}
          value={currency}
          onChange={(next) => setCurrency(next ?? 'USDT')}
        />
        <AmountInput label="Amount" currency={currency} value={amount} onChange={setAmount} error={why} />
      </div>
      <Facts
        of={[
          [
            'Free where it comes from',
            <Amount
              key="f"
              value={free ?? (direction === 'from' && ofSub.data !== undefined ? '0' : undefined)}
              currency={currency}
            />,
          ],
        ]}
      />
      {transfer.error === null ? null : <Failed error={transfer.error} />}
      <Button
        type="submit"
        loading={transfer.isPending}
        disabled={value === undefined || value <= 0n || why !== undefined}
      >
        Move
      </Button>
    </form>
  )
}
function History(): React.JSX.Element {
  const list = useOwn(['sub-transfers'], () =>
    call('GET /api/v4/wallet/sub_account_transfers', { query: { limit: 100 } }),
  )
  return (
    <Card title="Main and sub-accounts, the last seven days" flush>
      <Loaded of={list}>
        {(rows) => (
          <Table
            label="Transfers"
            columns={[
              { name: 'Time', cell: ({ timest }) => <Time at={timest} form="minute" /> },
              { name: 'Sub-account', cell: ({ sub_account }) => sub_account },
              { name: 'Direction', cell: ({ direction }) => (direction === 'to' ? '→ to it' : '← from it') },
              {
                name: 'Amount',
                right: true,
                cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
              },
              { name: 'Status', cell: ({ status }) => <Status of={status} /> },
            ]}
            rows={rows}
            rowKey={(row) =>
              `${row.timest} ${row.sub_account} ${row.currency} ${row.amount} ${row.client_order_id}`
            }
            empty={<Empty>Nothing was moved in the last seven days. The ledger has everything.</Empty>}
          />
        )}
      </Loaded>
    </Card>
  )
}
