import { setTimeout as sleep } from 'node:timers/promises'
import { connectionsByDescriptors } from '../src/http/descriptors.ts'
import { tellFacts } from './facts.ts'
import { megabytes } from './family.ts'
import { generate } from './load-generator.ts'
import { order } from './mix.ts'
import { print, type Row, type Table } from './results.ts'
import { launch } from './servers.ts'
import { signedRequest } from './signed.ts'
import { subscription } from './socket-drive.ts'
import type { SocketLine } from './socket-line.ts'
import { OPEN } from './socket-scale.ts'
import { closeLines, openLines } from './socket-swarm.ts'

/** Sockets that are open and subscribed to a market in which nothing happens. */
const SIZES = [0, 100, 1_000, 2_500, 5_000]
const CONNECTIONS = 32
/** Orders a second, in an open loop. */
const RATE = 500
const REQUESTS = 2_000

export async function measured(quick: boolean): Promise<Table[]> {
  tellFacts('SQLite')
  const [sizes, seconds] = quick ? [[0, 200], 1] : [SIZES, 8]
  const { info, pid, stop } = await launch('kontor', OPEN)
  const greet = subscription('spot.order_book_update', ['XRP_USDT', '100ms'])
  /** Signatures are good for a minute. */
  const load = () => ({
    port: info.port,
    connections: CONNECTIONS,
    requests: Array.from({ length: REQUESTS }, (_, i) =>
      signedRequest(info, 'POST', '/api/v4/spot/orders', '', order(i)),
    ),
  })
  await generate({ ...load(), seconds: quick ? 1 : 6 })
  const lines: SocketLine[] = []
  const rows: Row[] = []
  for (const size of sizes.filter((one) => one < connectionsByDescriptors() - 200)) {
    lines.push(...(await openLines(info.port, size - lines.length, greet)))
    await sleep(1_000)
    const { p50, p99, p999, failures } = await generate({ ...load(), seconds, rate: RATE })
    const lost = lines.filter(({ closed }) => closed !== undefined).length
    if (lost > 0) throw new Error(`${lost} sockets were closed`)
    rows.push({ name: 'SQLite', at: size, figures: { p50, p99, p999, megabytes: megabytes(pid), failures } })
  }
  await closeLines(lines)
  await stop()
  const table: Table = {
    title: `${RATE} orders a second beside idle sockets`,
    at: 'sockets',
    rows,
    plots: [{ figure: 'megabytes' }, { figure: 'p99' }],
  }
  print(table)
  return [table]
}
