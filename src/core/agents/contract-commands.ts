import { refuse } from '../../labels.ts'
import { audit } from '../audit.ts'
import type { Ctx } from '../state.ts'
import type { Actor } from '../tables/audit.ts'
import type { AgentContract, ContractScenarioName } from '../tables/agents.ts'
import { agentsSetting } from './commands.ts'
import { applyContractLook, type ContractLook } from './contract-look.ts'

export interface NewContractScenario {
  readonly name: ContractScenarioName
  /** Its id. */
  readonly contract: string
  /** How far from the index, such as 0.01; null is the usual one. */
  readonly change: number | null
  readonly seconds: number
  readonly actor: Actor
  /** Its first look, which happens within the call; null where nobody drives the agents. */
  readonly look: ContractLook | null
}
export const USUAL_BASIS = 0.01

/** A contract leaves its index and comes back, or its book is thin. */
export function startContractScenario(ctx: Ctx, { look, ...input }: NewContractScenario): AgentContract {
  const { agents, world } = ctx.state
  const contract = world.findContract(input.contract)
  if (contract === undefined)
    refuse(
      'CONTRACT_NOT_FOUND',
      `contract: there is no contract "${input.contract}"; GET /futures/usdt/contracts lists them`,
    )
  if (look === null || agentsSetting(ctx) === undefined)
    refuse(
      'REQUEST_FORBIDDEN',
      'the market agents do not trade this contract: they are off (KONTOR_AGENTS), or it is not trading',
    )
  const { seed, basis, fair, trend } = look
  const change = input.change ?? (input.name === 'basis' ? USUAL_BASIS : 0)
  const scenario = {
    name: input.name,
    change,
    from: ctx.at,
    until: ctx.at + input.seconds * 1e6,
    start: fair,
  }
  ctx.tx.put(agents.contracts, { id: contract.id, seed, basis, fair, trend, scenario })
  audit(ctx, input.actor, 'agents.scenario', { ...input })
  applyContractLook(ctx, look)
  return agents.contracts.get(contract.id)!
}
