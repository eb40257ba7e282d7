import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { RULES } from '../../src/core/commands.ts'
import { changesOf, type Recorded } from './rules-history.ts'

/** What `npm run rules` left there. */
interface Kept {
  readonly rules: number
  readonly history: readonly [...Recorded, string][]
}
const FILE = new URL('../../../test/core/rules.json', import.meta.url)

test('recorded commands lead where they led, or RULES has been raised', () => {
  const { rules, history } = JSON.parse(readFileSync(FILE, 'utf8')) as Kept
  assert.equal(rules, RULES, 'RULES was raised: run `npm run rules`, which records commands by the new rules')
  const types = new Set(history.map(([, type]) => type))
  for (const type of [
    'spot.place',
    'transfer.create',
    'withdrawal.intend',
    'chain.observe',
    'margin.mode',
    'margin.loan',
    'futures.place',
    'futures.trail.create',
    'due.run',
    'push.create',
  ])
    assert.ok(types.has(type), `there is no ${type} among the recorded commands`)
  const now = changesOf(history.map(([at, type, input]) => [at, type, input] as const))
  const first = history.findIndex(([, , , then], i) => now[i] !== then)
  if (first === -1) return
  const [, type, input] = history[first]!
  assert.fail(
    `command ${first + 1} of test/core/rules.json (${type} ${JSON.stringify(input).slice(0, 200)}) changes other rows than it did (${now[first]}).
Recorded commands are carried out again by new rules from the last checkpoint on: raise RULES in src/core/commands.ts, so that the next start makes one, and run \`npm run rules\`.`,
  )
})
