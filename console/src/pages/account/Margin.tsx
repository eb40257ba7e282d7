import { NativeSelect, Slider } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useOwn } from '../../api/query.ts'
import { approximate, dec, display, percent, type Decimal } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { moved, outlook, type Explanation, type RiskCurrency } from './whatIf.ts'

const useRisk = () => useOwn(['unified', 'risk'], () => call('GET /console/v1/risk'), { every: 3_000 })

/** A line of a sum: whose part it is, the numbers it comes from, and what it comes to. */
type Part = readonly [name: string, numbers: string, value: string | undefined]
const owes = ({ liability }: RiskCurrency): boolean => dec(liability) !== 0n
const held = ({ available, freeze }: RiskCurrency): Decimal => dec(available) + dec(freeze)
/** The rates of tiers, the first ones alone: which of them an amount reaches stands in its value. */
const rates = (list: readonly string[]): string =>
  list.length <= 3 ? list.join(', ') : `${list.slice(0, 3).join(', ')} …`
const each = (
  of: Explanation,
  has: (one: RiskCurrency) => boolean,
  numbers: (one: RiskCurrency) => string,
  value: (one: RiskCurrency) => string | undefined,
): readonly Part[] => of.currencies.filter(has).map((one) => [one.currency, numbers(one), value(one)])
const total = (of: Explanation, key: string, name: string): Part => [name, '', of.figures[key]?.value]

const countedWords = (one: RiskCurrency): string => {
  const equity = dec(one.equity.value)
  if (equity > 0n && !one.collateral) return 'is no collateral'
  const locked = dec(one.locked_deposits) === 0n ? '' : ` − locked ${display(one.locked_deposits)}`
  const of = `(${display(equity)}${locked}) × ${display(one.price)}`
  return equity <= 0n ? of : `${of} × ${rates(one.discount_tiers.map(({ discount }) => display(discount)))}`
}
const debt = (one: RiskCurrency): string => `${display(one.liability)} × ${display(one.price)}`
const FIGURES: readonly {
  readonly key: string
  readonly name: string
  readonly formula: string
  readonly parts: (of: Explanation) => readonly Part[]
}[] = [
  {
    key: 'total_margin_balance',
    name: 'Margin balance',
    formula:
      'what each currency counts for (equity × price × discount of each tier), less what open orders could lose',
    parts: (of) => [
      ...each(
        of,
        (one) => dec(one.equity.value) !== 0n,
        countedWords,
        ({ counted_value }) => counted_value.value,
      ),
      total(of, 'spot_order_loss', 'less: open orders could lose'),
    ],
  },
  {
    key: 'total_initial_margin',
    name: 'Initial margin',
    formula: 'debts × price ÷ leverage of each tier',
    parts: (of) =>
      each(
        of,
        owes,
        (one) => `${debt(one)} ÷ ${rates(one.margin_tiers.map((tier) => display(tier.initial_leverage)))}`,
        ({ initial_margin }) => initial_margin.value,
      ),
  },
  {
    key: 'total_maintenance_margin',
    name: 'Maintenance margin',
    formula: 'debts × price × maintenance rate of each tier',
    parts: (of) =>
      each(
        of,
        owes,
        (one) => `${debt(one)} × ${rates(one.margin_tiers.map((tier) => percent(tier.maintenance_rate)))}`,
        ({ maintenance_margin }) => maintenance_margin.value,
      ),
  },
  {
    key: 'total_available_margin',
    name: 'Available margin',
    formula: 'margin balance − initial margin',
    parts: (of) => [
      total(of, 'total_margin_balance', 'Margin balance'),
      total(of, 'total_initial_margin', 'less: initial margin'),
    ],
  },
  {
    key: 'unified_account_total_equity',
    name: 'Equity',
    formula: 'all assets − all debts, in USD',
    parts: (of) => [
      ...each(
        of,
        (one) => held(one) !== 0n,
        (one) => `${display(held(one))} × ${display(one.price)}`,
        () => undefined,
      ),
      total(of, 'unified_account_total', 'All assets'),
      total(of, 'unified_account_total_liab', 'less: all debts'),
    ],
  },
  {
    key: 'unified_account_total_liab',
    name: 'Debts',
    formula: 'all that is borrowed, with interest, in USD',
    parts: (of) =>
      each(
        of,
        owes,
        (one) => `(${display(one.borrowed)} + interest ${display(one.interest)}) × ${display(one.price)}`,
        () => undefined,
      ),
  },
  {
    key: 'leverage',
    name: 'Leverage',
    formula: 'debts ÷ equity',
    parts: (of) => [
      total(of, 'unified_account_total_liab', 'Debts'),
      total(of, 'unified_account_total_equity', 'Equity'),
    ],
  },
]

/** The figures of the margin; each opens its formula with the numbers in it. */
export function Figures(): React.JSX.Element {
  const risk = useRisk()
  const [open, setOpen] = useState<string | undefined>(undefined)
  return (
    <Card title="Figures" flush>
      <Loaded of={risk} rows={7}>
        {(of) => (
          <ul className="figures">
            {FIGURES.map(({ key, name, formula, parts }) => (
              <li key={key}>
                <button
                  type="button"
                  aria-expanded={open === key}
                  onClick={() => setOpen(open === key ? undefined : key)}
                >
                  <span>{name}</span>
                  <Amount value={of.figures[key]?.value} places={4} />
                </button>
                {open === key ? (
                  <div className="small dim">
                    <div>{formula}</div>
                    <Parts of={parts(of)} />
                  </div>
                ) : null}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  )
}
function Parts({ of }: { readonly of: readonly Part[] }): React.JSX.Element {
  if (of.length === 0) return <div>Nothing goes into it.</div>
  return (
    <ul className="parts">
      {of.map(([name, numbers, value]) => (
        <li key={name}>
          <b>{name}</b>
          <span className="num">{numbers}</span>
          {value === undefined ? <span /> : <Amount value={value} places={4} />}
        </li>
      ))}
    </ul>
  )
}

/** The margin at a price that is not. */
export function WhatIf(): React.JSX.Element {
  const risk = useRisk()
  return (
    <Card title="What if a price moves">
      <Loaded of={risk} rows={4}>
        {(of) =>
          of.currencies.length === 0 ? (
            <Empty>No money in the account yet: no price moves anything.</Empty>
          ) : (
            <Move of={of} />
          )
        }
      </Loaded>
    </Card>
  )
}
function Move({ of }: { readonly of: Explanation }): React.JSX.Element {
  // What matters most is proposed: the currency whose move changes most, money itself left aside.
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const [by, setBy] = useState(0)
  const weight = ({ equity, price }: RiskCurrency): number =>
    Math.abs(approximate(equity.value) * approximate(price))
  const names = of.currencies.toSorted((a, b) => weight(b) - weight(a)).map(({ currency }) => currency)
  const currency =
    of.currencies.find((one) => one.currency === chosen)?.currency ??
    names.find((name) => name !== 'USDT') ??
    names[0]!
  const price = dec(of.currencies.find((one) => one.currency === currency)?.price)
  const now = outlook(of, currency, 0)
  const then = outlook(of, currency, by)
  const level = (rate: Decimal | undefined): string =>
    rate === undefined ? '' : approximate(rate) < 1 ? ' down' : approximate(rate) < 1.2 ? ' wait' : ''
  const rate = (value: Decimal | undefined): React.JSX.Element => (
    <span className={`num${level(value)}`}>{value === undefined ? 'nothing owed' : percent(value)}</span>
  )
  return (
    <div className="stack">
      <div className="row">
        <NativeSelect
          aria-label="Currency whose price moves"
          value={currency}
          data={names.map((name) => ({ value: name, label: name }))}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <span className="num" aria-live="polite">
          {display(price)} → <b>{display(moved(price, by))}</b> USDT ({by > 0 ? '+' : by < 0 ? '−' : ''}
          {Math.abs(by)} %)
        </span>
      </div>
      <Slider
        thumbLabel={`Move of ${currency}'s price in per cent`}
        min={-50}
        max={50}
        step={1}
        value={by}
        onChange={setBy}
        label={(value) => `${value} %`}
        marks={[-50, -25, 0, 25, 50].map((value) => ({ value, label: `${value} %` }))}
        mb="lg"
        mx="xs"
      />
      <table className="plain" aria-label="The margin then">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col">Now</th>
            <th scope="col">Then</th>
          </tr>
        </thead>
        <tbody>
          {(
            [
              ['Initial margin rate', rate(now.initialRate), rate(then.initialRate)],
              ['Maintenance margin rate', rate(now.maintenanceRate), rate(then.maintenanceRate)],
              ['Margin balance', money(now.balance), money(then.balance)],
              ['Available margin', money(now.available), money(then.available)],
            ] as const
          ).map(([name, before, after]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{before}</td>
              <td>{after}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="small dim" role="status">
        {then.maintenanceRate !== undefined && approximate(then.maintenanceRate) < 1
          ? 'The account would be liquidated.'
          : then.available < 0n
            ? 'No loan and no order that takes more risk would be let through.'
            : 'What open orders could lose is taken as it is now.'}
      </div>
    </div>
  )
}
const money = (value: Decimal): React.JSX.Element => <Amount value={value} places={2} fixed />
