import { METHODS, endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { FAULTS_MAX, type FaultRule } from '../api/faults.ts'
import { DELAY_TOO, EFFECTS, SOCKET_EFFECTS } from '../api/fault-steps.ts'
import {
  id,
  integer,
  listOf,
  number,
  oneName,
  oneOf,
  optional,
  strict,
  text,
  withDefault,
} from '../api/fields.ts'
import { adviceOn, moneyOf, outcomeOf, type InjectedFault, type Money } from '../api/fault-report.ts'
import { microsNow } from '../http/words.ts'
import { anything, array, int, int64, nullable, num, shape, str } from '../api/shapes.ts'
import { refuse } from '../labels.ts'
import type { Controls } from './platform.ts'

const SEQUENCE_MAX = 100
export const pathPattern = text({
  max: 256,
  pattern: /^(\/[^\s?*]*\*?|\*)$/,
  mend: 'must begin with / and may end with *',
})
const channelPattern = text({
  max: 64,
  pattern: /^([a-z]+\.[a-z0-9_]*\*?|\*)$/,
  mend: 'must be a channel of sockets such as spot.order_place, and may end with *',
})
const STEP = {
  status: optional(integer(400, 599)),
  label: optional(text({ max: 64, pattern: /^[A-Z][A-Z0-9_]*$/, mend: 'must be a label such as TOO_BUSY' })),
  delay_ms: optional(integer(0, 60_000)),
}
const NO_MATCH = { method: null, path: null, user_id: null, key: null, channel: null }
const faultBody = strict({
  match: withDefault(
    strict({
      method: optional(oneName(...METHODS)),
      path: optional(pathPattern),
      user_id: optional(id()),
      key: optional(text({ max: 64 })),
      channel: optional(channelPattern),
    }),
    NO_MATCH,
  ),
  effect: optional(oneOf(...EFFECTS, DELAY_TOO)),
  ...STEP,
  sequence: optional(listOf(strict({ effect: oneOf(...EFFECTS, DELAY_TOO), ...STEP }), SEQUENCE_MAX)),
  times: optional(integer(1, 1_000_000)),
  probability: optional(number(0, 1)),
  seed: optional(integer(0, 4_294_967_295)),
})
type FaultBody = ReturnType<typeof faultBody.read>
type StepBody = Pick<FaultBody, 'effect' | 'status' | 'label' | 'delay_ms'>

const given = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
/** A step that could do nothing, or does not say what, is a mistake. */
function checkStep(step: StepBody, where: string): void {
  if ((step.effect === 'delay' || step.effect === DELAY_TOO) && step.delay_ms === null)
    refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${where}delay_ms (of the effect delay)`)
  for (const name of ['status', 'label'] as const)
    if (step.effect !== 'error' && step[name] !== null)
      refuse(
        'INVALID_PARAM_VALUE',
        `${where}${name}: belongs to the effect error, not to ${step.effect ?? 'a sequence'}`,
      )
}
/** With a channel it is frames that are meant, without one it is requests. */
function checkAim({ match, effect, sequence }: FaultBody, where: string): void {
  if (match.channel !== null) {
    for (const name of ['method', 'path'] as const)
      if (match[name] !== null)
        refuse(
          'INVALID_PARAM_VALUE',
          `${where}match.${name}: belongs to requests; a rule with a channel acts on frames of sockets`,
        )
    return
  }
  for (const used of [effect, ...(sequence ?? []).map((step) => step.effect)])
    if (used !== null && used !== DELAY_TOO && SOCKET_EFFECTS.includes(used))
      refuse(
        'MISSING_REQUIRED_PARAM',
        `Missing required parameter: ${where}match.channel (of the effect ${used})`,
      )
}
function faultRule(body: FaultBody, where: string): FaultRule {
  const { sequence } = body
  // How long it waits says enough.
  const named = body.effect !== null || (sequence === null && body.delay_ms !== null)
  if (named && sequence !== null)
    refuse('INVALID_PARAM_VALUE', `${where}sequence: name it or effect, not both`)
  if (!named && sequence === null)
    refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${where}effect or sequence (one of them)`)
  if (body.seed !== null && body.probability === null)
    refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${where}probability (of the seed)`)
  checkStep(body, where)
  checkAim(body, where)
  if (sequence === null) return given({ ...body, match: given(body.match) }) as unknown as FaultRule
  if (sequence.length === 0)
    refuse('INVALID_PARAM_VALUE', `${where}sequence: [] must hold a step, such as {"effect": "error"}`)
  if (body.delay_ms !== null)
    refuse('INVALID_PARAM_VALUE', `${where}delay_ms: belongs to a step of the sequence`)
  sequence.forEach((step, i) => checkStep(step, `${where}sequence[${i}].`))
  return given({
    ...body,
    match: given(body.match),
    sequence: sequence.map(given),
  }) as unknown as FaultRule
}

const reportedShape = shape({
  id: int64,
  time: num,
  effect: str,
  status: nullable(int),
  label: nullable(str),
  delay_ms: nullable(int64),
  method: str,
  path: str,
  user_id: nullable(int64),
  key: nullable(str),
  ip: str,
  outcome: str,
  retries: int,
  first_retry_ms: nullable(int64),
  lookups: int,
  carried_out: int,
  money: str,
  advice: str,
  then: array(shape({ after_ms: int64, method: str, path: str, status: int, what: str })),
  more: int,
})
function reportedView(fault: InjectedFault, now: number) {
  const { step, request, then } = fault
  const outcome = outcomeOf(fault, now)
  const retries = then.filter(({ what }) => what === 'same_request')
  return {
    id: fault.id,
    time: Math.floor(request.at / 1000) / 1000,
    effect: step.effect,
    status: step.status ?? null,
    label: step.label ?? null,
    delay_ms: step.delay_ms ?? null,
    method: request.method,
    path: request.channel ?? request.path,
    user_id: request.userId ?? null,
    key: request.key ?? null,
    ip: request.ip,
    outcome,
    retries: retries.length,
    first_retry_ms: retries[0]?.afterMs ?? null,
    lookups: then.filter(({ what }) => what === 'lookup').length,
    carried_out: fault.carriedOut,
    money: moneyOf(fault),
    advice: adviceOn(fault, outcome),
    then: then.map(({ afterMs, ...rest }) => ({ after_ms: afterMs, ...rest })),
    more: fault.more,
  }
}

export const operatorFaultEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/faults',
    summary: 'Lists the fault rules in force; left: on how many requests one will still act',
    access: operatorOf('viewer'),
    limit: null,
    sandboxOnly: true,
    status: 200,
    reply: array(anything),
    refuses: [],
    handle: async () => Promise.resolve(controls.faults.list()),
  }),
  endpoint({
    method: 'PUT',
    path: '/faults',
    summary:
      'Replaces the fault rules: errors, delays, lost replies and duplicates on demand; with match.channel on sockets, cut lines and gaps too',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    body: listOf(faultBody, FAULTS_MAX),
    status: 200,
    reply: array(anything),
    refuses: [],
    handle: async ({ desk, operator, body }) => {
      const rules = body.map((rule, i) => faultRule(rule, `[${i}].`))
      await desk.core.submit('audit.note', { actor: operator, action: 'faults.set', detail: { rules } })
      controls.faults.set(rules)
      return controls.faults.list()
    },
  }),
  endpoint({
    method: 'POST',
    path: '/faults',
    summary: 'Adds one fault rule after those that there are, which keep their count',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    body: faultBody,
    status: 201,
    reply: array(anything),
    refuses: ['INVALID_PARAM_VALUE'],
    handle: async ({ desk, operator, body }) => {
      const rule = faultRule(body, '')
      await desk.core.submit('audit.note', { actor: operator, action: 'faults.add', detail: { rule } })
      if (!controls.faults.room)
        refuse('INVALID_PARAM_VALUE', `there are ${FAULTS_MAX} fault rules already; clear some first`)
      controls.faults.add(rule)
      return controls.faults.list()
    },
  }),
  endpoint({
    method: 'GET',
    path: '/faults/report',
    summary:
      'What clients did after each injected fault, newest first: sent the same request again, looked the record up, went on or fell silent; and whether money was moved twice',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    query: {
      user_id: optional(id()),
      key: optional(text({ max: 64 })),
      limit: withDefault(integer(1, 200), 100),
    },
    status: 200,
    reply: shape({ injected: int64, moved_twice: int, maybe_twice: int, faults: array(reportedShape) }),
    refuses: [],
    handle: async ({ query }) => {
      const { report } = controls.faults
      const now = microsNow()
      const wanted = [...report.list()]
        .reverse()
        .filter(
          ({ request }) =>
            (query.user_id === null || request.userId === query.user_id) &&
            (query.key === null || request.key === query.key),
        )
      const faults = wanted.slice(0, query.limit).map((fault) => reportedView(fault, now))
      const count = (money: Money): number => wanted.filter((fault) => moneyOf(fault) === money).length
      return Promise.resolve({
        injected: report.injected,
        moved_twice: count('twice'),
        maybe_twice: count('maybe_twice'),
        faults,
      })
    },
  }),
]
