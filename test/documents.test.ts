import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { SUBSTITUTED, runnable } from './support/document-run.ts'
import { blocksOf, differs, faultsOf, reasonNotRun, runs, type Block } from './support/documents.ts'
import { documents, textOf } from './support/every-document.ts'

const block = (language: string, text: string): Block => ({
  document: 'x.md',
  line: 1,
  language,
  info: '',
  text,
  follows: true,
})

describe('how documents are written', () => {
  test('every code block says what it is: sh is run, norun has a reason', () => {
    assert.deepEqual(
      documents.flatMap((document) => faultsOf(document, textOf(document))),
      [],
    )
  })
  test('what is run by the plainest shell is read without a fault by bash too', () => {
    const script = documents.flatMap((document) =>
      blocksOf(document, textOf(document))
        .filter(runs)
        .map((one) => one.text),
    )
    const read = spawnSync('bash', ['-n'], { input: script.join('\n'), encoding: 'utf8' })
    assert.equal(read.stderr, '')
    assert.equal(read.status, 0)
  })
  test('the rules notice what they are for', () => {
    const faults = (markdown: string): string => faultsOf('x.md', markdown).join('\n')
    assert.match(faults('```\nnpm start\n```'), /x.md:1: a block without a language/)
    assert.match(faults('Run\n\n    npm start\n'), /x.md:3: an indented block/)
    assert.match(faults('```sh\n$ npm start\n```'), /a prompt/)
    assert.match(faults('```sh norun\nx\n```'), /norun without a reason/)
    assert.match(faults('```sh nrun it is hard\nx\n```'), /is neither sh nor sh norun REASON/)
    assert.match(faults('```js\nx()\n```'), /must name its file/)
    assert.match(faults('```json\n{"a": 1,}\n```'), /not JSON/)
    assert.match(faults('```console\nls\n```'), /language "console" is not known/)
    assert.equal(faults('- one\n\n    of a list\n\n```sh\nls\n```\n\n```sh norun no disk\nls\n```'), '')
    assert.match(differs(block('json', '{"a": 1}'), '{"b": 1}') ?? '', /has b; the document shows a/)
    assert.match(differs(block('json', '[{"a": "1"}]'), '[{"a": 1}]') ?? '', /\[0\].a is 1/)
    assert.match(differs(block('text', 'balanced …'), 'unbalanced'.slice(2, 4)) ?? '', /was not printed/)
    assert.equal(differs(block('text', 'block 17 of …'), 'the block 4 of many'), undefined)
    assert.equal(runnable('npm ci && npm start   # runs'), `${SUBSTITUTED[0]!.by}\ndoc_start 'npm start'`)
    assert.equal(runnable('echo npm start'), 'echo npm start')
  })
})

test('what is not run as it stands, and why', (t) => {
  t.diagnostic('KONTOR_PORT=0 and KONTOR_LOG=error are set for every document; nothing else is')
  for (const { what, by, why } of SUBSTITUTED) t.diagnostic(`"${what.source}" is run as "${by}": ${why}`)
  for (const document of documents)
    for (const one of blocksOf(document, textOf(document))) {
      const reason = reasonNotRun(one)
      if (reason !== undefined)
        t.diagnostic(`not run: ${document}:${one.line}: ${reason}: ${one.text.split('\n')[0]!}`)
    }
})
