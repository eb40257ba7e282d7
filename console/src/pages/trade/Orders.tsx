import { Button, Checkbox, Modal, Tabs } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refreshOwn, useOwn } from '../../api/query.ts'
import { dec, div, percent } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { SideWord, Status } from '../../parts/Status.tsx'
import { Empty, Failed, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useBalances, useOpenOrders, type Fill, type Order, type Pair, type PriceOrder } from './market.ts'

export function Orders({ pair }: { readonly pair: Pair }): React.JSX.Element {
  const [tab, setTab] = useState('open')
  const [here, setHere] = useState(true)
  const open = useOpenOrders()
  const mine = (currency_pair: string): boolean => !here || currency_pair === pair.id
  const count = open.data?.filter(({ currency_pair }) => mine(currency_pair)).length
  return (
    <section className="card orders" aria-label="Orders">
      <Tabs value={tab} onChange={(value) => setTab(value ?? 'open')} keepMounted={false}>
        <div className="tabs-head">
          {' '}
          <Tabs.List>
            <Tabs.Tab value="open">Open orders{count === undefined ? '' : ` ${count}`}</Tabs.Tab>
            <Tabs.Tab value="history">History</Tabs.Tab>
            <Tabs.Tab value="fills">Fills</Tabs.Tab>
            <Tabs.Tab value="triggers">Triggers</Tabs.Tab>
            <Tabs.Tab value="balances">Balances</Tabs.Tab>
          </Tabs.List>
          <Checkbox
            mr="sm"

            size="xs"
            label={`${pair.id} only`}
            checked={here}
            onChange={(event) => setHere(event.currentTarget.checked)}
          />
        </div>
        <Tabs.Panel value="open">
          <Loaded of={open}>
            {(list) => (
              <OpenOrders
                list={list.filter(({ currency_pair }) => mine(currency_pair))}
                pair={here ? pair.id : undefined}
              />
            )}
          </Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History pair={here ? pair.id : undefined} />
        </Tabs.Panel>
        <Tabs.Panel value="fills">
          <Fills pair={here ? pair.id : undefined} />
        </Tabs.Panel>
        <Tabs.Panel value="triggers">
          <Triggers pair={here ? pair.id : undefined} />
        </Tabs.Panel>
        <Tabs.Panel value="balances">
          <Balances />
        </Tabs.Panel>
      </Tabs>
    </section>
  )
}

const COMMON: readonly Column<Order>[] = [
  { name: 'Time', cell: ({ create_time_ms }) => <Time at={create_time_ms} /> },
  { name: 'Market', cell: ({ currency_pair }) => currency_pair },
  { name: 'Side', cell: ({ side }) => <SideWord of={side} /> },
  { name: 'Type', cell: ({ type, time_in_force }) => `${type} ${time_in_force}` },
]
function OpenOrders({
  list,
  pair,
}: {
  readonly list: readonly Order[]
  readonly pair: string | undefined
}): React.JSX.Element {
  const [amended, setAmended] = useState<Order | undefined>(undefined)
  const cancel = useMutation({
    mutationFn: (order: Order) =>
      call('DELETE /api/v4/spot/orders/{order_id}', {
        path: { order_id: order.id },
        query: { currency_pair: order.currency_pair, account: order.account as 'spot' },
      }),
    onSuccess: () => void refreshOwn('orders'),
    onError: toastError,
  })
  const cancelAll = useMutation({
    mutationFn: () =>
      call('DELETE /api/v4/spot/orders', { query: pair === undefined ? {} : { currency_pair: pair } }),
    onSuccess: () => {
      toast('Cancelled', pair === undefined ? 'all open orders' : `all open orders of ${pair}`)
      void refreshOwn('orders')
    },
    onError: toastError,
  })
  const columns: readonly Column<Order>[] = [
    ...COMMON,
    { name: 'Price', right: true, cell: ({ price }) => <Amount value={price} /> },
    { name: 'Amount', right: true, cell: ({ amount }) => <Amount value={amount} /> },
    {
      name: 'Filled',
      right: true,
      cell: ({ filled_amount, amount }) =>
        dec(filled_amount) === 0n ? (
          '0'
        ) : (
          <span title={filled_amount}>{percent(div(dec(filled_amount), dec(amount)), 1)}</span>
        ),
    },
    {
      name: 'Id',
      cell: ({ id, text }) => (
        <Copyable value={id} what={text === 'apiv4' ? 'order id' : `order id (${text})`} />
      ),
    },
    {
      name: 'Do',
      quiet: true,
      right: true,
      cell: (order) => (
        <span className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => setAmended(order)}
            aria-label={`Amend order ${order.id}`}
          >
            Amend
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            loading={cancel.isPending && cancel.variables.id === order.id}
            onClick={() => cancel.mutate(order)}
            aria-label={`Cancel order ${order.id}`}
          >
            Cancel
          </Button>
        </span>
      ),
    },
  ]
  return (
    <>
      <Table
        label="Open orders"
        columns={columns}
        rows={list}
        rowKey={({ id }) => id}
        mark={({ left, price }) => `${left} ${price}`}
        empty={<Empty>No open orders. Click a price in the book to begin one.</Empty>}
        more={
          list.length > 1 ? (
            <div className="more">
              <Button
                size="compact-xs"
                variant="subtle"
                color="red"
                loading={cancelAll.isPending}
                onClick={() => cancelAll.mutate()}
              >
                Cancel all {list.length}
              </Button>
            </div>
          ) : null
        }
      />
      <Modal
        opened={amended !== undefined}
        onClose={() => setAmended(undefined)}
        title="Amend the order"
        size="sm"
      >
        {amended === undefined ? null : <Amend order={amended} close={() => setAmended(undefined)} />}
      </Modal>
    </>
  )
}
export function Amend({
  order,
  price: wanted,
  close,
}: {
  readonly order: Order
  /** To begin with; left out: the order's own. */
  readonly price?: string
  readonly close: () => void
}): React.JSX.Element {
  const [price, setPrice] = useState(wanted ?? order.price)
  const [amount, setAmount] = useState(order.amount)
  const [base, quote] = order.currency_pair.split('_')
  const amend = useMutation({
    mutationFn: () =>
      call('PATCH /api/v4/spot/orders/{order_id}', {
        path: { order_id: order.id },
        body: {
          currency_pair: order.currency_pair,
          account: order.account as 'spot',
          ...(price !== order.price && { price }),
          ...(amount !== order.amount && { amount }),
        },
      }),
    onSuccess: () => {
      void refreshOwn('orders')
      toast('Amended', `${amount} ${base ?? ''} at ${price}`)
      close()
    },
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        amend.mutate()
      }}
    >
      <AmountInput label="Price" currency={quote} value={price} onChange={setPrice} data-autofocus />
      <AmountInput label="Amount, with what is filled" currency={base} value={amount} onChange={setAmount} />
      <span className="dim small">
        A smaller amount keeps its place in the book; another price or a larger amount goes to the end of the
        line.
      </span>
      {amend.error === null ? null : <Failed error={amend.error} />}
      <Button
        type="submit"
        loading={amend.isPending}
        disabled={price === order.price && amount === order.amount}
      >
        Amend
      </Button>
    </form>
  )
}

function History({ pair }: { readonly pair: string | undefined }): React.JSX.Element {
  const orders = useOwn(['orders', 'finished', pair], () =>
    call('GET /api/v4/spot/orders', {
      query: { status: 'finished', limit: 100, ...(pair !== undefined && { currency_pair: pair }) },
    }),
  )
  const columns: readonly Column<Order>[] = [
    ...COMMON,
    {
      name: 'Price',
      right: true,
      cell: ({ price, type }) => (type === 'market' ? 'market' : <Amount value={price} />),
    },
    {
      name: 'Average',
      right: true,
      cell: ({ avg_deal_price }) => (
        <Amount value={avg_deal_price === '' ? undefined : avg_deal_price} places={8} />
      ),
    },
    { name: 'Filled', right: true, cell: ({ filled_amount }) => <Amount value={filled_amount} /> },
    {
      name: 'Fee',
      right: true,
      cell: ({ fee, fee_currency }) => <Amount value={fee} places={8} currency={fee_currency} />,
    },
    { name: 'Ended', cell: ({ finish_as }) => <Status of={finish_as} /> },
    { name: 'Id', cell: ({ id }) => <Copyable value={id} what="order id" /> },
  ]
  return (
    <Loaded of={orders}>
      {(list) => (
        <Table
          label="Finished orders"
          columns={columns}
          rows={list}
          rowKey={({ id }) => id}
          empty={<Empty>No order has ended yet.</Empty>}
        />
      )}
    </Loaded>
  )
}

function Fills({ pair }: { readonly pair: string | undefined }): React.JSX.Element {
  const fills = useFills(pair)
  const columns: readonly Column<Fill>[] = [
    { name: 'Time', cell: ({ create_time_ms }) => <Time at={create_time_ms} /> },
    { name: 'Market', cell: ({ currency_pair }) => currency_pair },
    { name: 'Side', cell: ({ side }) => <SideWord of={side} /> },
    { name: 'Role', cell: ({ role }) => role },
    { name: 'Price', right: true, cell: ({ price }) => <Amount value={price} /> },
    { name: 'Amount', right: true, cell: ({ amount }) => <Amount value={amount} /> },
    {
      name: 'Fee',
      right: true,
      cell: ({ fee, fee_currency }) => <Amount value={fee} places={8} currency={fee_currency} />,
    },
    { name: 'Order', cell: ({ order_id }) => <Copyable value={order_id} what="order id" /> },
  ]
  return (
    <Loaded of={fills}>
      {(list) => (
        <Table
          label="Fills"
          columns={columns}
          rows={list}
          rowKey={({ id, order_id }) => `${id} ${order_id}`}
          empty={<Empty>Nothing was traded yet.</Empty>}
        />
      )}
    </Loaded>
  )
}
export const useFills = (pair: string | undefined) =>
  useOwn(['fills', pair], () =>
    call('GET /api/v4/spot/my_trades', {
      query: { limit: 100, ...(pair !== undefined && { currency_pair: pair }) },
    }),
  )

function Triggers({ pair }: { readonly pair: string | undefined }): React.JSX.Element {
  const [status, setStatus] = useState<'open' | 'finished'>('open')
  const list = useOwn(['triggers', status, pair], () =>
    call('GET /api/v4/spot/price_orders', {
      query: { status, limit: 100, ...(pair !== undefined && { market: pair }) },
    }),
  )
  const cancel = useMutation({
    mutationFn: (id: number) =>
      call('DELETE /api/v4/spot/price_orders/{order_id}', { path: { order_id: String(id) } }),
    onSuccess: () => void refreshOwn('triggers'),
    onError: toastError,
  })
  const columns: readonly Column<PriceOrder>[] = [
    { name: 'Made', cell: ({ ctime }) => <Time at={ctime} /> },
    { name: 'Market', cell: ({ market }) => market },
    {
      name: 'Fires at',
      right: true,
      cell: ({ trigger }) => <span className="num">{`${trigger.rule} ${trigger.price}`}</span>,
    },
    { name: 'Side', cell: ({ put }) => <SideWord of={put.side} /> },
    { name: 'Then', cell: ({ put }) => (put.type === 'market' ? 'market' : `limit ${put.price}`) },
    { name: 'Amount', right: true, cell: ({ put }) => <Amount value={put.amount} /> },
    {
      name: 'Status',
      cell: ({ status: word, reason }) => (
        <span title={reason}>
          <Status of={word} />
        </span>
      ),
    },
    {
      name: 'Do',
      quiet: true,
      right: true,
      cell: ({ id, status: word }) =>
        word === 'open' ? (
          <Button
            size="compact-xs"
            variant="default"
            loading={cancel.isPending && cancel.variables === id}
            onClick={() => cancel.mutate(id)}
            aria-label={`Cancel trigger ${id}`}
          >
            Cancel
          </Button>
        ) : null,
    },
  ]
  return (
    <>
      <div className="row" style={{ padding: '8px 12px 0' }}>
        {(['open', 'finished'] as const).map((one) => (
          <button
            key={one}
            type="button"
            className="chip"
            aria-pressed={status === one}
            onClick={() => setStatus(one)}
          >
            {one === 'open' ? 'Waiting' : 'Ended'}
          </button>
        ))}
      </div>
      <Loaded of={list}>
        {(rows) => (
          <Table
            label="Triggers"
            columns={columns}
            rows={rows}
            rowKey={({ id }) => id}
            empty={
              <Empty>
                {status === 'open'
                  ? 'No trigger waits. A stop in the form makes one.'
                  : 'None has ended yet.'}
              </Empty>
            }
          />
        )}
      </Loaded>
    </>
  )
}

function Balances(): React.JSX.Element {
  const balances = useBalances()
  return (
    <Loaded of={balances}>
      {(list) => (
        <Table
          label="Balances"
          columns={[
            { name: 'Currency', cell: ({ currency }) => <b>{currency}</b> },
            { name: 'Free', right: true, cell: ({ available }) => <Amount value={available} /> },
            { name: 'In orders', right: true, cell: ({ locked }) => <Amount value={locked} /> },
          ]}
          rows={list.filter(({ available, locked }) => dec(available) !== 0n || dec(locked) !== 0n)}
          rowKey={({ currency }) => currency}
          mark={({ available, locked }) => `${available} ${locked}`}
          empty={<Empty>No money yet. A deposit brings the first.</Empty>}
        />
      )}
    </Loaded>
  )
}
