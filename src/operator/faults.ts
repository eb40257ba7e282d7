import { METHODS, endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { EFFECTS, FAULTS_MAX, type FaultRule } from '../api/faults.ts'
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
import { anything, array } from '../api/shapes.ts'
import { refuse } from '../labels.ts'
import type { Controls } from './platform.ts'

const SEQUENCE_MAX = 100
export const pathPattern = text({
  max: 256,
  pattern: /^(\/[^\s?*]*\*?|\*)$/,
  mend: 'must begin with / and may end with *',
})
const STEP = {
  status: optional(integer(400, 599)),
  label: optional(text({ max: 64, pattern: /^[A-Z][A-Z0-9_]*$/, mend: 'must be a label such as TOO_BUSY' })),
  delay_ms: optional(integer(0, 60_000)),
}
const NO_MATCH = { method: null, path: null, user_id: null, key: null }
const faultBody = strict({
  match: withDefault(
    strict({
      method: optional(oneName(...METHODS)),
      path: optional(pathPattern),
      user_id: optional(id()),
      key: optional(text({ max: 64 })),
    }),
    NO_MATCH,
  ),
  effect: optional(oneOf(...EFFECTS)),
  ...STEP,
  sequence: optional(listOf(strict({ effect: oneOf(...EFFECTS), ...STEP }), SEQUENCE_MAX)),
  times: optional(integer(1, 1_000_000)),
  probability: optional(number(0, 1)),
})
type FaultBody = ReturnType<typeof faultBody.read>
type StepBody = Pick<FaultBody, 'effect' | 'status' | 'label' | 'delay_ms'>

const given = (members: object): object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
/** A step that could do nothing, or does not say what, is a mistake. */
function checkStep(step: StepBody, where: string): void {
  if (step.effect === 'delay' && step.delay_ms === null)
    refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${where}delay_ms (of the effect delay)`)
  for (const name of ['status', 'label'] as const)
    if (step.effect !== 'error' && step[name] !== null)
      refuse(
        'INVALID_PARAM_VALUE',
        `${where}${name}: belongs to the effect error, not to ${step.effect ?? 'a sequence'}`,
      )
}
function faultRule(body: FaultBody, where: string): FaultRule {
  const { sequence } = body
  if ((body.effect === null) === (sequence === null))
    refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${where}effect or sequence (one of them)`)
  checkStep(body, where)
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
    summary: 'Replaces the fault rules: errors, delays, dropped replies and duplicated requests on demand',
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
]
