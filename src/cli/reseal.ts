import { commands, RULES } from '../core/commands.ts'
import { Core } from '../core/core.ts'
import { State } from '../core/state.ts'
import { Clock } from '../runtime/clock.ts'
import { existingKey } from '../runtime/genesis.ts'
import { sumsKey } from '../runtime/secrets.ts'
import { ensureCheckpoint } from '../store/checkpoints.ts'
import { openStore } from '../store/open.ts'
import { compareSeals, makeSeals, newSums } from '../store/seals.ts'
import type { Command } from './main.ts'
import { placeOf, settingOptions } from './options.ts'

export const reseal: Command = {
  usage: 'kontor reseal [--data FOLDER | --database-url URL]',
  summary: 'vouches for a database that was changed by hand',
  detail: `A platform refuses to start on rows that it did not write. Whoever changed them on purpose (a repair, another
secret key) makes new sums over what is there with this command; it is written to the audit log. The platform must not
run meanwhile.`,
  options: settingOptions('data', 'database-url', 'secret-key-file'),
  words: 0,
  run: async ({ env }) => {
    const config = placeOf(env)
    const key = sumsKey(existingKey(config))
    const store = openStore(config)
    try {
      const head = await store.open()
      const differing = await compareSeals((sql, row) => store.scan(sql, row), head, key)
      const state = new State()
      await store.load(state.tables)
      const sums = newSums(key)
      await makeSeals(store, state.tables, head, sums)
      const clock = new Clock()
      clock.atLeast(head.at)
      const core = new Core(state, commands, head, {
        commit: (batch) => store.commit(batch),
        now: () => clock.now(),
        fatal: fail,
        defect: fail,
        check: () => undefined,
        waitingMax: 1,
        sums,
      })
      await ensureCheckpoint(store, state.tables, head, RULES)
      await core.submit('audit.note', { actor: 'machine', action: 'reseal', detail: { differing } })
      for (const line of differing) process.stdout.write(`vouched for: ${line}\n`)
      process.stdout.write(`sealed at batch ${core.committed.sequence}\n`)
      return 0
    } finally {
      await store.close()
    }
  },
}
function fail(error: unknown): never {
  throw error
}
