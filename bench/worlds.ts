import { startKontor, type Kontor } from '../src/kontor.ts'

/** Many worlds in one process, forked from the sandbox's first start: how long they take, and how much memory. */
const MEGABYTE = 1e6
const rss = (): number => Math.round(process.memoryUsage().rss / MEGABYTE)

export async function run([count = '100']: readonly string[]): Promise<void> {
  const step = async <T>(what: string, act: () => Promise<T>): Promise<T> => {
    const [from, cpu] = [performance.now(), process.cpuUsage()]
    const result = await act()
    const { user, system } = process.cpuUsage(cpu)
    console.log(
      `${what.padEnd(44)} ${Math.round(performance.now() - from)} ms (${Math.round((user + system) / 1000)} ms of CPU), ${rss()} MB in all`,
    )
    return result
  }
  const each = async (worlds: readonly Kontor[], act: (world: Kontor) => Promise<unknown>): Promise<void> => {
    for (const world of worlds) await act(world)
  }
  const n = Number(count)
  const order = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '30000' }
  const first = await step('first start, agents on', () => startKontor({ port: 'none' }))
  const snapshot = await step('snapshot', () => first.snapshot())
  for (const port of ['none', 0] as const) {
    const worlds: Kontor[] = []
    await step(`${n} worlds, ${port === 'none' ? 'no ports' : 'a port each'}`, async () => {
      for (let i = 0; i < n; i++) worlds.push(await startKontor({ from: snapshot, port }))
    })
    await step('an order in each', () => each(worlds, (world) => world.call('POST', '/spot/orders', order)))
    await step('each reset', () => each(worlds, (world) => world.reset()))
    await step('each asked about its past', () =>
      each(worlds, (world) => world.call('GET', '/spot/my_trades?currency_pair=BTC_USDT')),
    )
    await step('each closed', () => each(worlds, (world) => world.close()))
  }
  await first.close()
}
