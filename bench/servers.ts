import { fork, type ChildProcess } from 'node:child_process'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { WebSocketServer, type WebSocket } from 'ws'
import { readConfig } from '../src/config.ts'
import { startPlatform } from '../src/platform.ts'
import { createLog } from '../src/runtime/log.ts'
import { OPEN } from './socket-scale.ts'
import { transactionPerRequest } from './transaction.ts'

/**
 * The servers of the benches, each in a process of its own: `bare` (HTTP), `transaction` (the same, with a transaction of
 * PostgreSQL for each request), `sockets` (bare `ws`) and `kontor`.
 */
export interface ServerInfo {
  readonly port: number
  readonly key: string
  readonly secret: string
  readonly token: string
}
export type Kind = 'bare' | 'transaction' | 'sockets' | 'kontor'

export async function launch(
  kind: Kind,
  env: Record<string, string> = {},
): Promise<{ info: ServerInfo; pid: number; stop: () => Promise<void> }> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [kind], {
    env: { ...process.env, ...env },
  })
  const info = await new Promise<ServerInfo>((resolve, reject) => {
    child.once('message', (message) => resolve(message as ServerInfo))
    child.once('exit', () => reject(new Error(`${kind} did not start`)))
  })
  return {
    info,
    pid: child.pid!,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill('SIGTERM')
      }),
  }
}

/** Checks the same HMAC and parses the JSON, and does nothing else: what any such server must at least do. */
function bare(act: (body: { from?: string }) => Promise<void> | void = () => undefined): void {
  const secret = 'bench-secret'
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const digest = createHash('sha512').update(body).digest('hex')
      const timestamp = String(request.headers['timestamp'])
      const message = `${request.method ?? ''}\n${request.url ?? ''}\n\n${digest}\n${timestamp}`
      const expected = createHmac('sha512', secret).update(message).digest()
      const good = timingSafeEqual(expected, Buffer.from(String(request.headers['sign']), 'hex'))
      const asked = JSON.parse(body.toString()) as { amount: string; from?: string }
      const text = JSON.stringify({ tx_id: asked.amount.length })
      const reply = (status: number): void => {
        response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length })
        response.end(text)
      }
      const done = good ? act(asked) : undefined
      if (done === undefined) reply(good ? 200 : 401)
      else
        done.then(
          () => reply(200),
          () => reply(500),
        )
    })
  })
  server.listen(0, '127.0.0.1', () => {
    process.send!({ port: (server.address() as AddressInfo).port, key: 'bench', secret, token: '' })
  })
  process.once('SIGTERM', () => process.exit(0))
}

/** Each request moves between the two balances of another pair: no two of them wait for one row. */
const PAIRS = 1_000
async function transaction(): Promise<void> {
  const { transfer } = await transactionPerRequest(process.env['KONTOR_DATABASE_URL']!, PAIRS)
  let next = 0
  bare(({ from }) => transfer(next++ % PAIRS, from !== 'spot'))
}

/** Answers each request and broadcasts what it asks for, one Buffer to all: what any such server must at least do. */
function bareSockets(): void {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false }, () => {
    process.send!({ port: (server.address() as AddressInfo).port, key: '', secret: '', token: '' })
  })
  const subscribers = new Set<WebSocket>()
  let text = Buffer.alloc(0)
  server.on('connection', (ws) => {
    ws.on('error', () => undefined)
    ws.on('close', () => subscribers.delete(ws))
    ws.on('message', (data: Buffer) => {
      const { event, frames, bytes } = JSON.parse(data.toString()) as {
        event: string
        frames: number
        bytes: number
      }
      ws.send(JSON.stringify({ request_id: 'r', header: { status: '200' } }))
      if (event === 'subscribe') subscribers.add(ws)
      else {
        if (text.length !== bytes) text = Buffer.alloc(bytes, '.')
        for (let i = 0; i < frames; i++)
          for (const subscriber of subscribers) subscriber.send(text, { binary: false })
      }
    })
  })
  process.once('SIGTERM', () => process.exit(0))
}

async function kontor(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'kontor-bench-'))
  const config = readConfig({
    KONTOR_PORT: '0',
    KONTOR_DATA: data,
    KONTOR_RATE_LIMITS: 'off',
    KONTOR_AGENTS: 'off',
    KONTOR_LOG: 'error',
    // All clients come from one address.
    ...OPEN,
    ...process.env,
  })
  const log = createLog('error', (line) => process.stderr.write(`${line}\n`))
  const platform = await startPlatform(config, log, (error) => {
    console.error(error)
    process.exit(70)
  })
  const { key, secret, operator_token: token } = platform.credentials
  process.send!({ port: Number(new URL(platform.url).port), key, secret, token })
  process.once('SIGTERM', () => {
    void platform.stop().then(() => {
      rmSync(data, { recursive: true, force: true })
      process.exit(0)
    })
  })
}

if (process.send !== undefined && process.argv[2] === 'bare') bare()
if (process.send !== undefined && process.argv[2] === 'transaction') await transaction()
if (process.send !== undefined && process.argv[2] === 'sockets') bareSockets()
if (process.send !== undefined && process.argv[2] === 'kontor') await kontor()
