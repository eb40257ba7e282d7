/** What the metrics tell of sockets, counted where it happens. */
export class SocketFigures {
  private readonly frames = new Map<string, number>()
  private readonly codes = new Map<number, number>()

  received(channel: string): void {
    this.add(channel, 'in', 1)
  }
  sent(channel: string, frames: number): void {
    this.add(channel, 'out', frames)
  }
  closed(code: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
  }
  private add(channel: string, direction: string, frames: number): void {
    const name = `channel="${channel}",direction="${direction}"`
    this.frames.set(name, (this.frames.get(name) ?? 0) + frames)
  }
  /** By label texts. */
  get byFrames(): ReadonlyMap<string, number> {
    return this.frames
  }
  get byCode(): ReadonlyMap<number, number> {
    return this.codes
  }
}
