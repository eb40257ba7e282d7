import type { Ctx } from '../state.ts'
import type { Position } from '../tables/futures/positions.ts'
import type { Contract } from '../tables/world/contracts.ts'

export function settleFunding(_ctx: Ctx, _contract: Contract, position: Position): Position {
  return position
}
