import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseOf } from './cluster.ts'
import type { DatabaseFailures } from './failures.ts'
import type { PostgresPair } from './postgres-pair.ts'

/** A primary and a synchronous standby, with the tests in the place of who watches over them. */
export async function pairDatabase(pair: PostgresPair): Promise<DatabaseOf> {
  const url = await pair.database()
  const name = /\/([a-z0-9_]+)\?/.exec(url)![1]!
  const { a, b } = pair.nodes
  return { name, ports: [a.port, b.port], query: (sql) => pair.primary.query(sql, name) }
}
export const pairFailures = (pair: PostgresPair): DatabaseFailures => ({
  killPrimary: () => pair.failOver(),
  mend: () => pair.rejoin(),
  parted: async (ms) => {
    pair.links!.replication.cut()
    await sleep(ms)
    pair.links!.replication.heal()
  },
})
