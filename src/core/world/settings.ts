import { notFound, refuse } from '../../labels.ts'
import { audit } from '../operators/audit.ts'
import { planWake, simChain } from '../sim/commands.ts'
import type { Ctx } from '../state.ts'
import { pauseWithdrawals } from '../withdrawals/decide.ts'
import { mergeChanges, type ChainChange, type ChainConfig, type CurrencyChange } from './chains.ts'
import { checkPolicy, type Policy } from './policy.ts'
import type { CurrencyConfig } from './world.ts'

/** An operator's change of a chain: a setting of its own, which outlives restarts and new configuration files. */
export function configureChain(
  ctx: Ctx,
  input: { chain: string; change: ChainChange; actor: string },
): ChainConfig {
  const { world } = ctx.state
  const before =
    world.findChain(input.chain) ?? notFound('NOT_FOUND', `chain: there is no chain "${input.chain}"`)
  const name = `chain:${before.chain}`
  const change: { -readonly [K in keyof ChainChange]: ChainChange[K] } = { ...input.change }
  const min = change.min_confirms ?? before.min_confirms
  // A deeper credit moves the unlock along, unless the operator names one that can't be.
  if (change.unlock_confirms === undefined && before.unlock_confirms < min) change.unlock_confirms = min
  if ((change.unlock_confirms ?? before.unlock_confirms) < min)
    refuse(
      'INVALID_PARAM_VALUE',
      `unlock_confirms: ${change.unlock_confirms ?? 0} is less than min_confirms ${min}`,
    )
  ctx.tx.put(world.settings, {
    name,
    value: { ...(world.settings.get(name)?.value as ChainChange), ...change },
  })
  const after = world.mustChain(before.chain)
  if (after.kind === 'simulated') {
    simChain(ctx, after.chain)
    planWake(ctx, after.chain)
  }
  if (after.paused !== before.paused)
    pauseWithdrawals(ctx, { chain: after.chain, paused: after.paused, after: 0 })
  audit(ctx, input.actor, 'chain.configure', { chain: before.chain, ...input.change })
  return after
}

export function configureCurrency(
  ctx: Ctx,
  input: { currency: string; change: CurrencyChange; actor: string },
): CurrencyConfig {
  const { world } = ctx.state
  const { currency, chains } =
    world.findCurrency(input.currency) ??
    notFound('INVALID_CURRENCY', `currency: "${input.currency}" is not a currency of this platform`)
  for (const name of Object.keys(input.change.chains ?? {}))
    if (!chains.some(({ chain }) => chain === name))
      refuse(
        'INVALID_PARAM_VALUE',
        `chains: ${currency} is not on "${name}"; one of ${chains.map(({ chain }) => chain).join(', ')}`,
      )
  const name = `currency:${currency}`
  const kept = world.settings.get(name)?.value as CurrencyChange | undefined
  ctx.tx.put(world.settings, { name, value: mergeChanges(kept, input.change) })
  audit(ctx, input.actor, 'currency.configure', { currency, ...input.change })
  return world.currency(currency)
}

/** Rules that are left out stay as they are when this happens, which may be long after somebody asked for it. */
export function setPolicy(ctx: Ctx, input: { policy: Partial<Policy>; actor: string }): Policy {
  const policy = { ...ctx.state.world.policy, ...input.policy }
  try {
    checkPolicy(policy)
  } catch (error) {
    refuse('INVALID_PARAM_VALUE', (error as Error).message)
  }
  ctx.tx.put(ctx.state.world.settings, { name: 'policy', value: policy })
  audit(ctx, input.actor, 'policy.set', { policy: input.policy })
  return policy
}
