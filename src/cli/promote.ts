import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../config.ts'
import { LeaseTable } from '../store/lease.ts'
import { placeOf, settingOptions, type Command } from './options.ts'

const WAIT_MS = 30_000
const LOOK_MS = 20
const ASK_MS = 5_000

export const promote: Command = {
  usage: 'kontor promote [NODE] [--database-url URL]',
  detail: `Asks the active core to hand over to the standby NODE (KONTOR_NODE there); left out, to the only one there is. Who calls
through a gateway waits meanwhile. Prints how long it took. Exit 1: that node did not take over.`,
  options: settingOptions('database-url', 'database-url-file'),
  words: [0, 1],
  run: async ({ env, words }) => {
    const { databaseUrl } = placeOf(env)
    if (databaseUrl === undefined)
      throw new ConfigError('KONTOR_DATABASE_URL is not set: there is no standby without PostgreSQL')
    const table = new LeaseTable(databaseUrl, ASK_MS)
    try {
      const { node: active } = await table.read()
      const following = (await table.following()).map(({ name }) => name)
      const node = chosen(words[0], following, active)
      const began = performance.now()
      if ((await table.want(node)) === undefined)
        throw new ConfigError('nobody is active: a standby takes over by itself')
      while (performance.now() - began < WAIT_MS) {
        if ((await table.read()).node === node) {
          const ms = Math.round(performance.now() - began)
          process.stdout.write(`${node} is the active core, after ${ms} ms\n`)
          return 0
        }
        await sleep(LOOK_MS)
      }
      await table.want('')
      process.stderr.write(`kontor: ${node} did not take over within ${WAIT_MS / 1000} s\n`)
      return 1
    } finally {
      await table.close()
    }
  },
}

/** One that follows: to another nobody hands over. */
function chosen(asked: string | undefined, following: readonly string[], active: string): string {
  const standing = following.filter((node) => node !== active)
  if (asked !== undefined) {
    if (asked === active) throw new ConfigError(`${asked} is the active core already`)
    if (standing.includes(asked)) return asked
    throw new ConfigError(
      `no standby ${asked} follows this database; ${standing.length === 0 ? 'there is none' : `there are ${standing.join(', ')}`}`,
    )
  }
  if (standing.length === 1) return standing[0]!
  throw new ConfigError(
    standing.length === 0
      ? 'no standby follows this database: start one with kontor standby'
      : `name one of the standbys: ${standing.join(', ')}`,
  )
}
