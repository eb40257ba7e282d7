import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { OperatorClient } from '../test/support/client.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import { PlatformProcess } from '../test/support/process.ts'
import { keep } from '../tools/kept.ts'
import { tellFacts, tellGenerator } from './facts.ts'
import { megabytes } from './family.ts'
import { generate, type LoadResult } from './load-generator.ts'
import { mixed } from './mix.ts'
import { SOAKS, writePages } from './pages.ts'
import { conditionsHere } from './results.ts'
import { isFlat, soakPlots, verdicts, type Soak, type SoakSample } from './soak-report.ts'
import { subscription } from './socket-drive.ts'
import type { SocketLine } from './socket-line.ts'
import { OPEN } from './socket-scale.ts'
import { closeLines, openLines } from './socket-swarm.ts'
import { account } from './steady.ts'

/**
 * `npm run soak -- --minutes 60 [--store sqlite | postgres] [--share 0.5] [--out FOLDER]`: a platform as it is started, with
 * its agents trading and sockets subscribed, under mixed traffic in an open loop at a share of what it can take. What is
 * seen is written as it goes, so that an end before the end loses nothing.
 */
const ACCOUNTS = 16
const CONNECTIONS = 128
const REQUESTS = 4_000
const MAXIMUM_SECONDS = 5
const SLICE_SECONDS = 10
const SAMPLE_MS = 1_000
const WORN_MINUTES = 1
const TOKEN = 'b'.repeat(48)
const CHANNELS = [
  ['spot.trades', ['BTC_USDT']],
  ['spot.order_book_update', ['BTC_USDT', '100ms']],
  ['spot.book_ticker', ['BTC_USDT', 'ETH_USDT']],
  ['spot.tickers', ['BTC_USDT', 'ETH_USDT', 'SOL_USDT']],
] as const
const SOCKETS_EACH = 50

type Sizes = Pick<SoakSample, 'journal' | 'tables' | 'wal'>
const MB = 1e6

function folderSizes(data: string): Sizes {
  let [journal, tables, wal] = [0, 0, 0]
  for (const file of readdirSync(data)) {
    const { size } = statSync(join(data, file), { throwIfNoEntry: false }) ?? { size: 0 }
    if (file.startsWith('kontor.journal')) journal += size
    else if (file === 'kontor.db') tables = size
    else if (file === 'kontor.db-wal') wal = size
  }
  return { journal: journal / MB, tables: tables / MB, wal: wal / MB }
}
async function databaseSizes(url: string): Promise<Sizes> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<'journal' | 'tables' | 'wal', string>>(
      `select pg_total_relation_size('journal') as journal,
              pg_database_size(current_database()) - pg_total_relation_size('journal') as tables,
              (select sum(size) from pg_ls_waldir()) as wal`,
    )
    const [{ journal, tables, wal }] = rows as [(typeof rows)[0]]
    return { journal: Number(journal) / MB, tables: Number(tables) / MB, wal: Number(wal) / MB }
  } finally {
    await client.end()
  }
}

/** The platform under test, and all that is looked at. */
class Patient {
  readonly platform: PlatformProcess
  readonly operator: OperatorClient
  readonly port: number
  private readonly sizes: () => Sizes | Promise<Sizes>
  private lines: SocketLine[] = []
  constructor(platform: PlatformProcess, sizes: () => Sizes | Promise<Sizes>) {
    this.platform = platform
    this.operator = new OperatorClient(platform.url, TOKEN)
    this.port = Number(new URL(platform.url).port)
    this.sizes = sizes
  }
  async subscribe(): Promise<number> {
    for (const [channel, payload] of CHANNELS)
      this.lines.push(...(await openLines(this.port, SOCKETS_EACH, subscription(channel, payload))))
    return this.lines.length
  }
  get frames(): number {
    return this.lines.reduce((sum, { frames }) => sum + frames, 0)
  }
  async price(): Promise<number> {
    const reply = await fetch(`${this.platform.url}/api/v4/spot/tickers?currency_pair=BTC_USDT`)
    const [{ last }] = (await reply.json()) as [{ last: string }]
    return Math.round(Number(last))
  }
  /** While the load runs: after it there is no lag to be seen. The most of each is kept. */
  async during<T>(
    load: Promise<T>,
  ): Promise<{ result: T; rss: number; heap: number; lagBatches: number; lagMB: number }> {
    let over = false
    const most = { rss: 0, heap: 0, lagBatches: 0, lagMB: 0 }
    const looking = (async () => {
      while (!over) {
        const { projection } = await this.operator.ok('GET', '/status')
        const { lag_batches, lag_bytes } = projection as { lag_batches: number; lag_bytes: number }
        most.lagBatches = Math.max(most.lagBatches, lag_batches)
        most.lagMB = Math.max(most.lagMB, lag_bytes / MB)
        most.rss = Math.max(most.rss, megabytes(this.platform.child.pid!))
        most.heap = Math.max(most.heap, await this.heap())
        await sleep(SAMPLE_MS)
      }
    })()
    const result = await load
    over = true
    await looking
    return { result, ...most }
  }
  private async heap(): Promise<number> {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const text = await (await fetch(`${this.platform.url}/metrics`, { headers })).text()
    const used = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(text)?.[1])
    if (Number.isNaN(used)) throw new Error('the platform does not tell its heap')
    return used / MB
  }
  lost(): number {
    return this.lines.filter(({ closed }) => closed !== undefined).length
  }
  look(): Sizes | Promise<Sizes> {
    return this.sizes()
  }
  async stop(): Promise<void> {
    await closeLines(this.lines)
    await this.platform.kill('SIGTERM')
  }
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '60' },
      store: { type: 'string', default: 'sqlite' },
      share: { type: 'string', default: '0.5' },
      out: { type: 'string' },
    },
  })
  const { store } = values
  if (store !== 'sqlite' && store !== 'postgres') throw new TypeError('--store must be sqlite or postgres')
  const [minutes, share] = [Number(values.minutes), Number(values.share)]
  if (!(minutes > 0) || !(share > 0 && share <= 1)) throw new TypeError('--minutes above 0, --share up to 1')
  const out = resolve(values.out ?? SOAKS)
  mkdirSync(out, { recursive: true })
  tellFacts(store)
  const data = mkdtempSync(join(tmpdir(), 'kontor-soak-'))
  const server = store === 'postgres' ? await PostgresServer.start({ durable: true }) : undefined
  const databaseUrl = await server?.database()
  const platform = await PlatformProcess.start({
    ...OPEN,
    KONTOR_DATA: data,
    KONTOR_OPERATOR_TOKEN: TOKEN,
    KONTOR_AGENTS: 'on',
    KONTOR_GATEWAYS: process.env['KONTOR_GATEWAYS'] ?? 'auto',
    NODE_OPTIONS: '--max-semi-space-size=32',
    ...(databaseUrl !== undefined && { KONTOR_DATABASE_URL: databaseUrl }),
  })
  const patient = new Patient(platform, () =>
    databaseUrl === undefined ? folderSizes(data) : databaseSizes(databaseUrl),
  )
  try {
    await soak(patient, { store, minutes, share, out })
  } finally {
    await patient.stop()
    await server?.stop()
    rmSync(data, { recursive: true, force: true })
  }
}

interface Asked {
  readonly store: Soak['store']
  readonly minutes: number
  readonly share: number
  readonly out: string
}
async function soak(patient: Patient, { store, minutes, share, out }: Asked): Promise<void> {
  const { operator, port } = patient
  const signers = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, i) => account(operator, i, { port })),
  )
  const sockets = await patient.subscribe()
  const load = async (seconds: number, rate?: number): Promise<LoadResult> =>
    generate({
      port,
      connections: CONNECTIONS,
      seconds,
      ...mixed(signers, REQUESTS, { near: await patient.price(), cancels: true }),
      ...(rate !== undefined && { rate }),
    })
  await load(MAXIMUM_SECONDS)
  const { rate: maximum } = await load(MAXIMUM_SECONDS)
  const rate = maximum * share
  console.log(
    `at most ${maximum.toFixed(0)} requests/s; ${rate.toFixed(0)} for ${minutes} min, with agents and ${sockets} sockets`,
  )
  const samples: SoakSample[] = []
  const file = join(out, `${store}.json`)
  const kept: Soak = {
    store,
    conditions: conditionsHere(false),
    minutes,
    share,
    accounts: ACCOUNTS,
    connections: CONNECTIONS,
    sockets,
    maximum,
    samples,
    finished: false,
  }
  const stopped = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort())
  const start = performance.now()
  const gone = (): number => (performance.now() - start) / 60_000
  let drawn = 0
  let busy = 0
  while (gone() < minutes && !stopped.signal.aborted) {
    const before = patient.frames
    const { result, ...figures } = await patient.during(load(SLICE_SECONDS, rate))
    busy = Math.max(busy, result.busy)
    const { rate: done, p50, p99, p999, failures, replies } = result
    samples.push(
      rounded({
        minute: gone(),
        requests: replies,
        rate: done,
        p50,
        p99,
        p999,
        failures,
        frames: patient.frames - before,
        ...figures,
        ...(await patient.look()),
      }),
    )
    keep(file, kept)
    tell(samples.at(-1)!)
    if (patient.lost() > 0) throw new Error(`${patient.lost()} sockets were closed`)
    if (gone() - drawn >= WORN_MINUTES) {
      drawn = gone()
      draw(kept, out)
    }
  }
  kept.finished = !stopped.signal.aborted
  keep(file, kept)
  draw(kept, out)
  if (out === resolve(SOAKS)) writePages()
  for (const { what, text } of verdicts(kept)) console.log(`${what}: ${text}`)
  tellGenerator(busy)
  if (isFlat(kept) === false) process.exitCode = 1
}
/** What is kept in a file is as exact as it is told. */
const rounded = (sample: SoakSample): SoakSample =>
  Object.fromEntries(
    Object.entries(sample).map(([name, value]) => [name, Number(Number(value).toFixed(3))]),
  ) as unknown as SoakSample
function draw(kept: Soak, out: string): void {
  for (const [name, svg] of soakPlots(kept)) writeFileSync(join(out, name), svg)
}
function tell(one: SoakSample): void {
  const ms = `p50 ${one.p50.toFixed(2)} ms  p99 ${one.p99.toFixed(2)} ms  p999 ${one.p999.toFixed(2)} ms`
  console.log(
    `  ${one.minute.toFixed(1).padStart(5)} min  ${one.rate.toFixed(0)}/s  ${ms}  failures ${one.failures}  memory ${one.rss.toFixed(0)} MB  heap ${one.heap.toFixed(0)} MB  lag ${one.lagBatches}  tables ${one.tables.toFixed(0)} MB  journal ${one.journal.toFixed(0)} MB  log ${one.wal.toFixed(0)} MB  ${one.frames} frames`,
  )
}
