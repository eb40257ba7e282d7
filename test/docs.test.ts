import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DOCUMENTS } from '../tools/docs.ts'

test('generated documents are those of the sources; `npm run docs` makes them', () => {
  for (const { path, make } of DOCUMENTS)
    assert.equal(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'), make(), path)
})
