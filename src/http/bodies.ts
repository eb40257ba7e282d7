import type { IncomingMessage, ServerResponse } from 'node:http'
import { Refusal } from '../labels.ts'

export const BODY_MAX = 1024 * 1024
/** So much of a body costs nothing; what is over it counts towards the bounds below. */
const FREE = 4 * 1024
/** Of all bodies that are being read. */
const TOTAL_MAX = 64 * 1024 * 1024
/** Of those from one address, so that nobody can use up what all share. */
const ADDRESS_MAX = 8 * 1024 * 1024

/** The client went away before its request was complete: nobody is left to be answered, and nothing is wrong here. */
export class BrokenOff extends Error {}

const NO_BODY = Promise.resolve(undefined)
export const tooLong = (): Refusal =>
  new Refusal('INVALID_REQUEST_BODY', `the body is over ${BODY_MAX} bytes; send less at a time`)

const tooBusy = (): Refusal =>
  new Refusal('TOO_BUSY', 'too many request bodies are being read; send it again in a second')

/** Does a body follow? */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0'
}

/** How many bytes unfinished bodies may hold; who is asked may have to ask somebody else. */
export interface Room {
  take(address: string, bytes: number): boolean | Promise<boolean>
  give(address: string, bytes: number): void
}
/** The bounds themselves, together and for each address. */
export class BodyRoom implements Room {
  private readonly byAddress = new Map<string, number>()
  total = 0

  take(address: string, bytes: number): boolean {
    if (bytes > this.left(address)) return false
    this.add(address, bytes)
    return true
  }
  /** As much of it as fits. */
  takeSome(address: string, bytes: number): number {
    const some = Math.max(0, Math.min(bytes, this.left(address)))
    this.add(address, some)
    return some
  }
  give(address: string, bytes: number): void {
    this.add(address, -bytes)
  }
  private left(address: string): number {
    return Math.min(TOTAL_MAX - this.total, ADDRESS_MAX - (this.byAddress.get(address) ?? 0))
  }
  private add(address: string, bytes: number): void {
    this.total += bytes
    const held = (this.byAddress.get(address) ?? 0) + bytes
    if (held === 0) this.byAddress.delete(address)
    else this.byAddress.set(address, held)
  }
}

/** Reads bodies. What unfinished ones hold in memory is bounded. */
export class Bodies {
  private readonly room: Room
  constructor(room: Room) {
    this.room = room
  }
  /** Undefined when there is none. Over a limit: refused as soon as that is known. */
  read(request: IncomingMessage, response: ServerResponse, address: string): Promise<Buffer | undefined> {
    if (!hasBody(request)) return NO_BODY
    if (Number(request.headers['content-length']) > BODY_MAX) return Promise.reject(tooLong())
    // Who asks first whether to send it is told to, now that somebody wants it.
    if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      let held = 0
      let over = false
      const settle = (): void => {
        over = true
        if (held > 0) this.room.give(address, held)
        held = 0
      }
      const refuse = (refusal: Refusal): void => {
        chunks.length = 0
        settle()
        reject(refusal)
      }
      const took = (got: boolean, more: number): void => {
        if (!got) {
          if (!over) refuse(tooBusy())
        } else if (over) this.room.give(address, more)
        else held += more
      }
      request.on('data', (chunk: Buffer) => {
        if (over) return
        size += chunk.length
        if (size > BODY_MAX) {
          refuse(tooLong())
          return
        }
        chunks.push(chunk)
        if (size <= FREE) return
        const more = Math.min(chunk.length, size - FREE)
        const got = this.room.take(address, more)
        if (typeof got === 'boolean') took(got, more)
        else {
          request.pause()
          void got.then((got) => {
            took(got, more)
            request.resume()
          })
        }
      })
      request.on('end', () => {
        if (!over)
          resolve(chunks.length === 1 ? chunks[0] : size === 0 ? undefined : Buffer.concat(chunks, size))
        settle()
      })
      request.on('error', (error) => {
        settle()
        reject(new BrokenOff('the client broke off its request', { cause: error }))
      })
    })
  }
}
