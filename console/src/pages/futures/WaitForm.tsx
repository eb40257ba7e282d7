import { Checkbox, NativeSelect, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { own } from '../../api/query.ts'
import { dec, parse } from '../../lib/decimal.ts'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { FormModal } from '../../parts/FormModal.tsx'
import { ask, currencyOf, isInverse, type Contract } from './contracts.ts'

type Kind = 'trigger' | 'trail' | 'chase'
type PriceType = 'last' | 'mark' | 'index'
/** By their numbers in the two calls. */
const TRIGGER_TYPES = { last: 0, mark: 1, index: 2 } as const
const TRAIL_TYPES = { last: 1, index: 2, mark: 3 } as const
const WORDS: Record<Kind, string> = {
  trigger:
    'Nothing is held until the price is reached; then an order is placed by all the rules of any order.',
  trail:
    'It follows the best price from now on, and trades at the market when the price has come back so far.',
  chase: 'A post-only order that stays at the best price of its own side until it is filled or stopped.',
}

/** Orders that wait for a price: one that is named, one that comes back, or the best one there is. */
export function WaitForm({
  contract,
  side: first,
  mark,
  close,
}: {
  readonly contract: Contract
  readonly side: 'buy' | 'sell'
  readonly mark: string | undefined
  readonly close: () => void
}): React.JSX.Element {
  const [kind, setKind] = useState<Kind>('trigger')
  const [side, setSide] = useState(first)
  const [size, setSize] = useState('')
  const [reduceOnly, setReduceOnly] = useState(false)
  const [type, setType] = useState<PriceType>('mark')
  const [trigger, setTrigger] = useState('')
  const [price, setPrice] = useState('')
  const [expires, setExpires] = useState('0')
  const [offset, setOffset] = useState('')
  const [unit, setUnit] = useState<'%' | ''>('%')
  const [limit, setLimit] = useState('')
  const { group, settle, name } = contract
  const quote = isInverse(contract) ? 'USD' : currencyOf(contract)
  const amount = Number(size) * (side === 'buy' ? 1 : -1)
  const read = parse(trigger)
  const rises = read !== undefined && mark !== undefined && read > dec(mark)
  const send = (): Promise<unknown> => {
    if (kind === 'trigger')
      return ask(group, 'POST /api/v4/futures/{settle}/price_orders', {
        path: { settle },
        body: {
          initial: {
            contract: name,
            size: amount,
            ...(price === '' ? { price: '0', tif: 'ioc' as const } : { price, tif: 'gtc' as const }),
            reduce_only: reduceOnly,
          },
          trigger: {
            price: trigger,
            price_type: TRIGGER_TYPES[type],
            rule: rises ? 1 : 2,
            ...(expires !== '0' && { expiration: Number(expires) }),
          },
        },
      })
    if (kind === 'trail')
      return call('POST /api/v4/futures/{settle}/autoorder/v1/trail/create', {
        path: { settle },
        body: {
          contract: name,
          amount,
          activation_price: trigger === '' ? '0' : trigger,
          price_type: TRAIL_TYPES[type],
          price_offset: `${offset}${unit}`,
          reduce_only: reduceOnly,
        },
      })
    return call('POST /api/v4/futures/{settle}/autoorder/v1/chase/create', {
      path: { settle },
      body: { contract: name, amount, price_limit: limit === '' ? '0' : limit, reduce_only: reduceOnly },
    })
  }
  const counted = parse(size)
  const ready =
    counted !== undefined &&
    counted > 0n &&
    (kind === 'trigger'
      ? read !== undefined && read > 0n && mark !== undefined
      : kind === 'chase' || (parse(offset) ?? 0n) > 0n)
  const prices = (label: string): React.JSX.Element => (
    <NativeSelect
      size="xs"
      label={label}
      value={type}
      onChange={(event) => setType(event.currentTarget.value as PriceType)}
      data={[
        { value: 'mark', label: 'mark price' },
        { value: 'last', label: 'last price' },
        { value: 'index', label: 'index price' },
      ]}
    />
  )
  return (
    <FormModal
      title={`Wait for a price of ${name}`}
      verb={`Wait to ${side}`}
      ready={ready}
      done="It waits"
      refresh={[own('contracts', group, settle)]}
      close={close}
      send={send}
    >
      {group === 'delivery' ? null : (
        <SegmentedControl
          aria-label="What it waits for"
          value={kind}
          onChange={setKind}
          data={[
            { value: 'trigger', label: 'A price' },
            { value: 'trail', label: 'Trail' },
            { value: 'chase', label: 'Chase' },
          ]}
        />
      )}
      <span className="dim small">{WORDS[kind]}</span>
      <SegmentedControl
        aria-label="Buy or sell"
        value={side}
        onChange={setSide}
        data={[
          { value: 'buy', label: '▲ Buy' },
          { value: 'sell', label: '▼ Sell' },
        ]}
      />
      <AmountInput label="How many" currency="contracts" value={size} onChange={setSize} data-autofocus />
      {kind === 'chase' ? (
        <AmountInput
          label={side === 'buy' ? 'Never above' : 'Never below'}
          description="left empty: wherever the best price goes"
          currency={quote}
          value={limit}
          onChange={setLimit}
        />
      ) : (
        <>
          {prices(kind === 'trigger' ? 'When the' : 'Follows the')}
          <AmountInput
            label={
              kind === 'trail'
                ? 'From this price on'
                : read === undefined || mark === undefined
                  ? 'Reaches'
                  : rises
                    ? 'Rises to'
                    : 'Falls to'
            }
            description={kind === 'trail' ? 'left empty: from now on' : undefined}
            currency={quote}
            value={trigger}
            onChange={setTrigger}
          />
        </>
      )}
      {kind === 'trigger' ? (
        <>
          <AmountInput
            label="Order at"
            description="left empty: at the market"
            currency={quote}
            value={price}
            onChange={setPrice}
          />
          <NativeSelect
            size="xs"
            label="Waits"
            value={expires}
            onChange={(event) => setExpires(event.currentTarget.value)}
            data={[
              { value: '0', label: 'until it is cancelled' },
              { value: '86400', label: 'for a day' },
              { value: '604800', label: 'for a week' },
            ]}
          />
        </>
      ) : null}
      {kind === 'trail' ? (
        <div className="pair-fields">
          <AmountInput label="Trades after a turn of" value={offset} onChange={setOffset} />
          <NativeSelect
            label="Counted in"
            value={unit}
            onChange={(event) => setUnit(event.currentTarget.value as '%' | '')}
            data={[
              { value: '%', label: '% of the price' },
              { value: '', label: quote },
            ]}
          />
        </div>
      ) : null}
      <Checkbox
        size="xs"
        label="Only reduces"
        checked={reduceOnly}
        onChange={(event) => setReduceOnly(event.currentTarget.checked)}
      />
    </FormModal>
  )
}
