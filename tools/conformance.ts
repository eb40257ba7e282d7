import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FOLDER, coverageData, type Labels, type Transitions } from '../test/coverage/data.ts'
import { FuzzWorld } from '../test/fuzz/world.ts'
import { driveChannels } from './conformance/channels.ts'
import { FLOWS, coverageDocument, stepsOf } from './conformance/document.ts'
import { driveClients } from './conformance/drive.ts'

/**
 * `npm run conformance`: unmodified clients call everything that they know, every answer is held against the declarations, and
 * docs/COVERAGE.md is written. `--labels [words]` runs the tests before that (all of http/, console/, evm/ and futures/, or those that the words
 * choose) and keeps which of them provoked which label and walked which transition; `--from FOLDER` takes what such a run has left;
 * `--document` writes the document alone.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const [, , mode, ...words] = process.argv
const keep = (name: string, data: object): void => {
  const sorted = Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(`${FOLDER}${name}.json`, `${JSON.stringify(sorted, null, 1)}\n`)
}

/** Of many tests a few are named. */
const NAMED = 3
interface Recorded {
  readonly file: string
  readonly labels: readonly string[]
  readonly transitions?: readonly string[]
}
/** Of a run of some tests: what is known of the others stays. */
function takeRecorded(folder: string, some: boolean): void {
  const { labels: before, transitions: walked } = coverageData()
  const all = readdirSync(folder).map(
    (file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recorded,
  )
  const again = new Set(all.map(({ file }) => file))
  const kept = (files: readonly string[]): string[] =>
    files.filter((file) => some && !again.has(file) && existsSync(join(root, file)))
  const labels: Labels = {}
  const transitions: Transitions = {}
  const add = (table: Labels, one: string, two: string, files: readonly string[]): void => {
    const list = ((table[one] ??= {})[two] ??= [])
    for (const file of files) if (!list.includes(file) && list.length < NAMED) list.push(file)
    list.sort()
    if (list.length === 0) Reflect.deleteProperty(table[one], two)
  }
  for (const [table, old] of [
    [labels, before],
    [transitions, walked],
  ] as const)
    for (const [one, inner] of Object.entries(old))
      for (const [two, files] of Object.entries(inner)) add(table, one, two, kept(files))
  for (const { file, labels: seen, transitions: went = [] } of all) {
    if (!file.endsWith('.test.ts')) continue
    for (const entry of seen) {
      const at = entry.lastIndexOf(' ')
      if (entry.endsWith(' OK')) continue
      add(labels, entry.slice(0, at), entry.slice(at + 1), [file])
    }
    for (const entry of went) {
      const [flow, from, to] = entry.split(' ') as [string, string, string]
      for (const step of between(flow, from, to)) add(transitions, flow, step, [file])
    }
  }
  keep('labels', labels)
  keep('transitions', transitions)
}
/** Several steps of a flow may be one command: then its shortest way is what was gone. */
function between(flow: string, from: string, to: string): string[] {
  if (FLOWS[flow] === undefined) return []
  const steps = stepsOf(flow)
  let ways: string[][] = [[from]]
  for (let length = 0; length < 4; length++) {
    ways = ways.flatMap((way) =>
      steps.filter((step) => step.from === way.at(-1)).map((step) => [...way, step.to]),
    )
    const found = ways.find((way) => way.at(-1) === to)
    if (found !== undefined) return found.slice(1).map((status, i) => `${found[i]!} → ${status}`)
  }
  return []
}
function runTests(): void {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-coverage-'))
  spawnSync(
    process.execPath,
    [
      join(root, 'bin/test.js'),
      ...(words.length > 0 ? words : ['http/', 'console/', 'evm/', 'futures/', 'unified/']),
    ],
    {
      cwd: root,
      env: { ...process.env, KONTOR_RECORD_LABELS: folder },
      stdio: 'inherit',
    },
  )
  takeRecorded(folder, words.length > 0)
  rmSync(folder, { recursive: true, force: true })
}
async function drive(): Promise<string[]> {
  const world = await FuzzWorld.open(0)
  const { clients, faults } = await driveClients(world)
  keep('clients', clients)
  await world.people()
  keep('channels', await driveChannels(world))
  await world.prove()
  await world.close()
  return faults
}

if (mode === '--from') takeRecorded(words[0]!, words.length > 1)
if (mode === '--labels') runTests()
const faults = mode === '--document' || mode === '--from' ? [] : await drive()
const document = coverageDocument(coverageData())
writeFileSync(join(root, 'docs/COVERAGE.md'), document)
console.log(
  document
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .join('\n'),
)
for (const fault of faults) console.log(`fault: ${fault}`)
process.exit(faults.length === 0 ? 0 : 1)
