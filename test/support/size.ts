import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** KONTOR_TESTS=long: the sizes that are not for every change; docs/simulation.md lists them. */
export const LONG = process.env['KONTOR_TESTS'] === 'long'

/** The world without contracts, whose work of each minute is most of what a move of the clock over months costs. */
export function withoutContracts(): Record<string, string> {
  const path = join(mkdtempSync(join(tmpdir(), 'kontor-world-')), 'world.json')
  writeFileSync(path, JSON.stringify({ contracts: [] }))
  return { KONTOR_CONFIG: path }
}
