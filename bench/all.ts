import { fork } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commitHere, keep } from '../tools/kept.ts'
import { HOME, RESULTS, readResults, writePages } from './pages.ts'
import { PARTS, type PartName } from './parts.ts'
import { conditionsHere, type PartResult } from './results.ts'
import { RUNS } from './runs.ts'

/**
 * `npm run bench -- all [--part NAME,…] [--quick] [--results FILE | --resume FILE | --write FILE]`: every bench one after
 * the other, each part in a process of its own, so that none warms another. What it gave is added to the file of results,
 * from which docs/BENCHMARKS.md and its plots are written; a file of another machine is rendered by `--write`.
 */
const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))
/** As `npm start` has it, whoever starts this. */
const EXEC_ARGV = process.execArgv.some((one) => one.includes('semi-space'))
  ? process.execArgv
  : [...process.execArgv, '--max-semi-space-size=32']

/** This process runs one part and tells what it gave. */
async function inside(name: string, quick: boolean): Promise<void> {
  const conditions = conditionsHere(quick)
  const start = performance.now()
  const tables = await RUNS[partOf(name)](quick)
  const seconds = Math.round((performance.now() - start) / 1000)
  process.send!({ name, conditions, seconds, tables } satisfies PartResult)
  process.disconnect()
}
function partOf(name: string): PartName {
  const part = PARTS.find((one) => one.name === name)
  if (part === undefined)
    throw new TypeError(`there is no part "${name}"; there are ${PARTS.map((one) => one.name).join(', ')}`)
  return part.name
}
function outside(name: string, quick: boolean): Promise<PartResult> {
  return new Promise((resolve, reject) => {
    const args = ['all', '--inside', name, ...(quick ? ['--quick'] : [])]
    const child = fork(MAIN, args, { execArgv: EXEC_ARGV })
    let result: PartResult | undefined
    child.on('message', (message) => (result = message as PartResult))
    child.once('error', reject)
    child.once('exit', (code) =>
      result === undefined ? reject(new Error(`${name} ended with ${code}`)) : resolve(result),
    )
  })
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      part: { type: 'string' },
      results: { type: 'string' },
      resume: { type: 'string' },
      write: { type: 'string' },
      quick: { type: 'boolean', default: false },
      inside: { type: 'string' },
    },
  })
  if (values.inside !== undefined) return inside(values.inside, values.quick)
  mkdirSync(HOME, { recursive: true })
  if (values.write !== undefined) {
    if (!existsSync(values.write)) throw new TypeError(`there is no file ${values.write}`)
    keep(RESULTS, { parts: { ...readResults(RESULTS).parts, ...readResults(values.write).parts } })
    writePages()
    return
  }
  const file = values.resume ?? values.results ?? RESULTS
  const names = values.part?.split(',') ?? PARTS.map(({ name }) => name)
  const failed: string[] = []
  for (const name of names.map(partOf)) {
    const known = readResults(file).parts[name]
    if (values.resume !== undefined && known?.conditions.commit === commitHere()) continue
    console.log(`\n=== ${name}`)
    try {
      const result = await outside(name, values.quick)
      keep(file, { parts: { ...readResults(file).parts, [name]: result } })
      console.log(`=== ${name}: ${result.seconds} s`)
    } catch (error) {
      // The others are worth having.
      console.error(error)
      failed.push(name)
    }
  }
  if (file === RESULTS) writePages()
  if (failed.length > 0) {
    console.error(`no figures of ${failed.join(', ')}`)
    process.exitCode = 1
  }
}
