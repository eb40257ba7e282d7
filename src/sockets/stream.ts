import type { Pace } from './line.ts'

/** What a stream needs of whoever runs it. */
export interface Outlet {
  /** To everybody who has joined; `kept`: to one who is slow as well, whatever the pace. */
  publish(text: string, kept?: boolean): void
}
/** Something that goes on, and that sockets can join: one for each thing there is, however many listen. */
export interface Stream {
  readonly pace: Pace
  /** What a newcomer gets right after the answer, and what one who fell behind goes on from; undefined: nothing yet. */
  first(): string | undefined
  close(): void
}
/** Begins one; it is ready when the promise resolves, and not before its first push is known. */
export type Begin = (outlet: Outlet) => Promise<Stream>
