import type { Channel } from './channel.ts'

/**
 * A pause between two frames of gateways that came in one turn of the event loop. Else the core would carry out what all of
 * them ask for before the first answer leaves: gateways would wait for the core, and then the core for them.
 */
export class Breath {
  private readonly breathe: () => boolean
  private readonly channels = new Set<Channel>()
  private asked = false

  /** `breathe`: true where something has become known that somebody waits for. */
  constructor(breathe: () => boolean) {
    this.breathe = breathe
  }
  /** Its answers leave in a pause. What comes back: they do no longer. */
  join(channel: Channel): () => void {
    this.channels.add(channel)
    return () => this.channels.delete(channel)
  }
  /** A frame is read. What it asks for is carried out in microtasks, which are through when this takes its turn. */
  read(): void {
    if (this.asked) return
    this.asked = true
    afterMicrotasks(this.pause)
  }
  private readonly pause = (): void => {
    this.asked = false
    if (this.breathe()) afterMicrotasks(this.send)
  }
  private readonly send = (): void => {
    for (const channel of this.channels) channel.flush()
  }
}
/** Those that they lead to are waited for too. */
const afterMicrotasks = (act: () => void): void => queueMicrotask(() => process.nextTick(act))
