import { Button, Select, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { refreshOwn, useAccount, useOwn } from '../../api/query.ts'
import { dec, parse } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { Card, Facts, Page } from '../../parts/Page.tsx'
import { Status } from '../../parts/Status.tsx'
import { Empty, Failed, Loaded, toast, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useSpotBalances } from './money.ts'

const WAITING = new Set(['CREATING', 'PENDING'])
export function Push(): React.JSX.Element {
  const account = useAccount()
  const balances = useSpotBalances()
  const [receiver, setReceiver] = useState('')
  const [currency, setCurrency] = useState('USDT')
  const [amount, setAmount] = useState('')
  const pushes = useOwn(['pushes'], () => call('GET /api/v4/wallet/push', { query: { limit: 100 } }), {
    every: 5_000,
  })
  const free = balances.data?.find((one) => one.currency === currency)?.available
  const value = amount === '' ? undefined : parse(amount)
  const send = useMutation({
    mutationFn: () =>
      call('POST /api/v4/withdrawals/push', { body: { receive_uid: Number(receiver), currency, amount } }),
    onSuccess: () => {
      toast('Pushed', 'It waits for its receiver.')
      setAmount('')
      void refreshOwn('pushes')
      void refreshOwn('balances')
    },
  })
  const answer = useMutation({
    mutationFn: ({ id, verb }: { readonly id: number; readonly verb: 'accept' | 'refuse' | 'cancel' }) =>
      call(`POST /console/v1/pushes/{id}/${verb}`, { path: { id } }),
    onSuccess: () => {
      void refreshOwn('pushes')
      void refreshOwn('balances')
    },
    onError: toastError,
  })
  return (
    <Page
      title="Push"
      lead="Money to another main account of this platform, by its user id. The receiver accepts or refuses it."
    >
      <div className="cols-main">
        <Card title="Send">
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault()
              send.mutate()
            }}
          >
            <TextInput
              label="Receiver’s user id"
              inputMode="numeric"
              value={receiver}
              onChange={(event) => setReceiver(event.currentTarget.value.replace(/\D/g, ''))}
            />
            <div className="cols-2">
              <Select
                label="Currency"
                searchable
                data={(balances.data ?? []).map((one) => one.currency)}
                value={currency}
                onChange={(next) => setCurrency(next ?? 'USDT')}
              />
              <AmountInput
                label="Amount"
                currency={currency}
                value={amount}
                onChange={setAmount}
                error={
                  value !== undefined && free !== undefined && value > dec(free)
                    ? `Not enough: ${free} is free`
                    : undefined
                }
              />
            </div>
            {send.error === null ? null : <Failed error={send.error} />}
            <Button
              type="submit"
              loading={send.isPending}
              disabled={receiver === '' || value === undefined || value <= 0n}
            >
              Push
            </Button>
          </form>
        </Card>
        <Card title="What will happen">
          <Facts
            of={[
              [
                'Your user id',
                account === undefined ? (
                  '–'
                ) : (
                  <Copyable key="u" value={String(account.user_id)} what="user id" />
                ),
              ],
              ['Free', <Amount key="f" value={free} currency={currency} />],
              ['Fee', 'none'],
            ]}
          />
          <p className="dim small">
            The amount is held at once. Large ones need an approval, as withdrawals do. Until the receiver has
            accepted, you can cancel it.
          </p>
        </Card>
      </div>
      <Card title="Pushes" flush>
        <Loaded of={pushes}>
          {(list) => (
            <Table
              label="Pushes"
              columns={[
                { name: 'Time', cell: ({ create_time }) => <Time at={create_time} form="minute" /> },
                {
                  name: 'Direction',
                  cell: ({ transaction_type }) => (transaction_type === 'deposit' ? '← in' : '→ out'),
                },
                {
                  name: 'With',
                  cell: ({ push_uid, receive_uid, transaction_type }) => (
                    <Copyable
                      value={String(transaction_type === 'deposit' ? push_uid : receive_uid)}
                      what="user id"
                    />
                  ),
                },
                {
                  name: 'Amount',
                  right: true,
                  cell: ({ amount: moved, currency: of }) => <Amount value={moved} currency={of} />,
                },
                {
                  name: 'Status',
                  cell: ({ status, message }) => (
                    <span title={message}>
                      <Status of={status} />
                    </span>
                  ),
                },
                {
                  name: 'Do',
                  quiet: true,
                  right: true,
                  cell: ({ id, status, transaction_type }) =>
                    !WAITING.has(status) ? null : (
                      <span className="row" style={{ justifyContent: 'flex-end' }}>
                        {(transaction_type === 'deposit'
                          ? (['accept', 'refuse'] as const)
                          : (['cancel'] as const)
                        ).map((verb) => (
                          <Button
                            key={verb}
                            size="compact-xs"
                            variant={verb === 'accept' ? 'filled' : 'default'}
                            loading={
                              answer.isPending && answer.variables.id === id && answer.variables.verb === verb
                            }
                            onClick={() => answer.mutate({ id, verb })}
                            aria-label={`${verb} push ${id}`}
                          >
                            {verb}
                          </Button>
                        ))}
                      </span>
                    ),
                },
              ]}
              rows={list}
              rowKey={({ id, transaction_type }) => `${id} ${transaction_type}`}
              mark={({ status }) => status}
              empty={<Empty>Nothing was pushed in the last seven days.</Empty>}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  )
}
