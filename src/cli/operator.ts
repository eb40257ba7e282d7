import { ConfigError, type Config } from '../config.ts'
import { commands, type Commands } from '../core/commands.ts'
import { Core } from '../core/core.ts'
import type { Proposal } from '../core/operators/proposals.ts'
import { State } from '../core/state.ts'
import { Clock } from '../runtime/clock.ts'
import { randomHex, sha256 } from '../runtime/secrets.ts'
import { openSnapshot, openStore } from '../store/open.ts'
import type { Command } from './main.ts'
import { placeOf, settingOptions } from './options.ts'

export const operator: Command = {
  usage: 'kontor operator recover NAME [--data FOLDER | --database-url URL]',
  summary: 'makes an admin in 24 hours, when those that there were are lost',
  detail: `Stop the platform first: the command takes its database over, and a running one stops with exit code 3.
Prints the token of a new admin NAME (an operator of that name is replaced). It works 24 hours later, on the running
platform, unless an admin who is still there rejects it: it is listed among GET /operator/v1/proposals, and both the
asking and the making are in the audit log.`,
  options: settingOptions('data', 'database-url'),
  words: 2,
  run: async ({ env, words }) => {
    const [verb, name] = words as [string, string]
    if (verb !== 'recover') throw new ConfigError(`there is no "operator ${verb}"; usage: ${operator.usage}`)
    if (!/^[A-Za-z0-9_.@-]{1,64}$/.test(name))
      throw new ConfigError(`NAME "${name}" must be up to 64 letters, digits and _ . @ -`)
    const token = randomHex(32)
    const { effective_at } = await recover(placeOf(env), name, sha256(token))
    const when = new Date(effective_at / 1000).toISOString()
    process.stdout.write(
      `admin ${name}\ntoken ${token}\nworks from ${when} on, when the platform is running\n`,
    )
    return 0
  },
}

/** One command on the store that the settings name, as the platform itself would carry it out. */
async function recover(place: Config, name: string, token_hash: string): Promise<Proposal> {
  // Tells a wrong folder, or another version's, before anything is taken over.
  await (await openSnapshot(place)).close()
  const store = openStore(place)
  const state = new State()
  const clock = new Clock()
  let fault: unknown
  const core = new Core<State, Commands>(
    state,
    commands,
    { sequence: 0, hash: '' },
    {
      commit: (batch) => store.commit(batch),
      now: () => clock.now(),
      fatal: (error) => (fault = error),
      defect: (error) => (fault = error),
      check: ({ ledger }) => ledger.check(),
      waitingMax: 1,
    },
  )
  try {
    const head = await store.open()
    core.restart(head)
    await store.load(state.tables)
    clock.atLeast(head.at)
    const made = await core.submit('operator.recover', { name, token_hash })
    await core.idle()
    if (fault !== undefined) throw fault as Error
    return made
  } finally {
    await store.close()
  }
}
