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

/** One file of tests for each shell: the runner has two of them under way at once. */
export function runDocuments(shell: string): void {
  describe(`every command of the documents, in order, in a fresh clone, by ${shell}`, () => {
    let clone: string
    let keep: ReadonlySet<string>
    before(() => {
      clone = freshClone(root)
      keep = untracked(clone)
    })
    after(() => rmSync(dirname(clone), { recursive: true, force: true }))
    for (const document of documents) {
      const blocks = blocksOf(document, textOf(document))
      if (blocks.some((one) => runs(one) || isFile(one)))
        test(document, async () => {
          const faults = await runDocument(clone, shell, blocks, keep)
          assert.equal(faults.join('\n'), '')
        })
    }
  })
}
