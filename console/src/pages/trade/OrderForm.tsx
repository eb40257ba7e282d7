import { Button, Checkbox, Collapse, NativeSelect, SegmentedControl } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState } from 'react'
import { call, type Body } from '../../api/client.ts'
import { refreshOwn, useOwn } from '../../api/query.ts'
import { dec, div, floor, min, parse, text } from '../../lib/decimal.ts'
import type { Book } from '../../live/book.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Facts } from '../../parts/Page.tsx'
import { toast, toastError } from '../../parts/states.tsx'
import { limitFor, missing, outlook, sweep, type Draft, type Refusal } from './check.ts'
import { balanceOf, useBalances, type Order, type Pair } from './market.ts'

export interface Picked {
  readonly price: string
  readonly amount?: string
  readonly side?: 'buy' | 'sell'
  readonly serial: number
}
interface FormProps {
  readonly pair: Pair
  readonly book: Book
  readonly last: string | undefined
  readonly picked: Picked | undefined
}
const FIRST: Draft = {
  side: 'buy',
  kind: 'limit',
  price: '',
  amount: '',
  by: 'quote',
  force: 'gtc',
  iceberg: '',
  trigger: '',
  stopType: 'limit',
  profit: '',
  loss: '',
  borrow: false,
  repay: false,
  stp: '',
  account: '',
}

/** An order before it is sent: what it holds, costs and brings, and why it would be refused. */
export function OrderForm({ pair, book, last, picked }: FormProps): React.JSX.Element {
  const [draft, setDraft] = useState(FIRST)
  const [more, setMore] = useState(false)
  const [seen, setSeen] = useState(picked?.serial)
  if (picked !== undefined && picked.serial !== seen) {
    setSeen(picked.serial)
    setDraft((old) => ({
      ...old,
      price: picked.price,
      kind: old.kind === 'market' ? 'limit' : old.kind,
      ...(picked.side !== undefined && { side: picked.side }),
    }))
  }
  const change = (part: Partial<Draft>): void => setDraft((old) => ({ ...old, ...part }))
  useSideKeys((side) => change({ side }))
  const balances = useBalances().data
  const fee = useOwn(
    ['fee', pair.id],
    () => call('GET /api/v4/spot/fee', { query: { currency_pair: pair.id } }),
    { stale: 60_000 },
  ).data
  const free = { base: balanceOf(balances, pair.base), quote: balanceOf(balances, pair.quote) }
  const view = outlook(draft, {
    rules: pair,
    last: last === undefined ? undefined : dec(last),
    bids: book.bids,
    asks: book.asks,
    free: {
      base: free.base === undefined ? undefined : dec(free.base),
      quote: free.quote === undefined ? undefined : dec(free.quote),
    },
    fee: { maker: dec(fee?.maker_fee ?? pair.fee), taker: dec(fee?.taker_fee ?? pair.fee) },
  })
  const place = useMutation({
    mutationFn: () => send(draft, pair, book, last),
    onSuccess: (told) => {
      toast(told.title, told.message)
      change({ amount: '', iceberg: '', profit: '', loss: '' })
      void refreshOwn('orders')
      void refreshOwn('balances')
      void refreshOwn('triggers')
    },
    onError: toastError,
  })
  const atMarket = draft.kind === 'market' || (draft.kind === 'stop' && draft.stopType === 'market')
  const inQuote =
    draft.kind === 'market' ? draft.by === 'quote' : draft.kind === 'stop' && atMarket && draft.side === 'buy'
  const wants = missing(draft)
  const wrong = (field: Refusal['field']): string | undefined =>
    view.refusals.find((one) => one.field === field)?.message
  const spend = draft.side === 'buy' ? free.quote : free.base
  const portion = (percent: number): void => {
    const have = (dec(spend) * BigInt(percent)) / 100n
    if (draft.side === 'sell') {
      if (inQuote) change({ amount: text(floor(sweep(book.bids, { base: have }).quote, 2)) })
      else change({ amount: text(floor(have, pair.amount_precision)) })
    } else if (inQuote) change({ amount: text(floor(have, 2)) })
    else {
      const price = atMarket ? book.asks[0]?.at : (parse(draft.price) ?? book.asks[0]?.at)
      if (price !== undefined)
        change({ amount: text(floor(min(div(have, price), dec('1e15')), pair.amount_precision)) })
    }
  }
  const verb = draft.side === 'buy' ? 'Buy' : 'Sell'
  return (
    <section className="card form" aria-label="Order form">
      <form
        className="card-body stack form-stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (wants === undefined && view.refusals.length === 0) place.mutate()
        }}
      >
        <div className="sides" role="group" aria-label="Side">
          <button
            type="button"
            className="side-button up-button"
            aria-pressed={draft.side === 'buy'}
            onClick={() => change({ side: 'buy' })}
          >
            ▲ Buy
          </button>
          <button
            type="button"
            className="side-button down-button"
            aria-pressed={draft.side === 'sell'}
            onClick={() => change({ side: 'sell' })}
          >
            ▼ Sell
          </button>
        </div>
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label="Kind of order"
          value={draft.kind}
          onChange={(kind) =>
            change({ kind, ...(kind === 'market' && { by: draft.side === 'buy' ? 'quote' : 'base' }) })
          }
          data={[
            { value: 'limit', label: 'Limit' },
            { value: 'market', label: 'Market' },
            { value: 'stop', label: 'Stop' },
          ]}
        />
        {draft.kind === 'stop' ? (
          <>
            <AmountInput
              label="Trigger price"
              description={triggerWords(draft.trigger, last)}
              currency={pair.quote}
              value={draft.trigger}
              onChange={(trigger) => change({ trigger })}
              error={wrong('trigger')}
            />
            <SegmentedControl
              size="xs"
              aria-label="Order of the stop"
              value={draft.stopType}
              onChange={(stopType) => change({ stopType })}
              data={[
                { value: 'limit', label: 'then limit' },
                { value: 'market', label: 'then market' },
              ]}
            />
          </>
        ) : null}
        {atMarket ? null : (
          <AmountInput
            label="Price"
            currency={pair.quote}
            value={draft.price}
            onChange={(price) => change({ price })}
            error={wrong('price')}
          />
        )}
        <AmountInput
          label="Amount"
          currency={inQuote ? pair.quote : pair.base}
          value={draft.amount}
          onChange={(amount) => change({ amount })}
          error={wrong('amount')}
        />
        {draft.kind === 'market' ? (
          <SegmentedControl
            size="xs"
            aria-label="Amount is in"
            value={draft.by}
            onChange={(by) => change({ by, amount: '' })}
            data={[
              { value: 'base', label: `in ${pair.base}` },
              { value: 'quote', label: `in ${pair.quote}` },
            ]}
          />
        ) : null}
        <div className="portions">
          {[25, 50, 75, 100].map((percent) => (
            <button
              key={percent}
              type="button"
              className="chip"
              disabled={spend === undefined}
              onClick={() => portion(percent)}
            >
              {percent} %
            </button>
          ))}
        </div>
        {draft.kind === 'limit' ? (
          <NativeSelect
            size="xs"
            label="Good for"
            value={draft.force}
            onChange={(event) => change({ force: event.currentTarget.value as Draft['force'] })}
            data={[
              { value: 'gtc', label: 'Until it is cancelled (gtc)' },
              { value: 'poc', label: 'Only waiting in the book: post-only (poc)' },
              { value: 'ioc', label: 'Now, the rest is cancelled (ioc)' },
              { value: 'fok', label: 'Now and whole, or not at all (fok)' },
            ]}
          />
        ) : null}
        <button type="button" className="chip" aria-expanded={more} onClick={() => setMore(!more)}>
          {more ? 'Fewer options' : 'More options'}
        </button>
        <Collapse expanded={more}>
          <div className="stack form-stack">
            {draft.kind === 'limit' ? (
              <AmountInput
                label="Iceberg: shown part"
                currency={pair.base}
                value={draft.iceberg}
                onChange={(iceberg) => change({ iceberg })}
                error={wrong('iceberg')}
              />
            ) : null}
            {draft.kind === 'stop' ? null : (
              <div className="pair-fields">
                <AmountInput
                  label="Take profit at"
                  value={draft.profit}
                  onChange={(profit) => change({ profit })}
                  error={wrong('profit')}
                />
                <AmountInput
                  label="Stop loss at"
                  value={draft.loss}
                  onChange={(loss) => change({ loss })}
                  error={wrong('loss')}
                />
              </div>
            )}
            <div className="pair-fields">
              <NativeSelect
                size="xs"
                label="Account"
                value={draft.account}
                onChange={(event) => change({ account: event.currentTarget.value as Draft['account'] })}
                data={[
                  { value: '', label: 'as set' },
                  { value: 'spot', label: 'spot' },
                  { value: 'margin', label: 'margin' },
                  { value: 'unified', label: 'unified' },
                ]}
              />
              <NativeSelect
                size="xs"
                label="Meets own orders"
                value={draft.stp}
                onChange={(event) => change({ stp: event.currentTarget.value as Draft['stp'] })}
                data={[
                  { value: '', label: 'as set' },
                  { value: 'cn', label: 'cancel newer' },
                  { value: 'co', label: 'cancel older' },
                  { value: 'cb', label: 'cancel both' },
                ]}
              />
            </div>
            <Checkbox
              size="xs"
              label="Borrow what is missing (auto borrow)"
              checked={draft.borrow}
              onChange={(event) => change({ borrow: event.currentTarget.checked })}
            />
            <Checkbox
              size="xs"
              label="Repay debts with what arrives (auto repay)"
              checked={draft.repay}
              onChange={(event) => change({ repay: event.currentTarget.checked })}
            />
          </div>
        </Collapse>
        <Facts
          of={[
            [
              'Free',
              <Amount
                key="f"
                value={spend}
                places={8}
                currency={draft.side === 'buy' ? pair.quote : pair.base}
              />,
            ],
            ['Will be held', <Amount key="h" value={view.held} places={8} currency={view.heldCurrency} />],
            draft.kind === 'stop'
              ? ['Holds', 'nothing until it fires']
              : ['Fee, at most', <Amount key="e" value={view.fee} places={8} currency={view.feeCurrency} />],
            ['Arrives', <Amount key="a" value={view.arrives} places={8} currency={view.feeCurrency} />],
            view.atOnce > 0n && [
              'Trades at once',
              <Amount key="o" value={view.atOnce} places={8} currency={pair.base} />,
            ],
            view.average !== undefined && [
              'Average price now',
              <Amount key="v" value={view.average} places={pair.precision} currency={pair.quote} />,
            ],
            [
              'Worst price',
              <Amount key="w" value={view.worst} places={pair.precision} currency={pair.quote} />,
            ],
          ]}
        />
        {wrong('order') === undefined ? null : (
          <div className="down small" role="alert">
            {wrong('order')}
          </div>
        )}
        <Button
          type="submit"
          fullWidth
          loading={place.isPending}
          disabled={wants !== undefined || view.refusals.length > 0}
          className={draft.side === 'buy' ? 'send-buy' : 'send-sell'}
        >
          {wants ?? (view.refusals[0] === undefined ? `${verb} ${pair.base}` : 'Would be refused')}
        </Button>
        {wants !== undefined || view.refusals[0] === undefined ? null : (
          <code className="small dim wrap">{view.refusals[0].label}</code>
        )}
      </form>
    </section>
  )
}
const triggerWords = (trigger: string, last: string | undefined): string => {
  const at = trigger === '' ? undefined : parse(trigger)
  if (at === undefined || last === undefined) return 'fires when the last price gets there'
  return at > dec(last)
    ? `fires when the price rises to it (now ${last})`
    : `fires when the price falls to it (now ${last})`
}

/** `b` and `s` choose the side while nobody types. */
export function useSideKeys(choose: (side: 'buy' | 'sell') => void): void {
  const pressed = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('[role=dialog]') !== null)
      return
    if (target instanceof HTMLElement && ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName)) return
    if (event.key === 'b') choose('buy')
    if (event.key === 's') choose('sell')
  })
  useEffect(() => {
    let before = 0
    const listener = (event: KeyboardEvent): void => {
      // `g s` goes to a page.
      if (event.timeStamp - before > 1500) pressed(event)
      if (event.key === 'g') before = event.timeStamp
    }
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

async function send(
  draft: Draft,
  pair: Pair,
  book: Book,
  last: string | undefined,
): Promise<{ title: string; message: string }> {
  const { side, kind } = draft
  const extras = { ...(draft.borrow && { auto_borrow: true }), ...(draft.repay && { auto_repay: true }) }
  if (kind === 'stop') {
    const { id_string } = await call('POST /api/v4/spot/price_orders', {
      body: {
        market: pair.id,
        trigger: {
          price: draft.trigger,
          rule: dec(draft.trigger) > dec(last) ? '>=' : '<=',
          expiration: 30 * 86_400,
        },
        put: {
          type: draft.stopType,
          side,
          amount: draft.amount,
          ...(draft.stopType === 'limit' && { price: draft.price }),
          time_in_force: draft.stopType === 'limit' ? 'gtc' : 'ioc',
          account: draft.account === 'spot' || draft.account === '' ? 'normal' : draft.account,
          ...extras,
        },
      },
    })
    return { title: 'The stop waits', message: `Trigger ${id_string} at ${draft.trigger} ${pair.quote}` }
  }
  const common = {
    currency_pair: pair.id,
    side,
    ...extras,
    ...(draft.account !== '' && { account: draft.account }),
    ...(draft.stp !== '' && { stp_act: draft.stp }),
    ...(draft.profit !== '' && { stop_profit: { trigger_price: draft.profit } }),
    ...(draft.loss !== '' && { stop_loss: { trigger_price: draft.loss } }),
  }
  // Left out, action_mode is FULL: the whole order comes back.
  const order = (await call('POST /api/v4/spot/orders', {
    body: { ...common, ...figures(draft, pair, book) },
  })) as Order
  const filled = dec(order.filled_amount)
  const price = order.avg_deal_price === '' ? '' : ` at ${order.avg_deal_price} on average`
  if (order.status === 'open')
    return {
      title: 'The order stands in the book',
      message:
        filled > 0n
          ? `${order.filled_amount} ${pair.base} traded at once${price}`
          : `${order.amount} ${pair.base} at ${order.price}`,
    }
  return {
    title: filled > 0n ? 'Traded' : 'Nothing was traded',
    message:
      filled > 0n ? `${order.filled_amount} ${pair.base}${price}` : `the order ended: ${order.finish_as}`,
  }
}
type Figures = Pick<
  Body<'POST /api/v4/spot/orders'>,
  'type' | 'amount' | 'price' | 'time_in_force' | 'iceberg'
>
function figures(draft: Draft, pair: Pair, book: Book): Figures {
  if (draft.kind === 'limit')
    return {
      type: 'limit',
      amount: draft.amount,
      price: draft.price,
      time_in_force: draft.force,
      ...(draft.iceberg !== '' && { iceberg: draft.iceberg }),
    }
  // The API counts a market buy in quote money and a market sell in base money; the other way round is worked out from the book.
  if (draft.side === 'buy' && draft.by === 'base') {
    const { worst } = sweep(book.asks, { base: dec(draft.amount) })
    return {
      type: 'limit',
      time_in_force: 'ioc',
      amount: draft.amount,
      price: text(limitFor('buy', worst ?? 0n, pair.precision)),
    }
  }
  if (draft.side === 'sell' && draft.by === 'quote')
    return {
      type: 'market',
      time_in_force: 'ioc',
      amount: text(floor(sweep(book.bids, { quote: dec(draft.amount) }).base, pair.amount_precision)),
    }
  return { type: 'market', time_in_force: 'ioc', amount: draft.amount }
}
