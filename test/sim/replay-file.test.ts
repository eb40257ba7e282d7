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

test('kontor replay runs the history of a file, and tells the step that fails', async () => {
  const [well, ill] = plan(3, 2)
  const { code, output } = await replayed('history.json', { steps: [well, { ...ill, act: 'dance' }] })
  assert.equal(code, 1)
  assert.match(output, /^step 1 \(dance\): /)
})
test('and says of another file that it holds none', async () => {
  const { code, errors } = await replayed('other.json', { rows: [] })
  assert.equal(code, 2)
  assert.match(errors, /^kontor: [^\n]*other\.json holds no history of the simulation; [^\n]*\n$/)
})
