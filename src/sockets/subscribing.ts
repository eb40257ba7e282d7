import { AuthenticationFailure } from '../api/authenticate.ts'
import { scaled } from '../api/limiter.ts'
import { traceId } from '../http/words.ts'
import { Refusal } from '../labels.ts'
import type { LiveDesk } from '../api/endpoint.ts'
import { nearest } from '../nearest.ts'
import type { Log } from '../runtime/log.ts'
import { CHANNEL_BY_NAME } from './channels.ts'
import type { Credentials, Session } from './credentials.ts'
import {
  BadRequest,
  NOT_ALLOWED,
  UNAVAILABLE,
  answerFrame,
  badArgument,
  labelled,
  type FrameError,
  type Request,
} from './envelope.ts'
import type { Live } from './live.ts'
import { accountOf } from './paths.ts'
import {
  ALL,
  type Asked,
  type Channel,
  type PrivateChannel,
  type PublicChannel,
  type Wanted,
} from './payloads.ts'
import type { Peer } from './peer.ts'
import { ADDRESSES, prefixIn, prefixOf, type Product } from './products.ts'
import { added, cover, uncover, type PrivateSubscription } from './subscribers.ts'

export interface SubscribingParts {
  readonly desk: LiveDesk
  readonly credentials: Credentials
  readonly log: Log
  /** What multiplies all limits; null: they are off. */
  readonly rateLimits: number | null
}
const SUBSCRIPTIONS_MAX = 10_000

/** Subscriptions and their ends: read, checked, answered, joined. */
export class Subscribing {
  private readonly parts: SubscribingParts
  private readonly live: Live
  private readonly most: number

  constructor(live: Live, parts: SubscribingParts) {
    this.live = live
    this.parts = parts
    this.most = scaled(SUBSCRIPTIONS_MAX, parts.rateLimits)
  }
  async attempt(peer: Peer, request: Request, text: string): Promise<void> {
    if (peer.closed) return
    try {
      const channel = channelOf(peer.product, request.channel)
      if (request.event === 'unsubscribe') this.unsubscribe(peer, channel, request)
      else
        await this.live.during(() =>
          channel.access === 'public'
            ? this.subscribe(peer, channel, request)
            : this.subscribePrivate(peer, channel, request, text),
        )
    } catch (error) {
      this.answer(peer, request, this.errorOf(error, request))
    }
  }
  answer(
    peer: Peer,
    request: Pick<Request, 'id' | 'channel' | 'event' | 'payload'>,
    error?: FrameError,
  ): void {
    peer.send(answerFrame(this.parts.desk.clock.peek(), peer.conn_id, traceId(), request, error))
  }
  /** All of a connection that is gone. */
  leave(peer: Peer): void {
    const { topics } = this.live
    for (const topic of [...peer.topics]) {
      peer.leave(topic)
      topics.settled(topic, false)
    }
    this.endPrivate(peer)
    this.live.hush()
  }
  /** From here on nothing of an account reaches it. */
  endPrivate(peer: Peer): void {
    for (const { subscription } of peer.subscriptions.values()) this.end(subscription)
    peer.subscriptions.clear()
  }

  private errorOf(error: unknown, { channel }: Request): FrameError {
    if (error instanceof BadRequest) return { code: error.code, message: error.message }
    if (error instanceof Refusal) {
      const detail = error instanceof AuthenticationFailure ? error.detail : undefined
      return { code: NOT_ALLOWED, message: labelled(error.label, error.message, detail) }
    }
    if (this.live.stopping) return { code: UNAVAILABLE, message: 'the platform is stopping' }
    this.parts.log.error('a subscription failed unexpectedly', { channel, error })
    return { code: UNAVAILABLE, message: 'a defect of the platform, which has been logged; try again' }
  }
  /** Something was listed: whoever wants all there is, or is about to, gets it too. */
  widen(peer: Peer): void {
    peer.tail = peer.tail.then(() =>
      this.live
        .during(async () => {
          for (const name of peer.alls) {
            const channel = CHANNEL_BY_NAME.get(name) as PublicChannel
            const wanted = channel.read([ALL], this.asked(peer, true)).filter((one) => !this.has(peer, one))
            if (wanted.length > 0) await this.join(peer, channel, wanted)
          }
        })
        .catch((error: unknown) => {
          if (!this.live.stopping) this.parts.log.error('what was listed could not be told of', { error })
        }),
    )
  }
  private async subscribe(peer: Peer, channel: PublicChannel, request: Request): Promise<void> {
    const wanted = channel.read(request.payload, this.asked(peer, true))
    const there = wanted.filter((one) => this.has(peer, one))
    if (channel.single === true) for (const { name, title = name } of there) badArgument(`Alert sub ${title}`)
    this.bound(peer, wanted.length - there.length)
    await this.join(peer, channel, wanted, () => {
      this.answer(peer, request)
      if (isAll(channel, request.payload)) peer.alls.add(channel.name)
    })
  }
  private async join(
    peer: Peer,
    channel: PublicChannel,
    wanted: readonly Wanted[],
    before?: () => void,
  ): Promise<void> {
    const { topics, sources } = this.live
    await this.live.listen('all')
    const opened = wanted.map(({ name, begin }) => topics.open(name, channel.name, begin(sources)))
    const ready = await Promise.all(opened).catch(async (error: unknown) => {
      for (const one of await Promise.allSettled(opened))
        if (one.status === 'fulfilled') topics.settled(one.value)
      throw error
    })
    if (!peer.closed) {
      before?.()
      for (const [i, topic] of ready.entries()) peer.join(topic, wanted[i]!.all)
    }
    for (const topic of ready) topics.settled(topic)
  }
  private async subscribePrivate(
    peer: Peer,
    channel: PrivateChannel,
    request: Request,
    text: string,
  ): Promise<void> {
    const { privates, unified } = this.live
    const { state } = this.parts.desk.core
    const { credentials } = this.parts
    // Contracts of both groups have the same channels, and permissions of their own.
    const need = channel.product === 'futures' ? peer.product : channel.access
    const session =
      peer.session?.session_id === undefined
        ? credentials.subscription({ ...request, text }, need, peer.ip)
        : credentials.visitAgain(peer.session, need, peer.ip)
    const userId = session.user_id
    const figures = channel.product === 'unified'
    if (figures && state.margin.of(userId).mode === 'classic')
      badArgument(
        labelled(
          'ACCOUNT_EXCEPTION',
          'the account is not in a unified mode; PUT /unified/unified_mode first',
        ),
      )
    const covered = channel.read(request.payload, this.asked(peer, true))
    const name = `${channel.name} ${userId}`
    this.bound(peer, added(peer.subscriptions.get(name)?.subscription, covered))
    await this.live.listen('all')
    await (figures ? unified.prepare(userId) : privates.prepare(channel.name, userId))
    // The key may have gone while this was prepared: then nothing of its account is told.
    const why = peer.closed ? undefined : credentials.revoked(session, peer.ip)
    if (peer.closed || why !== undefined) {
      if (!figures) privates.release(channel.name, userId)
      if (why !== undefined) throw new Refusal(why.label, why.message)
      return
    }
    this.answer(peer, request)
    const known = peer.subscriptions.get(name)
    const subscription = known?.subscription ?? {
      listener: peer,
      channel: channel.name,
      userId,
      scope: accountOf(peer.address),
      texts: peer.sizeTexts,
      all: false,
      names: new Set<string>(),
    }
    cover(subscription, covered)
    const sessions = known?.sessions ?? new Map<string, Session>()
    peer.subscriptions.set(name, { subscription, sessions: sessions.set(session.key, session) })
    if (figures) await unified.begin(subscription)
    else if (known === undefined) privates.add(subscription)
    else privates.release(channel.name, userId)
  }
  private unsubscribe(peer: Peer, channel: Channel, request: Request): void {
    const { topics } = this.live
    const asked = this.asked(peer, false)
    if (channel.access === 'public' && endsAll(channel, request.payload)) {
      for (const topic of [...peer.topics])
        if (topic.channel === channel.name && peer.leave(topic)) topics.settled(topic, false)
    } else if (channel.access === 'public') {
      const named = isAll(channel, request.payload) ? withoutAll(request.payload) : request.payload
      // Read before anything ends: what is refused ends nothing.
      const ended = named === undefined ? [] : channel.read(named, asked)
      if (named !== request.payload) {
        peer.alls.delete(channel.name)
        // Those too that have left meanwhile.
        for (const topic of [...peer.topics])
          if (topic.channel === channel.name && peer.part(topic, true)) topics.settled(topic, false)
      }
      for (const { name } of ended) {
        const topic = topics.find(name)
        if (topic !== undefined && peer.part(topic)) topics.settled(topic, false)
      }
    } else {
      const covered = channel.read(request.payload, asked)
      for (const [name, { subscription }] of peer.subscriptions)
        if (subscription.channel === channel.name && uncover(subscription, covered)) {
          peer.subscriptions.delete(name)
          this.end(subscription)
        }
    }
    this.answer(peer, request)
    this.live.hush()
  }
  private has(peer: Peer, { name }: Wanted): boolean {
    const topic = this.live.topics.find(name)
    return topic !== undefined && peer.has(topic)
  }
  /** What is there already passes on a full connection too. */
  private bound(peer: Peer, more: number): void {
    if (more > 0 && peer.count + more > this.most)
      badArgument(`at most ${this.most} subscriptions on a connection; open another one`)
  }
  private asked({ address, sizeTexts: texts }: Peer, known: boolean): Asked {
    return { world: this.parts.desk.core.state.world, known, address, texts }
  }
  private end(subscription: PrivateSubscription): void {
    if (subscription.channel.startsWith('unified.')) this.live.unified.remove(subscription)
    else this.live.privates.remove(subscription)
  }
}

const isAll = ({ takesAll }: PublicChannel, payload: unknown): payload is unknown[] =>
  takesAll === true && Array.isArray(payload) && payload.includes(ALL)
/** The names beside the word for all of them; undefined: it stands alone. */
function withoutAll(payload: readonly unknown[]): unknown[] | undefined {
  const names = payload.filter((name) => name !== ALL)
  return names.length === 0 ? undefined : names
}
const endsAll = ({ endsAll: word }: PublicChannel, payload: unknown): boolean =>
  word !== undefined && Array.isArray(payload) && payload.length === 1 && payload[0] === word

/** The channel of a name, if this address serves it. */
function channelOf(product: Product, name: string): Channel {
  const channel = CHANNEL_BY_NAME.get(name)
  const here = prefixOf(product)
  const prefix = prefixIn(name)
  if (channel?.product === here && !(channel.perpetual === true && product === 'delivery')) return channel
  if (channel !== undefined || (prefix !== here && Object.hasOwn(ADDRESSES, prefix)))
    badArgument(`${name.slice(0, 40)} is served at ${ADDRESSES[prefix]!}; connect there`)
  if (prefix === here && here === 'options')
    badArgument('unknown contract: options are not traded on this platform yet')
  const known = [...CHANNEL_BY_NAME.values()].filter(({ product }) => product === here).map((one) => one.name)
  const near = nearest(name, known)
  return badArgument(
    `unknown channel: ${name.slice(0, 80)}; ${near === undefined ? '' : `did you mean ${near}? `}/docs lists them, of this address ${known.join(', ')}`,
  )
}
