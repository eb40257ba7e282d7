import { BUILT_IN_WORLD } from '../core/world/built-in.ts'
import type { Command } from './main.ts'

/** The built-in world as a file to begin with. */
export const world: Command = {
  usage: 'kontor world > world.json',
  summary: 'prints the built-in configuration, to be changed and named in KONTOR_CONFIG',
  detail: `Prints the currencies, chains, markets, fees, limits and policies of the built-in world as JSON. Keep what
you change (whole sections; docs/CONFIG.md explains them) and start with KONTOR_CONFIG=world.json.`,
  options: {},
  words: 0,
  run: () => {
    process.stdout.write(`${JSON.stringify(BUILT_IN_WORLD, null, 2)}\n`)
    return Promise.resolve(0)
  },
}
