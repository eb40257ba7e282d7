export const EFFECTS = ['error', 'delay', 'drop_reply', 'duplicate', 'disconnect', 'gap', 'pass'] as const
/** What a delay is also called: the member that says how long. */
export const DELAY_TOO = 'delay_ms'
export type Effect = (typeof EFFECTS)[number]
/** What can happen on sockets alone. */
export const SOCKET_EFFECTS: readonly Effect[] = ['disconnect', 'gap']
/** What can happen to a call over a socket, to a frame that is pushed, and to one that is a delta of a book. */
export const CALL_EFFECTS: readonly Effect[] = [
  'error',
  'delay',
  'drop_reply',
  'duplicate',
  'disconnect',
  'pass',
]
export const PUSH_EFFECTS: readonly Effect[] = ['delay', 'duplicate', 'disconnect', 'pass']
export const DELTA_EFFECTS: readonly Effect[] = [...PUSH_EFFECTS, 'gap']
export interface FaultStep {
  /** `pass` lets a request through: of use in a sequence. */
  readonly effect: Effect
  /** With error: what is answered instead of the request being carried out. */
  readonly status?: number
  readonly label?: string
  /** With any effect: wait first. */
  readonly delay_ms?: number
}
/** As it is asked for; without an effect it is a delay. */
export interface NamedStep extends Omit<FaultStep, 'effect'> {
  readonly effect: Effect | typeof DELAY_TOO
}
