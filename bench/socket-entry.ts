import { connect } from 'node:net'
import { median } from './load-generator.ts'
import { order } from './mix.ts'
import type { Row, Table } from './results.ts'
import { launch, type ServerInfo } from './servers.ts'
import { signedRequest } from './signed.ts'
import { callFrame, isAck, isWell, loggedIn } from './socket-drive.ts'
import { OPEN, ms, quantiles, type Scale } from './socket-scale.ts'

const CONNECTIONS = 32
const REQUESTS = 2_000

interface Entered {
  readonly rate: number
  readonly latencies: readonly number[]
  readonly failures: number
  readonly busy: number
}
/** A connection that keeps so many requests unanswered until the end. */
interface Lane {
  start(next: () => Buffer | undefined, replied: (well: boolean) => void): void
  close(): void
}

/** The same orders, over as many connections, with as many unanswered on each. */
export async function entry({ rounds, seconds }: Scale): Promise<Table[]> {
  const rows: Row[] = []
  const kontor = await launch('kontor', OPEN)
  console.log(
    `\norder entry, ${CONNECTIONS} connections, median of ${rounds} interleaved rounds of ${seconds} s`,
  )
  for (const depth of [1, 8]) {
    const results: Record<'http' | 'socket', Entered[]> = { http: [], socket: [] }
    for (let round = 0; round < rounds; round++)
      for (const way of ['http', 'socket'] as const)
        results[way].push(await measure(way, kontor.info, depth, seconds))
    const rate = (way: 'http' | 'socket'): number => median(results[way].map((one) => one.rate))
    for (const way of ['http', 'socket'] as const) {
      const runs = results[way]
      const failures = runs.reduce((sum, one) => sum + one.failures, 0)
      const busy = Math.max(...runs.map((one) => one.busy))
      rows.push({
        name: way,
        at: depth,
        figures: {
          rate: rate(way),
          ratio: rate(way) / rate('http'),
          ...quantiles(runs.flatMap(({ latencies }) => latencies)),
          failures,
          generator: busy * 100,
        },
      })
      console.log(
        `  ${depth} unanswered on each  ${way.padEnd(6)} ${rate(way).toFixed(0).padStart(6)} orders/s  ${ms(runs.flatMap(({ latencies }) => latencies))}  failures ${failures}  generator ${(busy * 100).toFixed(0)} % busy`,
      )
    }
    console.log(`  ${depth} unanswered on each  ratio  ${(rate('socket') / rate('http')).toFixed(2)}`)
  }
  await kontor.stop()
  return [{ title: `Orders on ${CONNECTIONS} connections`, at: 'unanswered on each', rows }]
}

async function measure(
  way: 'http' | 'socket',
  info: ServerInfo,
  depth: number,
  seconds: number,
): Promise<Entered> {
  const requests = Array.from({ length: REQUESTS }, (_, i) =>
    way === 'http'
      ? signedRequest(info, 'POST', '/api/v4/spot/orders', '', order(i))
      : callFrame('spot.order_place', 'r', order(i)),
  )
  const open = way === 'http' ? httpLane : socketLane
  const lanes = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(info)))
  const latencies: number[] = []
  let failures = 0
  let which = 0
  const used = performance.eventLoopUtilization()
  const start = performance.now()
  const end = start + seconds * 1000
  await Promise.all(
    lanes.map(
      (lane) =>
        new Promise<void>((resolve) => {
          const sent: number[] = []
          const next = (): Buffer | undefined => {
            const now = performance.now()
            if (now >= end) return undefined
            sent.push(now)
            return requests[which++ % requests.length]!
          }
          lane.start(
            () => (sent.length < depth ? next() : undefined),
            (well) => {
              latencies.push(performance.now() - sent.shift()!)
              if (!well) failures++
              if (sent.length === 0 && performance.now() >= end) resolve()
            },
          )
        }),
    ),
  )
  const elapsed = (performance.now() - start) / 1000
  const { utilization: busy } = performance.eventLoopUtilization(used)
  for (const lane of lanes) lane.close()
  return { rate: latencies.length / elapsed, latencies, failures, busy }
}

async function socketLane(info: ServerInfo): Promise<Lane> {
  const line = await loggedIn(info)
  return {
    start: (next, replied) => {
      const fill = (): void => {
        for (let frame = next(); frame !== undefined; frame = next()) line.write(frame)
      }
      line.take = (bytes, from, to) => {
        if (isAck(bytes, from)) return
        replied(isWell(bytes, from, to))
        fill()
      }
      fill()
    },
    close: () => void line.close(),
  }
}
function httpLane({ port }: ServerInfo): Promise<Lane> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    socket.on('error', reject)
    socket.on('connect', () =>
      resolve({
        start: (next, replied) => {
          const fill = (): void => {
            for (let request = next(); request !== undefined; request = next()) socket.write(request)
          }
          let pending = ''
          socket.on('data', (chunk) => {
            pending += chunk.toString('latin1')
            for (;;) {
              const head = pending.indexOf('\r\n\r\n')
              if (head === -1) return
              const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, head))?.[1] ?? 0)
              if (pending.length < head + 4 + length) return
              const well = pending.startsWith('HTTP/1.1 2')
              pending = pending.slice(head + 4 + length)
              replied(well)
              fill()
            }
          })
          fill()
        },
        close: () => void socket.destroy(),
      }),
    )
  })
}
