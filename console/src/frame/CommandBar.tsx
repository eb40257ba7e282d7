import { Button, Modal, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, type Reply } from '../api/client.ts'
import {
  chooseAccount,
  client,
  useAccount,
  useOwn,
  usePlatform,
  useSession,
  useShared,
} from '../api/query.ts'
import { dec } from '../lib/decimal.ts'
import { setPrefs } from '../lib/prefs.ts'
import { Amount } from '../parts/Amount.tsx'
import { Copyable } from '../parts/Copyable.tsx'
import { Facts } from '../parts/Page.tsx'
import { SideWord, Status } from '../parts/Status.tsx'
import { toast, toastError } from '../parts/states.tsx'
import { Time } from '../parts/Time.tsx'
import type { Place } from './places.ts'

export interface Action {
  readonly name: string
  readonly kind: string
  readonly words?: string
  readonly run: () => void
}
interface BarProps {
  readonly opened: boolean
  readonly close: () => void
  readonly places: readonly Place[]
  readonly help: () => void
}
/** Pages, markets, accounts, orders and actions by a few letters of their names. */
export function CommandBar({ opened, close, places, help }: BarProps): React.JSX.Element {
  const [order, setOrder] = useState<Order | undefined>(undefined)
  return (
    <>
      <Modal
        opened={opened}
        onClose={close}
        withCloseButton={false}
        padding={0}
        yOffset="10dvh"
        centered={false}
        title="Search or command"
        classNames={{ header: 'sr' }}
      >
        <Bar close={close} places={places} help={help} show={setOrder} />
      </Modal>
      <Modal
        opened={order !== undefined}
        onClose={() => setOrder(undefined)}
        title={`Order ${order?.id ?? ''}`}
      >
        {order === undefined ? null : <Found order={order} close={() => setOrder(undefined)} />}
      </Modal>
    </>
  )
}
type Order = Reply<'GET /api/v4/spot/orders'>[number]
function Found({ order, close }: { readonly order: Order; readonly close: () => void }): React.JSX.Element {
  const navigate = useNavigate()
  const [base, quote] = order.currency_pair.split('_')
  return (
    <div className="stack">
      <Facts
        of={[
          ['Market', order.currency_pair],
          ['Side', <SideWord key="s" of={order.side} />],
          ['Type', `${order.type} ${order.time_in_force}`],
          order.type === 'limit' && ['Price', <Amount key="p" value={order.price} currency={quote} />],
          [
            'Amount',
            <Amount
              key="a"
              value={order.amount}
              currency={order.type === 'market' && order.side === 'buy' ? quote : base}
            />,
          ],
          ['Filled', <Amount key="f" value={order.filled_amount} currency={base} />],
          ['Status', <Status key="w" of={order.status === 'open' ? 'open' : order.finish_as} />],
          ['Placed', <Time key="t" at={order.create_time_ms} />],
          ['Id', <Copyable key="i" value={order.id} what="order id" />],
        ]}
      />
      <Button
        data-autofocus
        onClick={() => {
          close()
          void navigate({ to: '/trade/$pair', params: { pair: order.currency_pair } })
        }}
      >
        To the market
      </Button>
    </div>
  )
}

/** Orders by the first digits of their ids: those that are open, and the last hundred that have ended. */
function useOrders(digits: string | undefined, show: (order: Order) => void): readonly Action[] {
  const enabled = digits !== undefined
  const open = useOwn(
    ['orders', 'bar', 'open'],
    async () => {
      const groups = await call('GET /api/v4/spot/open_orders', { query: { limit: 100 } })
      return groups.flatMap(({ orders }) => orders as readonly Order[])
    },
    { enabled, stale: 2_000 },
  )
  const ended = useOwn(
    ['orders', 'bar', 'finished'],
    () => call('GET /api/v4/spot/orders', { query: { status: 'finished', limit: 100 } }),
    { enabled, stale: 2_000 },
  )
  if (digits === undefined) return []
  return [...(open.data ?? []), ...(ended.data ?? [])]
    .filter(({ id }) => id.startsWith(digits))
    .map((order) => ({
      name: `${order.id}: ${order.side} ${order.amount} ${order.currency_pair}`,
      kind: 'order',
      words: order.status,
      run: () => show(order),
    }))
}

/** What steers the sandbox, where an operator is signed in as well. */
function useSandbox(text: string): readonly Action[] {
  const session = useSession()
  const platform = usePlatform()
  const account = useAccount()
  const able = platform?.mode === 'sandbox' && session !== undefined && session.operator !== null
  const currencies = useShared(['lab', 'currencies'], () => call('GET /operator/v1/currencies'), {
    enabled: able,
  }).data
  if (!able) return []
  const told = (work: Promise<unknown>, done: string): void => {
    work.then(() => {
      toast(done)
      return client.invalidateQueries()
    }, toastError)
  }
  const clock = (name: string, seconds: number): Action => ({
    name: `Advance the clock by ${name}`,
    kind: 'sandbox',
    words: 'time move',
    run: () =>
      told(
        call('POST /operator/v1/clock', { body: { advance_seconds: seconds } }),
        `The clock moved by ${name}`,
      ),
  })
  const [, amount = '1', wanted = 'BTC'] = /^\s*deposit\s+([\d.]+)\s+(\w+)\s*$/i.exec(text) ?? []
  const currency = currencies?.find((one) => one.currency === wanted.toUpperCase())
  const chain = currency?.chains[0]?.chain
  return [
    clock('one hour', 3_600),
    clock('one day', 86_400),
    ...(account === undefined || currency === undefined || chain === undefined || dec(amount) <= 0n
      ? []
      : [
          {
            name: `Deposit ${amount} ${currency.currency}`,
            kind: 'sandbox',
            words: `faucet ${chain}`,
            run: () =>
              told(
                call('POST /operator/v1/chains/{chain}/deposits', {
                  path: { chain },
                  body: { user_id: account.user_id, currency: currency.currency, amount },
                }),
                `${amount} ${currency.currency} is on its way on ${chain}`,
              ),
          },
        ]),
  ]
}
function Bar({
  close,
  places,
  help,
  show,
}: Omit<BarProps, 'opened'> & { readonly show: (order: Order) => void }): React.JSX.Element {
  const navigate = useNavigate()
  const session = useSession()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const markets = useShared(['pairs'], () => call('GET /api/v4/spot/currency_pairs'), { stale: 300_000 })
  const digits = /^\s*(\d+)\s*$/.exec(text)?.[1]
  const orders = useOrders(session?.account === null ? undefined : digits, show)
  const sandbox = useSandbox(text)
  const actions: Action[] = [
    ...orders,
    ...places.map(({ name, to, words = '', room }) => ({
      name,
      words,
      kind: room === 'account' ? 'page' : room,
      run: () => void navigate({ to }),
    })),
    ...(markets.data ?? []).map(({ id }) => ({
      name: id,
      kind: 'market',
      words: id.replace('_', ' '),
      run: () => void navigate({ to: '/trade/$pair', params: { pair: id } }),
    })),
    ...(session?.account?.accounts ?? []).map(({ user_id, login_name, kind }) => ({
      name: login_name,
      kind: 'account',
      words: String(user_id),
      run: () => chooseAccount(kind === 'main' ? undefined : user_id),
    })),
    ...sandbox,
    { name: 'Light theme', kind: 'action', words: 'bright', run: () => setPrefs({ theme: 'light' }) },
    { name: 'Dark theme', kind: 'action', words: 'night', run: () => setPrefs({ theme: 'dark' }) },
    { name: 'Keyboard shortcuts', kind: 'help', run: help },
    { name: 'API reference', kind: 'page', words: 'docs', run: () => location.assign('/docs') },
  ]
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = actions
    .filter(({ name, words: more = '', kind }) => {
      const all = `${name} ${more} ${kind}`.toLowerCase()
      return words.every((word) => all.includes(word))
    })
    .sort((a, b) => rank(a, words) - rank(b, words))
    .slice(0, 12)
  const choose = (action: Action | undefined): void => {
    if (action === undefined) return
    close()
    action.run()
  }
  return (
    <>
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        px="md"
        placeholder="Page, market, account, order id or action"
        aria-label="Search or command"
        role="combobox"
        aria-expanded
        aria-controls="bar-list"
        aria-activedescendant={found.length > 0 ? `bar-${Math.min(at, found.length - 1)}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault()
            const step = event.key === 'ArrowDown' ? 1 : -1
            setAt((last) => (last + step + found.length) % Math.max(1, found.length))
          } else if (event.key === 'Enter') choose(found[Math.min(at, found.length - 1)])
        }}
      />
      <div id="bar-list" role="listbox" aria-label="Results" className="bar-list">
        {found.map((action, i) => (
          <div
            key={`${action.kind} ${action.name}`}
            id={`bar-${i}`}
            role="option"
            aria-selected={i === at}
            className="bar-item"
            onMouseEnter={() => setAt(i)}
            onClick={() => choose(action)}
          >
            <span>{action.name}</span>
            <span className="dim small">{action.kind}</span>
          </div>
        ))}
        {found.length === 0 ? <div className="bar-item dim">Nothing is called so.</div> : null}
      </div>
    </>
  )
}
const rank = ({ name }: Action, words: readonly string[]): number =>
  words.length > 0 && name.toLowerCase().startsWith(words[0]!) ? 0 : 1
