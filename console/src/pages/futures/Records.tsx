import { Button, Checkbox, Tabs } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { own } from '../../api/query.ts'
import { dec } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { FormModal } from '../../parts/FormModal.tsx'
import { Facts } from '../../parts/Page.tsx'
import { SideWord, Status } from '../../parts/Status.tsx'
import { Empty, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import {
  ask,
  currencyOf,
  isHeld,
  refreshContracts,
  scopeWords,
  useCloses,
  useContractAccount,
  useFills,
  useOrders,
  usePositions,
  type Contract,
  type Fill,
  type Order,
  type Scope,
} from './contracts.ts'
import { LongShort, Positions } from './Positions.tsx'
import { Waiting } from './Waiting.tsx'

export function Records({ contract }: { readonly contract: Contract }): React.JSX.Element {
  const [tab, setTab] = useState('positions')
  const [here, setHere] = useState(false)
  const positions = usePositions(contract)
  const open = useOrders(contract, 'open')
  const mine = (one: { readonly contract: string }): boolean => !here || one.contract === contract.name
  const only = here ? contract.name : undefined
  const held = positions.data?.filter(isHeld).filter(mine)
  const waiting = open.data?.filter(mine)
  const count = (list: readonly unknown[] | undefined): string =>
    list === undefined || list.length === 0 ? '' : ` ${list.length}`
  return (
    <section className="card orders" aria-label="Positions and orders">
      <Tabs value={tab} onChange={(value) => setTab(value ?? 'positions')} keepMounted={false}>
        <div className="tabs-head">
          <Tabs.List>
            <Tabs.Tab value="positions">Positions{count(held)}</Tabs.Tab>
            <Tabs.Tab value="open">Open orders{count(waiting)}</Tabs.Tab>
            <Tabs.Tab value="triggers">Waiting</Tabs.Tab>
            <Tabs.Tab value="history">History</Tabs.Tab>
            <Tabs.Tab value="fills">Fills</Tabs.Tab>
            <Tabs.Tab value="closes">Closed</Tabs.Tab>
            <Tabs.Tab value="account">Account</Tabs.Tab>
          </Tabs.List>
          <Checkbox
            mx="sm"
            size="xs"
            label={`${contract.name} only`}
            checked={here}
            onChange={(event) => setHere(event.currentTarget.checked)}
          />
        </div>
        <Tabs.Panel value="positions">
          <Loaded of={positions}>{() => <Positions scope={contract} list={held ?? []} />}</Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="open">
          <Loaded of={open}>{() => <OpenOrders scope={contract} list={waiting ?? []} only={only} />}</Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="triggers">
          <Waiting scope={contract} only={only} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History scope={contract} only={only} />
        </Tabs.Panel>
        <Tabs.Panel value="fills">
          <Fills scope={contract} only={only} />
        </Tabs.Panel>
        <Tabs.Panel value="closes">
          <Closes scope={contract} only={only} />
        </Tabs.Panel>
        <Tabs.Panel value="account">
          <AccountFacts scope={contract} />
        </Tabs.Panel>
      </Tabs>
    </section>
  )
}
interface ListProps {
  readonly scope: Scope
  readonly only: string | undefined
}
const sideOf = (size: number | string): string => (Number(size) < 0 ? 'sell' : 'buy')
const bare = (size: number | string): string => String(size).replace('-', '')

const COMMON: readonly Column<Order>[] = [
  { name: 'Time', cell: ({ create_time }) => <Time at={create_time} /> },
  { name: 'Contract', cell: ({ contract }) => contract },
  { name: 'Side', cell: ({ size }) => <SideWord of={sideOf(size)} /> },
  {
    name: 'Type',
    cell: ({ price, tif, is_reduce_only, is_close, is_liq }) =>
      [
        dec(price) === 0n ? 'market' : 'limit',
        tif,
        is_liq ? 'liquidation' : is_close ? 'close' : is_reduce_only ? 'reduce' : '',
      ]
        .join(' ')
        .trim(),
  },
]
function OpenOrders({
  scope,
  list,
  only,
}: ListProps & { readonly list: readonly Order[] }): React.JSX.Element {
  const [amended, setAmended] = useState<Order | undefined>(undefined)
  const path = { settle: scope.settle }
  const cancel = useMutation({
    mutationFn: ({ id }: Order) =>
      ask(scope.group, 'DELETE /api/v4/futures/{settle}/orders/{order_id}', {
        path: { ...path, order_id: String(id) },
        query: {},
      }),
    onSuccess: () => void refreshContracts(scope, 'orders'),
    onError: toastError,
  })
  const cancelAll = useMutation({
    mutationFn: () =>
      ask(scope.group, 'DELETE /api/v4/futures/{settle}/orders', {
        path,
        query: only === undefined ? {} : { contract: only },
      }),
    onSuccess: () => {
      toast('Cancelled', only === undefined ? 'all open orders' : `all open orders of ${only}`)
      void refreshContracts(scope, 'orders')
    },
    onError: toastError,
  })
  const columns: readonly Column<Order>[] = [
    ...COMMON,
    { name: 'Price', right: true, cell: ({ price }) => <Amount value={price} /> },
    { name: 'Size', right: true, cell: ({ size }) => <Amount value={bare(size)} /> },
    { name: 'Left', right: true, cell: ({ left }) => <Amount value={bare(left)} /> },
    {
      name: 'Id',
      cell: ({ id, text }) => (
        <Copyable value={String(id)} what={text === 'api' ? 'order id' : `order id (${text})`} />
      ),
    },
    {
      name: 'Do',
      quiet: true,
      right: true,
      cell: (order) => (
        <span className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
          {scope.group === 'futures' ? (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => setAmended(order)}
              aria-label={`Amend order ${order.id}`}
            >
              Amend
            </Button>
          ) : null}
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
      {amended === undefined ? null : (
        <AmendForm scope={scope} order={amended} close={() => setAmended(undefined)} />
      )}
    </>
  )
}
/** Of perpetual contracts alone: orders of dated ones are cancelled and placed anew. */
export function AmendForm({
  scope,
  order,
  price: wanted,
  close,
}: {
  readonly scope: Scope
  readonly order: Order
  /** To begin with; left out: the order's own. */
  readonly price?: string
  readonly close: () => void
}): React.JSX.Element {
  const [price, setPrice] = useState(wanted ?? order.price)
  const [size, setSize] = useState(bare(order.size))
  const sign = Number(order.size) < 0 ? -1 : 1
  return (
    <FormModal
      title="Amend the order"
      verb="Amend"
      ready={(price !== order.price || size !== bare(order.size)) && dec(price) > 0n && dec(size) > 0n}
      done="Amended"
      refresh={[own('contracts', scope.group, scope.settle, 'orders')]}
      close={close}
      send={() =>
        call('PUT /api/v4/futures/{settle}/orders/{order_id}', {
          path: { settle: scope.settle, order_id: String(order.id) },
          body: {
            ...(price !== order.price && { price }),
            ...(size !== bare(order.size) && { size: Number(size) * sign }),
          },
        })
      }
    >
      <AmountInput label="Price" value={price} onChange={setPrice} data-autofocus />
      <AmountInput label="Size, with what is filled" currency="contracts" value={size} onChange={setSize} />
      <span className="dim small">
        A smaller size keeps its place in the book; another price or a larger size goes to the end of the
        line.
      </span>
    </FormModal>
  )
}

function History({ scope, only }: ListProps): React.JSX.Element {
  const orders = useOrders(scope, 'finished', only)
  const columns: readonly Column<Order>[] = [
    ...COMMON,
    {
      name: 'Price',
      right: true,
      cell: ({ price }) => (dec(price) === 0n ? 'market' : <Amount value={price} />),
    },
    {
      name: 'Average',
      right: true,
      cell: ({ fill_price }) => <Amount value={dec(fill_price) === 0n ? undefined : fill_price} places={8} />,
    },
    { name: 'Size', right: true, cell: ({ size }) => <Amount value={bare(size)} /> },
    {
      name: 'Filled',
      right: true,
      cell: ({ size, left }) => <Amount value={dec(bare(size)) - dec(bare(left))} />,
    },
    { name: 'Ended', cell: ({ finish_as }) => <Status of={finish_as ?? 'finished'} /> },
    { name: 'Id', cell: ({ id }) => <Copyable value={String(id)} what="order id" /> },
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
function Fills({ scope, only }: ListProps): React.JSX.Element {
  const fills = useFills(scope, only)
  const columns: readonly Column<Fill>[] = [
    { name: 'Time', cell: ({ create_time }) => <Time at={create_time} /> },
    { name: 'Contract', cell: ({ contract }) => contract },
    { name: 'Side', cell: ({ size }) => <SideWord of={sideOf(size)} /> },
    { name: 'Role', cell: ({ role }) => role },
    { name: 'Price', right: true, cell: ({ price }) => <Amount value={price} /> },
    { name: 'Size', right: true, cell: ({ size }) => <Amount value={bare(size)} /> },
    { name: 'Closed', right: true, cell: ({ close_size }) => <Amount value={bare(close_size)} /> },
    {
      name: 'Fee',
      right: true,
      cell: ({ fee }) => <Amount value={fee} places={8} currency={currencyOf(scope)} />,
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
function Closes({ scope, only }: ListProps): React.JSX.Element {
  const closes = useCloses(scope, only)
  return (
    <Loaded of={closes}>
      {(list) => (
        <Table
          label="Closed positions"
          rows={list}
          rowKey={({ time, contract, side }) => `${time} ${contract} ${side}`}
          empty={<Empty>No position was closed yet.</Empty>}
          columns={[
            { name: 'Time', cell: ({ time }) => <Time at={time} /> },
            { name: 'Contract', cell: ({ contract }) => contract },
            { name: 'Side', cell: ({ side }) => <LongShort long={side === 'long'} /> },
            { name: 'Size', right: true, cell: ({ accum_size }) => <Amount value={bare(accum_size)} /> },
            {
              name: 'Bought at',
              right: true,
              cell: ({ long_price }) => <Amount value={long_price} places={8} />,
            },
            {
              name: 'Sold at',
              right: true,
              cell: ({ short_price }) => <Amount value={short_price} places={8} />,
            },
            { name: 'Fees', right: true, cell: ({ pnl_fee }) => <Amount value={pnl_fee} places={8} /> },
            { name: 'Funding', right: true, cell: ({ pnl_fund }) => <Amount value={pnl_fund} places={8} /> },
            {
              name: 'PnL',
              right: true,
              cell: ({ pnl }) => <Amount value={pnl} places={8} signed currency={currencyOf(scope)} />,
            },
          ]}
        />
      )}
    </Loaded>
  )
}
function AccountFacts({ scope }: { readonly scope: Scope }): React.JSX.Element {
  const account = useContractAccount(scope)
  const currency = currencyOf(scope)
  return (
    <Loaded of={account}>
      {(figures) =>
        figures === null ? (
          <Empty>There is no money in this account yet: move some {currency} here first.</Empty>
        ) : (
          <div className="card-body">
            <Facts
              of={[
                [
                  'Account',
                  `${scopeWords(scope)}${figures.margin_mode === 0 ? '' : `, ${figures.margin_mode_name.replaceAll('_', ' ')}`}`,
                ],
                ['Total', <Amount key="t" value={figures.total} places={8} currency={currency} />],
                ['Available', <Amount key="a" value={figures.available} places={8} currency={currency} />],
                [
                  'Unrealised PnL',
                  <Amount key="u" value={figures.unrealised_pnl} places={8} signed currency={currency} />,
                ],
                [
                  'Position margin',
                  <Amount key="p" value={figures.position_margin} places={8} currency={currency} />,
                ],
                [
                  'Order margin',
                  <Amount key="o" value={figures.order_margin} places={8} currency={currency} />,
                ],
                [
                  'Maintenance',
                  <Amount key="m" value={figures.maintenance_margin} places={8} currency={currency} />,
                ],
                [
                  'Position mode',
                  figures.in_dual_mode ? 'long and short apart (dual)' : 'one position (single)',
                ],
              ]}
            />
          </div>
        )
      }
    </Loaded>
  )
}
