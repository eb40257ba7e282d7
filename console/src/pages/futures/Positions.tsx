import { Button, NativeSelect, SegmentedControl } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { own } from '../../api/query.ts'
import { dec, div, percent } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { FormModal } from '../../parts/FormModal.tsx'
import { Empty, toast } from '../../parts/states.tsx'
import { Table, type Column } from '../../parts/Table.tsx'
import { ask, currencyOf, isCross, leverageOf, type Order, type Position, type Scope } from './contracts.ts'
import { told } from './ContractForm.tsx'
import { MarginForm } from './Leverage.tsx'

/** A table has room for some digits; all of them stand on hover. */
const placesFor = (price: string): number => (Number(price) >= 1000 ? 1 : 4)
const isLong = ({ size }: Position): boolean => Number(size) > 0
export function LongShort({ long }: { readonly long: boolean }): React.JSX.Element {
  return long ? <span className="up">▲ long</span> : <span className="down">▼ short</span>
}

export function Positions({
  scope,
  list,
  short = false,
}: {
  readonly scope: Scope
  readonly list: readonly Position[]
  /** Without what changes it. */
  readonly short?: boolean
}): React.JSX.Element {
  const [closing, setClosing] = useState<Position | undefined>(undefined)
  const [margin, setMargin] = useState<Position | undefined>(undefined)
  const currency = currencyOf(scope)
  const money = scope.settle === 'usdt' ? 2 : 8
  const columns: readonly Column<Position>[] = [
    {
      name: 'Contract',
      cell: (one) => (
        <span className="nowrap">
          <Link to="/futures/$contract" params={{ contract: one.contract }}>
            <b>{one.contract}</b>
          </Link>{' '}
          <span className="dim small">
            {isCross(one) ? 'cross' : 'isolated'} {leverageOf(one)}×
          </span>
        </span>
      ),
    },
    {
      name: 'Side',
      cell: (one) => (
        <span className="nowrap">
          <LongShort long={isLong(one)} />
        </span>
      ),
    },
    { name: 'Size', right: true, cell: ({ size }) => <Amount value={String(size).replace('-', '')} /> },
    {
      name: 'Entry',
      right: true,
      cell: ({ entry_price }) => <Amount value={entry_price} places={placesFor(entry_price)} />,
    },
    {
      name: 'Mark',
      right: true,
      cell: ({ mark_price }) => <Amount value={mark_price} places={placesFor(mark_price)} />,
    },
    {
      name: 'Liq. price',
      right: true,
      cell: ({ liq_price }) => (
        <Amount value={dec(liq_price) === 0n ? undefined : liq_price} places={placesFor(liq_price)} />
      ),
    },
    { name: 'Margin', right: true, cell: ({ margin: has }) => <Amount value={has} places={money} fixed /> },
    {
      name: `PnL ${currency}`,
      right: true,
      cell: ({ unrealised_pnl }) => <Amount value={unrealised_pnl} places={money} fixed signed />,
    },
    {
      name: 'ROE',
      right: true,
      cell: ({ unrealised_pnl, initial_margin }) => {
        const pnl = dec(unrealised_pnl)
        return (
          <span
            className={pnl > 0n ? 'num up' : pnl < 0n ? 'num down' : 'num'}
            title="The profit over the initial margin"
          >
            {pnl > 0n ? '+' : ''}
            {percent(div(pnl, dec(initial_margin)))}
          </span>
        )
      },
    },
    {
      name: 'Do',
      quiet: true,
      right: true,
      cell: (one) => (
        <span className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
          {isCross(one) ? null : (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => setMargin(one)}
              aria-label={`± Margin of ${one.contract}`}
            >
              ± Margin
            </Button>
          )}
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => setClosing(one)}
            aria-label={`Close the ${isLong(one) ? 'long' : 'short'} in ${one.contract}`}
          >
            Close
          </Button>
        </span>
      ),
    },
  ]
  return (
    <>
      <Table
        label="Positions"
        columns={short ? columns.slice(0, -1) : columns}
        rows={list}
        rowKey={({ contract, mode }) => `${contract} ${mode}`}
        mark={({ size, margin: has, entry_price }) => `${size} ${entry_price} ${has}`}
        empty={<Empty>No position. An order that is filled opens one.</Empty>}
      />
      {closing === undefined ? null : (
        <CloseForm scope={scope} position={closing} close={() => setClosing(undefined)} />
      )}
      {margin === undefined ? null : (
        <MarginForm scope={scope} position={margin} close={() => setMargin(undefined)} />
      )}
    </>
  )
}

function CloseForm({
  scope,
  position,
  close,
}: {
  readonly scope: Scope
  readonly position: Position
  readonly close: () => void
}): React.JSX.Element {
  const [kind, setKind] = useState<'market' | 'limit'>('market')
  const [price, setPrice] = useState(position.mark_price)
  const [share, setShare] = useState('100')
  const long = isLong(position)
  const held = Math.abs(Number(position.size))
  const part = Math.max(1, Math.floor((held * Number(share)) / 100))
  const send = async (): Promise<void> => {
    const at = kind === 'market' ? { price: '0', tif: 'ioc' as const } : { price, tif: 'gtc' as const }
    const what =
      part < held
        ? { size: long ? -part : part, reduce_only: true }
        : position.mode === 'single'
          ? { size: 0, close: true }
          : { size: 0, auto_size: long ? ('close_long' as const) : ('close_short' as const) }
    const order = (await ask(scope.group, 'POST /api/v4/futures/{settle}/orders', {
      path: { settle: scope.settle },
      body: { contract: position.contract, ...at, ...what },
    })) as Order
    const { title, message } = told(order)
    toast(title, message)
  }
  return (
    <FormModal
      title={`Close the ${long ? 'long' : 'short'} in ${position.contract}`}
      verb={`${long ? 'Sell' : 'Buy'} ${part} ${part === 1 ? 'contract' : 'contracts'}`}
      ready={kind === 'market' || dec(price) > 0n}
      done="Sent"
      refresh={[own('contracts', scope.group, scope.settle)]}
      close={close}
      send={send}
    >
      <SegmentedControl
        aria-label="How to close"
        value={kind}
        onChange={setKind}
        data={[
          { value: 'market', label: 'At the market' },
          { value: 'limit', label: 'At a price' },
        ]}
      />
      {kind === 'limit' ? (
        <AmountInput label="Price" value={price} onChange={setPrice} data-autofocus />
      ) : (
        <span className="dim small">
          What the book gives now; a market order stops where the contract’s slippage ends, and the rest stays
          open.
        </span>
      )}
      <NativeSelect
        label="How much of it"
        value={share}
        onChange={(event) => setShare(event.currentTarget.value)}
        data={['100', '75', '50', '25'].map((value) => ({
          value,
          label: `${value} % of ${held}`,
        }))}
      />
    </FormModal>
  )
}
