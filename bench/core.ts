import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commands, type Commands } from '../src/core/commands.ts'
import { PLAIN } from '../src/core/spot/place.ts'
import { Core } from '../src/machine/core.ts'
import { DECLARED, State } from '../src/core/state.ts'
import { BUILT_IN_WORLD } from '../src/core/world/built-in.ts'
import { Clock } from '../src/runtime/clock.ts'
import { PostgresStore } from '../src/store/postgres.ts'
import { SqliteStore } from '../src/store/sqlite.ts'
import { newSums } from '../src/store/seals.ts'
import type { Store } from '../src/store/store.ts'
import { PostgresServer } from '../test/support/postgres.ts'
import { tellFacts } from './facts.ts'
import { median } from './load-generator.ts'
import type { Row, Table } from './results.ts'
import { transactionPerRequest } from './transaction.ts'

/**
 * Durable transfers a second without HTTP: the core over each store, beside the usual design (one SQL
 * transaction for each request, over a pool) on the same PostgreSQL. Runs take turns; medians are printed.
 */
export const CLIENTS = 64
const ROUNDS = 5
const SECONDS = 2

export interface Contender {
  readonly name: string
  transfer(client: number): Promise<unknown>
  close(): Promise<void>
}
export interface OverStore extends Contender {
  /** Buys and sells in turn: each second one trades with the one before. */
  order(client: number): Promise<unknown>
}

export async function coreOver(name: string, store: Store): Promise<OverStore> {
  const state = new State()
  const clock = new Clock()
  const fail = (error: unknown): never => {
    throw error
  }
  const sums = newSums('5'.repeat(64))
  const head = await store.open(sums, DECLARED)
  store.sealBehind(head.hash, sums)
  const core = new Core<State, Commands>(state, commands, head, {
    commit: (batch) => store.commit(batch),
    asText: store.asText,
    now: () => clock.now(),
    fatal: fail,
    defect: fail,
    check: (state) => state.check(),
    waitingMax: 10_000,
  })
  await core.submit('world.configure', { config: BUILT_IN_WORLD })
  const users = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, i) => {
      const { user_id } = await core.submit('user.create', {
        login_name: `bench_${i}`,
        email: null,
        password_hash: null,
        remark: '',
        vip: 0,
        parent_id: 0,
        type: 1,
        actor: null,
      })
      for (const currency of ['USDT', 'BTC'])
        await core.submit('user.credit', {
          user_id,
          account: 'spot',
          currency,
          amount: '1000000000',
          currency_pair: null,
          settle: null,
          actor: null,
        })
      return user_id
    }),
  )
  const turn = users.map(() => false)
  let ordered = 0
  return {
    name,
    transfer: (client) => {
      turn[client] = !turn[client]
      const [from, to] = turn[client] ? (['spot', 'options'] as const) : (['options', 'spot'] as const)
      return core.submit('transfer.create', {
        user_id: users[client]!,
        currency: 'USDT',
        from,
        to,
        amount: '1.5',
        currency_pair: null,
        settle: null,
      })
    },
    order: (client) =>
      core.submit('spot.place', {
        user_id: users[client]!,
        order: {
          ...PLAIN,
          currency_pair: 'BTC_USDT',
          type: 'limit',
          side: (ordered++ & 1) === 0 ? 'buy' : 'sell',
          amount: '0.01',
          price: '50000',
          time_in_force: 'gtc',
        },
      }),
    close: async () => {
      await core.idle()
      await store.close()
    },
  }
}

async function transactions(url: string): Promise<Contender> {
  const { transfer, close } = await transactionPerRequest(url, CLIENTS)
  const turn = Array.from({ length: CLIENTS }, () => true)
  return {
    name: 'one transaction per request, PostgreSQL',
    transfer: (client) => transfer(client, (turn[client] = !turn[client])),
    close,
  }
}

/** Every client waits for its reply before it sends the next one. */
async function measure(contender: Contender, seconds: number): Promise<Measured> {
  const start = performance.now()
  const end = start + seconds * 1000
  const latencies: number[] = []
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let from = start; from < end;) {
        await contender.transfer(client)
        const now = performance.now()
        latencies.push(now - from)
        from = now
      }
    }),
  )
  const rate = (latencies.length / (performance.now() - start)) * 1000
  latencies.sort((a, b) => a - b)
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0
  return { rate, p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}
interface Measured {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

export async function run(): Promise<void> {
  await measured(false)
}
export async function measured(quick: boolean): Promise<Table[]> {
  const [rounds, seconds] = quick ? [1, 1] : [ROUNDS, SECONDS]
  const folder = mkdtempSync(join(tmpdir(), 'kontor-bench-'))
  const server = await PostgresServer.start({ durable: true })
  const contenders = [
    await transactions(await server.database()),
    await coreOver('core on SQLite', new SqliteStore(join(folder, 'kontor.db'))),
    await coreOver('core on PostgreSQL', new PostgresStore(await server.database())),
  ]
  const rates = new Map<Contender, Measured[]>(contenders.map((contender) => [contender, []]))
  for (const contender of contenders) await measure(contender, 1)
  for (let round = 0; round < rounds; round++)
    for (const contender of contenders) rates.get(contender)!.push(await measure(contender, seconds))
  const rateOf = (all: readonly Measured[]): number => median(all.map(({ rate }) => rate))
  const base = rateOf(rates.get(contenders[0]!)!)
  tellFacts('SQLite and PostgreSQL')
  console.log(
    `durable transfers a second, ${CLIENTS} clients, medians of ${rounds} interleaved runs of ${seconds} s`,
  )
  const rows: Row[] = []
  for (const [{ name }, all] of rates) {
    const rate = rateOf(all)
    const every = all.map((one) => Math.round(one.rate))
    const spread = `${Math.min(...every)} to ${Math.max(...every)}`
    const [p50, p99, p999] = (['p50', 'p99', 'p999'] as const).map((one) =>
      median(all.map((run) => run[one])),
    )
    rows.push({ name, figures: { rate, ratio: rate / base, p50: p50!, p99: p99!, p999: p999! } })
    console.log(
      `${name.padEnd(42)} ${String(Math.round(rate)).padStart(7)}  x${(rate / base).toFixed(1)}  (${spread})  p50 ${p50!.toFixed(2)} ms  p99 ${p99!.toFixed(2)} ms`,
    )
  }
  for (const contender of contenders) await contender.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
  return [
    {
      title: `Durable transfers, ${CLIENTS} clients, medians of ${rounds} runs of ${seconds} s in turn`,
      rows,
    },
  ]
}
