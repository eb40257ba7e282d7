import type { Warn } from './warn.ts'

/** How many connections there are, in all and of each address, and who is turned away. */
export class Crowd {
  private readonly byAddress = new Map<string, number>()
  private readonly connections: number
  private addressConnections: number
  private readonly warn: Warn
  private warnedAt = -Infinity
  size = 0
  refused = 0

  constructor(connections: number, addressConnections: number, warn: Warn) {
    this.connections = connections
    this.addressConnections = addressConnections
    this.warn = warn
  }
  /** False: there are too many. */
  enter(address: string): boolean {
    const others = this.byAddress.get(address) ?? 0
    if (this.size >= this.connections)
      this.turnedAway(`${this.connections} connections are open (KONTOR_CONNECTIONS)`)
    else if (others >= this.addressConnections)
      this.turnedAway(`${others} connections come from ${address} (KONTOR_ADDRESS_CONNECTIONS)`)
    else {
      this.byAddress.set(address, others + 1)
      this.size++
      return true
    }
    return false
  }
  unboundAddresses(): void {
    this.addressConnections = Infinity
  }
  leave(address: string): void {
    const left = (this.byAddress.get(address) ?? 0) - 1
    if (left < 0) return
    this.size--
    if (left === 0) this.byAddress.delete(address)
    else this.byAddress.set(address, left)
  }
  /** Told once in ten seconds: who floods the platform must not flood its log. */
  turnedAway(why: string): void {
    this.refused++
    const now = performance.now()
    if (now - this.warnedAt < 10_000) return
    this.warnedAt = now
    this.warn(`a connection was turned away: ${why}`, { refused: this.refused })
  }
}
