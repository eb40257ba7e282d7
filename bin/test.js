// Runs the compiled tests with node's own runner. Words given on the command line choose files by their path:
// npm test -- sub-accounts. All of them together run as bundles, several in a process, which spares the machine minutes; a few
// as they are.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleTests } from './bundle.js'
import { groupsOf, writeGroups } from './groups.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const words = process.argv.slice(2)
const tests = join(root, 'dist', 'test')
const files = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter(
    (file) => file.endsWith('.test.js') && (words.length === 0 || words.some((word) => file.includes(word))),
  )
  .sort()
if (files.length === 0) {
  console.error(`no test file matches ${words.join(' ')}`)
  process.exit(1)
}
const programs =
  words.length === 0
    ? writeGroups(groupsOf(files), await bundleTests(files))
    : files.map((file) => join(tests, file))
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    // Many of them wait for clocks and processes: so many keep two cores busy all the time.
    '--test-concurrency=5',
    // Of a file too, and some run others: nothing that goes on takes so long on the slowest machine.
    '--test-timeout=600000',
    '--test-force-exit',
    `--test-reporter=${process.stdout.isTTY ? 'spec' : 'tap'}`,
    '--test-reporter-destination=stdout',
    '--test-reporter=./bin/minutes.js',
    '--test-reporter-destination=stdout',
    ...programs,
  ],
  { cwd: root, stdio: 'inherit' },
)
process.exit(status ?? 1)
