const SLOT_MS = 50
const SLOTS = 20

/** Counts what comes in any second, a twentieth of it coarse: who stays within the limit is never found over it. */
export class FrameRate {
  private readonly slots = new Uint16Array(SLOTS)
  private slot = 0
  private sum = 0

  /** How many came in the last second, this one included. */
  count(now: number): number {
    const slot = Math.floor(now / SLOT_MS)
    for (let passed = Math.max(this.slot + 1, slot - SLOTS + 1); passed <= slot; passed++) {
      this.sum -= this.slots[passed % SLOTS]!
      this.slots[passed % SLOTS] = 0
    }
    if (slot - this.slot >= SLOTS) this.sum = 0
    this.slot = slot
    this.slots[slot % SLOTS]!++
    return ++this.sum
  }
}
