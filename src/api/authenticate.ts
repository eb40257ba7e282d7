import { grant } from '../core/users/keys.ts'
import type { State } from '../core/state.ts'
import { refuse, Refusal } from '../labels.ts'
import type { SecretBox } from '../runtime/secrets.ts'
import type { Access, Caller, Method } from './endpoint.ts'
import { bodyDigest, signatureString, verifySignature, type SignedParts } from './signature.ts'

export interface SignedRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: Buffer | undefined
  readonly key: string | undefined
  readonly timestamp: string | undefined
  readonly sign: string | undefined
  readonly ip: string
}
/** An authentication that failed, which counts against the caller's address. */
export class AuthenticationFailure extends Refusal {
  readonly detail: Readonly<Record<string, unknown>> | undefined
  constructor(
    label: ConstructorParameters<typeof Refusal>[0],
    message: string,
    detail?: Record<string, unknown>,
  ) {
    super(label, message)
    this.detail = detail
  }
}

const WINDOW_SECONDS = 60

/** Finds out who sent a request: clock, then key, then signature. What the account may do comes after. */
export class Authenticator {
  private readonly state: State
  private readonly secrets: SecretBox
  private readonly explains: boolean
  /** Opened secrets by key; the box is part of it, so that a changed row is opened anew. */
  private readonly opened = new Map<string, { box: string; secret: string | undefined }>()

  /** `explains`: a wrong signature is answered with what the server would have signed (sandbox only). */
  constructor(state: State, secrets: SecretBox, explains: boolean) {
    this.state = state
    this.secrets = secrets
    this.explains = explains
  }

  /** `now` in seconds. */
  identify(request: SignedRequest, now: number): Caller {
    const { key: keyName, timestamp, sign } = request
    if (!timestamp) throw missing('Timestamp')
    if (!keyName) throw missing('KEY')
    if (!sign) throw missing('SIGN')
    checkTimestamp(timestamp, now)
    const key = this.state.keys.get(keyName)
    if (key === undefined)
      throw new AuthenticationFailure(
        'INVALID_KEY',
        'Invalid key provided: this platform has no such API key',
      )
    const secret = this.secretOf(key.key, key.secret_box)
    if (key.state !== 1 || secret === undefined)
      throw new AuthenticationFailure(
        'INVALID_CREDENTIALS',
        key.state !== 1
          ? 'this API key is disabled; enable it or use another'
          : 'this API key belongs to another environment: its secret was encrypted with another KONTOR_SECRET_KEY',
      )
    const parts: SignedParts = {
      method: request.method,
      path: request.path,
      query: request.query,
      bodyDigest: bodyDigest(request.body),
      timestamp,
    }
    if (!verifySignature(secret, parts, sign)) throw this.mismatch(parts)
    return { user: this.state.users.must(key.user_id), key }
  }

  private secretOf(key: string, box: string): string | undefined {
    const known = this.opened.get(key)
    if (known?.box === box) return known.secret
    const secret = this.secrets.open(box)
    this.opened.set(key, { box, secret })
    return secret
  }

  private mismatch(parts: SignedParts): AuthenticationFailure {
    if (!this.explains) return new AuthenticationFailure('INVALID_SIGNATURE', 'Signature mismatch')
    const message =
      'Signature mismatch: SIGN is not the lowercase hex HMAC-SHA512, keyed with the secret, of the text in signature_string ' +
      '(method, path, query, SHA-512 of the body, Timestamp, joined by newlines); compare it with yours'
    return new AuthenticationFailure('INVALID_SIGNATURE', message, {
      signature_string: signatureString(parts),
      signature_parts: {
        method: parts.method,
        path: parts.path,
        query: parts.query,
        body_sha512: parts.bodyDigest,
        timestamp: parts.timestamp,
      },
    })
  }
}

const missing = (name: string): AuthenticationFailure =>
  new AuthenticationFailure(
    'MISSING_REQUIRED_HEADER',
    `Missing required header: ${name}; a signed request carries KEY, Timestamp and SIGN`,
  )

function checkTimestamp(text: string, now: number): void {
  if (!/^\d{1,16}(\.\d{1,12})?$/.test(text))
    throw new AuthenticationFailure(
      'REQUEST_EXPIRED',
      `Timestamp: "${text.slice(0, 40)}" is not a Unix time in seconds; the server's clock is at ${now.toFixed(3)}`,
    )
  const gap = Number(text) - now
  if (Math.abs(gap) > WINDOW_SECONDS)
    throw new AuthenticationFailure(
      'REQUEST_EXPIRED',
      `Timestamp ${text} is ${Math.abs(gap).toFixed(1)} s ${gap < 0 ? 'behind' : 'ahead of'} the server's clock, ` +
        `which is at ${now.toFixed(3)}; send Unix seconds within ${WINDOW_SECONDS} s of it`,
    )
}

/** The account's state, then the IP list, then the permission. */
export function authorize(
  caller: Caller,
  access: Access & { kind: 'key' },
  method: Method,
  ip: string,
  state: State,
): void {
  const { user, key } = caller
  const parent = user.parent_id === 0 ? undefined : state.users.get(user.parent_id)
  if (user.state !== 1 || parent?.state === 2)
    refuse(
      'ACCOUNT_LOCKED',
      user.state !== 1
        ? `account ${user.user_id} is locked; its main account or the operator can unlock it`
        : `main account ${parent!.user_id} is frozen; ask the operator`,
    )
  if (key.ip_whitelist.length > 0 && !key.ip_whitelist.includes(ip))
    refuse(
      'IP_FORBIDDEN',
      `requests from ${ip} are not allowed with this key; add the address to its IP list`,
    )
  if (access.permission === 'withdrawal' && user.parent_id !== 0)
    refuse(
      'FORBIDDEN',
      "the withdrawal permission is needed, which a sub-account can't have; use a key of the main account",
    )
  const granted = grant(key.perms, access.permission)
  if (granted === 'none')
    refuse(
      'FORBIDDEN',
      `this key lacks the permission "${access.permission}"; add it to the key or use another`,
    )
  if (granted === 'read' && method !== 'GET')
    refuse('READ_ONLY', `this key's permission "${access.permission}" is read-only, and ${method} writes`)
  if (access.main && user.parent_id !== 0)
    refuse('FORBIDDEN', `user ${user.user_id} is a sub-account; this call needs a key of the main account`)
}
