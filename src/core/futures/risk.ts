import type { Ctx } from '../state.ts'
import type { Contract } from '../tables/world/contracts.ts'

export function lookAt(_ctx: Ctx, _userId: number, _contract: Contract): void {}
