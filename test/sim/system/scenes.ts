import { ACCOUNT_SCENES } from './scenes-accounts.ts'
import { CONTRACT_SCENES, crosswise } from './scenes-contracts.ts'
import { MANY_SCENES, agents, crowd } from './scenes-crowd.ts'
import { MARGIN_SCENES } from './scenes-margin.ts'
import { MONEY_SCENES } from './scenes-money.ts'
import { PEOPLE_SCENES } from './scenes-people.ts'
import type { Scene, Stage } from './stage.ts'

/**
 * Small scripts of what strays and operators would hardly ever come to by chance: they lead somewhere, and what becomes of
 * it is held against the invariants alone. Nothing in them must succeed; `--reach` tells what they no longer lead to.
 */
type Scenes = readonly (readonly [string, Scene])[]
export const SCENES: Scenes = Object.entries({
  ...ACCOUNT_SCENES,
  ...MONEY_SCENES,
  ...CONTRACT_SCENES,
  ...MARGIN_SCENES,
})
/** As dear as a hundred steps each; passwords are, by intention. */
export const DEAR: Scenes = Object.entries({ ...MANY_SCENES, ...PEOPLE_SCENES })
/** As dear as a thousand. */
export const CROWD: Scene = crowd
/** What is made to happen to market agents. */
export const AGENTS: Scene = agents
/** Orders that stand in the way of a coarser price. */
export const CROSSWISE: Scene = crosswise

/** One of three that was played least often so far, so that all get their turn. */
export async function play(scenes: Scenes, stage: Stage, played: Map<string, number>): Promise<string> {
  const few = stage.n.slice(0, 3).map((n) => scenes[n % scenes.length]!)
  const times = (name: string): number => played.get(name) ?? 0
  const [name, scene] = few.reduce((best, one) => (times(one[0]) < times(best[0]) ? one : best))
  played.set(name, times(name) + 1)
  await scene(stage)
  return name
}
