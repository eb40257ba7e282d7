import { BUILT_IN_RULES } from '../core/world/built-in-chains.ts'
import { BUILT_IN_WORLD } from '../core/world/built-in.ts'
import { completePolicy } from '../core/tables/world/policy.ts'
import { settingOptions, type Command } from './options.ts'

/** The built-in world as a file to begin with. */
export const world: Command = {
  usage: 'kontor world > world.json',
  summary: 'prints the built-in configuration, to be changed and named in KONTOR_CONFIG',
  detail: `Prints the currencies, chains, markets, fees, limits and policies of the built-in world as JSON. Keep what
you change (whole sections; docs/CONFIG.md explains them) and start with KONTOR_CONFIG=world.json. The policy is the
one that the mode has by itself: live mode's holds more.`,
  options: settingOptions('mode'),
  words: 0,
  run: ({ env }) => {
    const policy = completePolicy(BUILT_IN_RULES, env['KONTOR_MODE'] === 'live')
    process.stdout.write(`${JSON.stringify({ ...BUILT_IN_WORLD, policy }, null, 2)}\n`)
    return Promise.resolve(0)
  },
}
