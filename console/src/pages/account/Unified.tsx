import { Alert, Button, Modal, Select, Tabs } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Body, type Reply } from '../../api/client.ts'
import { refreshOwn, useOwn } from '../../api/query.ts'
import { approximate, dec, display, parse, percent } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Status } from '../../parts/Status.tsx'
import { Empty, Failed, Loaded, toast } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useOpenOrders } from '../trade/market.ts'
import { Figures, WhatIf } from './Margin.tsx'

type Accounts = Reply<'GET /api/v4/unified/accounts'>
type Mode = Body<'PUT /api/v4/unified/unified_mode'>['mode']
const useAccounts = () =>
  useOwn(['unified'], () => call('GET /api/v4/unified/accounts', { query: {} }), { every: 3_000 })

export function Unified(): React.JSX.Element {
  const mode = useOwn(['unified-mode'], () => call('GET /api/v4/unified/unified_mode'))
  const [switching, setSwitching] = useState(false)
  return (
    <Page
      title="Unified account"
      lead="All spot money as collateral for loans and orders."
      actions={
        mode.data === undefined ? null : (
          <>
            <span>
              Mode <Status of={mode.data.mode} />
            </span>
            <Button
              variant={mode.data.mode === 'classic' ? 'filled' : 'default'}
              onClick={() => setSwitching(true)}
            >
              Switch the mode
            </Button>
          </>
        )
      }
    >
      <Loaded of={mode} rows={6}>
        {({ mode: now }) =>
          now === 'classic' ? (
            <Card>
              <Empty
                action={<Button onClick={() => setSwitching(true)}>See what a switch would change</Button>}
              >
                The account is in classic mode: each of its parts stands for itself, and there are no unified
                loans.
              </Empty>
            </Card>
          ) : (
            <Inside />
          )
        }
      </Loaded>
      <Modal opened={switching} onClose={() => setSwitching(false)} title="Switch the mode" size="lg">
        {mode.data === undefined ? null : <Switch now={mode.data.mode} close={() => setSwitching(false)} />}
      </Modal>
    </Page>
  )
}

const MODES: readonly {
  readonly value: Mode
  readonly label: string
  readonly changes: readonly string[]
}[] = [
  {
    value: 'classic',
    label: 'Classic',
    changes: [
      'No unified loans.',
      'Spot, margin and the others stand for themselves.',
      'Every debt must be repaid first.',
    ],
  },
  {
    value: 'single_currency',
    label: 'Single currency',
    changes: [
      'Each currency is margin for itself alone.',
      'A loan is judged by the equity in its own currency.',
    ],
  },
  {
    value: 'multi_currency',
    label: 'Multi currency',
    changes: [
      'Spot money of all collateral currencies counts together, less a discount.',
      'You can borrow against it; interest is charged each hour.',
      'Below the maintenance margin the account is liquidated.',
    ],
  },
  {
    value: 'portfolio',
    label: 'Portfolio',
    changes: ['As multi currency; margin is reckoned over all positions together.'],
  },
]
function Switch({ now, close }: { readonly now: string; readonly close: () => void }): React.JSX.Element {
  const [mode, setMode] = useState<Mode>(now === 'classic' ? 'multi_currency' : 'classic')
  const orders = useOpenOrders().data?.length
  const loans = useOwn(['unified-loans'], () => call('GET /api/v4/unified/loans', { query: {} })).data
  const owed = loans?.length ?? 0
  const change = useMutation({
    mutationFn: () => call('PUT /api/v4/unified/unified_mode', { body: { mode } }),
    onSuccess: () => {
      toast('Switched', MODES.find(({ value }) => value === mode)?.label)
      void refreshOwn()
      close()
    },
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate()
      }}
    >
      <Select
        label={`From ${now.replaceAll('_', ' ')} to`}
        data={MODES.filter(({ value }) => value !== now).map(({ value, label }) => ({ value, label }))}
        value={mode}
        onChange={(value) => setMode(value ?? mode)}
      />
      <div>
        <b>What changes</b>
        <ul className="steps">
          {MODES.find(({ value }) => value === mode)?.changes.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </div>
      {owed > 0 && mode === 'classic' ? (
        <Alert color="yellow" title="In the way">
          {owed} {owed === 1 ? 'loan is' : 'loans are'} open: repay first.
        </Alert>
      ) : null}
      {orders !== undefined && orders > 0 ? (
        <Alert color="yellow" title="May be in the way">
          {orders} open {orders === 1 ? 'order' : 'orders'}: where the platform refuses, cancel them first.
        </Alert>
      ) : null}
      {change.error === null ? null : <Failed error={change.error} />}
      <Button type="submit" loading={change.isPending} disabled={owed > 0 && mode === 'classic'}>
        Switch
      </Button>
    </form>
  )
}

function Inside(): React.JSX.Element {
  const account = useAccounts()
  const [loan, setLoan] = useState<
    { readonly type: 'borrow' | 'repay'; readonly currency: string } | undefined
  >(undefined)
  return (
    <>
      <Loaded of={account} rows={5} height={30}>
        {(data) => (
          <>
            {data.locked || data.risk_level !== 'normal' ? (
              <Alert
                color="red"
                title={data.locked ? 'The account is being liquidated' : `The account is ${data.risk_level}`}
              >
                Repay or bring in collateral: the margin balance is too near to what is needed.
              </Alert>
            ) : null}
            <Gauges of={data} />
            <WhatIf />
            <Card
              title="Balances"
              flush
              actions={
                <>
                  <Button size="xs" onClick={() => setLoan({ type: 'borrow', currency: 'USDT' })}>
                    Borrow
                  </Button>
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() =>
                      setLoan({
                        type: 'repay',
                        currency:
                          Object.entries(data.balances).find(([, one]) => dec(one.total_liab) > 0n)?.[0] ??
                          'USDT',
                      })
                    }
                  >
                    Repay
                  </Button>
                </>
              }
            >
              <Table
                label="Unified balances"
                columns={[
                  { name: 'Currency', cell: ([name]) => <b>{name}</b> },
                  {
                    name: 'Free',
                    right: true,
                    cell: ([, one]) => <Amount value={one.available} places={8} align />,
                  },
                  {
                    name: 'In orders',
                    right: true,
                    cell: ([, one]) => <Amount value={one.freeze} places={8} align />,
                  },
                  {
                    name: 'Borrowed',
                    right: true,
                    cell: ([, one]) => <Amount value={one.borrowed} places={8} align />,
                  },
                  {
                    name: 'Owed with interest',
                    right: true,
                    cell: ([, one]) => <Amount value={one.total_liab} places={8} align />,
                  },
                  {
                    name: 'Equity',
                    right: true,
                    cell: ([, one]) => <Amount value={one.equity} places={8} align />,
                  },
                  { name: 'Collateral', cell: ([, one]) => (one.enabled_collateral ? 'yes' : 'no') },
                ]}
                rows={Object.entries(data.balances)}
                rowKey={([name]) => name}
                mark={([, one]) => `${one.available} ${one.total_liab}`}
                empty={<Empty>No money in the account yet.</Empty>}
              />
            </Card>
          </>
        )}
      </Loaded>
      <Records />
      <Modal
        opened={loan !== undefined}
        onClose={() => setLoan(undefined)}
        title={loan?.type === 'repay' ? 'Repay' : 'Borrow'}
      >
        {loan === undefined ? null : (
          <Loan {...loan} balances={account.data?.balances ?? {}} close={() => setLoan(undefined)} />
        )}
      </Modal>
    </>
  )
}

function Gauges({ of }: { readonly of: Accounts }): React.JSX.Element {
  return (
    <div className="cols-main">
      <Card title="Margin">
        <div className="stack">
          <Gauge
            name="Initial margin rate"
            value={of.total_initial_margin_rate}
            warn={110}
            bad={100}
            formula={`${of.total_margin_balance} ÷ ${of.total_initial_margin}`}
            below="below 100 % no loan and no risky order; below 110 % a warning"
          />
          <Gauge
            name="Maintenance margin rate"
            value={of.total_maintenance_margin_rate}
            warn={120}
            bad={100}
            formula={`${of.total_margin_balance} ÷ ${of.total_maintenance_margin}`}
            below="below 100 % the account is liquidated"
          />
        </div>
      </Card>
      <Figures />
    </div>
  )
}
/** A rate against its thresholds; 0 is nothing owed. */
function Gauge({
  name,
  value,
  warn,
  bad,
  formula,
  below,
}: {
  readonly name: string
  readonly value: string
  readonly warn: number
  readonly bad: number
  readonly formula: string
  readonly below: string
}): React.JSX.Element {
  const rate = dec(value)
  const share = approximate(rate) * 100
  const most = 300
  const tone =
    rate === 0n ? 'var(--up)' : share < bad ? 'var(--down)' : share < warn ? 'var(--wait)' : 'var(--up)'
  return (
    <div>
      <div className="row between">
        <span>{name}</span>
        <b className="num">{rate === 0n ? 'nothing owed' : percent(rate)}</b>
      </div>
      <div
        className="gauge"
        role="meter"
        aria-label={name}
        aria-valuemin={0}
        aria-valuemax={most}
        aria-valuenow={Math.min(most, Math.round(share))}
        aria-valuetext={rate === 0n ? 'nothing owed' : display(value)}
      >
        <i
          style={{ width: `${rate === 0n ? 100 : Math.min(100, (share / most) * 100)}%`, background: tone }}
        />
        <b style={{ left: `${(bad / most) * 100}%` }} title={`${bad} %`} />
        <b style={{ left: `${(warn / most) * 100}%` }} title={`${warn} %`} />
      </div>
      <div className="small dim num">{rate === 0n ? below : `= ${formula}; ${below}`}</div>
    </div>
  )
}

function Loan({
  type,
  currency: first,
  balances,
  close,
}: {
  readonly type: 'borrow' | 'repay'
  readonly currency: string
  readonly balances: Accounts['balances']
  readonly close: () => void
}): React.JSX.Element {
  const [currency, setCurrency] = useState(first)
  const [amount, setAmount] = useState('')
  const [all, setAll] = useState(false)
  const borrow = type === 'borrow'
  const currencies =
    useOwn(['unified-currencies'], () => call('GET /api/v4/unified/currencies', { query: {} }), {
      stale: 60_000,
    }).data ?? []
  const rules = currencies.find(({ name }) => name === currency)
  const borrowable = useOwn(
    ['borrowable', currency],
    () => call('GET /api/v4/unified/borrowable', { query: { currency } }),
    { enabled: borrow, every: 5_000 },
  ).data?.amount
  const rate = useOwn(
    ['estimate-rate', currency],
    () => call('GET /api/v4/unified/estimate_rate', { query: { currencies: [currency] } }),
    { enabled: borrow },
  ).data?.[currency]
  const owed = balances[currency]?.total_liab
  const value = amount === '' ? undefined : parse(amount)
  const why =
    value === undefined
      ? undefined
      : borrow && rules !== undefined && value < dec(rules.min_borrow_amount)
        ? `At least ${rules.min_borrow_amount} ${currency}`
        : borrow && borrowable !== undefined && value > dec(borrowable)
          ? `At most ${borrowable} ${currency} can be borrowed now`
          : undefined
  const send = useMutation({
    mutationFn: () =>
      call('POST /api/v4/unified/loans', {
        body: { currency, type, ...(all ? { repaid_all: true } : { amount }) },
      }),
    onSuccess: () => {
      toast(borrow ? 'Borrowed' : 'Repaid', all ? `all ${currency}` : `${amount} ${currency}`)
      void refreshOwn()
      close()
    },
  })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        send.mutate()
      }}
    >
      <Select
        label="Currency"
        searchable
        data={
          borrow
            ? currencies.map(({ name }) => name)
            : Object.entries(balances)
                .filter(([, one]) => dec(one.total_liab) > 0n)
                .map(([name]) => name)
        }
        value={currency}
        onChange={(next) => setCurrency(next ?? currency)}
      />
      <AmountInput
        label="Amount"
        currency={currency}
        value={all ? (owed ?? '') : amount}
        onChange={setAmount}
        disabled={all}
        error={why}
      />
      {borrow ? (
        <Facts
          of={[
            ['Can be borrowed', <Amount key="b" value={borrowable} currency={currency} />],
            ['Rate by the hour, about', rate === undefined || rate === '' ? '–' : percent(rate, 6)],
            ['At least', <Amount key="m" value={rules?.min_borrow_amount} currency={currency} />],
          ]}
        />
      ) : (
        <Facts
          of={[
            ['Owed with interest', <Amount key="o" value={owed} currency={currency} />],
            ['Free', <Amount key="f" value={balances[currency]?.available} currency={currency} />],
          ]}
        />
      )}
      {borrow ? null : (
        <Button variant={all ? 'light' : 'default'} aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? 'All of it, with interest' : 'Repay all of it'}
        </Button>
      )}
      {send.error === null ? null : <Failed error={send.error} />}
      <Button
        type="submit"
        loading={send.isPending}
        disabled={(!all && (value === undefined || value <= 0n)) || why !== undefined}
      >
        {borrow ? 'Borrow' : 'Repay'}
      </Button>
    </form>
  )
}

function Records(): React.JSX.Element {
  const loans = useOwn(['unified-loans'], () => call('GET /api/v4/unified/loans', { query: {} }), {
    every: 10_000,
  })
  const records = useOwn(['unified-records'], () => call('GET /api/v4/unified/loan_records', { query: {} }))
  const interest = useOwn(['unified-interest'], () =>
    call('GET /api/v4/unified/interest_records', { query: {} }),
  )
  return (
    <section className="card" aria-label="Loans">
      <Tabs defaultValue="loans" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="loans">Loans</Tabs.Tab>
          <Tabs.Tab value="records">Borrowed and repaid</Tabs.Tab>
          <Tabs.Tab value="interest">Interest</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="loans">
          <Loaded of={loans}>
            {(list) => (
              <Table
                label="Loans"
                columns={[
                  { name: 'Currency', cell: ({ currency }) => <b>{currency}</b> },
                  { name: 'Amount', right: true, cell: ({ amount }) => <Amount value={amount} /> },
                  { name: 'Kind', cell: ({ type }) => type },
                  { name: 'Since', cell: ({ create_time }) => <Time at={create_time} form="minute" /> },
                ]}
                rows={list}
                rowKey={({ currency, type, currency_pair }) => `${currency} ${type} ${currency_pair}`}
                mark={({ amount }) => amount}
                empty={<Empty>Nothing is borrowed.</Empty>}
              />
            )}
          </Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="records">
          <Loaded of={records}>
            {(list) => (
              <Table
                label="Borrowed and repaid"
                columns={[
                  { name: 'Time', cell: ({ create_time }) => <Time at={create_time} /> },
                  {
                    name: 'What',
                    cell: ({ type, repayment_type }) =>
                      repayment_type === '' || repayment_type === 'none'
                        ? type
                        : `${type}, ${repayment_type.replaceAll('_', ' ')}`,
                  },
                  {
                    name: 'Amount',
                    right: true,
                    cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
                  },
                ]}
                rows={list}
                rowKey={({ id }) => id}
                empty={<Empty>Nothing was borrowed yet.</Empty>}
              />
            )}
          </Loaded>
        </Tabs.Panel>
        <Tabs.Panel value="interest">
          <Loaded of={interest}>
            {(list) => (
              <Table
                label="Interest"
                columns={[
                  { name: 'Time', cell: ({ create_time }) => <Time at={create_time} form="minute" /> },
                  {
                    name: 'Interest',
                    right: true,
                    cell: ({ interest: amount, currency }) => <Amount value={amount} currency={currency} />,
                  },
                  {
                    name: 'Rate by the hour',
                    right: true,
                    cell: ({ actual_rate }) => <span className="num">{percent(actual_rate, 6)}</span>,
                  },
                  { name: 'State', cell: ({ status }) => (status === 1 ? 'charged' : 'failed') },
                ]}
                rows={list}
                rowKey={({ create_time, currency, type }) => `${create_time} ${currency} ${type}`}
                empty={<Empty>No interest was charged yet.</Empty>}
              />
            )}
          </Loaded>
        </Tabs.Panel>
      </Tabs>
    </section>
  )
}
