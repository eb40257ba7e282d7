import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kept } from '../tools/kept.ts'
import { render } from './render.ts'
import type { Results } from './results.ts'
import { keptSoaks } from './soak-report.ts'

/** Where figures are kept, and what is written of them. */
const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url))
export const HOME = join(DOCS, 'benchmarks')
export const RESULTS = join(HOME, 'results.json')
export const SOAKS = join(HOME, 'soak')

export const readResults = (file: string): Results => kept<Results>(file) ?? { parts: {} }

/** By path below docs/. */
export function pages(): Map<string, string> {
  const { markdown, plots } = render(readResults(RESULTS), keptSoaks(SOAKS))
  return new Map([
    ['BENCHMARKS.md', markdown],
    ...[...plots].map(([file, svg]) => [`benchmarks/${file}`, svg] as const),
  ])
}
/** Plots that nobody draws any more go. */
export function writePages(): void {
  const made = pages()
  for (const folder of ['benchmarks', 'benchmarks/soak']) {
    const path = join(DOCS, folder)
    if (!existsSync(path)) continue
    for (const file of readdirSync(path))
      if (file.endsWith('.svg') && !made.has(`${folder}/${file}`)) rmSync(join(path, file))
  }
  for (const [file, text] of made) {
    mkdirSync(dirname(join(DOCS, file)), { recursive: true })
    writeFileSync(join(DOCS, file), text)
  }
}
