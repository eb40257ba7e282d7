import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import {
  ENDPOINTS,
  FLOWS,
  SOCKETS,
  TRADING,
  coverageDocument,
  stepsOf,
} from '../../tools/conformance/document.ts'
import { coverageData } from './data.ts'

/** The short form of `npm run conformance`: what was recorded against what is declared. */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const data = coverageData()
const { clients, channels, labels, transitions, excused } = data
const HINT =
  'run npm run conformance (-- --labels WORDS for labels and transitions), or say why in test/coverage/excused.json'

/** All that must be covered is, or there is a reason; and nobody is excused who need not be. */
function covered(
  needed: readonly string[],
  isCovered: (one: string) => boolean,
  reasons: Readonly<Record<string, string>>,
): void {
  const missing = needed.filter((one) => !isCovered(one) && (reasons[one] ?? '') === '')
  assert.deepEqual(missing, [], HINT)
  const idle = Object.keys(reasons).filter((one) => !needed.includes(one) || isCovered(one))
  assert.deepEqual(
    idle,
    [],
    'these are covered, or not declared any more: take them out of test/coverage/excused.json',
  )
}

test('every endpoint of the trading API is called by an unmodified client', () =>
  covered(TRADING, (name) => clients[name] !== undefined, excused.clients))
test('and one of them gets what it asks for, or the label that the endpoint always answers with', () => {
  const refusedAlways = TRADING.filter((name) =>
    Object.values(clients[name] ?? {}).every(({ status }) => status >= 300),
  )
  assert.deepEqual(refusedAlways, [
    'POST /api/v4/spot/cross_liquidate_orders',
    'POST /api/v4/margin/cross/loans',
    'POST /api/v4/margin/cross/repayments',
  ])
})
test('every channel and call of sockets is used by an unmodified client', () =>
  covered(SOCKETS, (name) => channels[name] !== undefined, excused.channels))
test('every declared label is provoked by a test', () => {
  const declared = ENDPOINTS.flatMap(({ name, endpoint }) =>
    [...new Set(endpoint.refuses)].map((label) => `${name} ${label}`),
  )
  covered(
    declared,
    (one) => {
      const at = one.lastIndexOf(' ')
      return (labels[one.slice(0, at)]?.[one.slice(at + 1)]?.length ?? 0) > 0
    },
    excused.labels,
  )
})
test('every transition of a flow is walked by a test', () => {
  const steps = Object.keys(FLOWS).flatMap((flow) =>
    stepsOf(flow).map(({ from, to }) => `${flow} ${from} → ${to}`),
  )
  covered(
    [...new Set(steps)],
    (one) => {
      const at = one.indexOf(' ')
      return (transitions[one.slice(0, at)]?.[one.slice(at + 1)]?.length ?? 0) > 0
    },
    excused.transitions,
  )
})
test('the tests that are named are there, and the document says what the data says', () => {
  const files = new Set(
    [labels, transitions].flatMap((table) =>
      Object.values(table).flatMap((inner) => Object.values(inner).flat()),
    ),
  )
  assert.ok(files.size > 50)
  assert.deepEqual(
    [...files].filter((file) => !existsSync(`${root}${file}`)),
    [],
  )
  // Not `equal`: what differs in so long a text would take minutes to tell.
  const told = readFileSync(`${root}docs/COVERAGE.md`, 'utf8')
  assert.ok(told === coverageDocument(data), 'run npm run conformance -- --document')
})
