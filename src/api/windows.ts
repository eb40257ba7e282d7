import type { State } from '../core/state.ts'
import { addressBlock } from '../http/words.ts'
import type { AnyEndpoint } from './endpoint.ts'
import { tieredRequests } from './fill-ratio.ts'
import type { LimitRule } from './limits.ts'
import type { Passage } from './passage.ts'

/** What the names of the windows of people in browsers begin with: an open page must not cost a bot its limit. */
const CONSOLE = 'console '

/** What is counted together: several endpoints under one name, else each by itself. */
export const nameOf = ({ bucket }: LimitRule, { method, path }: AnyEndpoint): string =>
  bucket ?? `${method} ${path}`

export interface Window {
  readonly name: string
  readonly bucket: string
  /** So many pass in it. */
  readonly requests: number
}
/** Whose window of a rule it is. */
export function windowOf(passage: Passage, rule: LimitRule, own: string, state: State): Window {
  const { caller, session } = passage
  const name = session === undefined && passage.route!.console !== true ? own : `${CONSOLE}${own}`
  const who =
    rule.basis === 'ip' ? addressBlock(passage.ip) : String(caller?.user.user_id ?? session!.subject)
  const requests =
    rule.tiered === true && caller !== undefined
      ? tieredRequests(state, state.futures.activity, caller.user)
      : rule.requests
  return { name, bucket: `${name} ${who}`, requests }
}
