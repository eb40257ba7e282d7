import { tellFacts, tellGenerator } from './facts.ts'
import { generate, median, type LoadResult } from './load-generator.ts'
import { launch, type ServerInfo } from './servers.ts'
import { signedRequest } from './signed.ts'

const ROUNDS = 3
const SECONDS = 4
const REQUESTS = 2_000

/** Signed POSTs of these bodies to the platform and to the bare server, in turn, in one run; prints the ratio. */
export async function sideBySide(
  path: string,
  what: string,
  bodyOf: (i: number) => object,
  prepare?: (first: Buffer, port: number) => Promise<void>,
): Promise<void> {
  tellFacts(process.env['KONTOR_DATABASE_URL'] === undefined ? 'SQLite' : 'PostgreSQL')
  const bare = await launch('bare')
  const kontor = await launch('kontor')
  await prepare?.(requests(path, kontor.info, bodyOf)[0]!, kontor.info.port)
  const load = (info: ServerInfo, connections: number): Promise<LoadResult> =>
    generate({ port: info.port, connections, seconds: SECONDS, requests: requests(path, info, bodyOf) })
  for (const connections of [64, 256]) {
    const results: Record<'bare' | 'kontor', LoadResult[]> = { bare: [], kontor: [] }
    for (let round = 0; round < ROUNDS; round++) {
      results.bare.push(await load(bare.info, connections))
      results.kontor.push(await load(kontor.info, connections))
    }
    const rate = (name: 'bare' | 'kontor'): number => median(results[name].map((result) => result.rate))
    console.log(`\n${connections} connections, median of ${ROUNDS} interleaved rounds of ${SECONDS} s`)
    for (const name of ['bare', 'kontor'] as const) {
      const runs = results[name]
      const failures = runs.reduce((sum, result) => sum + result.failures, 0)
      const p50 = median(runs.map((result) => result.p50)).toFixed(2)
      const p99 = median(runs.map((result) => result.p99)).toFixed(2)
      console.log(
        `  ${name.padEnd(7)} ${rate(name).toFixed(0).padStart(7)} ${what}/s   p50 ${p50} ms   p99 ${p99} ms   failures ${failures}`,
      )
    }
    console.log(`  ratio   ${(rate('kontor') / rate('bare')).toFixed(2)}`)
    tellGenerator(Math.max(...[...results.bare, ...results.kontor].map(({ busy }) => busy)))
  }
  await bare.stop()
  await kontor.stop()
}

/** Signed beforehand. */
const requests = (path: string, info: ServerInfo, bodyOf: (i: number) => object): Buffer[] =>
  Array.from({ length: REQUESTS }, (_, i) => signedRequest(info, 'POST', path, '', bodyOf(i)))
