import type { Ctx } from '../state.ts'
import { audit } from '../audit.ts'

/** What was sealed with the old key, sealed with the new one: by API key, by waiting proposal and member, by login. */
export interface Resealed {
  readonly keys: Readonly<Record<string, string>>
  readonly proposals: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Secrets of second factors. Left out: from before there were any. */
  readonly logins?: Readonly<Record<string, string>>
}
/**
 * Everything that the secret key has sealed changes at once. The batch that this falls into carries the sums of the new
 * key as well: the database belongs to the old key wholly, or wholly to the new one.
 */
export function rotateKey(ctx: Ctx, { keys, proposals, logins = {} }: Resealed): null {
  const { state, tx } = ctx
  for (const [key, secret_box] of Object.entries(keys)) {
    const row = state.keys.table.get(key)
    if (row !== undefined) tx.put(state.keys.table, { ...row, secret_box })
  }
  for (const [id, members] of Object.entries(proposals)) {
    const row = state.proposals.table.get(Number(id))
    if (row !== undefined) tx.put(state.proposals.table, { ...row, input: { ...row.input, ...members } })
  }
  for (const [subject, factor_box] of Object.entries(logins)) {
    const row = state.logins.logins.get(subject)
    if (row !== undefined) tx.put(state.logins.logins, { ...row, factor_box })
  }
  audit(ctx, 'machine', 'secret_key.rotate', { keys: Object.keys(keys).length })
  return null
}
/** Members of a proposal's input that are sealed. */
export const SEALED_MEMBERS = ['secret_box', 'second_half'] as const
