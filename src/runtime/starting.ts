import type { IncomingMessage, ServerResponse } from 'node:http'
import { microsNow, refuseRequest, usualHeaders } from '../api/http.ts'
import type { Config } from '../config.ts'
import { connectionsByDescriptors } from './descriptors.ts'
import type { Log } from './log.ts'
import { HttpServer } from './server.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

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

export interface OpenDoor {
  readonly server: HttpServer
  readonly starting: Starting
  readonly url: string
}
/** From one address at least, however few there may be in all. */
const ADDRESS_CONNECTIONS = 300

/** Listens, and says that the platform is starting until somebody else answers. */
export async function openDoor({ host, port, sockets, trustProxy }: Config, log: Log): Promise<OpenDoor> {
  const starting = new Starting()
  const connections = sockets.connections ?? connectionsByDescriptors()
  const server = new HttpServer({
    serve: starting.serve,
    warn: (message, fields) => log.warn(message, fields),
    connections,
    // Behind a proxy all connections are the proxy's.
    addressConnections:
      trustProxy > 0
        ? connections
        : (sockets.addressConnections ?? Math.max(ADDRESS_CONNECTIONS, Math.ceil(connections / 4))),
    requestMs: sockets.requestSeconds * 1000,
  })
  const listening = await server.listen(host, port)
  return { server, starting, url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}` }
}
