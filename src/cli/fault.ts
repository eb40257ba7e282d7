import { METHODS } from '../api/endpoint.ts'
import type { FaultRule } from '../api/faults.ts'
import { DELAY_TOO, EFFECTS, type FaultStep, type NamedStep } from '../api/fault-steps.ts'
import { ConfigError } from '../config.ts'
import { drive, type OperatorApi, type Said } from './operator-api.ts'

type Listed = FaultRule & { readonly left?: number }
const WORDS: Readonly<Record<string, FaultStep['effect']>> = {
  ...Object.fromEntries(EFFECTS.map((effect) => [effect, effect])),
  drop: 'drop_reply',
  twice: 'duplicate',
}

export const fault = drive({
  usage: 'kontor fault [list | clear | report | EFFECT [WORDS]] [--json]',
  detail: `Adds a fault rule from short words, in any order:
  EFFECT         error, delay, drop (the reply is lost after the commit), twice (delivered twice), pass;
                 on sockets also disconnect (no close handshake), gap (one delta of a book is swallowed)
  503 TOO_BUSY   with error: the status and the label that are answered
  500ms or 2s    the wait (before any effect)
  POST /spot/*   method and path (below /api/v4; * at the end stands for anything)
  spot.orders    a channel of sockets (spot.* stands for all of spot): acts on frames, not on requests
  user=demo      a login name or id
  key=KEY        an API key
  x3             acts three times, then it is used up
  p=0.5          acts on half of the requests; with seed=7 on the same ones in every run
  then           the next effect of a sequence: each request that matches gets the next one
Such as
  kontor fault error 503 TOO_BUSY POST /spot/orders x1
  kontor fault error 502 then delay 2s then drop POST /withdrawals user=demo
kontor fault (or fault list) lists the rules; kontor fault clear takes them all back. kontor fault report
tells what clients did after each fault. Your own calls of the operator API never meet one.`,
  words: [0, 64],
  run: async (api, { words }) => {
    const [verb = 'list', ...more] = words
    if (verb === 'list' || verb === 'clear' || verb === 'report') {
      if (more.length > 0) throw new ConfigError(`"${more[0]!}" is one word too many; usage: ${fault.usage}`)
      if (verb === 'report') return report(api)
      const rules = await (verb === 'list'
        ? api.get<Listed[]>('/faults')
        : api.call<Listed[]>('PUT', '/faults', []))
      return { json: rules, text: rules.length === 0 ? 'no faults' : rules.map(line).join('\n') }
    }
    const rule = await ruleOf(words, api)
    const rules = await api.call<Listed[]>('POST', '/faults', rule)
    return { json: rules, text: rules.map(line).join('\n') }
  },
})

interface Reported {
  readonly effect: FaultStep['effect']
  readonly status: number | null
  readonly label: string | null
  readonly delay_ms: number | null
  readonly method: string
  readonly path: string
  readonly user_id: number | null
  readonly outcome: string
  readonly retries: number
  readonly first_retry_ms: number | null
  readonly lookups: number
  readonly money: string
  readonly advice: string
}
/** Oldest first: a person reads what happened in its order. */
async function report(api: OperatorApi): Promise<Said> {
  const reply = await api.get<{ injected: number; faults: Reported[] }>('/faults/report', { limit: '200' })
  const lines = [...reply.faults].reverse().map((one) => {
    const who = one.user_id === null ? '' : ` user=${one.user_id}`
    const retried =
      one.retries === 0 ? '' : `, sent again ${one.retries} times, first after ${one.first_retry_ms ?? 0} ms`
    const looked = one.lookups === 0 ? '' : `, ${one.lookups} lookups`
    const advice = one.advice === '' ? '' : `; ${one.advice}`
    const money = MONEY[one.money] ?? ''
    return `${stepWords(stepOf(one))} ${one.method} ${one.path}${who}: ${one.outcome}${retried}${looked}${money}${advice}`
  })
  return { json: reply, text: lines.length === 0 ? 'no fault has acted yet' : lines.join('\n') }
}

const MONEY: Readonly<Record<string, string>> = {
  twice: ', MONEY MOVED TWICE',
  maybe_twice: ', money may have moved twice',
}
const stepOf = ({ effect, status, label, delay_ms }: Reported): FaultStep => ({
  effect,
  ...(status !== null && { status }),
  ...(label !== null && { label }),
  ...(delay_ms !== null && { delay_ms }),
})

interface Step {
  effect: FaultStep['effect']
  status?: number
  label?: string
  delay_ms?: number
}
interface Rule {
  readonly match: { method?: string; path?: string; user_id?: number; key?: string; channel?: string }
  steps: Step[]
  times?: number
  probability?: number
  seed?: number
}
/** What POST /faults takes. */
export async function ruleOf(words: readonly string[], api: Pick<OperatorApi, 'user'>): Promise<object> {
  const rule: Rule = { match: {}, steps: [] }
  let begins = true
  for (const word of words) {
    if (word === 'then') {
      if (begins) throw new ConfigError('"then" stands between two effects; kontor fault --help shows how')
      begins = true
    } else if (begins) {
      const effect = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
      if (effect === undefined)
        throw new ConfigError(
          `"${word}" is no effect; use list, clear, report, ${Object.keys(WORDS).join(', ')}`,
        )
      rule.steps.push({ effect })
      begins = false
    } else await readWord(word, rule, api)
  }
  if (begins) throw new ConfigError('"then" needs an effect after it')
  const { steps, ...rest } = rule
  return steps.length === 1 ? { ...rest, ...steps[0] } : { ...rest, sequence: steps }
}
async function readWord(word: string, rule: Rule, api: Pick<OperatorApi, 'user'>): Promise<void> {
  const step = rule.steps.at(-1)!
  const named = /^(user|key|p|seed)=(.+)$/.exec(word)
  const wait = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(word)
  const times = /^x(\d+)$/.exec(word)
  if ((METHODS as readonly string[]).includes(word.toUpperCase())) rule.match.method = word.toUpperCase()
  else if (word.startsWith('/') || word === '*') rule.match.path = word
  else if (/^[a-z]+\.[a-z0-9_]*\*?$/.test(word)) rule.match.channel = word
  else if (named?.[1] === 'user') rule.match.user_id = (await api.user(named[2]!)).user_id
  else if (named?.[1] === 'key') rule.match.key = named[2]!
  else if (named?.[1] === 'p') rule.probability = Number(named[2])
  else if (named?.[1] === 'seed') rule.seed = Number(named[2])
  else if (times !== null) rule.times = Number(times[1])
  else if (wait !== null) step.delay_ms = Math.round(Number(wait[1]) * (wait[2] === 's' ? 1000 : 1))
  else if (/^\d{3}$/.test(word)) step.status = Number(word)
  else if (/^[A-Z][A-Z0-9_]+$/.test(word)) step.label = word
  else throw new ConfigError(`"${word}" is not a word of a fault; kontor fault --help lists them`)
}

function line(rule: Listed): string {
  const { match } = rule
  const steps: readonly Partial<NamedStep>[] = rule.sequence ?? [rule]
  const words = [
    steps.map(stepWords).join(' then '),
    match.method,
    match.path,
    match.channel,
    match.user_id === undefined ? undefined : `user=${match.user_id}`,
    match.key === undefined ? undefined : `key=${match.key}`,
    rule.times === undefined ? undefined : `x${rule.times}`,
    rule.probability === undefined ? undefined : `p=${rule.probability}`,
    rule.seed === undefined ? undefined : `seed=${rule.seed}`,
    rule.left === undefined ? undefined : `(${rule.left} left)`,
  ]
  return words.filter((word) => word !== undefined).join(' ')
}
function stepWords({ effect = 'delay', status, label, delay_ms }: Partial<NamedStep>): string {
  const short =
    effect === 'drop_reply'
      ? 'drop'
      : effect === 'duplicate'
        ? 'twice'
        : effect === DELAY_TOO
          ? 'delay'
          : effect
  return [short, status, label, delay_ms === undefined ? undefined : `${delay_ms}ms`]
    .filter((word) => word !== undefined)
    .join(' ')
}
