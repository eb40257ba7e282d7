import { builtInWorld } from '../core/world/built-in.ts'
import { settingOptions, type Command } from './options.ts'

/** The built-in world as a file to begin with. */
export const world: Command = {
  usage: 'kontor world > world.json',
  detail: `Prints the currencies, chains, markets, fees, limits and policies of the built-in world as JSON. Keep what
you change (whole sections; docs/CONFIG.md explains them) and start with KONTOR_CONFIG=world.json. The policy and the
contracts are those that the mode has by itself: live mode's policy holds more, and it has no contracts.`,
  options: settingOptions('mode'),
  words: 0,
  run: ({ env }) => {
    const world = builtInWorld(env['KONTOR_MODE'] === 'live')
    process.stdout.write(`${JSON.stringify(world, null, 2)}\n`)
    return Promise.resolve(0)
  },
}
