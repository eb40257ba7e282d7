import { crashRounds, seeded } from '../test/crash/rounds.ts'
import { PostgresServer } from '../test/support/postgres.ts'

/** `npm run bench -- crash [ROUNDS] [SEED]`: kill -9 in the middle of signed load, on each store. */
export async function run([
  rounds = '50',
  seed = String(Date.now() % 1e9),
]: readonly string[]): Promise<void> {
  console.log(`kill -9 under load, ${rounds} rounds on each store, seed ${seed}`)
  const server = await PostgresServer.start({ durable: true })
  try {
    for (const store of ['SQLite', 'PostgreSQL']) {
      const url = store === 'SQLite' ? undefined : await server.database()
      const started = performance.now()
      const { acknowledged, survivors } = await crashRounds(Number(rounds), url, seeded(Number(seed)))
      const seconds = ((performance.now() - started) / 1000).toFixed(0)
      console.log(
        `${store}: ${acknowledged} acknowledged commands, none lost, none torn, none twice; ${survivors} unanswered ones had been committed; verify clean after every round (${seconds} s)`,
      )
    }
  } finally {
    await server.stop()
  }
}
