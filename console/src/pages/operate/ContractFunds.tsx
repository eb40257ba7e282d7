import { Button } from '@mantine/core'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { Amount } from '../../parts/Amount.tsx'
import { AmountInput } from '../../parts/AmountInput.tsx'
import { FormModal } from '../../parts/FormModal.tsx'
import { Card } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { useMay } from './common.tsx'

/** The insurance funds of contracts, what they took over, and what was liquidated lately. */
export function ContractFunds(): React.JSX.Element {
  const may = useMay('admin')
  const funds = useShared(['operate', 'insurance'], () => call('GET /operator/v1/insurance'), {
    every: 10_000,
    stale: 2_000,
  })
  const [filling, setFilling] = useState<string | undefined>(undefined)
  const taken = funds.data?.flatMap(({ settle, positions }) =>
    positions.map((position) => ({ ...position, settle })),
  )
  return (
    <>
      <Card title="Insurance of contracts" flush>
        <Loaded of={funds}>
          {(rows) => (
            <Table
              label="Insurance of contracts"
              rows={rows}
              rowKey={({ settle }) => settle}
              empty={<Empty>No contract is listed.</Empty>}
              columns={[
                { name: 'settled in', cell: ({ settle }) => <b>{settle.toUpperCase()}</b> },
                { name: 'fund', right: true, cell: ({ balance }) => <Amount value={balance} places={8} /> },
                { name: 'positions taken over', right: true, cell: ({ positions }) => positions.length },
                {
                  name: 'fill',
                  quiet: true,
                  right: true,
                  cell: ({ settle }) => (
                    <Button
                      size="xs"
                      variant="default"
                      disabled={may !== undefined}
                      title={may}
                      aria-label={`Fill the fund of ${settle.toUpperCase()}`}
                      onClick={() => setFilling(settle)}
                    >
                      Fill
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {taken === undefined || taken.length === 0 ? null : (
        <Card title="Positions of the funds" flush>
          <Table
            label="Positions of the funds"
            rows={taken}
            rowKey={({ group, contract, settle }) => `${group} ${settle} ${contract}`}
            empty={null}
            columns={[
              { name: 'contract', cell: ({ contract }) => <b>{contract}</b> },
              { name: 'size', right: true, cell: ({ size }) => <Amount value={size} signed /> },
              {
                name: 'entry',
                right: true,
                cell: ({ entry_price }) => <Amount value={entry_price} places={4} />,
              },
              {
                name: 'mark',
                right: true,
                cell: ({ mark_price }) => <Amount value={mark_price} places={4} />,
              },
              {
                name: 'PnL',
                right: true,
                cell: ({ unrealised_pnl, settle }) => (
                  <Amount value={unrealised_pnl} places={8} signed currency={settle.toUpperCase()} />
                ),
              },
            ]}
          />
        </Card>
      )}
      <Liquidations />
      {filling === undefined ? null : <Fill settle={filling} close={() => setFilling(undefined)} />}
    </>
  )
}
function Liquidations(): React.JSX.Element {
  const list = useShared(
    ['operate', 'liquidations'],
    async () => {
      const lists = await Promise.all(
        (['usdt', 'btc'] as const).map((settle) =>
          call('GET /api/v4/futures/{settle}/liq_orders', { path: { settle }, query: { limit: 50 } }),
        ),
      )
      return lists.flat().sort((a, b) => b.time - a.time)
    },
    { every: 10_000, stale: 2_000 },
  )
  return (
    <Card title="Liquidations of perpetual contracts" flush>
      <Loaded of={list}>
        {(rows) => (
          <Table
            label="Liquidations"
            rows={rows}
            rowKey={(row) => `${row.time} ${row.contract} ${row.size} ${row.order_price}`}
            empty={<Empty>Nothing was liquidated.</Empty>}
            columns={[
              { name: 'time', cell: ({ time }) => <Time at={time} /> },
              { name: 'contract', cell: ({ contract }) => contract },
              { name: 'size', right: true, cell: ({ size }) => <Amount value={String(size)} signed /> },
              { name: 'left', right: true, cell: ({ left }) => <Amount value={String(left)} /> },
              { name: 'order price', right: true, cell: ({ order_price }) => <Amount value={order_price} /> },
              { name: 'filled at', right: true, cell: ({ fill_price }) => <Amount value={fill_price} /> },
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
function Fill({ settle, close }: { readonly settle: string; readonly close: () => void }): React.JSX.Element {
  const [amount, setAmount] = useState('')
  return (
    <FormModal
      title={`Fill the insurance of contracts with ${settle.toUpperCase()}`}
      verb="Fill"
      ready={amount !== ''}
      send={() => call('POST /operator/v1/insurance/{settle}/fund', { path: { settle }, body: { amount } })}
      done="Filled"
      refresh={[['shared', 'operate', 'insurance']]}
      close={close}
    >
      <span className="dim">It comes out of the operator's equity.</span>
      <AmountInput
        label="Amount"
        currency={settle.toUpperCase()}
        value={amount}
        onChange={setAmount}
        data-autofocus
      />
    </FormModal>
  )
}
