import { Alert, Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { useOwn } from '../../api/query.ts'
import { approximate, dec, display, percent } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Status } from '../../parts/Status.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Figures, WhatIf } from './Margin.tsx'
import { Switch } from './UnifiedMode.tsx'
import { Loan } from './UnifiedLoan.tsx'
import { Records } from './UnifiedRecords.tsx'

type Accounts = Reply<'GET /api/v4/unified/accounts'>
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
