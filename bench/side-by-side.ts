import { PostgresServer } from '../test/support/postgres.ts'
import { tellFacts, tellGenerator } from './facts.ts'
import { generate, median, type LoadResult } from './load-generator.ts'
import type { Row, Table } from './results.ts'
import { launch, type Kind, type ServerInfo } from './servers.ts'
import { signedRequest } from './signed.ts'

const REQUESTS = 2_000

export interface Sides {
  readonly title: string
  readonly path: string
  /** What is counted. */
  readonly what: string
  readonly bodyOf: (i: number) => object
  readonly prepare?: (first: Buffer, port: number) => Promise<void>
  readonly rounds?: number
  readonly seconds?: number
}
interface Contender {
  readonly name: string
  readonly kind: Kind
  readonly env?: Record<string, string>
}
type Launched = Awaited<ReturnType<typeof launch>>

/** Signed POSTs of these bodies to the platform and to the bare server, in turn, in one run; prints the ratio. */
export async function sideBySide(sides: Sides): Promise<void> {
  tellFacts(process.env['KONTOR_DATABASE_URL'] === undefined ? 'SQLite' : 'PostgreSQL')
  const contenders = (['bare', 'kontor'] as const).map((kind) => ({ name: kind, kind }))
  await compared(sides, contenders, [64, 256])
}
/** The same with both stores and, where it fits, the usual design; with one client too. */
export async function everySide(sides: Sides, { transactions }: { transactions: boolean }): Promise<Table> {
  tellFacts('SQLite and PostgreSQL')
  const server = await PostgresServer.start({ durable: true })
  try {
    const database = async (): Promise<Record<string, string>> => ({
      KONTOR_DATABASE_URL: await server.database(),
    })
    const contenders: Contender[] = [
      { name: 'bare server', kind: 'bare' },
      ...(transactions ? [{ name: TRANSACTION, kind: 'transaction' as const, env: await database() }] : []),
      { name: 'kontor on SQLite', kind: 'kontor' },
      { name: 'kontor on PostgreSQL', kind: 'kontor', env: await database() },
    ]
    const rows = await compared(sides, contenders, [1, 64, 256])
    return {
      title: sides.title,
      at: 'clients',
      rows,
      plots: [
        { figure: 'rate', logX: true },
        { figure: 'p99', logX: true, logY: true },
      ],
    }
  } finally {
    await server.stop()
  }
}
const TRANSACTION = 'one transaction each'

async function compared(
  { path, what, bodyOf, prepare, rounds = 3, seconds = 4 }: Sides,
  contenders: readonly Contender[],
  clients: readonly number[],
): Promise<Row[]> {
  const launched: (Contender & Launched)[] = []
  for (const one of contenders) launched.push({ ...one, ...(await launch(one.kind, one.env)) })
  for (const { kind, info } of launched)
    if (kind === 'kontor') await prepare?.(requests(path, info, bodyOf)[0]!, info.port)
  const rows: Row[] = []
  for (const connections of clients) {
    const results = new Map<string, LoadResult[]>(launched.map(({ name }) => [name, []]))
    // The first round warms up everybody: code is compiled, gateways that wait for a crowd are there.
    for (let round = -1; round < rounds; round++)
      for (const { name, info } of launched) {
        const run = { port: info.port, connections, seconds, requests: requests(path, info, bodyOf) }
        const result = await generate(run)
        if (round >= 0) results.get(name)!.push(result)
      }
    console.log(
      `\n${connections} connections, median of ${rounds} interleaved rounds of ${seconds} s behind one to warm up`,
    )
    const rate = (name: string): number => median(results.get(name)!.map((result) => result.rate))
    for (const [name, runs] of results) {
      const failures = runs.reduce((sum, result) => sum + result.failures, 0)
      const figure = (of: 'p50' | 'p99' | 'p999'): number => median(runs.map((result) => result[of]))
      const [p50, p99, p999] = [figure('p50'), figure('p99'), figure('p999')]
      console.log(
        `  ${name.padEnd(20)} ${rate(name).toFixed(0).padStart(7)} ${what}/s   p50 ${p50.toFixed(2)} ms   p99 ${p99.toFixed(2)} ms   failures ${failures}`,
      )
      const ratio = rate(name) / rate(contenders[0]!.name)
      const over = results.has(TRANSACTION) ? { overTransaction: rate(name) / rate(TRANSACTION) } : {}
      const generator = Math.max(...runs.map(({ busy }) => busy)) * 100
      rows.push({
        name,
        at: connections,
        figures: { rate: rate(name), ratio, ...over, p50, p99, p999, failures, generator },
      })
    }
    for (const { name } of contenders.slice(1))
      console.log(
        `  ratio   ${(rate(name) / rate(contenders[0]!.name)).toFixed(2)}${contenders.length > 2 ? ` ${name}` : ''}`,
      )
    tellGenerator(Math.max(...[...results.values()].flat().map(({ busy }) => busy)))
  }
  for (const { stop } of launched) await stop()
  return rows
}

/** Signed beforehand. */
const requests = (path: string, info: ServerInfo, bodyOf: (i: number) => object): Buffer[] =>
  Array.from({ length: REQUESTS }, (_, i) => signedRequest(info, 'POST', path, '', bodyOf(i)))
