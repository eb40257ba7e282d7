import type { AnyEndpoint, Caller } from './endpoint.ts'
import type { Passage } from './passage.ts'

/** What a socket's handshake says of the person behind it. */
export interface SocketVisitor {
  readonly cookie: string | null
  readonly host: string | null
  readonly origin: string | null
  readonly site: string | null
  /** One of the accounts of the session; null: the main one. */
  readonly account: string | null
}
/** People who are signed in in a browser, one more kind of access. Everything here throws a refusal, or lets pass. */
export interface SessionDoor {
  /** A request below /console: where its page is from, whose session it carries, and what that may do. */
  look(passage: Passage, endpoint: AnyEndpoint): void
  /** A socket at /console/ws. */
  socket(visitor: SocketVisitor): { readonly session_id: number; readonly user_id: number }
  /** Who was let in earlier, as the session is now; `used`: by the person, not by us who look after it. */
  again(sessionId: number, userId: number, used: boolean): Caller
}
