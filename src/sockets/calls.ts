import type { FramePlan } from '../api/faults.ts'
import { CALL_EFFECTS } from '../api/fault-steps.ts'
import { scaled, type Allowance } from '../api/limiter.ts'
import type { Passage } from '../api/passage.ts'
import { DEFECT, toldOf, type Pipeline } from '../api/pipeline.ts'
import { replyText } from '../api/reply-text.ts'
import { kept } from '../api/request-log.ts'
import { refuseStale } from '../api/spot/find.ts'
import { refuseDeep, traceId } from '../http/words.ts'
import { Refusal, notFound, refuse } from '../labels.ts'
import { CALL_CHANNELS } from './call-channels.ts'
import type { CallChannel } from './call-forms.ts'
import { ackText, answerText, limitsOf, type Answered } from './call-frames.ts'
import type { ApiFrame, CallConnection } from './call-connection.ts'
import { CallNotes, paramOf, type NotesParts } from './call-notes.ts'
import { headersIn, requestId } from './call-reading.ts'
import { isObject, type Credentials } from './credentials.ts'
import { ADDRESSES, prefixIn, prefixOf, type Product } from './products.ts'

export interface CallsParts extends NotesParts {
  readonly pipeline: Pipeline
  readonly credentials: Credentials
  /** What multiplies all limits; null: they are off. */
  readonly rateLimits: number | null
}

/** Calls of one connection that are not answered yet. */
interface Line {
  unanswered: number
  /** Of their frames, which are kept so long. */
  letters: number
  /** Commands, in the order of their coming. */
  readonly commands: Call[]
  /** What must wait until the call before it is through. */
  held: ApiFrame[] | undefined
  flushing: boolean
}
interface Call extends Answered {
  readonly connection: CallConnection
  readonly frame: ApiFrame
  readonly line: Line
  readonly declared: CallChannel | undefined
  id: string
  allowance: Allowance | undefined
  passage: Passage | undefined
  plan: FramePlan | undefined
  status: number
  /** The source text of its req_param, once somebody asked for it; null: it has none. */
  param: string | null | undefined
  /** JSON; it is answered when it is ready. */
  data: string
  ready: boolean
}

const UNANSWERED_MAX = 1_000
/** Of the memory that they take: no setting changes it. */
const LETTERS_MAX = 8 * 1024 * 1024
const CHANNELS = new Map(CALL_CHANNELS.map((declared) => [declared.channel, declared]))

/**
 * The trading API over sockets. A call is the REST call that its channel stands for: the same permission, windows,
 * parameters, rules and labels. Calls of a connection reach the core in the order of their coming, and commands are
 * answered in it.
 */
export class Calls {
  private readonly parts: CallsParts
  private readonly notes: CallNotes
  private readonly lines = new WeakMap<CallConnection, Line>()
  private readonly unansweredMax: number
  /** Of all connections. */
  unanswered = 0
  constructor(parts: CallsParts) {
    this.parts = parts
    this.unansweredMax = scaled(UNANSWERED_MAX, parts.rateLimits)
    this.notes = new CallNotes(parts)
  }

  take(connection: CallConnection, frame: ApiFrame): void {
    const line = this.lineOf(connection)
    line.unanswered++
    this.unanswered++
    line.letters += lettersOf(frame)
    if (line.unanswered > this.unansweredMax || line.letters > LETTERS_MAX) {
      const message = `${line.unanswered - 1} calls of this connection wait for their answers; send it again in a second`
      const call = newCall(connection, line, frame)
      try {
        if (isObject(frame.payload)) call.id = requestId(frame.payload['req_id'])
        refuse('TOO_BUSY', message)
      } catch (error) {
        this.refused(call, error)
        this.send(call)
      }
    } else if (line.held === undefined) this.begin(connection, line, frame)
    else line.held.push(frame)
  }

  private lineOf(connection: CallConnection): Line {
    let line = this.lines.get(connection)
    if (line === undefined)
      this.lines.set(
        connection,
        (line = { unanswered: 0, letters: 0, commands: [], held: undefined, flushing: false }),
      )
    return line
  }
  private begin(connection: CallConnection, line: Line, frame: ApiFrame): void {
    const call = newCall(connection, line, frame)
    if (isOrdered(call)) line.commands.push(call)
    try {
      const { payload } = frame
      if (!isObject(payload))
        refuse('INVALID_REQUEST_BODY', 'payload must be a JSON object: {"req_id": …, "req_param": …}')
      call.id = requestId(payload['req_id'])
      refuseDeep(payload, 'payload')
      const declared = channelAt(connection.product, frame.channel)
      if (declared.kind === 'login') this.login(call, payload)
      else this.check(call, declared, payload)
    } catch (error) {
      this.fail(call, error)
    }
  }

  private login(call: Call, payload: Readonly<Record<string, unknown>>): void {
    const { connection, frame } = call
    if (connection.session?.session_id !== undefined)
      refuse('INVALID_ARGUMENT', 'this socket has the session of its page; keys log in at /ws/v4/')
    const { channel, time, text } = frame
    const session = this.parts.credentials.login(
      { channel, time, payload, text },
      connection.product,
      connection.ip,
    )
    const before = connection.session
    connection.session = session
    this.misbehave(
      call,
      () => {
        const result = { api_key: session.key, uid: String(session.user_id) }
        call.status = 200
        call.data = `{"result":${JSON.stringify(result)}}`
        this.readyInTurn(call)
        return undefined
      },
      // A rule may ask for whoever logs in; it did not happen.
      () => (connection.session = before),
    )
  }

  private check(call: Call, declared: CallChannel, payload: Readonly<Record<string, unknown>>): void {
    const { connection, frame } = call
    const { pipeline, credentials, desk } = this.parts
    const { session, ip, product, settle } = connection
    if (session === undefined)
      refuse(
        'AUTHENTICATION_FAILED',
        `Not login; send ${prefixOf(product)}.login first, with api_key, timestamp and signature in its payload`,
      )
    const { api_key, req_param: param } = payload
    if (api_key !== undefined && api_key !== null && api_key !== '' && api_key !== session.key)
      refuse(
        'INVALID_KEY',
        'api_key is not the key that this connection is logged in with; log in with it first',
      )
    const caller = credentials.again(session)
    const { route, given } = declared.translate!(param, settle)
    const headers = headersIn(payload['req_header'], connection)
    const { path } = route
    const { method } = route.endpoint
    const passage = pipeline.begin({
      method,
      path,
      rawQuery: '',
      headers,
      hasBody: false,
      ip,
      inTime: frame.at,
    })
    call.passage = passage
    passage.route = route
    passage.caller = caller
    if (session.session_id !== undefined)
      passage.session = desk.core.state.logins.sessions.get(session.session_id)
    let run: () => Promise<unknown>
    try {
      run = pipeline.check(passage, given, declared.limited, declared.window)
    } finally {
      call.allowance = passage.allowance
    }
    refuseStale({ desk, header: (name) => headers[name] })
    const alone = declared.portions?.(desk.core.state, session.user_id, param, settle) === true
    this.misbehave(call, () => {
      if (declared.acks) this.acknowledge(call, payload)
      const answered = run().then(
        (result) => this.succeed(call, result),
        (error: unknown) => this.fail(call, error),
      )
      return alone ? answered : undefined
    })
  }

  private acknowledge(call: Call, payload: Readonly<Record<string, unknown>>): void {
    const { connection, frame } = call
    const now = this.parts.desk.clock.peek()
    const limits = limitsOf(call.allowance)
    if (frame.n !== undefined) connection.acknowledge(frame.n, now, limits)
    else connection.send(ackText(call, now, limits, payload, paramOf(call)))
  }
  /**
   * Carries it out, as the sandbox's fault rules want it. What comes behind it waits while it waits. `undo` takes back
   * what was done before, when nothing is to be done.
   */
  private misbehave(call: Call, run: () => Promise<void> | undefined, undo?: () => void): void {
    const { faults } = this.parts
    if (!faults.active || call.connection.session?.session_id !== undefined) {
      this.hold(call, run())
      return
    }
    const { session } = call.connection
    const target = { channel: call.channel, user_id: session?.user_id, key: session?.key }
    const plan = faults.ofFrame({ ...target, request: this.notes.reported(call) }, CALL_EFFECTS)
    call.plan = plan
    const carryOut = (): Promise<void> | undefined => {
      try {
        if (plan?.error === undefined) return run()
        undo?.()
        this.fail(call, plan.error)
      } catch (error) {
        this.fail(call, error)
      }
      return undefined
    }
    if (plan === undefined || plan.delayMs === 0) this.hold(call, carryOut())
    else
      this.hold(
        call,
        new Promise((resolve) => {
          setTimeout(() => resolve(carryOut()), plan.delayMs)
        }),
      )
  }
  /** Nothing of this connection begins until that is done. */
  private hold(call: Call, until: Promise<void> | undefined): void {
    if (until === undefined) return
    const { line, connection } = call
    line.held = []
    void until.then(() => {
      const waiting = line.held!
      line.held = undefined
      for (const [i, frame] of waiting.entries()) {
        this.begin(connection, line, frame)
        // What it waits for, the others wait for as well.
        if (this.isHeld(line)) {
          line.held = waiting.slice(i + 1)
          return
        }
      }
    })
  }
  private isHeld({ held }: Line): boolean {
    return held !== undefined
  }

  private succeed(call: Call, result: unknown): void {
    let text: string
    try {
      const shape = call.passage?.route?.endpoint.reply
      text = shape === undefined || shape === null ? JSON.stringify(result) : replyText(shape, result)
    } catch (error) {
      this.fail(call, error)
      return
    }
    call.status = 200
    call.data = `{"result":${text}}`
    this.ready(call)
  }
  private fail(call: Call, error: unknown): void {
    this.refused(call, error)
    this.readyInTurn(call)
  }
  /** It may not have been to the core, where others still are that came before it. */
  private readyInTurn(call: Call): void {
    if (!isOrdered(call) || call.line.commands[0] === call) this.ready(call)
    else {
      const next = (): void => this.ready(call)
      this.parts.desk.core.read(() => undefined).then(next, next)
    }
  }
  private refused(call: Call, error: unknown): void {
    const { conn_id, session, product } = call.connection
    const refusal = error instanceof Refusal ? error : DEFECT
    const told = toldOf(refusal)
    if (refusal.label === 'TOO_MANY_REQUESTS')
      told['message'] = `${refusal.message} ${prefixOf(product) === 'futures' ? '(311)' : '(211)'}`
    if (refusal === DEFECT) {
      const fields = { conn_id, user_id: session?.user_id, channel: kept(call.channel), error }
      this.parts.log.error('a call over a socket failed unexpectedly', fields)
    }
    call.status = refusal.status
    call.data = `{"errs":${JSON.stringify(told)}}`
  }

  /**
   * Commands are answered in order. What has landed together becomes ready in one turn, sooner or later by how much is
   * done with it: whoever is early waits for the end of the turn. Who is not ready by then needs the store, and nobody
   * waits for him: a command's answer must be out before what it did is pushed.
   */
  private ready(call: Call): void {
    const { line } = call
    const { commands } = line
    call.ready = true
    if (!isOrdered(call)) this.send(call)
    else if (commands[0] === call)
      do this.send(commands.shift()!)
      while (commands.length > 0 && commands[0].ready)
    else if (!line.flushing) {
      line.flushing = true
      process.nextTick(() => {
        line.flushing = false
        const ready = commands.filter((one) => one.ready)
        if (ready.length === 0) return
        const waiting = commands.filter((one) => !one.ready)
        commands.length = 0
        commands.push(...waiting)
        for (const one of ready) this.send(one)
      })
    }
  }

  private send(call: Call): void {
    const { line, plan } = call
    line.unanswered--
    this.unanswered--
    line.letters -= lettersOf(call.frame)
    this.notes.add(call)
    if (plan?.disconnect === true) call.connection.cut()
    else this.answer(call, plan?.dropReply === true ? 0 : plan?.duplicate === true ? 2 : 1)
  }
  private answer(call: Call, copies: number): void {
    const { connection, frame, status, data } = call
    const now = this.parts.desk.clock.peek()
    const limits = limitsOf(call.allowance)
    if (frame.n !== undefined) connection.answer({ n: frame.n, now, limits, status, data, copies })
    else if (copies > 0) {
      const text = answerText(call, now, limits, status, data)
      for (let copy = 0; copy < copies; copy++) connection.send(text)
    }
  }
}

function newCall(connection: CallConnection, line: Line, frame: ApiFrame): Call {
  const { channel, at } = frame
  return {
    connection,
    line,
    frame,
    channel,
    at,
    declared: CHANNELS.get(channel),
    id: '',
    trace: frame.n === undefined ? traceId() : '',
    allowance: undefined,
    passage: undefined,
    plan: undefined,
    status: 0,
    param: undefined,
    data: '',
    ready: false,
  }
}
const lettersOf = ({ text, param }: ApiFrame): number => text.length + (param?.length ?? 0)
const isOrdered = ({ declared }: Call): boolean => declared?.kind !== 'query'
function channelAt(product: Product, channel: string): CallChannel {
  const prefix = prefixIn(channel)
  const own = prefixOf(product)
  if (prefix !== own && Object.hasOwn(ADDRESSES, prefix))
    refuse(
      'INVALID_ARGUMENT',
      `${channel.slice(0, 80)} is served at ${ADDRESSES[prefix]!}; this is the address of ${own}.*`,
    )
  const declared = CHANNELS.get(channel)
  const isHere = (one: CallChannel): boolean => one.perpetual !== true || product !== 'delivery'
  if (declared !== undefined && isHere(declared)) return declared
  const known = CALL_CHANNELS.filter((one) => prefixIn(one.channel) === own && isHere(one)).map(
    (one) => one.channel,
  )
  return notFound('NOT_FOUND', `${channel.slice(0, 80)} takes no calls; here do ${known.join(', ')}`)
}
