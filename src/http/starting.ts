import type { IncomingMessage, ServerResponse } from 'node:http'
import { microsNow, refuseRequest, usualHeaders } from './words.ts'

export type Serve = (request: IncomingMessage, response: ServerResponse) => void

/** Answers while the platform starts: it is alive, it is not ready, and says why without saying too much. */
export class Starting {
  private detail = 'it loads its state'
  private ready: Serve | undefined

  readonly serve: Serve = (request, response) => {
    if (this.ready === undefined) this.answer(request, response)
    else this.ready(request, response)
  }
  tell(detail: string): void {
    this.detail = detail
  }
  /** From here on somebody else answers. */
  handOver(serve: Serve): void {
    this.ready = serve
  }
  private answer({ method, url = '/' }: IncomingMessage, response: ServerResponse): void {
    const [path] = url.split('?', 1)
    if (path === '/healthz' && (method === 'GET' || method === 'HEAD')) {
      const bytes = Buffer.from('{"status":"ok"}')
      const headers = ['Content-Type', 'application/json', 'Content-Length', bytes.length]
      response.writeHead(200, [...headers, ...usualHeaders(microsNow())] as string[])
      response.end(bytes)
      return
    }
    // The body is not read: the connection ends with the reply.
    refuseRequest(response, 503, 'TOO_BUSY', `the platform is starting: ${this.detail}`, [
      'Retry-After',
      1,
      'Connection',
      'close',
    ])
  }
}
