import { Button, Checkbox, NativeSelect, SegmentedControl } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { dec, div, floor, max, mul, parse, text, type Decimal } from '../../lib/decimal.ts'
import type { Book } from '../../live/book.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Facts } from '../../parts/Page.tsx'
import { toast, toastError } from '../../parts/states.tsx'
import { useSideKeys, type Picked } from '../trade/OrderForm.tsx'
import { missing, outlook, valueAt, type Draft, type Refusal } from './check.ts'
import {
  ask,
  currencyOf,
  isCross,
  isInverse,
  leverageOf,
  refreshContracts,
  useContractAccount,
  useFee,
  type Contract,
  type Order,
  type Position,
} from './contracts.ts'
import { LeverageForm, ModeForm, MoneyForm } from './Leverage.tsx'
import { WaitForm } from './WaitForm.tsx'

interface FormProps {
  readonly contract: Contract
  readonly book: Book
  readonly mark: string | undefined
  /** Of this contract: one, or both sides in dual mode; undefined while unknown. */
  readonly positions: readonly Position[] | undefined
  readonly orders: readonly Order[]
  readonly picked: Picked | undefined
}
const FIRST: Draft = {
  side: 'buy',
  kind: 'limit',
  price: '',
  size: '',
  force: 'gtc',
  reduceOnly: false,
  profit: '',
  loss: '',
}

/** An order before it is sent: what it is worth, asks for and costs, and why it would be refused. */
export function ContractForm({
  contract,
  book,
  mark,
  positions,
  orders,
  picked,
}: FormProps): React.JSX.Element {
  const [draft, setDraft] = useState(FIRST)
  const [seen, setSeen] = useState(picked?.serial)
  const [asked, setAsked] = useState<'leverage' | 'money' | 'mode' | 'wait' | undefined>(undefined)
  if (picked !== undefined && picked.serial !== seen) {
    setSeen(picked.serial)
    setDraft((old) => ({
      ...old,
      price: picked.price,
      kind: 'limit',
      ...(picked.side !== undefined && { side: picked.side }),
    }))
  }
  const change = (part: Partial<Draft>): void => setDraft((old) => ({ ...old, ...part }))
  useSideKeys((side) => change({ side }))
  const account = useContractAccount(contract).data
  const fee = useFee(contract, contract.name)
  const currency = currencyOf(contract)
  const dual = (positions?.length ?? 0) > 1
  const grows = positions?.find(({ mode }) =>
    dual ? mode === (draft.side === 'buy' ? 'dual_long' : 'dual_short') : true,
  )
  const leverage = grows === undefined ? undefined : leverageOf(grows)
  // In dual mode a side is reduced by orders that say so alone.
  const against = (positions ?? []).reduce((most, { size }): Decimal => {
    const held = dec(String(size))
    const opposite = draft.side === 'buy' ? -held : held
    return dual && !draft.reduceOnly ? most : max(most, opposite)
  }, 0n)
  const available =
    account === undefined
      ? undefined
      : account === null
        ? 0n
        : account.margin_mode !== 0
          ? undefined
          : dec(grows !== undefined && isCross(grows) ? account.cross_available : account.available)
  const view = outlook(draft, {
    rules: contract,
    currency,
    mark: mark === undefined ? undefined : dec(mark),
    bids: book.bids,
    asks: book.asks,
    leverage: dec(leverage),
    takerFee: dec(fee?.taker_fee ?? contract.taker_fee_rate),
    makerFee: dec(fee?.maker_fee ?? contract.maker_fee_rate),
    available,
    against,
    waiting: orders.length > 0,
  })
  const place = useMutation({
    mutationFn: () => send(draft, contract),
    onSuccess: (told) => {
      toast(told.title, told.message)
      change({ size: '', profit: '', loss: '' })
      void refreshContracts(contract)
    },
    onError: toastError,
  })
  const wants = missing(draft)
  const wrong = (field: Refusal['field']): string | undefined =>
    view.refusals.find((one) => one.field === field)?.message
  const portion = (percent: number): void => {
    const price =
      draft.kind === 'market'
        ? (draft.side === 'buy' ? book.asks : book.bids)[0]?.at
        : (parse(draft.price) ?? dec(mark))
    if (draft.reduceOnly) {
      change({ size: text(floor((against * BigInt(percent)) / 100n, 0)) })
      return
    }
    if (price === undefined || price === 0n || leverage === undefined) return
    const each = valueAt(contract, dec('1'), price)
    const rate = div(dec('1'), dec(leverage)) + dec(contract.taker_fee_rate) * 2n
    const have = ((available ?? dec(account?.available)) * BigInt(percent)) / 100n
    // A little is left for a mark price that moves on.
    const size = against + div(mul(have, dec('0.995')), mul(each, rate))
    change({ size: text(floor(size, 0)) })
  }
  const verb = draft.side === 'buy' ? 'Buy' : 'Sell'
  const words = draft.reduceOnly ? 'to reduce' : draft.side === 'buy' ? 'long' : 'short'
  return (
    <section className="card form" aria-label="Order form">
      <form
        className="card-body stack form-stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (wants === undefined && view.refusals.length === 0) place.mutate()
        }}
      >
        <div className="margin-line">
          <button
            type="button"
            className="chip"
            disabled={grows === undefined}
            onClick={() => setAsked('leverage')}
            title="Change margin mode and leverage"
          >
            {grows === undefined ? '–' : `${isCross(grows) ? 'Cross' : 'Isolated'} ${leverage}×`}
          </button>
          <button type="button" className="chip" onClick={() => setAsked('money')}>
            Move money
          </button>
          {contract.group === 'futures' ? (
            <button
              type="button"
              className="chip"
              disabled={positions === undefined}
              onClick={() => setAsked('mode')}
              title="One position in a contract, or a long and a short apart"
            >
              {dual ? 'Dual' : 'Single'}
            </button>
          ) : null}
          <button type="button" className="chip" onClick={() => setAsked('wait')}>
            Wait for a price
          </button>
        </div>
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
          onChange={(kind) => change({ kind })}
          data={[
            { value: 'limit', label: 'Limit' },
            { value: 'market', label: 'Market' },
          ]}
        />
        {draft.kind === 'market' ? null : (
          <AmountInput
            label="Price"
            currency={isInverse(contract) ? 'USD' : currency}
            value={draft.price}
            onChange={(price) => change({ price })}
            error={wrong('price')}
          />
        )}
        <AmountInput
          label="Size"
          description={oneWords(contract)}
          currency="contracts"
          value={draft.size}
          onChange={(size) => change({ size })}
          error={wrong('size')}
        />
        <div className="portions">
          {[25, 50, 75, 100].map((percent) => (
            <button
              key={percent}
              type="button"
              className="chip"
              disabled={account === undefined || account === null}
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
        <Checkbox
          size="xs"
          label="Reduce only"
          checked={draft.reduceOnly}
          onChange={(event) => change({ reduceOnly: event.currentTarget.checked })}
        />
        {draft.reduceOnly || contract.group === 'delivery' ? null : (
          <div className="pair-fields">
            <AmountInput
              size="xs"
              label="Take profit at"
              value={draft.profit}
              onChange={(profit) => change({ profit })}
            />
            <AmountInput
              size="xs"
              label="Stop loss at"
              value={draft.loss}
              onChange={(loss) => change({ loss })}
            />
          </div>
        )}
        <Facts
          of={[
            [
              'Available',
              <Amount
                key="a"
                value={account === null ? '0' : (available ?? account?.available)}
                places={8}
                currency={currency}
              />,
            ],
            ['Value', <Amount key="v" value={view.value} places={8} currency={currency} />],
            [
              orders.length > 0 ? 'Margin, at most' : 'Margin',
              <Amount key="m" value={view.margin} places={8} currency={currency} />,
            ],
            ['Fee, about', <Amount key="f" value={view.fee} places={8} currency={currency} />],
            view.reduces > 0n && ['Reduces', <Amount key="r" value={view.reduces} currency="contracts" />],
            view.atOnce > 0n && [
              'Trades at once',
              <Amount key="o" value={view.atOnce} currency="contracts" />,
            ],
            view.average !== undefined && [
              'Average price now',
              <Amount key="p" value={view.average} places={8} />,
            ],
            ['Worst price', <Amount key="w" value={view.worst} places={8} />],
          ]}
        />
        {account === null ? (
          <div className="wait small" role="status">
            There is no money in this account yet: move some {currency} here first.
          </div>
        ) : null}
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
          {wants ?? (view.refusals[0] === undefined ? `${verb} ${words}` : 'Would be refused')}
        </Button>
        {wants !== undefined || view.refusals[0] === undefined ? null : (
          <code className="small dim wrap">{view.refusals[0].label}</code>
        )}
      </form>
      {asked === 'leverage' && grows !== undefined ? (
        <LeverageForm contract={contract} position={grows} dual={dual} close={() => setAsked(undefined)} />
      ) : null}
      {asked === 'mode' ? <ModeForm scope={contract} dual={dual} close={() => setAsked(undefined)} /> : null}
      {asked === 'wait' ? (
        <WaitForm contract={contract} side={draft.side} mark={mark} close={() => setAsked(undefined)} />
      ) : null}
      {asked === 'money' ? <MoneyForm scope={contract} close={() => setAsked(undefined)} /> : null}
    </section>
  )
}
/** What one contract is. */
const oneWords = (contract: Contract): string =>
  isInverse(contract)
    ? 'one contract is 1 USD'
    : `one contract is ${contract.quanto_multiplier} ${contract.name.split('_')[0] ?? ''}`

async function send(
  { side, kind, size, price, force, reduceOnly, profit, loss }: Draft,
  { group, settle, name }: Contract,
): Promise<{ title: string; message: string }> {
  const attached = !reduceOnly && group === 'futures'
  const order = (await ask(group, 'POST /api/v4/futures/{settle}/orders', {
    path: { settle },
    body: {
      contract: name,
      size: Number(size) * (side === 'buy' ? 1 : -1),
      ...(kind === 'market' ? { price: '0', tif: 'ioc' } : { price, tif: force }),
      ...(reduceOnly && { reduce_only: true }),
      ...(attached && profit !== '' && { tpsl_tp_trigger_price: profit }),
      ...(attached && loss !== '' && { tpsl_sl_trigger_price: loss }),
    },
  })) as Order
  return told(order)
}
/** What became of an order, in words. */
export function told(order: Order): { title: string; message: string } {
  const [whole, left] = [order.size, order.left].map((one) => Math.abs(Number(one))) as [number, number]
  const filled = whole - left
  const traded = `${filled} ${filled === 1 ? 'contract' : 'contracts'} at ${order.fill_price} on average`
  if (order.status === 'open')
    return {
      title: 'The order stands in the book',
      message: filled > 0 ? `${traded} at once` : `${whole} at ${order.price}`,
    }
  return filled > 0
    ? { title: 'Traded', message: traded }
    : { title: 'Nothing was traded', message: `the order ended: ${order.finish_as ?? 'at once'}` }
}
