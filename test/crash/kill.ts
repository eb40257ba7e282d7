import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { compiled } from '../support/compiled.ts'
import type { Death } from './die-at-commit.ts'

const SCRIPT = compiled('crash/die-at-commit.js')

/** A platform in a process of its own, until it dies; false: it came to the end of its walk alive. */
export async function dies(death: Death): Promise<boolean> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(death)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (signal === 'SIGKILL') return true
  assert.equal(code, 0, errors)
  return false
}
