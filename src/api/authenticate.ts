import { grant, type ApiKey } from '../core/tables/keys.ts'
import type { State } from '../core/state.ts'
import { refuse, Refusal } from '../labels.ts'
import type { Clock } from '../runtime/clock.ts'
import type { SecretBox } from '../runtime/secrets.ts'
import type { Caller, KeyAccess, Method } from './endpoint.ts'
import { mistakeOf } from './signature-hints.ts'
import { bodyDigest, signatureString, verifySignature, verifyText, type SignedParts } from './signature.ts'

/** What the headers of a signed request say. */
export interface Claim {
  readonly key: string | undefined
  readonly timestamp: string | undefined
  readonly sign: string | undefined
}
/** What a socket's request says of its signer: one signature, over one of these texts. */
export interface SocketClaim {
  readonly key: string
  readonly sign: string
  /** The likeliest first, each with the timestamp that is in it. */
  readonly forms: readonly { readonly timestamp: string; readonly text: string }[]
}
/** What the signature covers beside the timestamp. */
export type SignedRequest = Pick<SignedParts, 'method' | 'path' | 'query'>
/** A claim whose clock and key are good; its signature is not checked yet. */
export interface Recognized {
  readonly key: ApiKey
  readonly secret: string
  readonly timestamp: string
  readonly sign: string
  /** Which opening of the secret this is; another box is another one. */
  readonly serial: number
}
/** What somebody else found who holds a secret: whether it fits, under the opening of that number. */
export interface Verdict {
  readonly serial: number
  readonly fits: boolean
}
interface Opened {
  readonly box: string
  readonly secret: string | undefined
  readonly serial: number
}
/** An authentication that failed. */
export class AuthenticationFailure extends Refusal {
  /**
   * A guess, which counts against the caller's address: a wrong signature, an unknown key, a wrong token. What
   * anybody's web page can send without guessing (no headers, an old timestamp) does not count.
   */
  readonly guess: boolean
  readonly detail: Readonly<Record<string, unknown>> | undefined
  /** The same with what is wrong; made when the guess has been counted and is not one too many. */
  readonly explained: (() => AuthenticationFailure) | undefined
  constructor(
    label: ConstructorParameters<typeof Refusal>[0],
    message: string,
    options: {
      readonly guess: boolean
      readonly detail?: Record<string, unknown>
      readonly explained?: (() => AuthenticationFailure) | undefined
    },
  ) {
    super(label, message)
    this.guess = options.guess
    this.detail = options.detail
    this.explained = options.explained
  }
}
const GUESS = { guess: true }
const NO_GUESS = { guess: false }

const WINDOW_SECONDS = 60
/** Keys of an account whose secrets are tried, where a signature does not fit. */
const OTHERS_MAX = 20

/** Finds out who sent a request: clock, then key, then signature. What the account may do comes after. */
export class Authenticator {
  private readonly state: State
  private readonly secrets: SecretBox
  private readonly clock: Clock
  private readonly explains: boolean
  /** Opened secrets by key; the box is part of it, so that a changed row is opened anew. */
  private readonly opened = new Map<string, Opened>()
  private serials = 0

  /** `explains`: a wrong signature is answered with what the server would have signed (sandbox only). */
  constructor(state: State, secrets: SecretBox, clock: Clock, explains: boolean) {
    this.state = state
    this.secrets = secrets
    this.clock = clock
    this.explains = explains
  }

  /** All that can be told without the body: headers, clock, key. */
  recognize({ key: keyName, timestamp, sign }: Claim): Recognized {
    if (!timestamp) throw missing('Timestamp')
    if (!keyName) throw missing('KEY')
    if (!sign) throw missing('SIGN')
    checkTimestamp(timestamp, this.clock)
    const { key, secret, serial } = this.usable(keyName)
    return { key, secret, timestamp, sign, serial }
  }
  /** A verdict counts for the secret that it was made with; under any other the signature is looked at here. */
  verify(
    recognized: Recognized,
    request: SignedRequest,
    body: Buffer | undefined,
    verdict?: Verdict,
  ): Caller {
    const { key, secret, timestamp, sign, serial } = recognized
    if (verdict?.serial === serial && verdict.fits) return { user: this.state.users.must(key.user_id), key }
    const parts: SignedParts = {
      method: request.method,
      path: request.path,
      query: request.query,
      bodyDigest: bodyDigest(body),
      timestamp,
    }
    if (verdict?.serial === serial || !verifySignature(secret, parts, sign))
      throw this.mismatch(recognized, parts, body)
    return { user: this.state.users.must(key.user_id), key }
  }

  /** The same of a claim that came over a socket, whole: clock, key, signature. */
  prove({ key: name, sign, forms }: SocketClaim): Caller {
    const faults = forms.map(({ timestamp }) => timestampFault(timestamp, this.clock))
    if (!faults.includes(undefined)) throw faults[0]!
    const { key, secret } = this.usable(name)
    const signed = forms.findIndex(({ text }) => verifyText(secret, text, sign))
    if (signed === -1) throw this.mismatchOf(forms[0]!.text)
    if (faults[signed] !== undefined) throw faults[signed]
    return { user: this.state.users.must(key.user_id), key }
  }
  /** Who was authenticated earlier, as the key is now. */
  again(name: string): Caller {
    const key = usableKey(this.state, name)
    return { user: this.state.users.must(key.user_id), key }
  }
  private usable(name: string): Pick<Recognized, 'key' | 'secret' | 'serial'> {
    const key = usableKey(this.state, name)
    const { secret, serial } = this.open(key)
    if (secret === undefined)
      throw new AuthenticationFailure(
        'INVALID_CREDENTIALS',
        'this API key belongs to another environment: its secret was encrypted with another KONTOR_SECRET_KEY',
        NO_GUESS,
      )
    return { key, secret, serial }
  }

  private open({ key, secret_box: box }: ApiKey): Opened {
    const known = this.opened.get(key)
    if (known?.box === box) return known
    const opened = { box, secret: this.secrets.open(box), serial: ++this.serials }
    this.opened.set(key, opened)
    return opened
  }

  private mismatch(of: Recognized, parts: SignedParts, body: Buffer | undefined): AuthenticationFailure {
    const explained = this.explains ? () => this.explain(of, parts, body) : undefined
    return new AuthenticationFailure('INVALID_SIGNATURE', 'Signature mismatch', { guess: true, explained })
  }
  private mismatchOf(text: string): AuthenticationFailure {
    const words =
      'Signature mismatch: the signature is the hex HMAC-SHA512, keyed with the secret, of the text in signature_string; ' +
      'compare it with yours'
    const explained = (): AuthenticationFailure =>
      new AuthenticationFailure('INVALID_SIGNATURE', words, {
        guess: true,
        detail: { signature_string: text },
      })
    return new AuthenticationFailure('INVALID_SIGNATURE', 'Signature mismatch', {
      guess: true,
      explained: this.explains ? explained : undefined,
    })
  }
  /** The sandbox knows the secret, and so it can try which mistake fits. */
  private explain(
    { key, secret, sign }: Recognized,
    parts: SignedParts,
    body: Buffer | undefined,
  ): AuthenticationFailure {
    const others = this.otherSecrets(key)
    const { mistake, words } = mistakeOf({ key: key.key, secret, parts, body, sign, others })
    const message =
      `Signature mismatch: ${words}. SIGN is the hex HMAC-SHA512, keyed with the secret, of the text in signature_string ` +
      '(method, path, query, SHA-512 of the body, Timestamp, joined by newlines); compare it with yours'
    const detail = {
      mistake,
      signature_string: signatureString(parts),
      signature_parts: {
        method: parts.method,
        path: parts.path,
        query: parts.query,
        body_sha512: parts.bodyDigest,
        timestamp: parts.timestamp,
      },
    }
    return new AuthenticationFailure('INVALID_SIGNATURE', message, { guess: true, detail })
  }
  /** Of the same account: whose secret anybody else's key has is not told. */
  private otherSecrets({ key, user_id }: ApiKey): [key: string, secret: string][] {
    const pairs: [string, string][] = []
    for (const other of this.state.keys.of(user_id).slice(0, OTHERS_MAX)) {
      const secret = other.key === key ? undefined : this.open(other).secret
      if (secret !== undefined) pairs.push([other.key, secret])
    }
    return pairs
  }
}

const missing = (name: string): AuthenticationFailure =>
  new AuthenticationFailure(
    'MISSING_REQUIRED_HEADER',
    `Missing required header: ${name}; a signed request carries KEY, Timestamp and SIGN`,
    NO_GUESS,
  )

/** A key that there is and that is in use. */
export function usableKey({ keys }: State, name: string): ApiKey {
  const key = keys.get(name)
  if (key === undefined)
    throw new AuthenticationFailure(
      'INVALID_KEY',
      'Invalid key provided: this platform has no such API key',
      GUESS,
    )
  if (key.state !== 1)
    throw new AuthenticationFailure(
      'INVALID_CREDENTIALS',
      'this API key is disabled; enable it or use another',
      NO_GUESS,
    )
  return key
}

function checkTimestamp(text: string, clock: Clock): void {
  const fault = timestampFault(text, clock)
  if (fault !== undefined) throw fault
}
function timestampFault(text: string, clock: Clock): AuthenticationFailure | undefined {
  const now = clock.peek() / 1e6
  if (!/^\d{1,16}(\.\d{1,12})?$/.test(text))
    return new AuthenticationFailure(
      'REQUEST_EXPIRED',
      `Timestamp: "${text.slice(0, 40)}" is not a Unix time in seconds; the server's clock is at ${now.toFixed(3)}`,
      NO_GUESS,
    )
  const given = Number(text)
  const gap = given - now
  if (Math.abs(gap) <= WINDOW_SECONDS) return undefined
  // While a sandbox's clock is moved, ordinary clients go on signing with the real time.
  if (clock.real !== undefined && Math.abs(given - clock.real() / 1e6) <= WINDOW_SECONDS) return undefined
  return new AuthenticationFailure(
    'REQUEST_EXPIRED',
    `Timestamp ${text} is ${Math.abs(gap).toFixed(1)} s ${gap < 0 ? 'behind' : 'ahead of'} the server's clock, ` +
      `which is at ${now.toFixed(3)}; send Unix seconds within ${WINDOW_SECONDS} s of it${unitHint(given, now)}`,
    NO_GUESS,
  )
}

/** Times of thousands of years hence are times in another unit. */
function unitHint(given: number, now: number): string {
  if (given < now * 100) return ''
  return `: this looks like ${given < now * 1e5 ? 'milliseconds' : 'microseconds'}`
}

/** The account's state, then the IP list, then the permission. */
export function authorize(caller: Caller, access: KeyAccess, method: Method, ip: string, state: State): void {
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
