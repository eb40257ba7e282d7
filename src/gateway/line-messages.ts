import type { MessagePort } from 'node:worker_threads'

/** What the main thread and the line's own say to each other, beside the channel of each gateway. */
export interface LinePlace {
  readonly host: string
  readonly port: number
  readonly certs: string
  readonly node: string
  readonly version: string
}
/** Who is the active core, as this one sees it. */
export interface View {
  readonly active: boolean
  /** As gateways reach it; undefined: nobody is. */
  readonly at: string | undefined
  /** Which term of office this is: of two that say that they are active the later one is. */
  readonly epoch?: number
}
export type ToLine = { readonly view: View } | { readonly close: true }
export type FromLine =
  | { readonly listening: number }
  | { readonly failed: string; readonly code: string | undefined }
  | { readonly gateway: Arrival }
  | { readonly level: 'info' | 'warn'; readonly message: string; readonly fields: Record<string, unknown> }
/** A gateway that has shown who it is. */
export interface Arrival {
  /** As its certificate calls it. */
  readonly name: string
  readonly address: string
  readonly version: string
  readonly port: MessagePort
}
