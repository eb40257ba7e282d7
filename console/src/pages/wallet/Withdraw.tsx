import { Alert, Button, Modal, Select, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refreshOwn, useAccount, useOwn, usePlatform } from '../../api/query.ts'
import { dec, floor, max, mul, parse, text } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Status } from '../../parts/Status.tsx'
import { Empty, Failed, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { relative } from '../../lib/time.ts'
import { useNow } from '../../live/hooks.ts'
import { AddressBook, useAddresses } from './AddressBook.tsx'
import { useCurrencies, useSpotBalances, useTagged, useWithdrawals, type Withdrawal } from './money.ts'
import { Timeline } from './Timeline.tsx'

export function Withdraw(): React.JSX.Element {
  const account = useAccount()
  const [opened, setOpened] = useState<string | undefined>(undefined)
  const withdrawals = useWithdrawals()
  const shown = withdrawals.data?.find(({ id }) => id === opened)
  return (
    <Page
      title="Withdraw"
      lead="To an address on a chain. Other accounts of this platform are reached by a push, at once and without a fee."
    >
      {account?.kind === 'sub' ? (
        <Alert color="yellow" title="Sub-accounts do not withdraw">
          Move the money to the main account first, then withdraw from there.
        </Alert>
      ) : (
        <Form sent={setOpened} />
      )}
      <Card title="Withdrawals" flush>
        <Loaded of={withdrawals}>
          {(list) => (
            <Table
              label="Withdrawals"
              columns={[
                { name: 'Time', cell: ({ at }) => <Time at={at} form="minute" /> },
                {
                  name: 'Amount',
                  right: true,
                  cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
                },
                {
                  name: 'To',
                  cell: ({ address, chain }) => (
                    <Copyable value={address} shown={`${ends(address)} (${chain})`} what="address" />
                  ),
                },
                { name: 'Status', cell: ({ status }) => <Status of={status} /> },
                { name: 'Id', cell: ({ id }) => <Copyable value={id} what="id" /> },
              ]}
              rows={list}
              rowKey={({ id }) => id}
              mark={({ status }) => status}
              onRow={({ id }) => setOpened(id)}
              empty={<Empty>Nothing was withdrawn yet.</Empty>}
            />
          )}
        </Loaded>
      </Card>
      <AddressBook />
      <Modal opened={shown !== undefined} onClose={() => setOpened(undefined)} title="Withdrawal" size="lg">
        {shown === undefined ? null : <Details withdrawal={shown} />}
      </Modal>
    </Page>
  )
}

function Form({ sent }: { readonly sent: (id: string) => void }): React.JSX.Element {
  const { currency: asked } = useSearch({ from: '/frame/wallet/withdraw' })
  const platform = usePlatform()
  const now = useNow(platform?.clock_offset_ms ?? 0, 10_000)
  const currencies = useCurrencies()
  const balances = useSpotBalances().data
  const addresses = useAddresses().data ?? []
  const [chosen, setChosen] = useState<string | undefined>(asked)
  const [chainName, setChain] = useState<string | undefined>(undefined)
  const [address, setAddress] = useState('')
  const [memo, setMemo] = useState('')
  const [amount, setAmount] = useState('')
  const list = (currencies.data ?? []).filter(({ chains, delisted }) => chains.length > 0 && !delisted)
  const currency =
    list.find((one) => one.currency === chosen) ?? list.find((one) => one.currency === 'BTC') ?? list[0]
  const chain = currency?.chains.find(({ name }) => name === chainName) ?? currency?.chains[0]
  const tagged = useTagged(currency?.currency, chain?.name)
  const rules = useOwn(
    ['withdraw-rules', currency?.currency],
    () => call('GET /api/v4/wallet/withdraw_status', { query: { currency: currency?.currency ?? '' } }),
    {
      enabled: currency !== undefined,
    },
  ).data?.[0]
  const saved = addresses.filter((one) => one.currency === currency?.currency && one.chain === chain?.name)
  const known = saved.find((one) => one.address === address && one.tag === memo)
  const free =
    balances?.find((one) => one.currency === currency?.currency)?.available ??
    (balances === undefined ? undefined : '0')
  const value = amount === '' ? undefined : parse(amount)
  const fixed = dec(rules?.withdraw_fix_on_chains[chain?.name ?? ''])
  const share = dec(rules?.withdraw_percent_on_chains[chain?.name ?? '']?.replace('%', '')) / 100n
  const fee = value === undefined ? undefined : fixed + mul(value, share)
  const arrives = value === undefined || fee === undefined ? undefined : max(value - fee, 0n)
  const why =
    currency === undefined || chain === undefined
      ? undefined
      : chain.withdraw_disabled || currency.withdraw_disabled
        ? `${currency.currency} can not be withdrawn over ${chain.name} now`
        : value === undefined
          ? undefined
          : free !== undefined && value > dec(free)
            ? `Not enough balance: ${free} ${currency.currency} is free`
            : rules !== undefined && value < dec(rules.withdraw_amount_mini)
              ? `At least ${rules.withdraw_amount_mini} ${currency.currency}`
              : rules !== undefined && value > dec(rules.withdraw_day_limit_remain)
                ? `Over what is left of today’s limit, ${rules.withdraw_day_limit_remain} ${currency.currency}`
                : fee !== undefined && value <= fee
                  ? 'The fee would take all of it'
                  : undefined
  const withdraw = useMutation({
    mutationFn: () =>
      call('POST /api/v4/withdrawals', {
        body: {
          currency: currency!.currency,
          chain: chain!.name,
          address: address.trim(),
          amount,
          ...(memo !== '' && { memo }),
        },
      }),
    onSuccess: ({ id }) => {
      toast('Asked for', 'You can follow it here.')
      setAmount('')
      void refreshOwn('withdrawals').then(() => sent(id))
      void refreshOwn('balances')
    },
  })
  return (
    <div className="cols-main">
      <Card title="Withdraw">
        <Loaded of={currencies}>
          {() => (
            <form
              className="stack"
              onSubmit={(event) => {
                event.preventDefault()
                withdraw.mutate()
              }}
            >
              <div className="cols-2">
                <Select
                  label="Currency"
                  searchable
                  data={list.map((one) => one.currency)}
                  value={currency?.currency ?? null}
                  onChange={(next) => {
                    setChosen(next ?? undefined)
                    setChain(undefined)
                  }}
                />
                <Select
                  label="Chain"
                  data={currency?.chains.map(({ name }) => name) ?? []}
                  value={chain?.name ?? null}
                  onChange={(next) => setChain(next ?? undefined)}
                />
              </div>
              {saved.length === 0 ? null : (
                <Select
                  label="From the address book"
                  placeholder="Choose one"
                  data={saved.map((one) => ({
                    value: String(one.id),
                    label: `${one.name === '' ? 'unnamed' : one.name} · ${ends(one.address, 8)}`,
                  }))}
                  value={known === undefined ? null : String(known.id)}
                  onChange={(id) => {
                    const one = saved.find((each) => String(each.id) === id)
                    if (one === undefined) return
                    setAddress(one.address)
                    setMemo(one.tag)
                  }}
                />
              )}
              <TextInput
                label="Address"
                value={address}
                onChange={(event) => setAddress(event.currentTarget.value)}
                autoComplete="off"
                spellCheck={false}
                description={
                  known !== undefined && known.usable_at !== null && known.usable_at * 1000 > now
                    ? `Saved, and cooling down: it can be used ${relative(known.usable_at * 1000, now)}`
                    : address !== '' && known === undefined
                      ? 'Not in your address book; save it below, for it may be refused'
                      : undefined
                }
              />
              {tagged || memo !== '' ? (
                <TextInput
                  label="Tag or memo"
                  description="Where the receiver gave you one, coins without it are lost to him"
                  value={memo}
                  onChange={(event) => setMemo(event.currentTarget.value)}
                  autoComplete="off"
                />
              ) : null}
              <div className="row" style={{ alignItems: 'flex-end' }}>
                <div style={{ flex: 1 }}>
                  <AmountInput
                    label="Amount, with the fee"
                    currency={currency?.currency}
                    value={amount}
                    onChange={setAmount}
                    error={why}
                  />
                </div>
                <Button
                  variant="default"
                  disabled={free === undefined}
                  onClick={() => setAmount(text(floor(dec(free), 8)))}
                >
                  All
                </Button>
              </div>
              {withdraw.error === null ? null : <Failed error={withdraw.error} />}
              <Button
                type="submit"
                loading={withdraw.isPending}
                disabled={value === undefined || value <= 0n || address.trim() === '' || why !== undefined}
              >
                Withdraw
              </Button>
            </form>
          )}
        </Loaded>
      </Card>
      <Card title="What will happen">
        <Facts
          of={[
            ['Free', <Amount key="f" value={free} currency={currency?.currency} />],
            ['Leaves the account', <Amount key="l" value={value} currency={currency?.currency} />],
            ['Fee', <Amount key="e" value={fee} currency={currency?.currency} />],
            [
              'Arrives',
              <b key="a">
                <Amount value={arrives} currency={currency?.currency} />
              </b>,
            ],
            [
              'At least',
              <Amount key="m" value={rules?.withdraw_amount_mini} currency={currency?.currency} />,
            ],
            [
              'Left today',
              <Amount key="d" value={rules?.withdraw_day_limit_remain} currency={currency?.currency} />,
            ],
          ]}
        />
        <p className="dim small">
          The amount is held at once. The platform’s policy says whether people must approve it; until it is
          sent you can cancel it. Then it is signed, sent to the chain, and done after its confirmations.
        </p>
      </Card>
    </div>
  )
}

function Details({ withdrawal }: { readonly withdrawal: Withdrawal }): React.JSX.Element {
  const cancel = useMutation({
    mutationFn: () =>
      call('DELETE /api/v4/withdrawals/{withdrawal_id}', { path: { withdrawal_id: withdrawal.id } }),
    onSuccess: () => {
      void refreshOwn('withdrawals')
      void refreshOwn('balances')
    },
    onError: toastError,
  })
  return (
    <div className="stack">
      <Facts
        of={[
          ['Amount', <Amount key="a" value={withdrawal.amount} currency={withdrawal.currency} />],
          ['Fee', <Amount key="f" value={withdrawal.fee} currency={withdrawal.currency} />],
          ['Arrives', <Amount key="r" value={withdrawal.arrives} currency={withdrawal.currency} />],
          ['To', <Copyable key="t" value={withdrawal.address} what="address" />],
          withdrawal.memo !== '' && ['Tag', <Copyable key="m" value={withdrawal.memo} what="tag" />],
          withdrawal.txid !== '' && [
            'Transaction',
            <Copyable key="x" value={withdrawal.txid} what="transaction" />,
          ],
        ]}
      />
      <Timeline of={withdrawal} />
      {withdrawal.cancellable ? (
        <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel it; the money comes back at once
        </Button>
      ) : null}
    </div>
  )
}
