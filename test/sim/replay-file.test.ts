import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { kontor } from '../support/process.ts'
import { plan } from './system/plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-history-'))
after(() => rmSync(folder, { recursive: true, force: true }))
function replayed(name: string, content: unknown): ReturnType<typeof kontor> {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(content))
  return kontor(['replay', file])
}

test('kontor replay runs the history of a file', async () => {
  const { code, output } = await replayed('well.json', { steps: plan(3, 4) })
  assert.equal(`${code} ${output}`, '0 4 steps: all is well\n')
  const { code: wrong, output: told } = await replayed('ill.json', {
    steps: [{ ...plan(3, 1)[0]!, act: 'dance' }],
  })
  assert.equal(wrong, 1)
  assert.match(told, /^step 0 \(dance\): /)
})
test('and says of another file that it holds none', async () => {
  const { code, errors } = await replayed('other.json', { rows: [] })
  assert.equal(code, 2)
  assert.match(errors, /^kontor: [^\n]*other\.json holds no history of the simulation; [^\n]*\n$/)
})
