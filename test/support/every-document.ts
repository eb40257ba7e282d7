import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freshClone, runDocument, untracked } from './document-run.ts'
import { blocksOf, isFile, runs } from './documents.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
/** All but the decisions, which tell of their time. */
export const documents = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
].filter((document) => existsSync(join(root, document)))
export const textOf = (document: string): string => readFileSync(join(root, document), 'utf8')

/** Those with something to run. */
const run = documents.filter((document) =>
  blocksOf(document, textOf(document)).some((one) => runs(one) || isFile(one)),
)
/** The plainest shell that there is: what it takes, the others take. */
const SHELL = existsSync('/bin/dash') ? '/bin/dash' : 'sh'

/** Every second document, from the first or the one after it: two files of tests, which the runner has under way at once. */
export function runDocuments(from: 0 | 1): void {
  describe(`every command of the documents, in order, in a fresh clone (${from + 1} of 2)`, () => {
    let clone: string
    let keep: ReadonlySet<string>
    before(() => {
      clone = freshClone(root)
      keep = untracked(clone)
    })
    after(() => rmSync(dirname(clone), { recursive: true, force: true }))
    for (const document of run.filter((_, i) => i % 2 === from))
      test(document, async () => {
        const faults = await runDocument(clone, SHELL, blocksOf(document, textOf(document)), keep)
        assert.equal(faults.join('\n'), '')
      })
  })
}
