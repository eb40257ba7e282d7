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
import { SCOPES, currencyOf, scopeWords, useContractAccount, type Scope } from '../futures/contracts.ts'
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
                { value: 'own', label: 'My accounts' },
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
type Kind = Body<'POST /api/v4/wallet/transfers'>['from']
/** An account that money goes to and comes from; the other side is spot. */
interface Place {
  readonly value: string
  readonly label: string
  readonly kind: Kind
  readonly scope?: Scope
}
const PLACES: readonly Place[] = [
  { value: 'margin', label: 'Isolated margin', kind: 'margin' },
  ...SCOPES.map((scope): Place => ({
    value: `${scope.group}/${scope.settle}`,
    label: `${scopeWords(scope)} contracts`,
    kind: scope.group,
    scope,
  })),
  { value: 'options', label: 'Options', kind: 'options' },
]
const SPOT = { value: 'spot', label: 'Spot' }

function OwnForm(): React.JSX.Element {
  const { currency: asked } = useSearch({ from: '/frame/wallet/transfers' })
  const balances = useSpotBalances()
  const pairs = usePairs().data ?? []
  const [out, setOut] = useState(false)
  const [other, setOther] = useState('margin')
  const [pair, setPair] = useState('BTC_USDT')
  const [currency, setCurrency] = useState(asked ?? 'USDT')
  const [amount, setAmount] = useState('')
  const place = PLACES.find(({ value }) => value === other) ?? PLACES[0]!
  const margin = useOwn(['margin-accounts'], () => call('GET /api/v4/margin/accounts'))
  const contracts = useContractAccount(place.scope ?? SCOPES[0]!)
  const held =
    place.kind === 'margin' ? pair.split('_') : [place.scope === undefined ? 'USDT' : currencyOf(place.scope)]
  const chosen = held.includes(currency) ? currency : held.at(-1)!
  const free = freeOf()
  function freeOf(): string | undefined {
    if (!out) return balances.data?.find((one) => one.currency === chosen)?.available
    if (place.scope !== undefined) return contracts.data === null ? '0' : contracts.data?.available
    const row = margin.data?.find((one) => one.currency_pair === pair)
    if (place.kind !== 'margin' || row === undefined) return undefined
    return row.base.currency === chosen ? row.base.available : row.quote.available
  }
  const value = amount === '' ? undefined : parse(amount)
  const shared = place.scope !== undefined && (contracts.data?.margin_mode ?? 0) !== 0
  const why =
    value !== undefined && free !== undefined && value > dec(free) ? `Not enough: ${free} is free` : undefined
  const words = place.kind === 'margin' ? `${place.label} ${pair}` : place.label
  const [from, to] = out ? [words, SPOT.label] : [SPOT.label, words]
  const transfer = useMutation({
    mutationFn: () =>
      call('POST /api/v4/wallet/transfers', {
        body: {
          currency: chosen,
          from: out ? place.kind : 'spot',
          to: out ? 'spot' : place.kind,
          amount,
          ...(place.kind === 'margin' && { currency_pair: pair }),
          ...(place.scope !== undefined && { settle: place.scope.settle }),
        },
      }),
    onSuccess: () => {
      toast('Moved', `${amount} ${chosen} from ${from} to ${to}`)
      setAmount('')
      void refreshOwn()
    },
  })
  /** One side is spot: the side that is chosen says which. */
  const choose = (chosenOut: boolean) => (next: string | null) => {
    if (next === null) return
    setOut(next === 'spot' ? !chosenOut : chosenOut)
    if (next !== 'spot') setOther(next)
  }
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
          data={[SPOT, ...PLACES]}
          allowDeselect={false}
          value={out ? other : 'spot'}
          onChange={choose(true)}
        />
        <Select
          label="To"
          data={[SPOT, ...PLACES]}
          allowDeselect={false}
          value={out ? 'spot' : other}
          onChange={choose(false)}
        />
      </div>
      {place.kind === 'margin' ? (
        <Select
          label="Market of the margin account"
          searchable
          data={pairs.map(({ id }) => id)}
          value={pair}
          onChange={(next) => setPair(next ?? 'BTC_USDT')}
        />
      ) : null}
      <div className="cols-2">
        <Select
          label="Currency"
          data={held}
          value={chosen}
          onChange={(next) => setCurrency(next ?? chosen)}
        />
        <AmountInput label="Amount" currency={chosen} value={amount} onChange={setAmount} error={why} />
      </div>
      <Facts
        of={[
          [`Free in ${from}`, <Amount key="f" value={free} currency={chosen} />],
          ['To', to],
        ]}
      />
      {shared ? (
        <div className="wait small" role="status">
          These contracts belong to the unified account: they use its spot money, and nothing has to be moved.
        </div>
      ) : null}
      {transfer.error === null ? null : <Failed error={transfer.error} />}
      <Button
        type="submit"
        loading={transfer.isPending}
        disabled={value === undefined || value <= 0n || why !== undefined || shared}
      >
        Move to {to}
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
