import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `npm run bench -- compare OLD_DIST [NAME …]`: each bench of two builds five times in turn. A figure is worse when its
 * median is lower by over 10 % and the quartiles are apart; then the exit code is 1.
 */
const TURNS = 5
const WORSE = 0.9
const NEW_DIST = fileURLToPath(new URL('..', import.meta.url))

/** How a bench's figures are found in what it prints: a name for each, and whether more of it is better. */
interface Reading {
  readonly pattern: RegExp
  readonly better: 'more' | 'less'
}
const RATES: Reading = { pattern: /^ {2}(?<name>kontor)\s+(?<figure>\d+) /gm, better: 'more' }
const READINGS: Readonly<Record<string, readonly Reading[]>> = {
  core: [{ pattern: /^(?<name>core on \S+)\s+(?<figure>\d+)/gm, better: 'more' }],
  match: [{ pattern: /^\s*(?<name>[a-z][a-z, ]*?)\s+(?<figure>\d+) operations\/s/gm, better: 'more' }],
  http: [RATES],
  orders: [RATES],
  risk: [{ pattern: /^ *(?<name>[A-Za-z].*?): .*\((?<figure>\d+)\/s\)/gm, better: 'more' }],
  load: [
    { pattern: /^(?<name>\S+ +\d+ balances): ready in (?<figure>[\d.]+) s/gm, better: 'less' },
    { pattern: /^(?<name>\S+ +\d+ balances): .* s, (?<figure>\d+) MB/gm, better: 'less' },
  ],
}
/** Only what is compared. */
const SHORT: Readonly<Record<string, readonly string[]>> = { match: ['--quick'] }
const USUAL = ['core', 'match', 'http', 'orders']

function bench(dist: string, name: string): Promise<string> {
  return new Promise((done, fail) => {
    const main = join(dist, 'bench', 'main.js')
    const child = spawn(process.execPath, ['--max-semi-space-size=32', main, name, ...(SHORT[name] ?? [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.on('exit', (code) =>
      code === 0 ? done(output) : fail(new Error(`${main} ${name} ended with ${code}`)),
    )
  })
}
/** Figures by name; the same name again gets a number. */
function read(name: string, output: string): Map<string, { figure: number; better: Reading['better'] }> {
  const found = new Map<string, { figure: number; better: Reading['better'] }>()
  for (const { pattern, better } of READINGS[name]!)
    for (const { groups } of output.matchAll(pattern)) {
      let key = groups!['name']!.trim()
      for (let i = 2; found.has(key); i++) key = `${groups!['name']!.trim()} (${i})`
      found.set(key, { figure: Number(groups!['figure']), better })
    }
  return found
}
const quartile = (sorted: readonly number[], part: number): number =>
  sorted[Math.round((sorted.length - 1) * part)]!
const spread = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b)
  return { low: quartile(sorted, 0.25), middle: quartile(sorted, 0.5), high: quartile(sorted, 0.75) }
}

export async function run(args: readonly string[]): Promise<void> {
  const [given, ...names] = args
  if (given === undefined || !existsSync(join(given, 'bench', 'main.js')))
    throw new TypeError(
      'usage: npm run bench -- compare OLD_DIST [NAME …]; OLD_DIST holds bench/main.js of another build',
    )
  const old = resolve(given)
  let worse = 0
  for (const name of names.length === 0 ? USUAL : names) {
    if (READINGS[name] === undefined)
      throw new TypeError(`compare reads ${Object.keys(READINGS).join(', ')}, not ${name}`)
    const figures = new Map<string, { old: number[]; new: number[]; better: Reading['better'] }>()
    for (let turn = 0; turn < TURNS; turn++)
      for (const [build, dist] of [
        ['old', old],
        ['new', NEW_DIST],
      ] as const)
        for (const [key, { figure, better }] of read(name, await bench(dist, name))) {
          const known = figures.get(key) ?? { old: [], new: [], better }
          known[build].push(figure)
          figures.set(key, known)
        }
    console.log(`${name}: medians of ${TURNS} turns, quartiles in brackets`)
    for (const [key, { old: before, new: after, better }] of figures) {
      if (before.length === 0 || after.length === 0) continue
      const [was, is] = [spread(before), spread(after)]
      const ratio = better === 'more' ? is.middle / was.middle : was.middle / is.middle
      const apart = better === 'more' ? is.high < was.low : is.low > was.high
      const verdict = ratio < WORSE && apart ? 'WORSE' : ''
      if (verdict !== '') worse++
      const text = ({ low, middle, high }: ReturnType<typeof spread>): string =>
        `${middle} [${low} to ${high}]`
      console.log(`  ${key.padEnd(34)} old ${text(was)}, new ${text(is)}, ${ratio.toFixed(2)} ${verdict}`)
    }
  }
  if (worse > 0) process.exitCode = 1
}
