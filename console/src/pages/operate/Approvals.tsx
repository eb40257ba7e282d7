import { Badge, Modal, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { call, type Reply } from '../../api/client.ts'
import { useShared } from '../../api/query.ts'
import { ActionButton } from '../../parts/ActionButton.tsx'
import { Amount } from '../../parts/Amount.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import { Card, Page } from '../../parts/Page.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import { Time } from '../../parts/Time.tsx'
import { Json, UserLink, groups, useMay, useOperatorName } from './common.tsx'

type Withdrawal = Reply<'GET /operator/v1/withdrawals'>[number]
type Proposal = Reply<'GET /operator/v1/proposals'>[number]
const HELD = ['REVIEW', 'MANUAL', 'VERIFY', 'FVERIFY', 'DMOVE', 'LOCKED', 'FAIL', 'INVALID'] as const
const LISTS = [['shared', 'operate', 'approvals']] as const

export function Approvals(): React.JSX.Element {
  const [what, setWhat] = useState<'withdrawals' | 'proposals'>('withdrawals')
  const held = useShared(
    ['operate', 'approvals', 'withdrawals'],
    async () =>
      (
        await Promise.all(
          HELD.map((status) => call('GET /operator/v1/withdrawals', { query: { status, limit: 100 } })),
        )
      )
        .flat()
        .sort((a, b) => Number(a.timestamp) - Number(b.timestamp)),
    { every: 3_000, stale: 1_000 },
  )
  const proposals = useShared(
    ['operate', 'approvals', 'proposals'],
    () => call('GET /operator/v1/proposals', { query: { state: 'waiting', limit: 100 } }),
    { every: 3_000, stale: 1_000 },
  )
  return (
    <Page
      title="Approvals"
      lead="What waits for a person. Nothing is approved from a list: each card says exactly what is agreed to."
      actions={
        <SegmentedControl
          aria-label="What is shown"
          value={what}
          onChange={setWhat}
          data={[
            { value: 'withdrawals', label: `Withdrawals (${held.data?.length ?? '–'})` },
            { value: 'proposals', label: `Proposals (${proposals.data?.length ?? '–'})` },
          ]}
        />
      }
    >
      {what === 'withdrawals' ? (
        <Loaded of={held}>
          {(list) =>
            list.length === 0 ? (
              <Card>
                <Empty>No withdrawal waits for anybody.</Empty>
              </Card>
            ) : (
              list.map((one) => <HeldWithdrawal key={one.id} of={one} />)
            )
          }
        </Loaded>
      ) : (
        <Loaded of={proposals}>
          {(list) =>
            list.length === 0 ? (
              <Card>
                <Empty>
                  No proposal waits. In live mode, what guards money waits here for a second person.
                </Empty>
              </Card>
            ) : (
              list.map((one) => <WaitingProposal key={one.id} of={one} />)
            )
          }
        </Loaded>
      )}
    </Page>
  )
}

function HeldWithdrawal({ of }: { readonly of: Withdrawal }): React.JSX.Element {
  const name = useOperatorName()
  const may = useMay('operator')
  const { id, user_id, amount, fee, currency, chain, address, memo, status, holds, approvals } = of
  const mine = approvals.some(({ operator }) => operator === name)
  const why =
    may ??
    (of.requested_by === name
      ? 'You asked for it yourself: somebody else must approve it.'
      : mine
        ? 'You have approved it; another person must.'
        : undefined)
  const statement = (
    <dl className="statement">
      <dt>pays</dt>
      <dd>
        <Amount value={amount} currency={currency} />
        <span className="dim"> of which fee {fee}</span>
      </dd>
      <dt>on</dt>
      <dd>{chain}</dd>
      <dt>to</dt>
      <dd className="mono">{groups(address)}</dd>
      {memo === '' ? null : (
        <>
          <dt>memo</dt>
          <dd className="mono">{memo}</dd>
        </>
      )}
      <dt>for</dt>
      <dd>account {user_id}</dd>
    </dl>
  )
  const path = { id }
  const exact = { amount, currency, chain, address }
  const failed = status === 'FAIL'
  return (
    <Card
      label={`Withdrawal ${id}`}
      title={
        <span className="row">
          Withdrawal {id} <Status of={status} />
          <Badge variant="default" size="sm" radius={4} tt="none">
            {approvals.length} of {of.approvals_needed} approvals
          </Badge>
        </span>
      }
      actions={
        <>
          {failed ? (
            <ActionButton
              label="Send again"
              disabled={may !== undefined}
              why={may}
              reason="asked"
              refresh={LISTS}
              act={(reason) => call('POST /operator/v1/withdrawals/{id}/retry', { path, body: { reason } })}
              done={`Withdrawal ${id} is sent again`}
            >
              It goes out again as a new transaction. The old one can't be paid any more.
              {statement}
            </ActionButton>
          ) : (
            <ActionButton
              label="Approve"
              variant="filled"
              disabled={why !== undefined}
              why={why}
              type={{
                text: address.slice(-4),
                what: 'Type the last four characters of the address, as you know it from elsewhere',
              }}
              refresh={LISTS}
              act={() => call('POST /operator/v1/withdrawals/{id}/approve', { path, body: exact })}
              done={`You approved withdrawal ${id}`}
            >
              You agree to exactly this:
              {statement}
            </ActionButton>
          )}
          <ActionButton
            label="Reject"
            color="red"
            disabled={may !== undefined}
            why={may}
            reason="needed"
            refresh={LISTS}
            act={(reason) => call('POST /operator/v1/withdrawals/{id}/reject', { path, body: { reason } })}
            done={`Withdrawal ${id} is rejected`}
          >
            The money goes back to account {user_id}.{statement}
          </ActionButton>
        </>
      }
    >
      <div className="cols-main">
        <div className="stack">
          {statement}
          <div>
            <b>What the policy says</b>
            <ol className="trace">
              {holds.map(({ status: hold, reason }, i) => (
                <li key={i}>
                  <Status of={hold} /> {reason}
                </li>
              ))}
              {holds.length === 0 ? <li className="dim">No rule holds it.</li> : null}
            </ol>
          </div>
          {of.fail_reason === '' ? null : <div className="bad">{of.fail_reason}</div>}
        </div>
        <div className="stack">
          <div>
            <div className="dim small">asked for</div>
            <Time at={of.timestamp} /> <span className="dim">by</span>{' '}
            {of.requested_by === '' ? 'the account itself' : of.requested_by}
          </div>
          <div>
            <div className="dim small">approved by</div>
            {approvals.length === 0 ? (
              <span className="dim">nobody yet</span>
            ) : (
              approvals.map(({ operator, at }) => (
                <div key={operator}>
                  {operator} <Time at={at} form="relative" />
                </div>
              ))
            )}
          </div>
          <Recent userId={user_id} but={id} />
        </div>
      </div>
    </Card>
  )
}
/** What the account withdrew before. */
function Recent({ userId, but }: { readonly userId: number; readonly but: string }): React.JSX.Element {
  const recent = useShared(['operate', 'recent', userId], () =>
    call('GET /operator/v1/withdrawals', { query: { user_id: userId, limit: 6 } }),
  )
  return (
    <div>
      <div className="dim small">
        before, by <UserLink id={userId} />
      </div>
      <Loaded of={recent} rows={2}>
        {(list) => {
          const others = list.filter(({ id }) => id !== but).slice(0, 5)
          return others.length === 0 ? (
            <span className="wait">This is the account's first withdrawal.</span>
          ) : (
            <>
              {others.map((one) => (
                <div key={one.id} className="row small">
                  <Status of={one.status} />
                  <Amount value={one.amount} currency={one.currency} places={8} />
                  <span className="dim mono">…{one.address.slice(-6)}</span>
                  <Time at={one.timestamp} form="relative" />
                </div>
              ))}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

function WaitingProposal({ of }: { readonly of: Proposal }): React.JSX.Element {
  const name = useOperatorName()
  const may = useMay(of.role as 'operator' | 'admin')
  const own = of.asked_by === name
  const [half, setHalf] = useState<string | undefined>(undefined)
  const why = may ?? (own ? 'You asked for it: somebody else must confirm it.' : undefined)
  const path = { id: of.id }
  return (
    <Card
      label={`Proposal ${of.id}`}
      title={
        <span className="row">
          Proposal {of.id} <span className="mono">{of.call}</span>
        </span>
      }
      actions={
        <>
          <ActionButton
            label="Confirm"
            variant="filled"
            disabled={why !== undefined}
            why={why}
            type={{ text: String(of.id), what: `Type the number of the proposal (${of.id})` }}
            refresh={LISTS}
            act={async () => {
              const reply = await call('POST /operator/v1/proposals/{id}/confirm', { path })
              setHalf(reply.token_second_half)
            }}
            done={`You confirmed proposal ${of.id}`}
          >
            With the second yes this is carried out:
            <Json of={of.input} />
          </ActionButton>
          <ActionButton
            label={own ? 'Take back' : 'Reject'}
            color="red"
            disabled={may !== undefined}
            why={may}
            reason="asked"
            refresh={LISTS}
            act={(reason) => call('POST /operator/v1/proposals/{id}/reject', { path, body: { reason } })}
            done={`Proposal ${of.id} is ended`}
          >
            Nothing of it will happen.
          </ActionButton>
        </>
      }
    >
      <Modal
        opened={half !== undefined}
        onClose={() => setHalf(undefined)}
        title="The second half of the token"
      >
        <div className="stack">
          <span className="wait">It is shown here and never again; who asked has the first half.</span>
          <Copyable value={half ?? ''} what="the second half of the token" />
        </div>
      </Modal>
      <div className="cols-main">
        <Json of={of.input} />
        <Table
          label="Who said yes"
          columns={[
            { name: 'who', cell: ({ who }) => who },
            { name: 'when', cell: ({ at }) => <Time at={at} />, right: true },
          ]}
          rows={[
            { who: `${of.asked_by} asked`, at: of.create_time },
            ...of.confirmations
              .filter(({ operator }) => operator !== of.asked_by)
              .map(({ operator, at }) => ({ who: `${operator} confirmed`, at })),
            { who: 'ends by itself', at: of.expires_at },
          ]}
          rowKey={({ who }) => who}
          empty={null}
        />
      </div>
    </Card>
  )
}
