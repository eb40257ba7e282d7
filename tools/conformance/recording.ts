import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { faultOf } from '../../test/fuzz/judge.ts'
import { endpointAt } from '../../test/support/shape.ts'

/** What passed through: which endpoint, how it was answered, and what of the answer is not as declared. */
export interface Passed {
  readonly endpoint: string
  readonly status: number
  readonly label: string
  readonly fault: string | undefined
}

/** Stands between a client and the platform, and holds every answer against the declarations. */
export class Recording {
  private readonly server: Server
  private readonly target: URL
  readonly passed: Passed[] = []
  url = ''
  private constructor(target: string) {
    this.target = new URL(target)
    this.server = createServer((request, response) => this.serve(request, response))
  }
  static async before(target: string): Promise<Recording> {
    const recording = new Recording(target)
    await new Promise<void>((resolve) => recording.server.listen(0, '127.0.0.1', resolve))
    recording.url = `http://127.0.0.1:${(recording.server.address() as AddressInfo).port}`
    return recording
  }
  /** What has passed since the last look. */
  take(): Passed[] {
    return this.passed.splice(0)
  }
  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }
  private serve(request: IncomingMessage, response: ServerResponse): void {
    const { hostname, port } = this.target
    const outgoing = httpRequest(
      { hostname, port, method: request.method, path: request.url, headers: request.headers },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () => {
          const body = Buffer.concat(chunks)
          this.note(request, incoming, body)
          response.writeHead(incoming.statusCode!, incoming.rawHeaders)
          response.end(body)
        })
      },
    )
    outgoing.on('error', () => response.destroy())
    request.pipe(outgoing)
  }
  private note(
    { method = 'GET', url = '' }: IncomingMessage,
    { statusCode: status = 0, headers }: IncomingMessage,
    body: Buffer,
  ): void {
    const [path] = url.split('?') as [string]
    const served = endpointAt(method, path)
    const fault = faultOf(method, path, {
      status,
      body,
      setCookies: [],
      headers: new Map(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    })
    let label = ''
    if (status >= 300) label = (JSON.parse(body.toString()) as { label: string }).label
    this.passed.push({ endpoint: served?.name ?? `${method} ${path}`, status, label, fault })
  }
}
