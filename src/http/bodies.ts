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
const tooLong = (): Refusal =>
  new Refusal('INVALID_REQUEST_BODY', `the body is over ${BODY_MAX} bytes; send less at a time`)

/** Does a body follow? */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0'
}

/** Reads bodies. What unfinished ones hold in memory is bounded, together and for each address. */
export class Bodies {
  private total = 0
  private readonly byAddress = new Map<string, number>()
  private readonly changed: () => void

  /** `changed` is told whenever `waiting` is another. */
  constructor(changed: () => void = () => undefined) {
    this.changed = changed
  }

  get waiting(): number {
    return this.total
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
        if (held > 0) this.hold(address, -held)
        held = 0
      }
      const refuse = (refusal: Refusal): void => {
        over = true
        chunks.length = 0
        settle()
        reject(refusal)
      }
      request.on('data', (chunk: Buffer) => {
        if (over) return
        size += chunk.length
        if (size > BODY_MAX) {
          refuse(tooLong())
          return
        }
        if (size > FREE) {
          const more = Math.min(chunk.length, size - FREE)
          if (!this.fits(address, more)) {
            refuse(
              new Refusal('TOO_BUSY', 'too many request bodies are being read; send it again in a second'),
            )
            return
          }
          this.hold(address, more)
          held += more
        }
        chunks.push(chunk)
      })
      request.on('end', () => {
        settle()
        if (!over)
          resolve(chunks.length === 1 ? chunks[0] : size === 0 ? undefined : Buffer.concat(chunks, size))
      })
      request.on('error', (error) => {
        settle()
        reject(new BrokenOff('the client broke off its request', { cause: error }))
      })
    })
  }
  private fits(address: string, more: number): boolean {
    return this.total + more <= TOTAL_MAX && (this.byAddress.get(address) ?? 0) + more <= ADDRESS_MAX
  }
  private hold(address: string, bytes: number): void {
    this.total += bytes
    this.changed()
    const left = (this.byAddress.get(address) ?? 0) + bytes
    if (left === 0) this.byAddress.delete(address)
    else this.byAddress.set(address, left)
  }
}
