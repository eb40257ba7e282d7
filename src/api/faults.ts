import { setTimeout as sleep } from 'node:timers/promises'
import { LABELS, Refusal, type Label } from '../labels.ts'
import { FaultReport, type ReportedRequest } from './fault-report.ts'
import { DELAY_TOO, PUSH_EFFECTS, type Effect, type FaultStep, type NamedStep } from './fault-steps.ts'

/** Which requests; what is left out matches all. */
export interface FaultMatch {
  readonly method?: string
  readonly path?: string
  readonly user_id?: number
  /** An API key: of one of several bots on the same account. */
  readonly key?: string
  /** A channel of sockets, a * at its end for anything: then it is frames that are meant, and no request. */
  readonly channel?: string
}
/** Failures on demand, for people who test how their client copes. Sandbox only. */
export interface FaultRule extends Partial<NamedStep> {
  readonly match: FaultMatch
  /** Instead of an effect: the first request that matches gets the first step, the second the second, and so on. */
  readonly sequence?: readonly NamedStep[]
  /** How often it acts before it is used up; left out: for ever, or a sequence once. */
  readonly times?: number
  /** 0 to 1; left out: always. */
  readonly probability?: number
  /** What this chance is drawn from: the same requests meet the same faults in every run. Left out: real chance. */
  readonly seed?: number
}
export interface FaultPlan {
  readonly dropReply: boolean
  readonly duplicate: boolean
}
/** What happens to a frame of a socket. */
export interface FramePlan {
  readonly delayMs: number
  /** Answered in place of the call being carried out. */
  readonly error: Refusal | undefined
  /** It is carried out, and not answered. */
  readonly dropReply: boolean
  /** It is sent twice. */
  readonly duplicate: boolean
  /** The socket ends here, without a close handshake. */
  readonly disconnect: boolean
  /** A delta that is swallowed. */
  readonly gap: boolean
}
export interface FrameTarget {
  readonly channel: string
  readonly user_id?: number | undefined
  readonly key?: string | undefined
  /** Of a call: what the report keeps. */
  readonly request?: ReportedRequest
}
/** What a rule can be aimed at. */
export type FaultTarget = Pick<ReportedRequest, 'method' | 'path' | 'userId' | 'key'>
interface Entry {
  readonly rule: FaultRule
  readonly steps: readonly FaultStep[]
  readonly random: () => number
  /** Requests that it will still act on. */
  left: number
  acted: number
}
export const FAULTS_MAX = 100

export class Faults {
  /** What clients did after each of them. */
  readonly report = new FaultReport()
  private rules: Entry[] = []
  private readonly random: () => number
  constructor(random: () => number = Math.random) {
    this.random = random
  }
  get active(): boolean {
    return this.rules.length > 0
  }
  get room(): boolean {
    return this.list().length < FAULTS_MAX
  }
  list(): (FaultRule & { readonly left?: number })[] {
    return this.rules
      .filter(({ left }) => left > 0)
      .map(({ rule, left }) => (left === Infinity ? rule : { ...rule, left }))
  }
  set(rules: readonly FaultRule[]): void {
    this.rules = rules.map((rule) => entryOf(rule, this.random))
  }
  /** After those that there are, which keep their count. */
  add(rule: FaultRule): void {
    this.rules.push(entryOf(rule, this.random))
  }
  /**
   * What happens to this request: every rule that matches acts, in the order of the list. An `error` is thrown from
   * here, before anything is carried out, and the rules after it are not touched.
   */
  async apply(target: ReportedRequest): Promise<FaultPlan> {
    let dropReply = false
    let duplicate = false
    for (const entry of this.rules) {
      if (entry.left <= 0 || !matches(entry.rule.match, target)) continue
      // Taken before the wait: a request that comes in the meantime gets the next one.
      const step = this.take(entry)
      if (step === undefined) continue
      if (step.effect !== 'pass') this.report.add(step, target)
      if (step.delay_ms !== undefined) await sleep(step.delay_ms)
      if (step.effect === 'error') throw fault(step)
      if (step.effect === 'drop_reply') dropReply = true
      if (step.effect === 'duplicate') duplicate = true
    }
    return { dropReply, duplicate }
  }
  /**
   * The same for a frame of a socket, by the rules that name a channel; undefined: nothing. A step that can't happen to
   * such a frame leaves its rule as it is.
   */
  ofFrame(target: FrameTarget, can: readonly Effect[] = PUSH_EFFECTS): FramePlan | undefined {
    let plan: FramePlan | undefined
    for (const entry of this.rules) {
      const { rule, steps } = entry
      if (entry.left <= 0 || !matchesFrame(rule.match, target)) continue
      if (!can.includes(steps[entry.acted % steps.length]!.effect)) continue
      const step = this.take(entry)
      if (step === undefined || (step.effect === 'pass' && step.delay_ms === undefined)) continue
      if (target.request !== undefined && step.effect !== 'pass') this.report.add(step, target.request)
      plan = joined(plan ?? NOTHING_AMISS, step)
      if (plan.error !== undefined) break
    }
    return plan
  }
  /** The next step of a rule that matches; undefined: not this time. */
  private take(entry: Entry): FaultStep | undefined {
    const { probability } = entry.rule
    if (probability !== undefined && entry.random() >= probability) return undefined
    const step = entry.steps[entry.acted++ % entry.steps.length]!
    if (--entry.left <= 0) this.rules = this.rules.filter(({ left }) => left > 0)
    return step
  }
}
const NOTHING_AMISS: FramePlan = {
  delayMs: 0,
  error: undefined,
  dropReply: false,
  duplicate: false,
  disconnect: false,
  gap: false,
}
const joined = (plan: FramePlan, step: FaultStep): FramePlan => ({
  delayMs: plan.delayMs + (step.delay_ms ?? 0),
  error: step.effect === 'error' ? fault(step) : plan.error,
  dropReply: plan.dropReply || step.effect === 'drop_reply',
  duplicate: plan.duplicate || step.effect === 'duplicate',
  disconnect: plan.disconnect || step.effect === 'disconnect',
  gap: plan.gap || step.effect === 'gap',
})
function entryOf(rule: FaultRule, chance: () => number): Entry {
  const { sequence, times, seed } = rule
  const random = seed === undefined ? chance : drawnFrom(seed)
  if (sequence !== undefined)
    return {
      rule,
      steps: sequence.map(stepOf),
      random,
      left: (times ?? 1) * sequence.length,
      acted: 0,
    }
  return { rule, steps: [stepOf(rule)], random, left: times ?? Infinity, acted: 0 }
}
/** A rule keeps the words that it was given in. */
const stepOf = ({ effect = 'delay', ...rest }: Partial<NamedStep>): FaultStep => ({
  ...rest,
  effect: effect === DELAY_TOO ? 'delay' : effect,
})
/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function drawnFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function matchesFrame({ channel: wanted, user_id, key }: FaultMatch, target: FrameTarget): boolean {
  if (wanted === undefined) return false
  if (user_id !== undefined && user_id !== target.user_id) return false
  if (key !== undefined && key !== target.key) return false
  return wanted.endsWith('*') ? target.channel.startsWith(wanted.slice(0, -1)) : target.channel === wanted
}
function matches(match: FaultMatch, { method, path, userId, key }: FaultTarget): boolean {
  if (match.channel !== undefined) return false
  if (match.method !== undefined && match.method.toUpperCase() !== method) return false
  if (match.user_id !== undefined && match.user_id !== userId) return false
  if (match.key !== undefined && match.key !== key) return false
  return match.path === undefined || pathMatches(match.path, path)
}
/**
 * Below /api/v4, which may be left out, in letters of any case, as settle currencies are read; {order_id} stands for one
 * segment, and a * at the end for anything.
 */
export function pathMatches(pattern: string, path: string): boolean {
  const whole = /^\/(api\/v4|operator\/v1)(?![^/*])/.test(pattern)
  const wanted = whole || pattern.startsWith('*') ? pattern : `/api/v4${pattern}`
  const end = wanted.endsWith('*') ? '' : '$'
  const segments = wanted
    .replace(/\*$/, '')
    .split('/')
    .map((segment) =>
      /^\{\w+\}$/.test(segment) ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
    )
  return new RegExp(`^${segments.join('/')}${end}`, 'i').test(path)
}
function fault(step: FaultStep): Refusal {
  const label = step.label ?? 'SERVER_ERROR'
  const known = Object.hasOwn(LABELS, label) ? LABELS[label as Label] : 500
  return new Refusal(
    label as Label,
    'a fault that was asked for with PUT /operator/v1/faults',
    step.status ?? known,
  )
}
