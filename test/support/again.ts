import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Whoever runs as a bundle runs the others as bundles. */
const BUNDLED = `${sep}dist${sep}tested${sep}`
const folder = (): string => {
  const [, running = ''] = process.argv
  const at = running.indexOf(BUNDLED)
  return at === -1 ? dirname(dirname(fileURLToPath(import.meta.url))) : running.slice(0, at + BUNDLED.length)
}

/** Runs test files once more with another environment; fewer than `least` tests would mean that files were not found. */
export async function again(
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
  least: number,
): Promise<void> {
  // A test runner inside a test would else report to the outer one.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(
    process.execPath,
    [
      '--test',
      '--test-concurrency=2',
      '--test-timeout=300000',
      '--test-force-exit',
      ...files.map((name) => join(folder(), `${name}.test.js`)),
    ],
    { env: { ...env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
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
