import type { ReactNode } from 'react'
import { span } from '../../lib/time.ts'
import { Time } from '../../parts/Time.tsx'
import type { Withdrawal } from './money.ts'

interface Step {
  readonly name: string
  readonly state: 'done' | 'now' | 'later' | 'bad'
  readonly at?: number | undefined
  readonly more?: ReactNode
  /** Where the money is while this step is the present one. */
  readonly where: string
}
const HELD: Readonly<Record<string, string>> = {
  REVIEW: 'waits for a review',
  MANUAL: 'waits for people to approve it',
  VERIFY: 'waits for a confirmation',
  FVERIFY: 'waits for a confirmation by video',
  DMOVE: 'waits for coins to be moved to the hot wallet',
  LOCKED: 'waits: the chain is paused',
}
const ENDED: Readonly<Record<string, string>> = {
  CANCEL: 'Cancelled: the money is free again',
  CANCELPEND: 'Being cancelled',
  REJECT: 'Rejected: the money is free again',
  INVALID: 'Invalid: the money is free again',
  FAIL: 'Failed: an operator looks at it',
}
/** Where a withdrawal is on its way, where the money is, and what comes next. */
export function steps(of: Withdrawal): readonly Step[] {
  const {
    status,
    holds,
    approved_at,
    approvals_needed,
    internal,
    confirmations,
    needed,
    seconds_left,
    done_at,
    fail_reason,
  } = of
  const held = holds.length > 0 && status in HELD
  const sent = ['PEND', 'EXTPEND', 'DONE'].includes(status)
  const asked: Step = { name: 'Asked for', state: 'done', at: of.at, where: 'held in your account' }
  const ended = ENDED[status]
  if (ended !== undefined)
    return [
      asked,
      {
        name: ended,
        state: status === 'CANCELPEND' ? 'now' : 'bad',
        at: done_at,
        where: status === 'FAIL' ? 'held' : 'free',
        more: fail_reason,
      },
    ]
  const policy: Step = held
    ? {
        name: `Held: it ${HELD[status] ?? 'waits'}`,
        state: 'now',
        where: 'held in your account',
        more: (
          <>
            {holds.map(({ reason }, i) => (
              <div key={i}>{reason}</div>
            ))}
            {approvals_needed > 0 ? (
              <div>
                {approved_at.length} of {approvals_needed} approvals
              </div>
            ) : null}
          </>
        ),
      }
    : { name: 'Passed the policy', state: 'done', where: 'held in your account' }
  if (internal)
    return [
      asked,
      policy,
      {
        name: 'Booked inside the platform',
        state: status === 'DONE' ? 'done' : 'later',
        at: done_at,
        where: 'with its receiver',
      },
    ]
  const now = (when: boolean, past: boolean): Step['state'] => (past ? 'done' : when ? 'now' : 'later')
  return [
    asked,
    policy,
    {
      name: 'Signed and sent',
      state: now(!held && !sent, status === 'EXTPEND' || status === 'DONE'),
      where: 'in flight',
      ...(status === 'REQUEST' &&
        of.send_at > 0 && { at: of.send_at, more: 'leaves then; until that moment it can be cancelled' }),
    },
    {
      name: 'Confirmed by the chain',
      state: now(status === 'EXTPEND', status === 'DONE'),
      where: 'on the chain',
      ...(status === 'EXTPEND' && {
        more: `${Math.min(confirmations, needed)} of ${needed}${seconds_left > 0 ? `, about ${span(seconds_left * 1000)}` : ''}`,
      }),
    },
    {
      name: 'Done',
      state: status === 'DONE' ? 'done' : 'later',
      at: status === 'DONE' ? done_at : undefined,
      where: 'at the address',
    },
  ]
}
export function Timeline({ of }: { readonly of: Withdrawal }): React.JSX.Element {
  const list = steps(of)
  const present = list.find(({ state }) => state === 'now') ?? list.findLast(({ state }) => state !== 'later')
  return (
    <div>
      <p style={{ marginTop: 0 }}>
        The money is <b>{present?.where}</b>.
      </p>
      <ol className="timeline" aria-label="Steps">
        {list.map(({ name, state, at, more }) => (
          <li key={name} className={state} aria-current={state === 'now' ? 'step' : undefined}>
            <div className="row between">
              <span>{name}</span>
              {at === undefined || at === 0 ? null : (
                <span className="small dim">
                  <Time at={at} />
                </span>
              )}
            </div>
            {more === undefined || more === '' ? null : <div className="small dim">{more}</div>}
          </li>
        ))}
      </ol>
    </div>
  )
}
