import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compiled } from './compiled.ts'

/** All of them in one process, as bin/groups.js does it. */
function programOf(files: readonly string[]): string {
  const suites = files.map((name) => {
    const url = pathToFileURL(compiled(`${name}.test.js`)).href
    return `describe(${JSON.stringify(name)}, () => import(${JSON.stringify(url)}))`
  })
  return ["import { describe } from 'node:test'", ...suites].join('\n')
}

/** Runs test files once more with another environment; fewer than `least` tests would mean that files were not found. */
export async function again(
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
  least: number,
): Promise<void> {
  // A test runner inside a test would else report to the outer one.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const place = mkdtempSync(join(tmpdir(), 'kontor-again-'))
  const program = join(place, 'again.test.mjs')
  writeFileSync(program, programOf(files))
  const child = spawn(process.execPath, ['--test', '--test-force-exit', program], {
    env: { ...env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  rmSync(place, { recursive: true })
  assert.equal(code, 0, failuresIn(output))
  const passed = Number(/^. pass (\d+)$/m.exec(output)?.[1])
  assert.ok(passed >= least, `${passed} tests passed`)
}

/** What went wrong, not the last of what went well. */
function failuresIn(output: string): string {
  const lines = output.split('\n')
  const told = lines.flatMap((line, i) => (/^\s*not ok/.test(line) ? lines.slice(i, i + 25) : []))
  return told.join('\n').slice(0, 20_000)
}
