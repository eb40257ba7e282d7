import { refuse } from '../../labels.ts'
import type { Ctx } from '../state.ts'
import { audit } from '../audit.ts'
import { followIndex } from '../futures/prices.ts'
import type { Actor } from '../tables/audit.ts'
import { configurationFaults } from './change.ts'
import { endWithoutTemplate } from './contract-listing.ts'
import { followFile } from './listing.ts'
import { keepingLast } from './price-commands.ts'
import { completeContract, templateId } from '../tables/world/contract-rules.ts'
import { LIVE } from '../tables/world/world.ts'
import type { WorldConfig } from '../tables/world/config.ts'

/** Takes the configuration into the state: at first start, and when the file has changed since. */
export function configureWorld(ctx: Ctx, input: { config: WorldConfig }): null {
  const [fault] = configurationFaults(ctx.state, input.config)
  if (fault !== undefined) refuse('INVALID_PARAM_VALUE', fault.text)
  const listed = new Set(input.config.markets.map(({ id }) => id))
  for (const { pair } of [...ctx.state.agents.markets.values()])
    if (!listed.has(pair)) ctx.tx.remove(ctx.state.agents.markets, pair)
  const contracts = (input.config.contracts ?? []).map(completeContract)
  endWithoutTemplate(ctx, new Set(contracts.map(templateId)))
  keepingLast(ctx, () => {
    ctx.tx.put(ctx.state.world.settings, { name: 'world', value: input.config })
  })
  followFile(ctx)
  followIndex(ctx)
  return null
}

/** Whether money is real here: the mark of a new database, and what the rules that depend on it go by. */
export function setLive(ctx: Ctx, input: { live: boolean }): null {
  keepingLast(ctx, () => {
    ctx.tx.put(ctx.state.world.settings, { name: LIVE, value: { live: input.live } })
  })
  followIndex(ctx)
  return null
}

/** The sandbox clock's distance from the wall clock; kept so that it survives a restart. */
export function setClock(ctx: Ctx, input: { offset: number; actor: Actor }): null {
  ctx.tx.put(ctx.state.world.settings, { name: 'clock', value: { offset: input.offset } })
  audit(ctx, input.actor, 'clock.set', { offset_seconds: input.offset / 1e6 })
  return null
}
