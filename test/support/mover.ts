import { UNKNOWN_FATE } from '../../src/labels.ts'
import type { Credential } from './client.ts'
import { Line } from './line.ts'

const TRANSFERS = '/api/v4/wallet/transfers'
const MOVE = { currency: 'USDT', from: 'spot', to: 'futures', amount: '1', settle: 'usdt' }

/** Moves one coin after the other, whatever it is answered, until it is told to end. */
export class Mover {
  moved = 0
  /** Answered with the words of an unknown fate. */
  unknown = 0
  /** The connection itself was lost. */
  lost = 0
  readonly others: string[] = []
  slowest = 0
  private over = false
  readonly done: Promise<void>
  private line: Line
  constructor(url: string, credential: Credential) {
    this.line = new Line(url, credential)
    this.done = this.run(url, credential)
  }
  private async run(url: string, credential: Credential): Promise<void> {
    while (!this.over) {
      const begun = performance.now()
      try {
        const { status, body } = await this.line.call('POST', TRANSFERS, MOVE)
        if (status === 200) this.moved++
        else if (status === 503 && body.message === UNKNOWN_FATE) this.unknown++
        else this.others.push(`${status} ${JSON.stringify(body)}`)
        this.slowest = Math.max(this.slowest, performance.now() - begun)
      } catch {
        this.lost++
        this.line.close()
        this.line = new Line(url, credential)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    this.line.close()
  }
  async stop(): Promise<void> {
    this.over = true
    await this.done
  }
}
export const sum = (movers: readonly Mover[], name: 'moved' | 'unknown' | 'lost'): number =>
  movers.reduce((total, mover) => total + mover[name], 0)
