import { Alert, Select } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { renderSVG } from 'uqr'
import { call } from '../../api/client.ts'
import { useOwn } from '../../api/query.ts'
import { span } from '../../lib/time.ts'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Status } from '../../parts/Status.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useCurrencies, useDeposits, type Deposit as Row } from './money.ts'

export function Deposit(): React.JSX.Element {
  const { currency: asked } = useSearch({ from: '/frame/wallet/deposit' })
  const currencies = useCurrencies()
  const [chosen, setChosen] = useState<string | undefined>(asked)
  const list = (currencies.data ?? []).filter(({ delisted, chains }) => !delisted && chains.length > 0)
  const currency =
    list.find((one) => one.currency === chosen)?.currency ??
    list.find((one) => one.currency === 'BTC')?.currency ??
    list[0]?.currency
  return (
    <Page title="Deposit" lead="Coins that arrive at your address are credited to the spot account.">
      <div className="cols-main">
        <Card title="Your address">
          <Loaded of={currencies}>
            {() => (
              <div className="stack">
                <Select
                  label="Currency"
                  searchable
                  data={list.map(({ currency: value, name }) => ({
                    value,
                    label: name === value ? value : `${value} · ${name}`,
                  }))}
                  value={currency ?? null}
                  onChange={(value) => setChosen(value ?? undefined)}
                />
                {currency === undefined ? (
                  <Empty>No currency can be deposited.</Empty>
                ) : (
                  <Address key={currency} currency={currency} />
                )}
              </div>
            )}
          </Loaded>
        </Card>
        <Card title="How it goes">
          <ol className="dim steps">
            <li>
              Choose currency and chain. Coins sent over another chain are lost to you until an operator finds
              them.
            </li>
            <li>Send to the address. It stays yours.</li>
            <li>After the first confirmations the amount can be traded, after the last ones withdrawn.</li>
          </ol>
        </Card>
      </div>
      <Deposits />
    </Page>
  )
}
function Address({ currency }: { readonly currency: string }): React.JSX.Element {
  const address = useOwn(
    ['deposit-address', currency],
    () => call('GET /api/v4/wallet/deposit_address', { query: { currency } }),
    { stale: 600_000 },
  )
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  return (
    <Loaded of={address} rows={4} height={32}>
      {({ multichain_addresses: chains, min_deposit_amount }) => {
        const one = chains.find(({ chain }) => chain === chosen) ?? chains[0]
        if (one === undefined) return <Empty>{currency} can not be deposited now.</Empty>
        return (
          <div className="stack">
            <Select
              label="Chain"
              data={chains.map(({ chain }) => chain)}
              value={one.chain}
              onChange={(value) => setChosen(value ?? undefined)}
            />
            {one.obtain_failed === 1 ? (
              <Alert color="yellow" title="There is no address just now">
                The chain does not answer. It is asked again when you come back.
              </Alert>
            ) : (
              <div className="row" style={{ alignItems: 'flex-start', gap: 16 }}>
                <Qr text={one.address} label={`Address ${one.address} as a QR code`} />
                <div className="stack" style={{ flex: '1 1 240px' }}>
                  <div className="address-box">
                    <div className="small dim">Address on {one.chain}</div>
                    <Copyable value={one.address} what="address" />
                  </div>
                  {one.payment_id === '' ? null : (
                    <Alert color="yellow" title={one.payment_name === '' ? 'Tag' : one.payment_name}>
                      <Copyable value={one.payment_id} what="tag" />
                      <div>Without it nobody knows that the coins are yours.</div>
                    </Alert>
                  )}
                  <Facts
                    of={[
                      ['At least', <Amount key="m" value={min_deposit_amount} currency={currency} />],
                      ['Can be traded after', `${one.min_confirms} confirmations`],
                    ]}
                  />
                </div>
              </div>
            )}
          </div>
        )
      }}
    </Loaded>
  )
}
export function Qr({ text, label }: { readonly text: string; readonly label: string }): React.JSX.Element {
  const svg = renderSVG(text, { border: 0 })
  return <div className="qr" role="img" aria-label={label} dangerouslySetInnerHTML={{ __html: svg }} />
}

const WORDS: Readonly<Record<string, string>> = {
  PEND: 'seen, in no block yet',
  TRACK: 'confirming',
  DEP_CREDITED: 'can be traded, not yet withdrawn',
  DONE: 'done',
  REVIEW: 'an operator looks at it',
  MANUAL: 'an operator looks at it',
  BLOCKED: 'blocked',
  INVALID: 'the chain has dropped it',
}
function Progress({ of }: { readonly of: Row }): React.JSX.Element {
  const { status, confirmations, needed, unlock_needed, seconds_left, reason } = of
  if (status !== 'PEND' && status !== 'TRACK' && status !== 'DEP_CREDITED')
    return (
      <span className="row" style={{ gap: 6 }}>
        <Status of={status} />
        {status === 'DONE' ? null : (
          <span className="dim small wrap">{reason === '' ? WORDS[status] : reason}</span>
        )}
      </span>
    )
  const goal = status === 'DEP_CREDITED' ? unlock_needed : needed
  const done = Math.min(confirmations, goal)
  const left = status === 'DEP_CREDITED' ? -1 : seconds_left
  return (
    <div style={{ minWidth: 160 }}>
      <div
        className="meter"
        role="progressbar"
        aria-valuenow={done}
        aria-valuemin={0}
        aria-valuemax={goal}
        aria-label="Confirmations"
      >
        <i style={{ width: `${goal === 0 ? 100 : (done / goal) * 100}%` }} />
      </div>
      <span className="small dim">
        {done} of {goal}
        {left > 0 ? `, about ${span(left * 1000)}` : ''}, {WORDS[status]}
      </span>
    </div>
  )
}
function Deposits(): React.JSX.Element {
  const deposits = useDeposits()
  return (
    <Card title="Deposits" flush>
      <Loaded of={deposits}>
        {(list) => (
          <Table
            label="Deposits"
            columns={[
              { name: 'Time', cell: ({ at }) => <Time at={at} form="minute" /> },
              {
                name: 'Amount',
                right: true,
                cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
              },
              { name: 'Chain', cell: ({ chain }) => chain },
              { name: 'State', cell: (row) => <Progress of={row} /> },
              {
                name: 'Transaction',
                cell: ({ txid }) => <Copyable value={txid} shown={ends(txid)} what="transaction" />,
              },
            ]}
            rows={list}
            rowKey={({ id }) => id}
            mark={({ status }) => status}
            empty={<Empty>Nothing has arrived yet. Send to the address above.</Empty>}
          />
        )}
      </Loaded>
    </Card>
  )
}
