import { add, amountOf, format, type Amount } from '../../money/amount.ts'
import type { Policy } from '../tables/world/policy.ts'
import type { Hold } from '../tables/withdrawals.ts'

/** All that the policy looks at, so that a recorded withdrawal can be judged again under another policy. */
export interface PolicyFacts {
  readonly amount: Amount
  readonly usdt: Amount
  /** False: what it is worth is not known, and that must not let it pass. */
  readonly priced: boolean
  readonly approvalAmount: Amount
  /** Since the address was verified; null: it is not in the book. */
  readonly addressHours: number | null
  /** What those hours count from, in words; left out: the address was verified. */
  readonly freshness?: string
  /** Since the password was changed; null: never. */
  readonly passwordHours: number | null
  /** Earlier requests within the policy's hours. */
  readonly recent: { readonly count: number; readonly usdt: Amount }
  readonly internal: boolean
  readonly chainPaused: boolean
}

/** The reason of a hold that ends with the pause. */
export const PAUSED = 'the chain is paused'

/** What must be cleared before the sender may have it, in the order in which it is asked for. */
export function judge(policy: Policy, facts: PolicyFacts): Hold[] {
  return facts.internal && policy.internal_transfers === 'free' ? [] : holdsOf(policy, facts)
}
/** The same for what is to be checked in any case. */
export function holdsOf(policy: Policy, facts: PolicyFacts): Hold[] {
  const holds: Hold[] = []
  if (facts.chainPaused && !facts.internal) holds.push({ status: 'LOCKED', reason: PAUSED })
  const review = reviewReasons(policy, facts)
  // Operators who approve an amount look at everything: their approval is the review too.
  const manual: string[] = []
  if (facts.amount > facts.approvalAmount)
    manual.push(`above the approval amount of ${format(facts.approvalAmount)}`)
  if (!facts.priced) manual.push('no trusted index price: limits in USDT could not be checked')
  if (manual.length > 0) holds.push({ status: 'MANUAL', reason: [...manual, ...review].join('; ') })
  else if (review.length > 0) holds.push({ status: 'REVIEW', reason: review.join('; ') })
  if (policy.face_verify_above_usdt !== null && facts.usdt > amountOf(policy.face_verify_above_usdt))
    holds.push({ status: 'FVERIFY', reason: `worth more than ${policy.face_verify_above_usdt} USDT` })
  else if (policy.verify_above_usdt !== null && facts.usdt > amountOf(policy.verify_above_usdt))
    holds.push({ status: 'VERIFY', reason: `worth more than ${policy.verify_above_usdt} USDT` })
  return holds
}

function reviewReasons(policy: Policy, facts: PolicyFacts): string[] {
  const { velocity } = policy
  const reasons: string[] = []
  const spent = add(facts.recent.usdt, facts.usdt)
  if (facts.recent.count + 1 > velocity.count)
    reasons.push(`more than ${velocity.count} withdrawals in ${velocity.hours} h`)
  if (spent > amountOf(velocity.usdt))
    reasons.push(`${format(spent)} USDT in ${velocity.hours} h, more than ${velocity.usdt}`)
  if ((facts.addressHours ?? 0) < policy.new_address_hours)
    reasons.push(
      `${facts.freshness ?? 'the address was verified'} less than ${policy.new_address_hours} h ago`,
    )
  if (facts.passwordHours !== null && facts.passwordHours < policy.changed_password_hours)
    reasons.push(`the password was changed less than ${policy.changed_password_hours} h ago`)
  return reasons
}
