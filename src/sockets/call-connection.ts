import type { Session } from './credentials.ts'
import type { CallAnswer, CallLimits } from './line.ts'
import type { Product } from './products.ts'

/** What a call needs of the connection that it came on. */
export interface CallConnection {
  readonly conn_id: string
  readonly conn_trace_id: string
  /** Both, as members of every answer. */
  readonly ids: string
  readonly client_id: string
  readonly ip: string
  readonly product: Product
  /** The settle currency of the address, of contracts; else empty. */
  readonly settle: string
  /** What the handshake said of the program that orders. */
  readonly channelId: string | null
  /** What it said of numbers of contracts: that they are written as texts. */
  readonly sizeTexts: boolean
  /** Who is logged in; a login sets it. */
  session: Session | undefined
  send(text: string): void
  /** Of a call that the door keeps, which makes the frame. */
  acknowledge(n: number, now: number, limits: CallLimits): void
  answer(answer: CallAnswer): void
  /** Ends it without a close handshake: a fault that was asked for. */
  cut(): void
}
/** A frame with the event `api`. */
export interface ApiFrame {
  readonly channel: string
  readonly time: unknown
  readonly payload: unknown
  /** As it came; empty of one that the door keeps. */
  readonly text: string
  /** Microseconds of the real time at which it arrived. */
  readonly at: number
  /** Its number at the door that keeps it, and the source text of its req_param; left out: the desk read it itself. */
  readonly n?: number
  readonly param?: string | undefined
}
