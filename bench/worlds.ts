import { startKontor, type Kontor } from '../src/kontor.ts'
import type { Row, Table } from './results.ts'

/** Many worlds in one process, forked from the sandbox's first start: how long they take, and how much memory. */
const MEGABYTE = 1e6
const rss = (): number => Math.round(process.memoryUsage().rss / MEGABYTE)

export async function run([count = '100']: readonly string[]): Promise<void> {
  await many(Number(count))
}
export async function measured(quick: boolean): Promise<Table[]> {
  const count = quick ? 5 : 100
  return [
    { title: `${count} worlds; memory is that of the process after each step`, rows: await many(count) },
  ]
}
async function many(n: number): Promise<Row[]> {
  const rows: Row[] = []
  const step = async <T>(what: string, act: () => Promise<T>): Promise<T> => {
    const [from, cpu] = [performance.now(), process.cpuUsage()]
    const result = await act()
    const { user, system } = process.cpuUsage(cpu)
    const milliseconds = Math.round(performance.now() - from)
    rows.push({ name: what, figures: { milliseconds, megabytes: rss() } })
    console.log(
      `${what.padEnd(44)} ${milliseconds} ms (${Math.round((user + system) / 1000)} ms of CPU), ${rss()} MB in all`,
    )
    return result
  }
  const each = async (worlds: readonly Kontor[], act: (world: Kontor) => Promise<unknown>): Promise<void> => {
    for (const world of worlds) await act(world)
  }
  const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000' }
  const first = await step('first start, agents on', () => startKontor({ port: 'none' }))
  const snapshot = await step('snapshot', () => first.snapshot())
  for (const port of ['none', 0] as const) {
    const worlds: Kontor[] = []
    await step(`${n} worlds, ${port === 'none' ? 'no ports' : 'a port each'}`, async () => {
      for (let i = 0; i < n; i++) worlds.push(await startKontor({ from: snapshot, port }))
    })
    const ports = port === 'none' ? '' : ', with ports'
    await step(`an order in each${ports}`, () =>
      each(worlds, (world) => world.call('POST', '/spot/orders', order)),
    )
    await step(`each reset${ports}`, () => each(worlds, (world) => world.reset()))
    await step(`each asked about its past${ports}`, () =>
      each(worlds, (world) => world.call('GET', '/spot/my_trades?currency_pair=BTC_USDT')),
    )
    await step(`each closed${ports}`, () => each(worlds, (world) => world.close()))
  }
  await first.close()
  return rows
}
