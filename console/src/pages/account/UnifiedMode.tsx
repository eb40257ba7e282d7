import { Alert, Button, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type Body } from '../../api/client.ts'
import { refreshOwn, useOwn } from '../../api/query.ts'
import { Failed, toast } from '../../parts/states.tsx'
import { useOpenOrders } from '../trade/market.ts'

type Mode = Body<'PUT /api/v4/unified/unified_mode'>['mode']
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
export function Switch({
  now,
  close,
}: {
  readonly now: string
  readonly close: () => void
}): React.JSX.Element {
  const [mode, setMode] = useState<Mode>(now === 'classic' ? 'multi_currency' : 'classic')
  const orders = useOpenOrders().data?.length
  // A classic account has none, and may not ask.
  const loans = useOwn(['unified-loans'], () => call('GET /api/v4/unified/loans', { query: {} }), {
    enabled: now !== 'classic',
  }).data
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
