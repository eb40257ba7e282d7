import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A world without contracts: each minute that the clock is moved over is work for every contract there is, and tests that
 * move it by weeks need none of them.
 */
export function withoutContracts(): { KONTOR_CONFIG: string } {
  const path = join(tmpdir(), `kontor-no-contracts-${process.pid}.json`)
  writeFileSync(path, '{"contracts":[]}')
  process.once('exit', () => rmSync(path, { force: true }))
  return { KONTOR_CONFIG: path }
}
