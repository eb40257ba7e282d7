import { accountView } from '../api/unified/views.ts'
import type { Desk } from '../api/endpoint.ts'
import { add, amountOf, format, negate, roundDown } from '../money/amount.ts'
import { pushFrame } from './envelope.ts'
import type { PrivateSubscription } from './subscribers.ts'

const SHOWN_DECIMALS = 2
/** REST's figure, cut; of an account that is short of margin some are below zero. */
function cut(text: string): string {
  const value = amountOf(text)
  return format(
    value < 0n ? negate(roundDown(negate(value), SHOWN_DECIMALS)) : roundDown(value, SHOWN_DECIMALS),
  )
}
type View = ReturnType<typeof accountView>

function assetsText(view: View): string {
  return JSON.stringify({
    r: cut(view.total_initial_margin_rate),
    R: cut(view.total_maintenance_margin_rate),
    b: cut(view.total_margin_balance),
    e: cut(view.unified_account_total_equity),
    l: cut(view.unified_account_total_liab),
    T: cut(view.unified_account_total),
    a: cut(view.total_available_margin),
  })
}
const assetsFrame = (now: number, userId: number, text: string): string =>
  pushFrame(now, 'unified.assets', `{"u":${userId},"t":${Math.floor(now / 1e6)},${text.slice(1)}`)

/** Each currency of an account, as JSON. */
function detailTexts(view: View): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [currency, balance] of Object.entries(view.balances)) {
    const { available, freeze, equity, total_liab } = balance
    const whole = format(add(amountOf(available), amountOf(freeze)))
    const own = view.mode === 'single_currency' && currency === 'USDT'
    texts.set(
      currency,
      JSON.stringify({
        a: available,
        f: freeze,
        e: equity,
        tl: total_liab,
        b: whole,
        ...(own && {
          cb: balance.cross_balance,
          mb: balance.margin_balance,
          im: balance.im,
          mm: balance.mm,
          imr: balance.imr,
          mmr: balance.mmr,
          am: balance.available_margin,
          iam: balance.iso_balance,
        }),
      }),
    )
  }
  return texts
}
/** A currency of which nothing is left is no longer in REST's list: told of once more, with nothing. */
const nothing = (text: string): string =>
  JSON.stringify(Object.fromEntries(Object.keys(JSON.parse(text) as object).map((name) => [name, '0'])))
function detailFrame(now: number, userId: number, texts: ReadonlyMap<string, string>): string {
  const members = [...texts].map(([currency, text]) => `${JSON.stringify(currency)}:${text}`).join(',')
  return pushFrame(
    now,
    'unified.asset_detail',
    `{"u":${userId},"t":${Math.floor(now / 1e6)},"dts":{${members}}}`,
  )
}

const PACE_MS = 1_000
const ASSETS = 'unified.assets'

/** What an account's figures were when they were last told. */
interface Figures {
  readonly assets: string
  readonly detail: ReadonlyMap<string, string>
}
interface Watched {
  readonly subscriptions: Set<PrivateSubscription>
  figures: Promise<Figures | undefined>
  readonly timer: NodeJS.Timeout
}
/** Figures of unified accounts: first as they are, then when they changed, at most once a second. */
export class UnifiedStreams {
  private readonly desk: Desk
  private readonly onError: (error: unknown) => void
  private readonly users = new Map<number, Watched>()

  constructor(desk: Desk, onError: (error: unknown) => void) {
    this.desk = desk
    this.onError = onError
  }
  /** Begins to look at an account, or goes on; resolves when its figures are known. */
  async prepare(userId: number): Promise<void> {
    await this.watch(userId).figures
  }
  /** After the answer: the first push, with all that it covers; when it is there already, once more. */
  async begin(subscription: PrivateSubscription): Promise<void> {
    const watched = this.watch(subscription.userId)
    watched.subscriptions.add(subscription)
    const figures = await watched.figures
    if (figures !== undefined && watched.subscriptions.has(subscription))
      this.tell(subscription, figures, figures.detail, true)
  }
  remove(subscription: PrivateSubscription): void {
    const watched = this.users.get(subscription.userId)
    if (watched?.subscriptions.delete(subscription) !== true || watched.subscriptions.size > 0) return
    clearInterval(watched.timer)
    this.users.delete(subscription.userId)
  }
  clear(): void {
    for (const { timer } of this.users.values()) clearInterval(timer)
    this.users.clear()
  }

  private watch(userId: number): Watched {
    let watched = this.users.get(userId)
    if (watched === undefined) {
      const timer = setInterval(() => void this.see(userId).catch(this.onError), PACE_MS).unref()
      watched = { subscriptions: new Set(), figures: this.look(userId), timer }
      this.users.set(userId, watched)
    }
    return watched
  }
  private async see(userId: number): Promise<void> {
    const watched = this.users.get(userId)
    if (watched === undefined) return
    if (watched.subscriptions.size === 0) {
      // Whoever it was prepared for went away before.
      clearInterval(watched.timer)
      this.users.delete(userId)
      return
    }
    const before = await watched.figures
    const after = await this.look(userId)
    if (after === undefined) return
    watched.figures = Promise.resolve(after)
    const changed = new Map(
      [...after.detail].filter(([currency, text]) => before?.detail.get(currency) !== text),
    )
    for (const [currency, text] of before?.detail ?? [])
      if (!after.detail.has(currency)) changed.set(currency, nothing(text))
    const assets = before?.assets !== after.assets
    for (const subscription of watched.subscriptions)
      if (subscription.channel === ASSETS ? assets : changed.size > 0) this.tell(subscription, after, changed)
  }
  /** Undefined while the account is in no unified mode. */
  private async look(userId: number): Promise<Figures | undefined> {
    const view = await this.desk.core.read((state) =>
      state.margin.of(userId).mode === 'classic'
        ? undefined
        : accountView(state, userId, Math.floor(this.desk.clock.seconds()), null),
    )
    return view === undefined ? undefined : { assets: assetsText(view), detail: detailTexts(view) }
  }
  private tell(
    { listener, channel, userId, all, names }: PrivateSubscription,
    { assets }: Figures,
    detail: ReadonlyMap<string, string>,
    first = false,
  ): void {
    const now = this.desk.clock.peek()
    if (channel === ASSETS) {
      listener.push(channel, userId, assetsFrame(now, userId, assets))
      return
    }
    const mine = all ? detail : new Map([...detail].filter(([currency]) => names.has(currency)))
    if (first || mine.size > 0) listener.push(channel, userId, detailFrame(now, userId, mine))
  }
}
