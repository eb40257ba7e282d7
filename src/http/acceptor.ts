import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { Crowd } from './crowd.ts'
import { listenError, type HttpServer } from './server.ts'
import type { Warn } from './warn.ts'
import { addressBlock } from './words.ts'

/** Takes over a connection that nobody has read from yet; false: there is nobody to take it. */
export type Give = (socket: Socket, address: string) => boolean

/**
 * Accepts connections, counts them, and gives them to somebody else, who tells when they end. While there is nobody,
 * the server of this process takes them.
 */
export class Acceptor {
  private readonly listener: Server
  private readonly crowd: Crowd
  give: Give | undefined

  constructor(server: HttpServer, connections: number, addressConnections: number, warn: Warn) {
    this.crowd = new Crowd(connections, addressConnections, warn)
    this.listener = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true }, (socket) => {
      const address = addressBlock(socket.remoteAddress ?? '')
      if (!this.crowd.enter(address)) socket.destroy()
      else if (this.give?.(socket, address) !== true) {
        socket.on('close', () => this.crowd.leave(address))
        server.adopt(socket, address)
      }
    })
  }
  get connections(): number {
    return this.crowd.size
  }
  get refused(): number {
    return this.crowd.refused
  }
  /** A connection ended that was given away. */
  left(address: string): void {
    this.crowd.leave(address)
  }
  listen(host: string, port: number, setting: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port, setting))
      this.listener.once('error', failed)
      this.listener.listen(port, host, () => {
        this.listener.off('error', failed)
        // No descriptor left for the next connection, for example: whoever is connected goes on.
        this.listener.on('error', (error) => this.crowd.turnedAway(error.message))
        resolve((this.listener.address() as AddressInfo).port)
      })
    })
  }
  /** No more of them; those that were given away are somebody else's. */
  close(): void {
    this.listener.close()
  }
}
