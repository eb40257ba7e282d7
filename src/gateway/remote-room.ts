import type { Room } from '../http/bodies.ts'

/** So much is asked for at a time, so that a body is not a message for each of its pieces. */
const SLAB = 256 * 1024

interface Share {
  granted: number
  used: number
}
/** A gateway's share in what unfinished bodies may hold: the core, which counts for all gateways, grants it by address. */
export class RemoteRoom implements Room {
  private readonly shares = new Map<string, Share>()
  /** Asks for so many bytes; the answer is how many there are. */
  private readonly ask: (address: string, bytes: number) => Promise<number>
  private readonly release: (address: string, bytes: number) => void

  constructor(ask: RemoteRoom['ask'], release: RemoteRoom['release']) {
    this.ask = ask
    this.release = release
  }
  take(address: string, bytes: number): boolean | Promise<boolean> {
    const share = this.shares.get(address)
    if (share !== undefined && share.used + bytes <= share.granted) {
      share.used += bytes
      return true
    }
    return this.grow(address, bytes)
  }
  give(address: string, bytes: number): void {
    const share = this.shares.get(address)!
    share.used -= bytes
    this.trim(address, share)
  }
  private async grow(address: string, bytes: number): Promise<boolean> {
    const granted = await this.ask(address, Math.max(SLAB, bytes))
    let share = this.shares.get(address)
    if (share === undefined) this.shares.set(address, (share = { granted: 0, used: 0 }))
    share.granted += granted
    const fits = share.used + bytes <= share.granted
    if (fits) share.used += bytes
    this.trim(address, share)
    return fits
  }
  /** What nobody uses goes back. */
  private trim(address: string, share: Share): void {
    const spare = share.granted - share.used
    if (share.used > 0 && spare <= SLAB) return
    const back = share.used === 0 ? share.granted : spare - SLAB
    share.granted -= back
    if (share.granted === 0) this.shares.delete(address)
    if (back > 0) this.release(address, back)
  }
}
