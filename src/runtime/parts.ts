/** When a platform stops: its doors are shut, then all that was asked is answered, then all of it is written. */
const STAGES = ['shut', 'answered', 'written'] as const
export type Stage = (typeof STAGES)[number]

/** Something that works by itself. Its stop is safe after a start that failed half way. */
export interface Part {
  readonly name: string
  readonly start: () => void | Promise<void>
  readonly stop?: () => void | Promise<void>
  /** How long a platform that stops still needs it: until its doors are to be shut, all is answered, or all is written. */
  readonly until: Stage
  /** A reset stops it and starts it again; else it lives through. */
  readonly again?: true
  /** It writes: not started where nothing may be written. */
  readonly writes?: true
}

/** All parts in the order of their start: the one list that a start, a start that fails, a reset and a stop go by. */
export class Parts {
  private readonly list: readonly Part[]
  private readonly mayWrite: () => boolean
  private readonly running = new Set<Part>()

  constructor(list: readonly Part[], mayWrite: () => boolean) {
    this.list = list
    this.mayWrite = mayWrite
  }
  /** One that fails takes those with it that were started. */
  async start(): Promise<void> {
    try {
      await this.startEach(this.list)
    } catch (error) {
      await this.stop()
      throw error
    }
  }
  /** Those that the stage ends, and those of the stages before it: a reset may have started some again meanwhile. */
  async stop(stage: Stage = 'written'): Promise<void> {
    const reached = STAGES.indexOf(stage)
    for (const [index, each] of STAGES.entries())
      if (index <= reached) await this.stopEach(this.list.filter(({ until }) => until === each))
  }
  /** Stops those that a reset concerns; they start again with `resume`. */
  async pause(): Promise<void> {
    await this.stopEach(this.list.filter(({ again }) => again))
  }
  async resume(): Promise<void> {
    await this.startEach(this.list.filter(({ again }) => again))
  }

  private async startEach(parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      if (part.writes && !this.mayWrite()) continue
      // Before it starts: half a start has to be undone as well.
      this.running.add(part)
      await part.start()
    }
  }
  /** The last one first. Those that stop at once stop in one turn: nothing comes in between. */
  private async stopEach(parts: readonly Part[]): Promise<void> {
    for (const part of [...parts].reverse()) {
      if (!this.running.delete(part)) continue
      const stopped = part.stop?.()
      if (stopped !== undefined) await stopped
    }
  }
}
