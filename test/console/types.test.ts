import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { TYPES_PATH, consoleTypes } from '../../tools/console-types.ts'

test('the types of the pages are those of the endpoints; `npm run console-types` makes them', () => {
  const there = readFileSync(new URL(`../../../${TYPES_PATH}`, import.meta.url), 'utf8')
  assert.ok(there === consoleTypes(), `${TYPES_PATH} is not what the declarations say`)
})
