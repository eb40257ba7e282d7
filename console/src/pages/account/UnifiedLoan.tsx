import { Button, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { refreshOwn, useOwn } from '../../api/query.ts'
import { dec, parse, percent } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { Facts } from '../../parts/Page.tsx'
import { Failed, toast } from '../../parts/states.tsx'

export function Loan({
  type,
  currency: first,
  balances,
  close,
}: {
  readonly type: 'borrow' | 'repay'
  readonly currency: string
  readonly balances: Reply<'GET /api/v4/unified/accounts'>['balances']
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
