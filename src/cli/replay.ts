import { replayStore } from '../checks/replay-store.ts'
import { Divergence } from '../machine/replay.ts'
import { openSnapshot } from '../store/open.ts'
import { placeOf, settingOptions, type Command } from './options.ts'

export const replay: Command = {
  usage: 'kontor replay [--data FOLDER | --database-url URL]',
  summary: 'builds the state again from the recorded commands and compares',
  detail: `Runs the recorded commands again, from the last checkpoint on (an upgrade that changes rules makes one), batch by batch. Each batch must make exactly the
changes that it made at the time (a hash chain tells), and the rows in the end must be those in the store.
Exit 0 when they are, 1 with the first difference when not. It only looks: it is safe beside a running platform.`,
  options: settingOptions('data', 'database-url'),
  words: 0,
  run: async ({ env }) => {
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
