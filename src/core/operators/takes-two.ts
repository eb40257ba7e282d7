import type { State } from '../state.ts'
import { grant } from '../users/keys.ts'

type Input = Readonly<Record<string, unknown>>
/**
 * Calls of which the state decides whether they take two people in live mode: they are looked at with the command itself, so that
 * nothing changes in between. What is not here takes two always.
 */
const RULES: Readonly<Record<string, (state: State, input: Input) => boolean>> = {
  // The limit itself, or a tier that has another one.
  'user.change': ({ users, world }, input) => {
    const { user_id, vip, settings } = input as { user_id: number; vip?: number; settings: Input }
    if (settings['withdraw_day_limit'] !== undefined) return true
    const tiers = world.policy.day_limit_usdt
    const limitOf = (tier: number): string => tiers[Math.min(tier, tiers.length - 1)]!
    return vip !== undefined && limitOf(vip) !== limitOf(users.get(user_id)?.vip ?? 0)
  },
  // A key that can withdraw is switched on again.
  'key.state': ({ keys }, { key, state }) =>
    state === 1 && grant(keys.get(key as string)?.perms ?? [], 'withdrawal') === 'write',
  // The coins go to whom the operator names.
  'deposit.release': ({ wallet }, { id }) => wallet.deposits.table.get(id as number)?.user_id === 0,
}
export const takesTwo = (state: State, command: string, input: Input): boolean =>
  RULES[command]?.(state, input) ?? true
