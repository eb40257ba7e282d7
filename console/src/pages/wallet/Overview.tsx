import { Button, Checkbox, SegmentedControl } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { ApiError } from '../../api/errors.ts'
import { useOwn } from '../../api/query.ts'
import { approximate, dec, div, percent, sum, ZERO, type Decimal } from '../../lib/decimal.ts'
import { setPrefs, usePrefs } from '../../lib/prefs.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { ContractAccounts } from './ContractAccounts.tsx'
import { usePrices, useSpotBalances, worthOf } from './money.ts'
import { useAccountStreams } from '../trade/market.ts'

const RANGES = ['24h', '7d', '30d'] as const
const NAMES: Readonly<Record<string, string>> = {
  spot: 'Spot',
  margin: 'Isolated margin',
  cross_margin: 'Cross margin',
  unified: 'Unified',
  futures: 'Futures',
  delivery: 'Delivery',
  options: 'Options',
  finance: 'Earn',
  quant: 'Quant',
  warrant: 'Warrant',
  cbbc: 'CBBC',
  payment: 'Payment',
  meme_box: 'Meme box',
}

export function Overview(): React.JSX.Element {
  useAccountStreams()
  const [range, setRange] = useState<(typeof RANGES)[number]>('24h')
  const total = useOwn(
    ['total'],
    () => call('GET /api/v4/wallet/total_balance', { query: { currency: 'USDT' } }),
    { every: 10_000 },
  )
  const worth = useOwn(['worth', range], () => call('GET /console/v1/worth', { query: { range } }), {
    every: 60_000,
  })
  const points = worth.data?.points.map(({ time, total: at }) => ({
    time: time * 1000,
    value: approximate(at),
  }))
  const begun = points?.findIndex(({ value }) => value > 0) ?? -1
  const line = points?.slice(Math.max(0, begun))
  const unknown = worth.error instanceof ApiError && worth.error.status === 404
  return (
    <Page
      title="Wallet"
      actions={
        <>
          <Button component={Link} to="/wallet/deposit">
            Deposit
          </Button>
          <Button component={Link} to="/wallet/withdraw" variant="default">
            Withdraw
          </Button>
          <Button component={Link} to="/wallet/transfers" variant="default">
            Transfer
          </Button>
        </>
      }
    >
      <div className="cols-main level">
        <Card
          title="Worth of everything"
          actions={
            <SegmentedControl
              size="xs"
              aria-label="Range"
              value={range}
              onChange={setRange}
              data={RANGES.map((value) => ({ value, label: value.replace('h', ' h').replace('d', ' d') }))}
            />
          }
        >
          <Loaded of={total} rows={1} height={30}>
            {({ total: all }) => (
              <div className="big-figure" aria-live="polite">
                <Amount value={all.amount} places={2} currency={all.currency} />
                {dec(all.borrowed) === 0n ? null : (
                  <div className="small dim" style={{ fontWeight: 400 }}>
                    of it borrowed <Amount value={all.borrowed} places={2} currency={all.currency} />
                  </div>
                )}
              </div>
            )}
          </Loaded>
          {line === undefined ? (
            unknown ? (
              <Empty>The line begins in a minute.</Empty>
            ) : worth.error === null ? (
              <Loading rows={4} height={34} />
            ) : (
              <Empty>The line can’t be drawn just now.</Empty>
            )
          ) : line.length < 2 ? (
            <Empty>The line begins in a minute.</Empty>
          ) : (
            <Lines points={line} label="Worth over time" unit="USDT" />
          )}
        </Card>
        <Card title="Allocation">
          <Allocation />
        </Card>
      </div>
      <Card title="Accounts" flush>
        <Loaded of={total}>
          {({ details }) => (
            <Table
              label="Accounts"
              columns={[
                { name: 'Account', cell: ([name]) => NAMES[name] ?? name },
                {
                  name: 'Worth',
                  right: true,
                  cell: ([, { amount, currency }]) => (
                    <Amount value={amount} places={2} fixed currency={currency} />
                  ),
                },
                {
                  name: 'Borrowed',
                  right: true,
                  cell: ([, { borrowed, currency }]) => (
                    <Amount value={borrowed ?? '0'} places={2} fixed currency={currency} />
                  ),
                },
              ]}
              rows={Object.entries(details)
                .filter(
                  ([name, one]) =>
                    name === 'spot' || dec(one.amount) !== 0n || dec(one.borrowed ?? '0') !== 0n,
                )
                .sort(([, a], [, b]) => (dec(a.amount) < dec(b.amount) ? 1 : -1))}
              rowKey={([name]) => name}
              empty={<Empty>No account has money.</Empty>}
            />
          )}
        </Loaded>
      </Card>
      <Holdings />
      <ContractAccounts />
    </Page>
  )
}

interface Holding {
  readonly currency: string
  readonly free: Decimal
  readonly locked: Decimal
  readonly worth: Decimal | undefined
}
function useHoldings() {
  const balances = useSpotBalances()
  const price = usePrices()
  const list = balances.data?.map(({ currency, available, locked }): Holding => {
    const [free, held] = [dec(available), dec(locked)]
    return { currency, free, locked: held, worth: worthOf(free + held, price(currency)) }
  })
  return { balances, list: list?.sort((a, b) => ((a.worth ?? ZERO) < (b.worth ?? ZERO) ? 1 : -1)) }
}
const SMALL = dec('1')

function Allocation(): React.JSX.Element {
  const { list } = useHoldings()
  if (list === undefined) return <Loading rows={5} />
  const total = sum(list.map(({ worth }) => worth ?? ZERO))
  const shown = list.filter(({ worth }) => (worth ?? ZERO) > 0n).slice(0, 6)
  if (shown.length === 0)
    return (
      <Empty action={<Link to="/wallet/deposit">Deposit</Link>}>
        There is no money in the spot account yet.
      </Empty>
    )
  const rest = total - sum(shown.map(({ worth }) => worth ?? ZERO))
  return (
    <ul className="allocation">
      {[
        ...shown.map(({ currency, worth }) => [currency, worth ?? ZERO] as const),
        ...(rest > 0n ? ([['others', rest]] as const) : []),
      ].map(([name, worth]) => (
        <li key={name}>
          <span className="row between">
            <b>{name}</b>
            <span className="num dim">{percent(div(worth, total), 1)}</span>
          </span>
          <span className="meter" aria-hidden>
            <i style={{ width: `${Math.max(1, approximate(div(worth, total)) * 100)}%` }} />
          </span>
        </li>
      ))}
    </ul>
  )
}
function Holdings(): React.JSX.Element {
  const { hideSmall } = usePrefs()
  const { balances, list } = useHoldings()
  return (
    <Card
      title="Spot balances"
      flush
      actions={
        <Checkbox
          size="xs"
          label="Hide below 1 USDT"
          checked={hideSmall}
          onChange={(event) => setPrefs({ hideSmall: event.currentTarget.checked })}
        />
      }
    >
      <Loaded of={balances}>
        {() => (
          <Table
            label="Spot balances"
            columns={[
              { name: 'Currency', cell: ({ currency }) => <b>{currency}</b> },
              { name: 'Free', right: true, cell: ({ free }) => <Amount value={free} places={8} align /> },
              {
                name: 'In orders',
                right: true,
                cell: ({ locked }) => <Amount value={locked} places={8} align />,
              },
              {
                name: 'Worth',
                right: true,
                cell: ({ worth }) => <Amount value={worth} places={2} fixed currency="USDT" />,
              },
              {
                name: 'Do',
                quiet: true,
                right: true,
                cell: ({ currency }) => (
                  <span className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
                    <Link to="/wallet/deposit" search={{ currency }}>
                      Deposit
                    </Link>
                    <Link to="/wallet/withdraw" search={{ currency }}>
                      Withdraw
                    </Link>
                  </span>
                ),
              },
            ]}
            rows={(list ?? []).filter(
              ({ free, locked, worth }) =>
                (free !== 0n || locked !== 0n) && (!hideSmall || worth === undefined || worth >= SMALL),
            )}
            rowKey={({ currency }) => currency}
            mark={({ free, locked }) => `${free} ${locked}`}
            empty={
              <Empty action={<Link to="/wallet/deposit">Deposit</Link>}>
                There is no money in the spot account yet.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Card>
  )
}
