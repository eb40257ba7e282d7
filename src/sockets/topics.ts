import type { FramePlan } from '../api/faults.ts'
import { HeldBack } from './held-back.ts'
import type { ToDoor } from './line.ts'
import type { Begin, Outlet, Stream } from './stream.ts'

/** A socket, as topics know it. */
export interface Member {
  readonly door: ToDoor
  readonly socket: number
  send(channel: string, text: string): void
}

/** One stream and everybody who has joined it. */
export class Topic implements Outlet {
  readonly id: number
  readonly name: string
  readonly channel: string
  readonly members = new Set<Member>()
  private readonly doors = new Map<ToDoor, number>()
  private readonly parts: TopicParts
  private readonly heldBack = new HeldBack()
  stream: Stream | undefined
  /** How many frames it has told. */
  published = 0

  constructor(id: number, name: string, channel: string, parts: TopicParts) {
    this.id = id
    this.name = name
    this.channel = channel
    this.parts = parts
  }
  publish(text: string, kept = false): void {
    if (this.doors.size === 0) return
    const send = (): void => {
      this.published++
      this.parts.count(this.channel, this.members.size)
      for (const door of this.doors.keys()) door.publish(this.id, text, kept)
    }
    this.heldBack.send(this.parts.fault(this), send, () => {
      for (const { door, socket } of this.members) door.cut(socket)
    })
  }
  /** The first push, and from here on what is published. Again: the first push again. */
  join(member: Member): void {
    const first = this.stream!.first()
    if (first !== undefined) member.send(this.channel, first)
    if (this.members.has(member)) return
    this.members.add(member)
    this.doors.set(member.door, (this.doors.get(member.door) ?? 0) + 1)
    member.door.join(member.socket, this.id, this.stream!.pace)
  }
  leave(member: Member): void {
    if (!this.members.delete(member)) return
    const left = this.doors.get(member.door)! - 1
    if (left === 0) this.doors.delete(member.door)
    else this.doors.set(member.door, left)
    member.door.leave(member.socket, this.id)
  }
}
export interface TopicParts {
  /** So many frames of a channel went out. */
  readonly count: (channel: string, frames: number) => void
  /** A stream has ended. */
  readonly ended: () => void
  /** What a fault does to the next frame. */
  readonly fault: (topic: Topic) => FramePlan | undefined
}

/** All streams that somebody listens to: begun for the first, closed after the last. */
export class Topics {
  private readonly parts: TopicParts
  private readonly byName = new Map<string, { readonly topic: Topic; readonly ready: Promise<Topic> }>()
  private readonly byId = new Map<number, Topic>()
  /** Subscriptions that wait for a stream to begin. */
  private readonly pending = new Map<Topic, number>()
  private readonly lingering = new Map<Topic, NodeJS.Timeout>()
  private last = 0

  constructor(parts: TopicParts) {
    this.parts = parts
  }
  get size(): number {
    return this.byName.size
  }
  get(id: number): Topic | undefined {
    return this.byId.get(id)
  }
  find(name: string): Topic | undefined {
    return this.byName.get(name)?.topic
  }
  /** Who has opened a topic joins it, or lets it go with `settled`. */
  open(name: string, channel: string, begin: Begin): Promise<Topic> {
    let known = this.byName.get(name)
    if (known === undefined) {
      const topic = new Topic(++this.last, name, channel, this.parts)
      const ready = begin(topic).then((stream) => {
        topic.stream = stream
        return topic
      })
      known = { topic, ready }
      this.byName.set(name, known)
      this.byId.set(topic.id, topic)
    }
    this.pending.set(known.topic, (this.pending.get(known.topic) ?? 0) + 1)
    const { topic } = known
    return known.ready.catch((error: unknown) => {
      // What could not begin is begun anew by the next.
      this.pending.delete(topic)
      this.drop(topic)
      throw error
    })
  }
  /** Everything was replaced: whoever comes now begins anew. */
  clear(): void {
    for (const timer of this.lingering.values()) clearTimeout(timer)
    this.lingering.clear()
    for (const { topic } of this.byName.values()) topic.stream?.close()
    this.byName.clear()
    this.byId.clear()
  }
  /**
   * After join or leave: nobody listens and nobody is about to. It goes on for a while, so that coming and going costs
   * no more than staying.
   */
  settled(topic: Topic, opened = true): void {
    const waiting = (this.pending.get(topic) ?? 0) - (opened ? 1 : 0)
    if (waiting > 0) this.pending.set(topic, waiting)
    else this.pending.delete(topic)
    if (waiting > 0 || topic.members.size > 0 || this.lingering.has(topic)) return
    const timer = setTimeout(() => {
      this.lingering.delete(topic)
      if (topic.members.size === 0 && !this.pending.has(topic)) this.drop(topic)
    }, LINGER_MS).unref()
    this.lingering.set(topic, timer)
  }
  private drop(topic: Topic): void {
    if (this.byName.get(topic.name)?.topic === topic) this.byName.delete(topic.name)
    this.byId.delete(topic.id)
    topic.stream?.close()
    this.parts.ended()
  }
}
export const LINGER_MS = 10_000
