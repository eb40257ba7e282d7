import { bodyDigest, sign, signatureString } from '../src/api/signature.ts'
import { generate, median, type LoadResult } from './load-generator.ts'
import { launch, type ServerInfo } from './servers.ts'

const PATH = '/api/v4/spot/orders'
const ROUNDS = 3
const SECONDS = 4

/** Signed orders that rest or trade, each durable before its reply, beside a bare server that only checks the HMAC. */
export async function run(): Promise<void> {
  const bare = await launch('bare')
  const kontor = await launch('kontor')
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
        `  ${name.padEnd(7)} ${rate(name).toFixed(0).padStart(7)} orders/s   p50 ${p50} ms   p99 ${p99} ms   failures ${failures}`,
      )
    }
    console.log(`  ratio   ${(rate('kontor') / rate('bare')).toFixed(2)}`)
  }
  await bare.stop()
  await kontor.stop()
}

function load(info: ServerInfo, connections: number): Promise<LoadResult> {
  return generate({ port: info.port, connections, seconds: SECONDS, requests: requests(info) })
}

/** Nine in ten rest at some price, the tenth sells into them or buys from them. */
function requests({ key, secret, port }: ServerInfo): Buffer[] {
  const timestamp = String(Math.floor(Date.now() / 1000))
  return Array.from({ length: 2000 }, (_, i) => {
    const side = i % 2 === 0 ? 'buy' : 'sell'
    const crosses = i % 10 === 9 || i % 10 === 4
    const distance = 1 + (i % 97)
    const body = JSON.stringify({
      currency_pair: 'BTC_USDT',
      side,
      amount: '0.0001',
      price: String(50_000 + ((side === 'buy') === crosses ? distance : -distance)),
      ...(crosses && { time_in_force: 'ioc' }),
    })
    const message = signatureString({
      method: 'POST',
      path: PATH,
      query: '',
      bodyDigest: bodyDigest(Buffer.from(body)),
      timestamp,
    })
    return Buffer.from(
      `POST ${PATH} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nKEY: ${key}\r\nTimestamp: ${timestamp}\r\nSIGN: ${sign(secret, message)}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
}
