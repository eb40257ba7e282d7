import { setTimeout as sleep } from 'node:timers/promises'
import { LABELS, Refusal, type Label } from '../labels.ts'

/** Failures on demand, for people who test how their client copes. Sandbox only. */
export interface FaultRule {
  readonly match: { readonly method?: string; readonly path?: string; readonly user_id?: number }
  readonly effect: 'error' | 'delay' | 'drop_reply' | 'duplicate'
  /** With error: what is answered instead of the request being carried out. */
  readonly status?: number
  readonly label?: string
  /** With any effect: wait first. */
  readonly delay_ms?: number
  /** How often it acts before it is used up; left out: for ever. */
  readonly times?: number
  /** 0 to 1; left out: always. */
  readonly probability?: number
}
export interface FaultPlan {
  readonly dropReply: boolean
  readonly duplicate: boolean
}
export class Faults {
  private rules: { rule: FaultRule; left: number }[] = []
  private readonly random: () => number
  constructor(random: () => number = Math.random) {
    this.random = random
  }
  get active(): boolean {
    return this.rules.length > 0
  }
  list(): (FaultRule & { readonly left?: number })[] {
    return this.rules.map(({ rule, left }) => (left === Infinity ? rule : { ...rule, left }))
  }
  set(rules: readonly FaultRule[]): void {
    this.rules = rules.map((rule) => ({ rule, left: rule.times ?? Infinity }))
  }
  /** What happens to this request; an `error` is thrown from here, before anything is carried out. */
  async apply(method: string, path: string, userId: number | undefined): Promise<FaultPlan> {
    let dropReply = false
    let duplicate = false
    for (const entry of this.rules) {
      const { rule } = entry
      if (entry.left <= 0 || !matches(rule, method, path, userId)) continue
      if (rule.probability !== undefined && this.random() >= rule.probability) continue
      entry.left--
      if (rule.delay_ms !== undefined) await sleep(rule.delay_ms)
      if (rule.effect === 'error') throw fault(rule)
      if (rule.effect === 'drop_reply') dropReply = true
      if (rule.effect === 'duplicate') duplicate = true
    }
    this.rules = this.rules.filter(({ left }) => left > 0)
    return { dropReply, duplicate }
  }
}

function matches({ match }: FaultRule, method: string, path: string, userId: number | undefined): boolean {
  if (match.method !== undefined && match.method.toUpperCase() !== method) return false
  if (match.user_id !== undefined && match.user_id !== userId) return false
  if (match.path === undefined) return true
  const wanted = match.path.startsWith('/api/v4') ? match.path : `/api/v4${match.path}`
  return wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted
}
function fault(rule: FaultRule): Refusal {
  const label = rule.label ?? 'SERVER_ERROR'
  const known = Object.hasOwn(LABELS, label) ? LABELS[label as Label] : 500
  return new Refusal(
    label as Label,
    'a fault that was asked for with PUT /operator/v1/faults',
    rule.status ?? known,
  )
}
