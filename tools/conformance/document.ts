import { tradingEndpoints, operatorEndpoints, consoleEndpoints } from '../../src/endpoints.ts'
import { CALL_CHANNELS } from '../../src/sockets/call-channels.ts'
import { CHANNELS } from '../../src/sockets/channels.ts'
import { DEPOSIT_FLOW } from '../../src/core/tables/deposit.flow.ts'
import { PUSH_FLOW } from '../../src/core/tables/push.flow.ts'
import { REFUND_FLOW } from '../../src/core/tables/refund.flow.ts'
import { SWEEP_FLOW } from '../../src/core/tables/sweep.flow.ts'
import { WITHDRAWAL_FLOW } from '../../src/core/tables/withdrawal.flow.ts'
import type { CoverageData } from '../../test/coverage/data.ts'

export const REST_CLIENTS = ['gate-api', 'gateio-api', 'ccxt'] as const
export const SOCKET_CLIENTS = ['gateio-api', 'ccxt.pro'] as const
export const FLOWS: Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, string | undefined>>>>>
> = {
  withdrawal: WITHDRAWAL_FLOW,
  deposit: DEPOSIT_FLOW,
  refund: REFUND_FLOW,
  sweep: SWEEP_FLOW,
  push: PUSH_FLOW,
}
export const ENDPOINTS = [
  ...tradingEndpoints.map((endpoint) => ({ name: `${endpoint.method} /api/v4${endpoint.path}`, endpoint })),
  ...operatorEndpoints(undefined as never).map((endpoint) => ({
    name: `${endpoint.method} /operator/v1${endpoint.path}`,
    endpoint,
  })),
  ...consoleEndpoints({ surface: 'all' } as never).map((endpoint) => ({
    name: `${endpoint.method} /console/v1${endpoint.path}`,
    endpoint,
  })),
]
export const TRADING = tradingEndpoints.map(({ method, path }) => `${method} /api/v4${path}`)
export const SOCKETS = [...CHANNELS.map(({ name }) => name), ...CALL_CHANNELS.map(({ channel }) => channel)]
/** Each way from one status to another, with the event that leads there. */
export const stepsOf = (flow: string): { from: string; to: string; event: string }[] =>
  Object.entries(FLOWS[flow]!).flatMap(([from, exits]) =>
    Object.entries(exits).map(([event, to]) => ({ from, to: to!, event })),
  )

const shortened = (file: string): string => file.replace(/^test\//, '').replace(/\.test\.ts$/, '')
const told = (files: readonly string[] | undefined, reason: string | undefined): string => {
  if (files === undefined || files.length === 0) return `none: ${reason ?? 'MISSING'}`
  return files.map(shortened).join(', ')
}
const share = (part: number, whole: number): string => `${part} of ${whole}`

/** docs/COVERAGE.md: what is held by which client and which test. */
export function coverageDocument(data: CoverageData): string {
  const { clients, channels, labels, transitions, excused } = data
  const cell = (endpoint: string, client: string): string => {
    const found = clients[endpoint]?.[client]
    return found === undefined ? '–' : found.status < 300 ? 'yes' : found.label
  }
  const declared = ENDPOINTS.flatMap(({ name, endpoint }) =>
    [...new Set(endpoint.refuses)].map((label) => ({ name, label })),
  )
  const provoked = declared.filter(({ name, label }) => (labels[name]?.[label]?.length ?? 0) > 0)
  const steps = Object.keys(FLOWS).flatMap((flow) => stepsOf(flow).map((step) => ({ flow, ...step })))
  const walked = steps.filter(
    ({ flow, from, to }) => (transitions[flow]?.[`${from} → ${to}`]?.length ?? 0) > 0,
  )
  return [
    '# Coverage',
    '',
    'Made by `npm run conformance`; a test compares it with the declarations, and fails on what is covered by nothing and not excused in `test/coverage/excused.json`.',
    '',
    `- Trading endpoints that an unmodified client calls: ${share(TRADING.filter((name) => clients[name] !== undefined).length, TRADING.length)}`,
    ...REST_CLIENTS.map((client) => {
      const known = TRADING.filter((name) => clients[name]?.[client] !== undefined)
      return `- ${client}: ${known.length}, of them ${known.filter((name) => clients[name]![client]!.status < 300).length} with success`
    }),
    `- Channels and calls of sockets that an unmodified client uses: ${share(SOCKETS.filter((name) => channels[name] !== undefined).length, SOCKETS.length)}`,
    `- Declared labels that a test provokes: ${share(provoked.length, declared.length)}`,
    `- Transitions of flows that a test walks: ${share(walked.length, steps.length)}`,
    '',
    '## Endpoints by client',
    '',
    'yes: it got what it asked for; a label: it was refused so; –: it has no method for it. Every answer was held against its declared shape.',
    '',
    `| endpoint | ${REST_CLIENTS.join(' | ')} | |`,
    `| --- | ${REST_CLIENTS.map(() => '---').join(' | ')} | --- |`,
    ...TRADING.map(
      (name) =>
        `| ${name} | ${REST_CLIENTS.map((client) => cell(name, client)).join(' | ')} | ${clients[name] === undefined ? (excused.clients[name] ?? 'MISSING') : ''} |`,
    ),
    '',
    '## Channels and calls by client',
    '',
    `| channel | ${SOCKET_CLIENTS.join(' | ')} | |`,
    `| --- | ${SOCKET_CLIENTS.map(() => '---').join(' | ')} | --- |`,
    ...SOCKETS.map(
      (name) =>
        `| ${name} | ${SOCKET_CLIENTS.map((client) => (channels[name]?.includes(client) === true ? 'yes' : '–')).join(' | ')} | ${channels[name] === undefined ? (excused.channels[name] ?? 'MISSING') : ''} |`,
    ),
    '',
    '## Labels by test',
    '',
    'Labels of an endpoint’s own rules; what any request may be told (fields, signatures, permissions, limits) is in `test/http/matrix.test.ts`, `requests.test.ts` and `authentication.test.ts`.',
    '',
    '| endpoint | label | test |',
    '| --- | --- | --- |',
    ...declared.map(
      ({ name, label }) =>
        `| ${name} | ${label} | ${told(labels[name]?.[label], excused.labels[`${name} ${label}`])} |`,
    ),
    '',
    '## Transitions by test',
    '',
    '| flow | transition | event | test |',
    '| --- | --- | --- | --- |',
    ...steps.map(
      ({ flow, from, to, event }) =>
        `| ${flow} | ${from} → ${to} | ${event} | ${told(transitions[flow]?.[`${from} → ${to}`], excused.transitions[`${flow} ${from} → ${to}`])} |`,
    ),
    '',
  ].join('\n')
}
