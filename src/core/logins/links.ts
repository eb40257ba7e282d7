import { DAY_SECONDS, secondsOf } from '../time.ts'
import { refuse } from '../../labels.ts'
import { audit } from '../audit.ts'
import type { Ctx } from '../state.ts'
import type { Actor } from '../tables/audit.ts'
import type { Link, LinkPurpose, Session, SubjectKind } from '../tables/logins.ts'
import { beginSession, endOthers, subjectOf, type NewSession } from './sessions.ts'

/** That are good at the same time. */
const LINKS_MAX = 1_000

export interface NewLink {
  readonly token_hash: string
  readonly purpose: LinkPurpose
  readonly user_id: number
  readonly operator: string
  readonly seconds: number
  readonly many: boolean
  /** Seconds of the real clock; null: the platform's is the real one. */
  readonly real: number | null
  readonly actor: Actor
  /** Half of the token, sealed for the operator who confirms. Nothing here reads it. */
  readonly second_half?: string
}
export function createLink(ctx: Ctx, input: NewLink): Link {
  const { state, tx, at } = ctx
  const { links } = state.logins
  const { token_hash, purpose, user_id, operator, many } = input
  const now = input.real ?? secondsOf(at)
  const over = [...links.values()].filter(({ expires_at }) => expires_at <= now)
  for (const old of over.map((link) => link.token_hash).sort()) tx.remove(links, old)
  if (links.size >= LINKS_MAX)
    refuse('INVALID_PARAM_VALUE', `${LINKS_MAX} links are good already; let some be used or end first`)
  if (purpose !== 'invitation') subjectOf(state, input)
  const expires_at = now + input.seconds
  const link: Link = { token_hash, purpose, user_id, operator, expires_at, many, made_by: input.actor ?? '' }
  tx.put(links, link)
  if (purpose === 'recovery') closeWithdrawals(ctx, user_id)
  audit(ctx, input.actor, 'link.create', { purpose, user_id, operator, expires_at })
  return link
}

/** For a day: whoever is there may not be the one who should. */
function closeWithdrawals({ state, tx, at }: Ctx, userId: number): void {
  const user = state.users.must(userId)
  const withdrawals_closed_until = secondsOf(at) + DAY_SECONDS
  tx.put(state.users.table, { ...user, settings: { ...user.settings, withdrawals_closed_until } })
}

/** Takes a link: one that is good once is gone with this. */
export function takeLink({ state, tx }: Ctx, tokenHash: string, real: number): Link {
  const link = state.logins.links.get(tokenHash)
  if (link === undefined || link.expires_at <= real)
    refuse(
      'INVALID_CREDENTIALS',
      'this link is not good, or was used, or is over; in a sandbox "kontor console-link" makes another one',
    )
  if (!link.many) tx.remove(state.logins.links, tokenHash)
  return link
}

export interface Entering extends NewSession {
  readonly link_hash: string
  /** Who is served where this comes from. */
  readonly kinds: readonly SubjectKind[]
}
/** Signs in by a link. One for whoever lost password or factor ends all that was before. */
export function enterByLink(ctx: Ctx, input: Entering): Session {
  const { state, tx } = ctx
  const link = takeLink(ctx, input.link_hash, input.real)
  if (link.purpose === 'invitation')
    refuse('INVALID_CREDENTIALS', 'this link is an invitation: sign up with it at /sign-in')
  const kind = link.user_id === 0 ? 'operator' : 'account'
  if (!input.kinds.includes(kind))
    refuse('FORBIDDEN', `this link is for the ${kind}s' address of the platform; open it there`)
  if (link.purpose === 'enter') return beginSession(ctx, link, input, 'link', false)
  const { subject } = subjectOf(state, link)
  closeWithdrawals(ctx, link.user_id)
  endOthers(ctx, subject, null)
  const login = state.logins.of(subject)
  tx.put(state.logins.logins, { ...login, factor_box: '', factor_on: false, recovery: [] })
  return beginSession(ctx, link, { ...input, ends: null }, 'recovery', false)
}
