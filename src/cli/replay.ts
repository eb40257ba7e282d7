import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { replayStore } from '../checks/replay-store.ts'
import { ConfigError } from '../config.ts'
import { Divergence } from '../machine/replay.ts'
import { besideUs } from '../places.ts'
import { openSnapshot } from '../store/open.ts'
import { placeOf, settingOptions, type Command } from './options.ts'

/** Where a repository that was built has the simulation; what is installed from a registry has none. */
const SIMULATION = fileURLToPath(besideUs('../tools/sim.js'))

/** The shortest history that failed, as `npm run sim` keeps it: run again, with whatever went wrong. */
function replayHistory(file: string): number {
  let kept: { readonly steps?: unknown }
  try {
    kept = JSON.parse(readFileSync(file, 'utf8')) as { readonly steps?: unknown }
  } catch (error) {
    throw new ConfigError(`${file} can't be read: ${(error as Error).message.split('\n')[0]!}`)
  }
  if (!Array.isArray(kept.steps))
    throw new ConfigError(`${file} holds no history of the simulation; a database is named with --data`)
  if (!existsSync(SIMULATION))
    throw new ConfigError(
      `${file} is a history of the simulation, which is not part of the package: clone the repository and run it there`,
    )
  const { status } = spawnSync(process.execPath, [SIMULATION, '--file', file], { stdio: 'inherit' })
  return status ?? 1
}

export const replay: Command = {
  usage: 'kontor replay [FILE] [--data FOLDER | --database-url URL]',
  detail: `Runs the recorded commands again, from the last checkpoint on (an upgrade that changes rules makes one), batch by batch. Each batch must make exactly the
changes that it made at the time (a hash chain tells), and the rows in the end must be those in the store.
Exit 0 when they are, 1 with the first difference when not. It only looks: it is safe beside a running platform.
FILE: a history of the simulation that failed (docs/simulation.md), run again in a world of its own; exit 1 with what went wrong.`,
  options: settingOptions('data', 'database-url', 'database-url-file'),
  words: [0, 1],
  run: async ({ env, words: [file] }) => {
    if (file !== undefined) return replayHistory(file)
    const snapshot = await openSnapshot(placeOf(env))
    try {
      const { sequence, hash, commands, rows } = await replayStore(snapshot)
      process.stdout.write(
        `equal: ${commands} commands in ${sequence} batches lead to the ${rows} live rows of the store; state hash ${hash}\n`,
      )
      return 0
    } catch (error) {
      if (!(error instanceof Divergence)) throw error
      process.stdout.write(`different: ${error.message}\n`)
      return 1
    } finally {
      await snapshot.close()
    }
  },
}
