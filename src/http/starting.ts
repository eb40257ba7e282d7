import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuseUpgrade, type Upgrade } from './upgrade.ts'
import { refuseRequest, usualHeaders } from './words.ts'

export type Serve = (request: IncomingMessage, response: ServerResponse) => void
/** Who answers at an address. */
export interface Serves {
  readonly serve: Serve
  readonly upgrade: Upgrade
}

/** Answers while the platform starts: it is alive, it is not ready, and says why without saying too much. */
export class Starting {
  private detail = 'it loads its state'
  private ready: Serves | undefined

  readonly serve: Serve = (request, response) => {
    if (this.ready === undefined) this.answer(request, response)
    else this.ready.serve(request, response)
  }
  readonly upgrade: Upgrade = (request, socket, head) => {
    if (this.ready === undefined)
      refuseUpgrade(request, socket, 503, 'TOO_BUSY', this.message, ['Retry-After', 1])
    else this.ready.upgrade(request, socket, head)
  }
  tell(detail: string): void {
    this.detail = detail
  }
  /** From here on somebody else answers. */
  handOver(serves: Serves): void {
    this.ready = serves
  }
  private get message(): string {
    return `the platform is starting: ${this.detail}`
  }
  private answer({ method, url = '/' }: IncomingMessage, response: ServerResponse): void {
    const [path] = url.split('?', 1)
    if (path === '/healthz' && (method === 'GET' || method === 'HEAD')) {
      const bytes = Buffer.from('{"status":"ok"}')
      const headers = ['Content-Type', 'application/json', 'Content-Length', bytes.length]
      response.writeHead(200, [...headers, ...usualHeaders(response.req)] as string[])
      response.end(bytes)
      return
    }
    // The body is not read: the connection ends with the reply.
    refuseRequest(response, 503, 'TOO_BUSY', this.message, ['Retry-After', 1, 'Connection', 'close'])
  }
}
