import { Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable, ends } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { UserLink, useMay } from './common.tsx'

type Deposit = Reply<'GET /operator/v1/deposits'>[number]
type Shown = 'waiting' | 'PEND' | 'TRACK' | 'DEP_CREDITED' | 'DONE' | 'BLOCKED' | 'all'
const SHOWN: readonly { readonly value: Shown; readonly label: string }[] = [
  { value: 'waiting', label: 'Waiting for a person' },
  { value: 'PEND', label: 'In few blocks yet' },
  { value: 'TRACK', label: 'Followed' },
  { value: 'DEP_CREDITED', label: 'Credited, locked yet' },
  { value: 'DONE', label: 'Done' },
  { value: 'BLOCKED', label: 'Blocked' },
  { value: 'all', label: 'All' },
]
const LISTS = [['shared', 'operate', 'deposits']] as const

export function Deposits(): React.JSX.Element {
  const [shown, setShown] = useState<Shown>('waiting')
  const list = useShared(
    ['operate', 'deposits', shown],
    async () => {
      const statuses =
        shown === 'waiting'
          ? (['REVIEW', 'MANUAL', 'INVALID'] as const)
          : shown === 'all'
            ? [undefined]
            : [shown]
      const lists = await Promise.all(
        statuses.map((status) =>
          call('GET /operator/v1/deposits', {
            query: { limit: 200, ...(status !== undefined && { status }) },
          }),
        ),
      )
      return lists.flat()
    },
    { every: 3_000, stale: 1_000 },
  )
  return (
    <Page
      title="Deposits"
      lead="What chains brought. Held ones wait here; blocked ones can be sent back."
      actions={
        <Select
          aria-label="Which deposits"
          w={220}
          data={SHOWN}
          value={shown}
          onChange={(value) => setShown(value as Shown)}
        />
      }
    >
      <Card flush label="Deposits">
        <Loaded of={list}>
          {(rows) => (
            <Table
              label="Deposits"
              rows={rows}
              rowKey={({ id }) => id}
              mark={({ status }) => status}
              empty={
                <Empty>{shown === 'waiting' ? 'No deposit waits for anybody.' : 'There are none.'}</Empty>
              }
              columns={[
                { name: 'time', cell: ({ timestamp }) => <Time at={timestamp} /> },
                { name: 'id', cell: ({ id }) => <Copyable value={id} what="the id" /> },
                {
                  name: 'amount',
                  right: true,
                  cell: ({ amount, currency }) => <Amount value={amount} currency={currency} />,
                },
                { name: 'chain', cell: ({ chain }) => chain },
                { name: 'account', cell: ({ user_id }) => <UserLink id={user_id} /> },
                {
                  name: 'transaction',
                  cell: ({ txid }) => <Copyable value={txid} shown={ends(txid)} what="the transaction" />,
                },
                {
                  name: 'status',
                  cell: ({ status, reason, refund_status }) => (
                    <span>
                      <Status of={status} />{' '}
                      {refund_status === undefined || refund_status === '' ? null : (
                        <Status of={refund_status} />
                      )}{' '}
                      <span className="dim small">{reason}</span>
                    </span>
                  ),
                },
                { name: 'decide', quiet: true, right: true, cell: (row) => <Decisions of={row} /> },
              ]}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  )
}

function Decisions({ of }: { readonly of: Deposit }): React.JSX.Element | null {
  const may = useMay('operator')
  const [owner, setOwner] = useState('')
  const [address, setAddress] = useState('')
  const path = { id: of.id }
  const common = { disabled: may !== undefined, why: may, reason: 'asked', refresh: LISTS } as const
  const told = (
    <>
      <Amount value={of.amount} currency={of.currency} /> on {of.chain}, for{' '}
      {of.user_id === 0 ? 'nobody that is known yet' : `account ${of.user_id}`}.
    </>
  )
  const held = of.status === 'REVIEW' || of.status === 'MANUAL' || of.status === 'INVALID'
  if (of.status === 'BLOCKED')
    return (
      <div className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
        <ActionButton
          {...common}
          label="Send back"
          act={(reason) =>
            call('POST /operator/v1/deposits/{id}/refund', { path, body: { address, reason } })
          }
          done={`Deposit ${of.id} is sent back`}
        >
          <div className="stack">
            <span>
              {told} It leaves as a withdrawal of the platform, less the fee, and waits for its approvals.
            </span>
            <TextInput
              label="To which address"
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value)}
            />
          </div>
        </ActionButton>
        <ActionButton
          {...common}
          label="Keep"
          act={(reason) => call('POST /operator/v1/deposits/{id}/reject_refund', { path, body: { reason } })}
          done={`The refund of ${of.id} is turned down`}
        >
          {told} The coins stay with the platform.
        </ActionButton>
      </div>
    )
  if (!held) {
    if (of.status !== 'PEND' && of.status !== 'TRACK') return null
    return (
      <ActionButton
        {...common}
        label="Hold"
        act={(reason) => call('POST /operator/v1/deposits/{id}/hold', { path, body: { reason } })}
        done={`Deposit ${of.id} is held`}
      >
        {told} It will not be credited until it is released.
      </ActionButton>
    )
  }
  return (
    <div className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
      <ActionButton
        {...common}
        label="Release"
        variant="filled"
        act={(reason) =>
          call('POST /operator/v1/deposits/{id}/release', {
            path,
            body: { reason, ...(owner !== '' && { user_id: Number(owner) }) },
          })
        }
        done={`Deposit ${of.id} is released`}
      >
        <div className="stack">
          <span>{told} It goes on and is credited when it is deep enough.</span>
          {of.user_id === 0 ? (
            <TextInput
              label="Whose it is (user id)"
              inputMode="numeric"
              value={owner}
              onChange={(event) => setOwner(event.currentTarget.value.replace(/\D/g, ''))}
            />
          ) : null}
        </div>
      </ActionButton>
      <ActionButton
        {...common}
        label="Block"
        color="red"
        act={(reason) => call('POST /operator/v1/deposits/{id}/block', { path, body: { reason } })}
        done={`Deposit ${of.id} is blocked`}
      >
        {told} It is not credited; it can be sent back afterwards.
      </ActionButton>
    </div>
  )
}
