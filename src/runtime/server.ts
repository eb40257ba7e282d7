import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ConfigError } from '../config.ts'
import { traceId } from '../api/http.ts'

/** The HTTP server itself: what its parser refuses is answered in JSON too, and it stops without losing replies. */
export class HttpServer {
  private readonly server: Server
  private readonly underWay = new Set<ServerResponse>()
  private closing = false
  constructor(serve: (request: IncomingMessage, response: ServerResponse) => void) {
    this.server = createServer(
      { keepAliveTimeout: 65_000, headersTimeout: 30_000, requestTimeout: 60_000 },
      (request, response) => {
        if (this.closing) response.shouldKeepAlive = false
        this.underWay.add(response)
        response.on('close', () => this.underWay.delete(response))
        serve(request, response)
      },
    )
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy()
        return
      }
      const message =
        error.code === 'HPE_HEADER_OVERFLOW'
          ? 'the headers are over 16 KiB; send fewer or shorter ones'
          : `this is not a well-formed HTTP request: ${error.message}`
      const body = JSON.stringify({ label: 'BAD_REQUEST', message })
      const now = Date.now() * 1000
      socket.end(
        `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
          `X-In-Time: ${now}\r\nX-Out-Time: ${now}\r\nX-Svc-Trace-ID: ${traceId()}\r\nConnection: close\r\n\r\n${body}`,
      )
    })
  }
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE')
          reject(
            new ConfigError(
              `KONTOR_PORT ${port} is in use on ${host}; stop the other process or choose another port`,
            ),
          )
        else if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
          reject(new ConfigError(`KONTOR_HOST ${host} is not an address of this machine`))
        else if (error.code === 'EACCES')
          reject(new ConfigError(`KONTOR_PORT ${port} may not be used by this user`))
        else reject(error)
      })
      this.server.listen(port, host, () => resolve((this.server.address() as AddressInfo).port))
    })
  }
  /**
   * Takes no new connections, lets the requests under way finish, then closes. Their replies say that the
   * connection ends with them, so that no client sends another request into a closing one.
   */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.closing = true
      for (const response of this.underWay) response.shouldKeepAlive = false
      this.server.close(() => resolve())
      this.server.closeIdleConnections()
      const impatient = setTimeout(() => this.server.closeAllConnections(), IMPATIENT_MS)
      impatient.unref()
    })
  }
}
/** Longer than any request takes by itself; only a fault that was asked for is slower. */
const IMPATIENT_MS = 10_000
