import { SegmentedControl, Slider } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { own } from '../../api/query.ts'
import { approximate, dec, parse } from '../../lib/decimal.ts'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { FormModal } from '../../parts/FormModal.tsx'
import { useBalances, balanceOf } from '../trade/market.ts'
import {
  ask,
  currencyOf,
  isCross,
  isHeld,
  leverageOf,
  useContractAccount,
  type Contract,
  type Position,
  type Scope,
} from './contracts.ts'

const refresh = ({ group, settle }: Scope) => [own('contracts', group, settle)]

/** Margin mode and leverage of a contract. */
export function LeverageForm({
  contract,
  position,
  dual,
  close,
}: {
  readonly contract: Contract
  readonly position: Position
  readonly dual: boolean
  readonly close: () => void
}): React.JSX.Element {
  const [mode, setMode] = useState<'cross' | 'isolated'>(isCross(position) ? 'cross' : 'isolated')
  const [leverage, setLeverage] = useState(leverageOf(position))
  const { group, settle, name } = contract
  const least = approximate(contract.leverage_min)
  const most = approximate(contract.leverage_max)
  const read = parse(leverage)
  const why =
    read !== undefined && (read < dec(contract.leverage_min) || read > dec(contract.leverage_max))
      ? `from ${contract.leverage_min} to ${contract.leverage_max}`
      : undefined
  const query = mode === 'cross' ? { leverage: '0', cross_leverage_limit: leverage } : { leverage }
  const path = { settle, contract: name }
  return (
    <FormModal
      title={`Margin of ${name}`}
      verb="Set"
      ready={read !== undefined && why === undefined}
      done={`${mode === 'cross' ? 'Cross' : 'Isolated'} ${leverage}×`}
      refresh={refresh(contract)}
      close={close}
      send={() =>
        dual
          ? call('POST /api/v4/futures/{settle}/dual_comp/positions/{contract}/leverage', {
              path,
              query,
              body: {},
            })
          : ask(group, 'POST /api/v4/futures/{settle}/positions/{contract}/leverage', {
              path,
              query,
              body: {},
            })
      }
    >
      <SegmentedControl
        aria-label="Margin mode"
        value={mode}
        onChange={setMode}
        data={[
          { value: 'isolated', label: 'Isolated' },
          { value: 'cross', label: 'Cross' },
        ]}
      />
      <span className="dim small">
        {mode === 'isolated'
          ? 'The position stands on margin of its own: no more than that can be lost with it.'
          : 'All cross positions of the account stand on all of its money, and are liquidated together.'}
      </span>
      <AmountInput
        label="Leverage"
        currency="×"
        value={leverage}
        onChange={setLeverage}
        error={why}
        data-autofocus
      />
      <Slider
        thumbLabel="Leverage"
        label={null}
        min={least}
        max={most}
        value={read === undefined ? least : Math.min(most, Math.max(least, approximate(read)))}
        onChange={(value) => setLeverage(String(Math.round(value)))}
        marks={[least, Math.round(most / 4), Math.round(most / 2), most].map((value) => ({
          value,
          label: `${value}×`,
        }))}
        mb="lg"
      />
      {isHeld(position) ? (
        <span className="wait small">
          There is a position: its margin changes with this, and the platform refuses what would leave it too
          little.
        </span>
      ) : null}
    </FormModal>
  )
}

/** One position in a contract, or a long and a short apart: of all contracts of a settle currency together. */
export function ModeForm({
  scope,
  dual,
  close,
}: {
  readonly scope: Scope
  readonly dual: boolean
  readonly close: () => void
}): React.JSX.Element {
  const [wanted, setWanted] = useState<'single' | 'dual'>(dual ? 'dual' : 'single')
  return (
    <FormModal
      title={`Positions settled in ${currencyOf(scope)}`}
      verb="Switch"
      ready={(wanted === 'dual') !== dual}
      done={wanted === 'dual' ? 'Long and short apart' : 'One position in each contract'}
      refresh={refresh(scope)}
      close={close}
      send={() =>
        call('POST /api/v4/futures/{settle}/dual_mode', {
          path: { settle: scope.settle },
          query: { dual_mode: wanted === 'dual' },
          body: {},
        })
      }
    >
      <SegmentedControl
        aria-label="Position mode"
        value={wanted}
        onChange={setWanted}
        data={[
          { value: 'single', label: 'One position' },
          { value: 'dual', label: 'Long and short' },
        ]}
      />
      <span className="dim small">
        {wanted === 'dual'
          ? 'A buy opens a long and a sell a short, side by side; only orders that reduce close them.'
          : 'A sell closes a long before it opens a short, and the other way round.'}{' '}
        It can be switched while there is no position and no order in any of these contracts.
      </span>
    </FormModal>
  )
}

/** Adds margin to an isolated position, or takes some away. */
export function MarginForm({
  scope,
  position,
  close,
}: {
  readonly scope: Scope
  readonly position: Position
  readonly close: () => void
}): React.JSX.Element {
  const [way, setWay] = useState<'add' | 'take'>('add')
  const [amount, setAmount] = useState('')
  const account = useContractAccount(scope).data
  const currency = currencyOf(scope)
  const change = `${way === 'add' ? '' : '-'}${amount}`
  const path = { settle: scope.settle, contract: position.contract }
  const read = amount === '' ? undefined : parse(amount)
  return (
    <FormModal
      title={`Margin of the position in ${position.contract}`}
      verb={way === 'add' ? 'Add' : 'Take away'}
      ready={read !== undefined && read > 0n}
      done={way === 'add' ? 'Added' : 'Taken away'}
      refresh={refresh(scope)}
      close={close}
      send={() =>
        position.mode === 'single'
          ? ask(scope.group, 'POST /api/v4/futures/{settle}/positions/{contract}/margin', {
              path,
              query: { change },
              body: {},
            })
          : call('POST /api/v4/futures/{settle}/dual_comp/positions/{contract}/margin', {
              path,
              query: { change, dual_side: position.mode as 'dual_long' },
              body: {},
            })
      }
    >
      <SegmentedControl
        aria-label="Add or take away"
        value={way}
        onChange={setWay}
        data={[
          { value: 'add', label: 'Add' },
          { value: 'take', label: 'Take away' },
        ]}
      />
      <AmountInput label="Amount" currency={currency} value={amount} onChange={setAmount} data-autofocus />
      <span className="dim small">
        It has <Amount value={position.margin} places={8} currency={currency} /> now
        {way === 'add' ? (
          <>
            ; <Amount value={account?.available} places={8} currency={currency} /> are available.
          </>
        ) : (
          '. What its leverage asks for must stay.'
        )}
      </span>
    </FormModal>
  )
}

/** Money between the spot account and an account of contracts. */
export function MoneyForm({
  scope,
  close,
}: {
  readonly scope: Scope
  readonly close: () => void
}): React.JSX.Element {
  const [way, setWay] = useState<'in' | 'out'>('in')
  const [amount, setAmount] = useState('')
  const currency = currencyOf(scope)
  const spot = balanceOf(useBalances().data, currency)
  const account = useContractAccount(scope).data
  const free = way === 'in' ? spot : account === null ? '0' : account?.available
  const read = amount === '' ? undefined : parse(amount)
  const why =
    read !== undefined && free !== undefined && read > dec(free) ? `Not enough: ${free} is free` : undefined
  return (
    <FormModal
      title={`Move ${currency}`}
      verb="Move"
      ready={read !== undefined && read > 0n && why === undefined}
      done={`Moved ${amount} ${currency}`}
      refresh={[...refresh(scope), own('balances'), own('total')]}
      close={close}
      send={() =>
        call('POST /api/v4/wallet/transfers', {
          body: {
            currency,
            from: way === 'in' ? 'spot' : scope.group,
            to: way === 'in' ? scope.group : 'spot',
            settle: scope.settle,
            amount,
          },
        })
      }
    >
      <SegmentedControl
        aria-label="Direction"
        value={way}
        onChange={setWay}
        data={[
          { value: 'in', label: `Spot to ${scope.group}` },
          { value: 'out', label: `${scope.group === 'futures' ? 'Futures' : 'Delivery'} to spot` },
        ]}
      />
      <AmountInput
        label="Amount"
        currency={currency}
        value={amount}
        onChange={setAmount}
        error={why}
        data-autofocus
      />
      <span className="dim small">
        Free there: <Amount value={free} places={8} currency={currency} />
      </span>
    </FormModal>
  )
}
