import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import type { State } from '../core/state.ts'
import { anyObject, integer, object, withDefault } from '../api/fields.ts'
import { anything, array, decimalText, int64, shape, str } from '../api/shapes.ts'
import { changeFaults } from '../config-file.ts'
import { judge, type PolicyFacts } from '../core/withdrawals/policy.ts'
import { WITHDRAWAL, withdrawalId, type Withdrawal } from '../core/withdrawals/withdrawals.ts'
import { checkPolicy, type Policy } from '../core/world/policy.ts'
import { refuse } from '../labels.ts'
import { ZERO, add, amountOf, format, type Amount } from '../money/amount.ts'

const HOUR = 3_600e6

function changesIn(body: Readonly<Record<string, unknown>>): Partial<Policy> {
  const [fault] = changeFaults('policy', body)
  if (fault !== undefined) refuse('INVALID_PARAM_VALUE', fault)
  return body
}
/** A draft names what it changes; the rest is the policy in force. */
function draftOf(policy: Policy, changes: Readonly<Record<string, unknown>>): Policy {
  const draft = { ...policy, ...changesIn(changes) }
  try {
    checkPolicy(draft)
  } catch (error) {
    refuse('INVALID_PARAM_VALUE', (error as Error).message)
  }
  return draft
}

/** Earlier requests of the same account among the recorded ones, in whole hours of the clock as the rule counts. */
function recentBefore(rows: readonly Withdrawal[], one: Withdrawal, hours: number): PolicyFacts['recent'] {
  const from = Math.floor(one.at / HOUR) - hours
  let count = 0
  let usdt: Amount = ZERO
  for (const other of rows)
    if (other.user_id === one.user_id && other.at < one.at && Math.floor(other.at / HOUR) > from) {
      count++
      usdt = add(usdt, other.usdt)
    }
  return { count, usdt }
}
const hoursSince = (since: number | null, at: number): number | null =>
  since === null ? null : (at - since) / HOUR
function factsOf(
  { world, wallet, users }: State,
  rows: readonly Withdrawal[],
  one: Withdrawal,
  policy: Policy,
): PolicyFacts {
  const chain = world.mustChain(one.chain)
  const tag = chain.tagged ? one.memo : ''
  const saved = wallet.addresses.findSaved(one.user_id, one.currency, one.chain, one.address, tag)
  const changed = users.must(one.user_id).settings.password_changed_at
  return {
    amount: one.amount,
    usdt: one.usdt,
    priced: !world.live || one.usdt > 0n,
    approvalAmount: amountOf(world.currency(one.currency).approval_amount),
    addressHours: hoursSince(saved?.verified_at ?? null, one.at),
    passwordHours: changed === undefined || changed * 1e6 > one.at ? null : (one.at / 1e6 - changed) / 3600,
    recent: recentBefore(rows, one, policy.velocity.hours),
    internal: one.internal_to !== 0,
    chainPaused: false,
  }
}

export const policyEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/policy',
    summary: 'The withdrawal policy in force',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: anything,
    refuses: [],
    handle: async ({ desk }) => desk.core.read(({ world }) => world.policy),
  }),
  endpoint({
    method: 'PUT',
    path: '/policy',
    summary: 'Changes rules of the withdrawal policy; rules that are left out stay as they are',
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    body: anyObject(),
    status: 200,
    reply: anything,
    refuses: [],
    handle: async ({ desk, operator, body }) =>
      desk.core.submit('policy.set', { policy: changesIn(body), actor: operator }),
  }),
  endpoint({
    method: 'POST',
    path: '/policy/dry_run',
    summary:
      'Judges recorded withdrawals by a draft policy, and lists those that would be treated differently',
    access: operatorOf('viewer'),
    limit: null,
    body: object({
      policy: withDefault(anyObject(), {}),
      limit: withDefault(integer(1, 5000), 1000),
    }),
    status: 200,
    reply: shape({
      judged: int64,
      changed: array(
        shape({
          id: str,
          user_id: int64,
          currency: str,
          amount: decimalText,
          timestamp: str,
          now: array(shape({ status: str, reason: str })),
          draft: array(shape({ status: str, reason: str })),
        }),
      ),
    }),
    refuses: [],
    handle: async ({ desk, body }) => {
      const newest = await desk.store.select(WITHDRAWAL, 'order by "id" desc limit ?', [body.limit])
      // The policy is for users; a refund is an operator's own decision.
      const rows = newest.filter(({ refund_of }) => refund_of === 0)
      const statuses = (holds: readonly { status: string }[]): string =>
        holds.map(({ status }) => status).join()
      return desk.core.read((state) => {
        const { policy } = state.world
        const draft = draftOf(policy, body.policy)
        const changed = rows.flatMap((one) => {
          const now = judge(policy, factsOf(state, rows, one, policy))
          const then = judge(draft, factsOf(state, rows, one, draft))
          if (statuses(now) === statuses(then)) return []
          return [
            {
              id: withdrawalId(one.id),
              user_id: one.user_id,
              currency: one.currency,
              amount: format(one.amount),
              timestamp: String(Math.floor(one.at / 1e6)),
              now,
              draft: then,
            },
          ]
        })
        return { judged: rows.length, changed }
      })
    },
  }),
]
