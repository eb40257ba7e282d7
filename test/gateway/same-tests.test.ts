import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** What is said over HTTP is the same with gateways: these files run once more with two. */
const FILES = [
  'authentication',
  'cors',
  'fault-report',
  'faults',
  'hosts',
  'limits',
  'matrix',
  'request-log',
  'requests',
  'rubbish',
  'signature-hints',
  'sockets',
  'spot-orders',
  'transfers',
  'unknown-members',
]
/** And what real clients do over sockets. */
const SOCKETS = ['clients-ccxt', 'clients-gateio', 'clients-gateio-calls', 'clients-unified']
const tests = dirname(dirname(fileURLToPath(import.meta.url)))

test('the tests of HTTP and of clients of sockets hold with two gateways', { timeout: 900_000 }, async () => {
  // A test runner inside a test would else report to the outer one.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(
    process.execPath,
    [
      '--test',
      '--test-concurrency=2',
      '--test-timeout=300000',
      '--test-force-exit',
      ...FILES.map((name) => join(tests, 'http', `${name}.test.js`)),
      ...SOCKETS.map((name) => join(tests, 'sockets', `${name}.test.js`)),
    ],
    { env: { ...env, KONTOR_TEST_GATEWAYS: '2' }, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const passed = Number(/^. pass (\d+)$/m.exec(output)?.[1])
  assert.equal(code, 0, output.slice(-20_000))
  // Fewer would mean that files were not found.
  assert.ok(passed >= 100, `${passed} tests passed`)
})
