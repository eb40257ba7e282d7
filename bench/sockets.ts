import { setTimeout as sleep } from 'node:timers/promises'
import { connectionsByDescriptors } from '../src/http/descriptors.ts'
import { OperatorClient } from '../test/support/client.ts'
import { tellFacts } from './facts.ts'
import { cpuSeconds, megabytes } from './family.ts'
import { median } from './load-generator.ts'
import type { Row, Table } from './results.ts'
import { launch, type ServerInfo } from './servers.ts'
import { BATCH, amendments, broadcasts, fund, subscription, trades, type Drive } from './socket-drive.ts'
import { entry } from './socket-entry.ts'
import { OPEN, ms, quantiles, type Scale } from './socket-scale.ts'
import { SocketLine } from './socket-line.ts'
import { Swarm, closeLines, openLines, type Delivered } from './socket-swarm.ts'

const FULL: Scale = { subscribers: [1, 100, 1_000, 5_000], rounds: 3, seconds: 4, idle: 5_000 }
const QUICK: Scale = { subscribers: [1, 100, 1_000], rounds: 1, seconds: 1.5, idle: 1_000 }
const PARTS = { trades: tradesPart, books: booksPart, entry, idle: idlePart, slow: slowPart } as const

/**
 * `npm run bench -- sockets [--quick] [--only PART]`: streams to many subscribers beside a bare `ws` server, order
 * entry over sockets beside HTTP, what idle connections cost, and what a reader who never reads costs the others. The
 * servers are processes of their own; this one is the load generator.
 */
export async function run(args: readonly string[]): Promise<void> {
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined
  const known = ['--quick', '--only', only]
  if (args.some((word) => !known.includes(word)) || (only !== undefined && !(only in PARTS)))
    throw new TypeError(
      `usage: npm run bench -- sockets [--quick] [--only ${Object.keys(PARTS).join(' | ')}]`,
    )
  const scale = fitting(args.includes('--quick') ? QUICK : FULL)
  tellFacts(process.env['KONTOR_DATABASE_URL'] === undefined ? 'SQLite' : 'PostgreSQL')
  for (const [name, part] of Object.entries(PARTS)) if (only === undefined || only === name) await part(scale)
}
/** Shorter rounds: all of them must fit into a run. */
const ALL: Scale = { ...FULL, rounds: 2, seconds: 2.5 }
export const measured = (part: keyof typeof PARTS, quick: boolean): Promise<Table[]> =>
  PARTS[part](fitting(quick ? { ...QUICK, subscribers: [1, 100], idle: 200 } : ALL))

/** Both servers' connections are open at once in this process. */
function fitting(scale: Scale): Scale {
  const most = connectionsByDescriptors()
  const subscribers = scale.subscribers.filter((count) => count * 2 + 64 <= Math.max(most, 10_100))
  const idle = Math.min(scale.idle, most - 64)
  if (subscribers.length < scale.subscribers.length || idle < scale.idle)
    console.log(`too few file descriptors for the large figures: raise them with ulimit -n`)
  return { ...scale, subscribers, idle }
}

const whole = (value: number): string => value.toFixed(0)
const busiest = (runs: readonly Delivered[]): string =>
  `generator ${whole(Math.max(...runs.map(({ busy }) => busy)) * 100)} % busy`

/** Every trade to every subscriber, as fast as it goes, beside a bare server that broadcasts frames of that size. */
async function tradesPart(scale: Scale): Promise<Table[]> {
  const rows: Row[] = []
  const kontor = await launch('kontor', OPEN)
  const bare = await launch('sockets')
  await fund(kontor.info)
  const driven = await trades(kontor.info)
  const bytes = await sizeOf(driven)
  const sides: readonly Side[] = [
    { drive: await broadcasts(bare.info, bytes), pid: bare.pid },
    { drive: driven, pid: kontor.pid },
  ]
  console.log(
    `\nspot.trades: every trade to every subscriber, ${bytes} bytes a frame, orders over one socket; median of ${scale.rounds} interleaved rounds of ${scale.seconds} s`,
  )
  console.log('  delays: from the reply of an order to its frame, with an order every 25 ms')
  const nobody = await Swarm.open(driven, 0)
  await nobody.hard(scale.seconds, 64)
  for (const each of [BATCH, 1] as const)
    console.log(
      `  nobody listens: ${whole((await nobody.hard(scale.seconds, 64, each)).orders)} orders/s, ${each} in a call`,
    )
  for (const count of scale.subscribers) rows.push(...(await fanOut(sides, count, scale)))
  for (const { drive } of sides) await drive.close()
  await kontor.stop()
  await bare.stop()
  return [
    {
      title: `Frames of ${bytes} bytes to everybody, medians of ${scale.rounds} rounds of ${scale.seconds} s in turn`,
      at: 'subscribers',
      rows,
      plots: [{ figure: 'rate', logX: true }],
    },
  ]
}
interface Side {
  readonly drive: Drive
  readonly pid: number
}
/** Orders in a call, and calls under way at once: `in step` the next one waits until everybody has the last frame. */
const WAYS = [
  ['10 a call ', BATCH, 64],
  ['one by one', 1, 64],
  ['in step   ', 1, 1],
] as const
async function fanOut(sides: readonly Side[], count: number, { rounds, seconds }: Scale): Promise<Row[]> {
  const rows: Row[] = []
  const swarms = await Promise.all(sides.map(({ drive }) => Swarm.open(drive, count)))
  const title = `  ${String(count).padStart(5)} subscribers`
  const calms: Delivered[][] = sides.map(() => [])
  for (const [name, each, most] of WAYS) {
    const window = Math.min(most, Math.max(4, Math.ceil(64_000 / count / each)))
    const runs: Delivered[][] = sides.map(() => [])
    const costs: number[][] = sides.map(() => [])
    for (const swarm of swarms) await swarm.hard(Math.min(1, seconds), window, each)
    for (let round = 0; round < rounds; round++)
      for (const [i, swarm] of swarms.entries()) {
        const before = cpuSeconds(sides[i]!.pid)
        const hard = await swarm.hard(seconds, window, each)
        runs[i]!.push(hard)
        costs[i]!.push(((cpuSeconds(sides[i]!.pid) - before) / hard.frames) * 1e6)
        if (most === 1) calms[i]!.push(await swarm.calm(Math.min(2, seconds), 25))
      }
    const rates = runs.map((own) => median(own.map(({ rate }) => rate)))
    for (const [i, { drive }] of sides.entries())
      rows.push({
        name: `${drive.name}, ${name.trim()}`,
        at: count,
        figures: {
          rate: rates[i]!,
          ...(i > 0 && { ratio: rates[i]! / rates[0]! }),
          cpu: median(costs[i]!),
          ...(most === 1 && quantiles(calms[i]!.flatMap(({ delays }) => delays))),
          generator: Math.max(...runs[i]!.map(({ busy }) => busy)) * 100,
        },
      })
    for (const [i, { drive }] of sides.entries())
      console.log(
        `${title}  ${name}  ${drive.name.padEnd(7)} ${whole(rates[i]!).padStart(7)} frames/s  ${median(costs[i]!).toFixed(2)} µs of CPU each  ${busiest(runs[i]!)}`,
      )
    const ratio = `ratio of rates ${(rates[1]! / rates[0]!).toFixed(2)}, of CPU for a frame ${(median(costs[1]!) / median(costs[0]!)).toFixed(2)}`
    console.log(
      `${title}  ${name}  ${ratio}${count === 1 ? ' (orders are what is measured here, and the bare server carries none out)' : ''}`,
    )
  }
  for (const [i, { drive }] of sides.entries())
    console.log(`${title}  delay  ${drive.name.padEnd(7)} ${ms(calms[i]!.flatMap(({ delays }) => delays))}`)
  for (const swarm of swarms) await swarm.close()
  return rows
}
/** Of the payload of one trade's frame. */
async function sizeOf(drive: Drive): Promise<number> {
  const [line] = await openLines(drive.port, 1, drive.subscribe)
  const size = new Promise<number>((resolve) => (line!.take = (_bytes, from, to) => resolve(to - from)))
  await drive.request(1)
  const bytes = await size
  await line!.close()
  return bytes
}

const PACED = [
  ['spot.order_book_update', ['BTC_USDT', '20ms']],
  ['spot.obu', ['ob.BTC_USDT.50']],
] as const
const PACE_MS = 20
const AMENDS_A_SECOND = 250
/**
 * Paced streams of one busy book: 50 frames a second at most, whatever the number of changes; beside a bare server that
 * broadcasts frames of that size at that pace.
 */
async function booksPart({ subscribers, seconds }: Scale): Promise<Table[]> {
  const rows: Row[] = []
  const kontor = await launch('kontor', OPEN)
  await fund(kontor.info)
  const bare = await launch('sockets')
  const { amend, close } = await amendments(kontor.info)
  console.log(
    `\nbooks, paced by ${PACE_MS} ms, ${AMENDS_A_SECOND} changes a second for ${seconds} s; delays: from the reply of an amendment to the frame that has it`,
  )
  for (const [channel, payload] of PACED)
    for (const count of subscribers) {
      const lines = await openLines(kontor.info.port, count, subscription(channel, payload))
      const replies = new Map<string, number>()
      const seen: { name: string; at: number }[] = []
      let frames = 0
      let bytesOfAll = 0
      const step = Math.max(1, Math.floor(count / 10))
      for (const [i, line] of lines.entries())
        line.take = (bytes, from, to) => {
          frames++
          bytesOfAll += to - from
          if (i % step !== 0) return
          const at = performance.now()
          const { result } = JSON.parse(bytes.toString('utf8', from, to)) as {
            result: { b: [string, string][] }
          }
          for (const [price, amount] of result.b) seen.push({ name: `${price} ${amount}`, at })
        }
      const used = performance.eventLoopUtilization()
      const start = performance.now()
      const pending: Promise<void>[] = []
      const every = 1000 / AMENDS_A_SECOND
      for (let k = 0; k * every < seconds * 1000; k++) {
        const wait = start + k * every - performance.now()
        if (wait > 0) await sleep(wait)
        pending.push(amend().then(({ name, at }) => void replies.set(name, at)))
      }
      await Promise.all(pending)
      const elapsed = (performance.now() - start) / 1000
      const rate = frames / elapsed
      const { utilization } = performance.eventLoopUtilization(used)
      await sleep(200)
      const delays = seen.flatMap(({ name, at }) => {
        const reply = replies.get(name)
        return reply === undefined ? [] : [Math.max(0, at - reply)]
      })
      await closeLines(lines)
      const beside = await paced(bare.info, count, Math.round(bytesOfAll / frames), seconds)
      const ratio = rate / beside.rate
      rows.push(
        {
          name: `bare ws, as ${channel}`,
          at: count,
          figures: { rate: beside.rate, ...quantiles(beside.delays), generator: beside.busy * 100 },
        },
        {
          name: channel,
          at: count,
          figures: { rate, ratio, ...quantiles(delays), generator: utilization * 100 },
        },
      )
      const title = `  ${channel.padEnd(22)} ${String(count).padStart(5)} subscribers`
      const told = (name: string, rate: number, delays: readonly number[], busy: number): void =>
        console.log(
          `${title}  ${name} ${whole(rate).padStart(7)} frames/s, ${(rate / count).toFixed(1)} to each  delay ${ms(delays)}  generator ${whole(busy * 100)} % busy`,
        )
      told('bare ws', beside.rate, beside.delays, beside.busy)
      told('kontor ', rate, delays, utilization)
      console.log(`${title}  ratio of rates ${ratio.toFixed(2)}`)
    }
  await close()
  await kontor.stop()
  await bare.stop()
  return [{ title: 'Frames of a busy book', at: 'subscribers', rows }]
}

/** The bare server's frames of so many bytes, at the pace of a book's. */
async function paced(info: ServerInfo, count: number, bytes: number, seconds: number): Promise<Delivered> {
  const drive = await broadcasts(info, bytes)
  const swarm = await Swarm.open(drive, count)
  const delivered = await swarm.calm(seconds, PACE_MS)
  await swarm.close()
  await drive.close()
  return delivered
}

/** Memory of connections that do nothing, of the platform and its gateways. */
async function idlePart({ idle }: Scale): Promise<Table[]> {
  const rows: Row[] = []
  console.log(`\n${idle} idle connections, kB of memory each (all processes of the server)`)
  for (const [name, greet] of [
    ['connected alone', undefined],
    ['in one stream', subscription('spot.order_book_update', ['BTC_USDT', '100ms'])],
  ] as const) {
    const kontor = await launch('kontor', OPEN)
    // What a first connection of each kind makes once is not counted.
    await closeLines(await openLines(kontor.info.port, 100, greet))
    await sleep(1_000)
    const before = megabytes(kontor.pid)
    const lines = await openLines(kontor.info.port, idle, greet)
    await sleep(2_000)
    const after = megabytes(kontor.pid)
    const figures = { kilobytes: ((after - before) * 1024) / idle, megabytes: after }
    rows.push({ name, at: idle, figures })
    const lost = lines.filter(({ closed }) => closed !== undefined).length
    console.log(
      `  ${name.padEnd(16)} ${(((after - before) * 1024) / idle).toFixed(1)} kB each (${whole(before)} → ${whole(after)} MB)${lost > 0 ? `, ${lost} were closed` : ''}`,
    )
    await closeLines(lines)
    await kontor.stop()
  }
  return [{ title: 'Idle connections', at: 'sockets', rows }]
}

/** Small, so that a short run is enough for the end of it. */
const SLOW_QUEUE = 1024 * 1024
/** One who subscribes to everything and reads nothing, beside a hundred who read. */
async function slowPart({ rounds, seconds }: Scale): Promise<Table[]> {
  const kontor = await launch('kontor', { ...OPEN, KONTOR_WS_QUEUE: String(SLOW_QUEUE) })
  await fund(kontor.info)
  const operator = new OperatorClient(`http://127.0.0.1:${kontor.info.port}`, kontor.info.token)
  const drive = await trades(kontor.info)
  const swarm = await Swarm.open(drive, 100)
  console.log(
    `\none who never reads beside 100 who do (spot.trades); ${rounds} rounds of ${seconds} s each way`,
  )
  const delays = { without: [] as number[], with: [] as number[] }
  const rates = { without: [] as number[], with: [] as number[] }
  let ended = ''
  await swarm.hard(1, 16)
  for (let round = 0; round < rounds; round++)
    for (const way of ['without', 'with'] as const) {
      const slow = way === 'with' ? await mute(kontor.info.port) : undefined
      delays[way].push(...(await swarm.calm(Math.min(2, seconds), 10)).delays)
      rates[way].push((await swarm.hard(seconds, 16)).rate)
      if (slow === undefined) continue
      const list = (await operator.ok('GET', '/sockets')) as { queue_bytes: number }[]
      const waiting = Math.max(...list.map(({ queue_bytes }) => queue_bytes))
      slow.socket.resume()
      for (let i = 0; i < 100 && slow.closed === undefined; i++) await sleep(20)
      ended = slow.closed ?? `it was still there, with ${waiting} bytes waiting`
      await slow.close()
    }
  for (const way of ['without', 'with'] as const)
    console.log(
      `  ${way.padEnd(8)} delay with an order every 10 ms ${ms(delays[way])}; at most ${whole(median(rates[way]))} frames/s`,
    )
  console.log(`  what became of it when it read at last: ${ended}`)
  await swarm.close()
  await drive.close()
  await kontor.stop()
  const rows = (['without', 'with'] as const).map((way) => ({
    name: `${way} it`,
    figures: { rate: median(rates[way]), ...quantiles(delays[way]) },
  }))
  return [{ title: 'Frames at most, and delays with an order every 10 ms', rows }]
}
async function mute(port: number): Promise<SocketLine> {
  const line = await SocketLine.open(port)
  for (const [channel, payload] of [
    ['spot.trades', ['BTC_USDT']],
    ['spot.trades_v2', ['BTC_USDT']],
    ['spot.book_ticker', ['BTC_USDT']],
    ['spot.order_book', ['BTC_USDT', '100', '100ms']],
    ['spot.obu', ['ob.BTC_USDT.400']],
  ] as const)
    line.write(subscription(channel, payload))
  await sleep(100)
  line.socket.pause()
  return line
}
