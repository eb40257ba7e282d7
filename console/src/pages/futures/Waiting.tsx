import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { dec } from '../../lib/decimal.ts'
import { Amount } from '../../parts/Amount.tsx'
import { SideWord, Status } from '../../parts/Status.tsx'
import { Empty, Loaded, toastError } from '../../parts/states.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { ask, refreshContracts, useChases, useTrails, useTriggers, type Scope } from './contracts.ts'

interface ListProps {
  readonly scope: Scope
  readonly only: string | undefined
}
const sideOf = (size: string | number): 'buy' | 'sell' => (String(size).startsWith('-') ? 'sell' : 'buy')
const bare = (size: string | number): string => String(size).replace('-', '')

/** All that waits for a price. */
export function Waiting({ scope, only }: ListProps): React.JSX.Element {
  return (
    <>
      <Triggers scope={scope} only={only} />
      {scope.group === 'futures' ? (
        <>
          <Trails scope={scope} only={only} />
          <Chases scope={scope} only={only} />
        </>
      ) : null}
    </>
  )
}
/** Ends one of them by its id, and reads the list again. */
function useStop(scope: Scope, kind: string, stop: (id: string) => Promise<unknown>) {
  const mutation = useMutation({
    mutationFn: stop,
    onSuccess: () => void refreshContracts(scope, kind),
    onError: toastError,
  })
  return function Stop(id: string | number, what: string): React.JSX.Element {
    return (
      <Button
        size="compact-xs"
        variant="default"
        loading={mutation.isPending && mutation.variables === String(id)}
        onClick={() => mutation.mutate(String(id))}
        aria-label={`Cancel ${what} ${id}`}
      >
        Cancel
      </Button>
    )
  }
}
function Triggers({ scope, only }: ListProps): React.JSX.Element {
  const list = useTriggers(scope, only)
  const stop = useStop(scope, 'triggers', (id) =>
    ask(scope.group, 'DELETE /api/v4/futures/{settle}/price_orders/{order_id}', {
      path: { settle: scope.settle, order_id: id },
    }),
  )
  return (
    <Loaded of={list}>
      {(rows) => (
        <Table
          label="Triggers"
          rows={rows}
          rowKey={({ id }) => id}
          empty={
            <Empty>No trigger waits. “Wait for a price” makes one, take profit and stop loss do too.</Empty>
          }
          columns={[
            { name: 'Made', cell: ({ create_time }) => <Time at={create_time} /> },
            { name: 'Contract', cell: ({ initial }) => initial.contract },
            {
              name: 'Fires at',
              right: true,
              cell: ({ trigger }) => (
                <span className="num">{`${trigger.rule === 1 ? '≥' : '≤'} ${trigger.price}`}</span>
              ),
            },
            { name: 'Kind', cell: ({ order_type }) => order_type.replaceAll('-', ' ') || 'order' },
            {
              name: 'Then',
              cell: ({ initial }) =>
                [
                  initial.size === 0 ? 'close' : `${sideOf(initial.size)} ${bare(initial.size)}`,
                  dec(initial.price) === 0n ? 'at the market' : `at ${initial.price}`,
                ].join(' '),
            },
            { name: 'Status', cell: ({ status }) => <Status of={status} /> },
            { name: 'Do', quiet: true, right: true, cell: ({ id }) => stop(id, 'trigger') },
          ]}
        />
      )}
    </Loaded>
  )
}
function Trails({ scope, only }: ListProps): React.JSX.Element {
  const list = useTrails(scope, only)
  const stop = useStop(scope, 'trails', (id) =>
    call('POST /api/v4/futures/{settle}/autoorder/v1/trail/stop', {
      path: { settle: scope.settle },
      body: { id: Number(id) },
    }),
  )
  return (
    <Loaded of={list}>
      {({ orders }) => (
        <Table
          label="Trails"
          rows={orders}
          rowKey={({ id }) => id}
          mark={({ trigger_price }) => trigger_price}
          empty={<Empty>No trail follows a price.</Empty>}
          columns={[
            { name: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
            { name: 'Contract', cell: ({ contract }) => contract },
            { name: 'Side', cell: ({ amount }) => <SideWord of={sideOf(amount)} /> },
            { name: 'Size', right: true, cell: ({ amount }) => <Amount value={bare(amount)} /> },
            { name: 'Turn of', right: true, cell: ({ price_offset }) => price_offset },
            {
              name: 'Best price',
              right: true,
              cell: ({ extremum_price }) => (
                <Amount value={dec(extremum_price) === 0n ? undefined : extremum_price} />
              ),
            },
            {
              name: 'Fires at',
              right: true,
              cell: ({ trigger_price, activation_price }) =>
                dec(trigger_price) === 0n ? `from ${activation_price} on` : <Amount value={trigger_price} />,
            },
            { name: 'Status', cell: ({ status_label }) => <Status of={status_label} /> },
            { name: 'Do', quiet: true, right: true, cell: ({ id }) => stop(id, 'trail') },
          ]}
        />
      )}
    </Loaded>
  )
}
function Chases({ scope, only }: ListProps): React.JSX.Element {
  const list = useChases(scope, only)
  const stop = useStop(scope, 'chases', (id) =>
    call('POST /api/v4/futures/{settle}/autoorder/v1/chase/stop', {
      path: { settle: scope.settle },
      body: { id: Number(id) },
    }),
  )
  return (
    <Loaded of={list}>
      {({ orders }) => (
        <Table
          label="Chases"
          rows={orders}
          rowKey={({ id }) => id}
          mark={({ suborder_price }) => suborder_price}
          empty={<Empty>No chase follows the best price.</Empty>}
          columns={[
            { name: 'Made', cell: ({ create_time }) => <Time at={create_time} /> },
            { name: 'Contract', cell: ({ contract }) => contract },
            { name: 'Side', cell: ({ amount }) => <SideWord of={sideOf(amount)} /> },
            { name: 'Size', right: true, cell: ({ amount }) => <Amount value={bare(amount)} /> },
            { name: 'Filled', right: true, cell: ({ fill_amount }) => <Amount value={bare(fill_amount)} /> },
            {
              name: 'Stands at',
              right: true,
              cell: ({ suborder_price }) => <Amount value={suborder_price} />,
            },
            {
              name: 'Limit',
              right: true,
              cell: ({ price_limit }) => (dec(price_limit) === 0n ? 'none' : <Amount value={price_limit} />),
            },
            { name: 'Status', cell: ({ status }) => <Status of={status} /> },
            { name: 'Do', quiet: true, right: true, cell: ({ id }) => stop(id, 'chase') },
          ]}
        />
      )}
    </Loaded>
  )
}
