import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { amountOf } from '../../src/money/amount.ts'
import type { Credential, OperatorClient } from './client.ts'
import { checkLinearizable, type Bounds, type Verdict } from './linear.ts'
import { ledgerModel, settled, type LedgerInput, type LedgerOperation } from './linear-ledger.ts'
import {
  marketModel,
  settledMarket,
  type MarketInput,
  type MarketOperation,
  type MarketOutput,
} from './linear-market.ts'
import { allPerms } from './platform.ts'
import { Caller, isMissing, type Outcome } from './recorded-call.ts'
import { CURRENCY, decimal, heardLedger, sendLedger } from './recorded-ledger.ts'
import { ETH_OUTSIDE } from './wallet.ts'

/**
 * Signed clients under way at once, who write down when they asked, when they were answered and what: transfers,
 * orders and withdrawals under ids of their own, and looks at balances and records. Several of them share the accounts
 * of one family, so their calls really meet. Money of a family is ETH; trading is in XRP_USDT, with other money.
 */
const PAIR = 'XRP_USDT'
const PRICES = ['0.4999', '0.5000', '0.5001'] as const
const LOT = 10

export interface LoadOptions {
  readonly families?: number
  readonly clientsEach?: number
  /** Milliseconds between two calls of one client. */
  readonly paceMs?: number
  readonly timeoutMs?: number
  readonly random: () => number
  /** Told apart from other loads on the same platform. */
  readonly name?: string
}
interface Family {
  readonly main: number
  readonly subs: readonly number[]
  readonly credential: Credential
  readonly side: 'buy' | 'sell'
  readonly history: LedgerOperation[]
  /** Orders whose money is locked and which may be cancelled. */
  readonly open: string[]
  readonly ids: string[]
}
/** A write that was acknowledged, and when. */
export interface Acknowledged {
  readonly kind: 'transfer' | 'order' | 'withdrawal' | 'trade'
  readonly id: string
  readonly number: number
  readonly call: number
  readonly ret: number
}

export class RecordedLoad {
  readonly families: Family[] = []
  readonly market: MarketOperation[] = []
  readonly acknowledged: Acknowledged[] = []
  /** Answers that no rule explains: any of them fails the test. */
  readonly surprises: string[] = []
  readonly counts = { ok: 0, refused: 0, unknown: 0, unsent: 0 }
  private readonly unknowns = new Map<string, number>()
  private readonly options: Required<LoadOptions>
  private urls: readonly string[] = []
  private running = false
  private workers: Promise<void>[] = []
  private made = 0
  constructor(options: LoadOptions) {
    this.options = { families: 2, clientsEach: 3, paceMs: 0, timeoutMs: 8000, name: 'h', ...options }
  }
  async prepare(operator: OperatorClient): Promise<void> {
    const { families, name } = this.options
    for (let i = 0; i < families; i++) {
      const user = async (login_name: string, parent?: number): Promise<number> => {
        const body = { login_name, ...(parent !== undefined && { parent }) }
        return (await operator.ok('POST', '/users', body)).user_id
      }
      const main = await user(`${name}_${i}`)
      const subs = [await user(`${name}_${i}_one`, main), await user(`${name}_${i}_two`, main)]
      const credential: Credential = await operator.ok('POST', `/users/${main}/keys`, {
        name: 'load',
        mode: 1,
        perms: allPerms(),
        ip_whitelist: [],
      })
      for (const [currency, amount] of [
        [CURRENCY, '50'],
        ['USDT', '1000000'],
        ['XRP', '2000000'],
      ])
        await operator.ok('POST', `/users/${main}/credit`, { account: 'spot', currency, amount })
      await operator.ok('POST', `/users/${main}/saved_addresses`, {
        currency: CURRENCY,
        chain: 'ETH',
        address: ETH_OUTSIDE,
        verified: true,
        verified_at: Math.floor(Date.now() / 1000) - 2 * 86_400,
      })
      const side = i % 2 === 0 ? 'buy' : 'sell'
      this.families.push({ main, subs, credential, side, history: [], open: [], ids: [] })
    }
  }
  /** Clients begin at these addresses in turn, and go to the next one when theirs fails them. */
  start(urls: readonly string[]): void {
    this.urls = urls
    this.running = true
    this.workers = this.families.flatMap((family, f) =>
      Array.from({ length: this.options.clientsEach }, (_, c) => this.work(family, `${f}.${c}`, f + c)),
    )
  }
  /** Everybody finishes what is under way; then everything is looked at once more. */
  async stop(): Promise<void> {
    this.running = false
    await Promise.all(this.workers)
    this.workers = []
  }
  /** The end of the history: all balances and all records, from every address in turn. */
  async lookAtAll(urls: readonly string[]): Promise<void> {
    this.urls = urls
    for (const family of this.families) {
      const look = new Worker(this.options.timeoutMs, family, 'end', 0)
      for (const account of ['main', ...family.subs.map(String)])
        await this.ask(look, family, { kind: 'read', account })
      for (const [place, id] of family.ids.entries()) {
        look.at = place
        await this.ask(look, family, { kind: 'find', id })
      }
      look.caller.close()
    }
  }
  /** Takes every order out of the market, for whoever comes next and begins with an empty book. */
  async clear(url: string): Promise<void> {
    for (const family of this.families) {
      const caller = new Caller(family.credential, this.options.timeoutMs)
      const outcome = await caller.call(url, 'DELETE', '/spot/orders', { query: { currency_pair: PAIR } })
      caller.close()
      assert.equal(outcome.is, 'ok', JSON.stringify(outcome))
    }
  }
  /** When the first write that was begun after this moment was acknowledged. */
  firstAfter(moment: number): number | undefined {
    const later = this.acknowledged.filter(({ call }) => call >= moment).map(({ ret }) => ret)
    return later.length === 0 ? undefined : Math.min(...later)
  }
  /** The longest time in which nothing was acknowledged. */
  longestGap(from: number, to: number): number {
    const times = this.acknowledged.map(({ ret }) => ret).filter((ret) => ret > from && ret < to)
    const all = [from, ...times.sort((a, b) => a - b), to]
    return Math.max(...all.slice(1).map((time, i) => time - all[i]!))
  }
  whyUnknown(): string {
    return [...this.unknowns].map(([why, count]) => `${count}× ${why}`).join('; ')
  }

  verdicts(
    bounds?: Bounds,
  ): { readonly name: string; readonly operations: number; readonly verdict: Verdict<unknown, unknown> }[] {
    const ledgers = this.families.map((family, f) => {
      const known = settled(family.history)
      const initial = {
        main: amountOf('50') as bigint,
        ...Object.fromEntries(family.subs.map((sub) => [String(sub), 0n])),
      }
      const verdict = checkLinearizable(ledgerModel(initial, known), known, bounds) as Verdict<
        unknown,
        unknown
      >
      return { name: `family ${f}`, operations: known.length, verdict }
    })
    const known = settledMarket(this.market)
    const verdict = checkLinearizable(marketModel, known, bounds) as Verdict<unknown, unknown>
    return [...ledgers, { name: PAIR, operations: known.length, verdict }]
  }
  /** Fails, with what could not be explained, unless every history is linearizable and numbers follow the order of things. */
  assertRight(bounds?: Bounds): void {
    assert.deepEqual(this.surprises, [], 'answers that no rule explains')
    for (const { name, operations, verdict } of this.verdicts(bounds)) {
      if (verdict.kind === 'linearizable') continue
      const stuck =
        verdict.kind === 'violation' ? verdict.stuck.map((one) => told(one)).join('\n  ') : verdict.why
      assert.fail(`${name}: ${verdict.kind} in ${operations} operations\n  ${stuck}`)
    }
    this.assertOrder()
  }
  /** Of two writes of one kind, the one that was answered before the other was asked for has the lower number. */
  private assertOrder(): void {
    for (const kind of ['transfer', 'order', 'withdrawal'] as const) {
      const writes = this.acknowledged.filter(
        (one) => one.kind === kind || (kind === 'order' && one.kind === 'trade'),
      )
      const byEnd = [...writes].sort((a, b) => a.ret - b.ret)
      let next = 0
      let highest = -1
      for (const one of writes.sort((a, b) => a.call - b.call)) {
        while (next < byEnd.length && byEnd[next]!.ret < one.call)
          highest = Math.max(highest, byEnd[next++]!.number)
        assert.ok(
          one.number > highest,
          `${kind} ${one.number} was asked for after ${highest} had been answered`,
        )
      }
    }
  }

  private async work(family: Family, name: string, at: number): Promise<void> {
    const worker = new Worker(this.options.timeoutMs, family, name, at)
    const { random, paceMs } = this.options
    while (this.running) {
      if (paceMs > 0) await sleep(paceMs * (0.5 + random()))
      const roll = random()
      if (roll < 0.25) await this.trade(worker, family)
      else await this.ask(worker, family, this.drawn(family, roll))
    }
    worker.caller.close()
  }
  private drawn(family: Family, roll: number): LedgerInput {
    const { random, name } = this.options
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
    const accounts = ['main', ...family.subs.map(String)]
    if (roll < 0.45) return { kind: 'read', account: pick(accounts) }
    if (roll < 0.52 && family.ids.length > 0) return { kind: 'find', id: pick(family.ids.slice(-20)) }
    if (roll < 0.6 && family.open.length > 0)
      return { kind: 'cancel', id: family.open.splice(Math.floor(random() * family.open.length), 1)[0]! }
    const number = `${name}-${this.made++}`
    const move = (id: string, from: string, to: string | undefined, amount: string): LedgerInput => {
      family.ids.push(id)
      return { kind: 'move', id, from, to, amount: amountOf(amount) }
    }
    if (roll < 0.7) return move(`t-o${number}`, 'main', undefined, `0.${pick(['01', '02', '05'])}`)
    if (roll < 0.74) return move(`w${number}`, 'main', undefined, '0.01')
    const sub = String(pick(family.subs))
    const amount = pick(['0.3', '1', '7', '20'])
    return random() < 0.5 ? move(`c${number}`, 'main', sub, amount) : move(`c${number}`, sub, 'main', amount)
  }
  /** One thing, asked again under its id until somebody answers. */
  private async ask(worker: Worker, family: Family, input: LedgerInput): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt++) {
      const call = performance.now()
      const outcome = await sendLedger(worker.caller, this.urls[worker.at % this.urls.length]!, input)
      const ret = performance.now()
      this.count(outcome)
      if (outcome.is === 'ok' || outcome.is === 'refused') {
        const output = heardLedger(input, outcome)
        if (output === undefined) this.surprises.push(`${told({ input })}: ${JSON.stringify(outcome)}`)
        else family.history.push({ client: worker.name, input, call, ret, output })
        if (outcome.is === 'ok' && input.kind === 'move') this.acknowledge(input.id, outcome.body, call, ret)
        if (input.kind === 'move' && input.id.startsWith('t-o') && output?.is !== 'short')
          family.open.push(input.id)
        return
      }
      if (outcome.is === 'unknown') {
        family.history.push({ client: worker.name, input, call, ret: Infinity, output: undefined })
        if (input.kind === 'read') return
      }
      worker.at++
      await sleep(20 + this.options.random() * 60)
    }
    this.surprises.push(`${told({ input })}: never answered`)
  }
  private acknowledge(id: string, body: { tx_id?: number; id?: string }, call: number, ret: number): void {
    const kind = id.startsWith('c') ? 'transfer' : id.startsWith('w') ? 'withdrawal' : 'order'
    const number = Number(kind === 'transfer' ? body.tx_id : String(body.id).replace(/^\D+/, ''))
    this.acknowledged.push({ kind, id, number, call, ret })
  }
  /** An order in the shared market. One that nobody answered is looked for, because its text may be used again. */
  private async trade(worker: Worker, family: Family): Promise<void> {
    const { random, name } = this.options
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
    const text = `t-m${name}-${this.made++}`
    const amount = 1 + Math.floor(random() * 3)
    const price = pick(PRICES)
    const input: MarketInput = { kind: 'place', text, side: family.side, price: Number(price), amount }
    const body = { currency_pair: PAIR, side: family.side, price, amount: String(amount * LOT), text }
    const placed = await this.record(worker, input, (url) =>
      worker.caller.call(url, 'POST', '/spot/orders', { body }),
    )
    if (placed.is === 'unsent') return
    // What rests is soon taken away again, so that the book stays small.
    const query = { currency_pair: PAIR }
    if (placed.is === 'ok' && placed.body.status === 'open' && random() < 0.6) {
      const cancelled = await this.record(worker, { kind: 'cancel', text }, (url) =>
        worker.caller.call(url, 'DELETE', `/spot/orders/${text}`, { query }),
      )
      if (cancelled.is === 'ok' || cancelled.is === 'refused') return
    } else if (placed.is === 'ok') return
    for (let attempt = 0; attempt < 200; attempt++) {
      const seen = await this.record(worker, { kind: 'find', text }, (url) =>
        worker.caller.call(url, 'GET', `/spot/orders/${text}`, { query }),
      )
      if (seen.is === 'ok' || seen.is === 'refused') return
      await sleep(20 + random() * 60)
    }
    this.surprises.push(`find ${text}: never answered`)
  }
  private async record(
    worker: Worker,
    input: MarketInput,
    send: (url: string) => Promise<Outcome>,
  ): Promise<Outcome> {
    const call = performance.now()
    const outcome = await send(this.urls[worker.at % this.urls.length]!)
    const ret = performance.now()
    this.count(outcome)
    if (outcome.is === 'unsent' || outcome.is === 'unknown') {
      worker.at++
      if (outcome.is === 'unknown' && input.kind !== 'find')
        this.market.push({ client: worker.name, input, call, ret: Infinity, output: undefined })
      return outcome
    }
    const output: MarketOutput | undefined =
      outcome.is === 'ok'
        ? { is: outcome.body.status, left: Number(outcome.body.left) / LOT }
        : isMissing(outcome.label)
          ? { is: 'none' }
          : undefined
    if (output === undefined) this.surprises.push(`${JSON.stringify(input)}: ${JSON.stringify(outcome)}`)
    else this.market.push({ client: worker.name, input, call, ret, output })
    if (outcome.is === 'ok' && input.kind === 'place')
      this.acknowledged.push({ kind: 'trade', id: input.text, number: Number(outcome.body.id), call, ret })
    return outcome
  }
  private count(outcome: Outcome): void {
    this.counts[outcome.is]++
    if (outcome.is === 'unknown' || outcome.is === 'unsent')
      this.unknowns.set(outcome.why, (this.unknowns.get(outcome.why) ?? 0) + 1)
  }
}

class Worker {
  readonly caller: Caller
  readonly name: string
  at: number
  constructor(timeoutMs: number, family: Family, name: string, at: number) {
    this.caller = new Caller(family.credential, timeoutMs)
    this.name = name
    this.at = at
  }
}
const told = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'bigint' ? decimal(one) : one === Infinity ? 'never' : one,
  )
