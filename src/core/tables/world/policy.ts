import { parseAmount } from '../../../money/amount.ts'

/**
 * The rules that hold a withdrawal back, as data. An operator's policy (`PUT /operator/v1/policy`) is kept as a
 * setting and wins over the configured one; approval amounts and their N belong to the currency.
 */
export interface Policy {
  /** Only addresses that the account has saved may be paid. */
  readonly address_book_only: boolean
  /** An address is new for so many hours after it was verified: REVIEW. */
  readonly new_address_hours: number
  /** After a change of password: REVIEW for so many hours. */
  readonly changed_password_hours: number
  /** More withdrawals, or more worth, than this within the hours: REVIEW. */
  readonly velocity: { readonly hours: number; readonly count: number; readonly usdt: string }
  /** Worth above which the user must confirm: VERIFY, and with the face: FVERIFY; null never. */
  readonly verify_above_usdt: string | null
  readonly face_verify_above_usdt: string | null
  /** To an address of this platform: free, as any other withdrawal, or refused. */
  readonly internal_transfers: 'free' | 'checked' | 'off'
  /** To another account by its user id (push): free, or under the rules of withdrawals. */
  readonly push_transfers: 'free' | 'checked'
  /**
   * The most worth, in USDT, of a family's deposits that are credited but not unlocked; a deposit that goes beyond it
   * is credited when it is unlocked. null: no bound.
   */
  readonly early_credit_usdt: string | null
  /** A deposit worth more than this waits for compliance; null never. */
  readonly deposit_review_usdt: string | null
  /** How long a cancellation stays CANCELPEND. */
  readonly cancel_seconds: number
  /** What an account may withdraw a day, in USDT, by VIP tier from 0; the last one goes for all above. */
  readonly day_limit_usdt: readonly string[]
}

/** Rules whose default depends on whether money is real. */
const DEFAULTS = {
  sandbox: { internal_transfers: 'free', push_transfers: 'free', early_credit_usdt: null },
  live: { internal_transfers: 'checked', push_transfers: 'checked', early_credit_usdt: '100000' },
} as const satisfies Record<string, Partial<Policy>>
/** The policy with what it leaves out. */
export const completePolicy = (
  policy: Omit<Policy, keyof typeof DEFAULTS.live> & Partial<Policy>,
  live: boolean,
): Policy => ({ ...(live ? DEFAULTS.live : DEFAULTS.sandbox), ...policy })

const HOURS_MAX = 24 * 366
const isDecimal = (value: unknown): boolean => typeof value === 'string' && parseAmount(value) !== undefined
const isCount = (value: unknown, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max

/** Throws a TypeError that names the member that is wrong. */
export function checkPolicy(policy: Policy): void {
  const fail = (name: string, why: string): never => {
    throw new TypeError(`policy.${name} ${why}`)
  }
  if (typeof policy.address_book_only !== 'boolean') fail('address_book_only', 'must be true or false')
  for (const name of ['new_address_hours', 'changed_password_hours'] as const)
    if (!isCount(policy[name], HOURS_MAX)) fail(name, `must be a whole number of hours up to ${HOURS_MAX}`)
  const velocity = policy.velocity as Policy['velocity'] | undefined
  if (
    !isCount(velocity?.hours, HOURS_MAX) ||
    !isCount(velocity?.count, 1_000_000) ||
    !isDecimal(velocity?.usdt)
  )
    fail('velocity', 'must be {hours, count, usdt}')
  for (const name of [
    'verify_above_usdt',
    'face_verify_above_usdt',
    'deposit_review_usdt',
    'early_credit_usdt',
  ] as const)
    if (policy[name] !== null && !isDecimal(policy[name])) fail(name, 'must be a decimal string or null')
  if (!['free', 'checked', 'off'].includes(policy.internal_transfers))
    fail('internal_transfers', 'must be one of free, checked, off')
  if (!['free', 'checked'].includes(policy.push_transfers))
    fail('push_transfers', 'must be one of free, checked')
  if (!isCount(policy.cancel_seconds, 86_400)) fail('cancel_seconds', 'must be from 0 to 86400')
  const limits = policy.day_limit_usdt as unknown
  if (!Array.isArray(limits) || limits.length === 0 || !limits.every(isDecimal))
    fail('day_limit_usdt', 'must be a list of decimal strings, one for each VIP tier from 0')
}
