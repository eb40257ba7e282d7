import type { FramePlan } from '../api/faults.ts'

/**
 * Frames on which a fault that somebody asked for acts: swallowed, doubled or late. What comes behind a late one waits
 * for it, so that the order stays.
 */
export class HeldBack {
  private waiting: Promise<void> | undefined

  /** `cut`: the connection ends here. */
  send(plan: FramePlan | undefined, send: () => void, cut: () => void): void {
    if (plan === undefined && this.waiting === undefined) {
      send()
      return
    }
    const act = (): void => {
      if (plan?.disconnect === true) cut()
      else if (plan?.gap !== true) send()
      if (plan?.duplicate === true) send()
    }
    if ((plan === undefined || plan.delayMs === 0) && this.waiting === undefined) {
      act()
      return
    }
    const late = (this.waiting ?? Promise.resolve())
      .then(() => new Promise<void>((resolve) => setTimeout(resolve, plan?.delayMs ?? 0)))
      .then(() => {
        act()
        if (this.waiting === late) this.waiting = undefined
      })
    this.waiting = late
  }
}
