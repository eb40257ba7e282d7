import { GroupIndex, Table, UniqueIndex, type TableSpec } from '../../machine/table.ts'
import type { Operator } from './operators.ts'

/** Whom a person is signed in as: a main account, or an operator. One of each may be in a browser. */
export const SUBJECT_KINDS = ['account', 'operator'] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]
/** How a session came to be: by password, or by a link that somebody was given. */
export type Via = 'password' | 'link' | 'recovery' | 'sign_up'

/** Names of subjects. An operator's id tells it from an earlier one of the same name. */
export const accountSubject = (userId: number): string => `account:${userId}`
export const operatorSubject = ({ id, name }: Pick<Operator, 'id' | 'name'>): string =>
  `operator:${id}:${name}`

/** Times of logins are seconds of the real clock: a moved sandbox clock signs nobody out. */
export interface Session {
  readonly id: number
  readonly subject: string
  /** 0: an operator's. */
  readonly user_id: number
  /** '': an account's. */
  readonly operator: string
  /** SHA-256 of what the cookie holds. */
  readonly token_hash: string
  /** Of an operator: the hash of the token at that time. Whoever draws another one ends what came of the old. */
  readonly proof: string
  readonly created_at: number
  readonly last_seen: number
  readonly ip: string
  /** The browser, as it calls itself. */
  readonly agent: string
  /** Until when what is dear may be done. */
  readonly elevated_until: number
  readonly via: Via
}
export const SESSION: TableSpec<Session> = {
  name: 'console_session',
  key: ['id'],
  columns: {
    id: 'int',
    subject: 'text',
    user_id: 'int',
    operator: 'text',
    token_hash: 'text',
    proof: 'text',
    created_at: 'int',
    last_seen: 'int',
    ip: 'text',
    agent: 'text',
    elevated_until: 'int',
    via: 'text',
  },
}

/** What a subject proves itself with. An account's password is in its own row. */
export interface Login {
  readonly subject: string
  /** Of an operator; '': none. */
  readonly password_hash: string
  /** The secret of the second factor, sealed; '': none. */
  readonly factor_box: string
  /** It was confirmed by a code; before that it asks for nothing. */
  readonly factor_on: boolean
  /** SHA-256 of each recovery code that was not used yet. */
  readonly recovery: readonly string[]
  /** The step of the last code that passed: none passes twice. */
  readonly last_step: number
}
export const LOGIN: TableSpec<Login> = {
  name: 'login',
  key: ['subject'],
  columns: {
    subject: 'text',
    password_hash: 'text',
    factor_box: 'text',
    factor_on: 'bool',
    recovery: 'json',
    last_step: 'int',
  },
}

/** enter signs in; recovery signs in and takes the second factor away; invitation lets somebody sign up. */
export type LinkPurpose = 'enter' | 'recovery' | 'invitation'
export interface Link {
  /** SHA-256 of the token. */
  readonly token_hash: string
  readonly purpose: LinkPurpose
  readonly user_id: number
  readonly operator: string
  readonly expires_at: number
  /** Good until it ends: the links of a sandbox's start, whose readers reload pages. */
  readonly many: boolean
  readonly made_by: string
}
export const LINK: TableSpec<Link> = {
  name: 'one_time_link',
  key: ['token_hash'],
  columns: {
    token_hash: 'text',
    purpose: 'text',
    user_id: 'int',
    operator: 'text',
    expires_at: 'int',
    many: 'bool',
    made_by: 'text',
  },
}

export class Logins {
  readonly sessions = new Table(SESSION)
  readonly logins = new Table(LOGIN)
  readonly links = new Table(LINK)
  readonly byToken = new UniqueIndex(this.sessions, (session) => session.token_hash)
  private readonly bySubject = new GroupIndex(this.sessions, (session) => session.subject)
  /** Oldest first. */
  sessionsOf(subject: string): Session[] {
    return [...this.bySubject.get(subject)].sort((a, b) => a.id - b.id)
  }
  of(subject: string): Login {
    return this.logins.get(subject) ?? { ...NO_LOGIN, subject }
  }
  get tables(): readonly unknown[] {
    return [this.sessions, this.logins, this.links]
  }
}
const NO_LOGIN: Omit<Login, 'subject'> = {
  password_hash: '',
  factor_box: '',
  factor_on: false,
  recovery: [],
  last_step: 0,
}
