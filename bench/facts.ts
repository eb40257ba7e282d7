import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, THREADS } from './load-generator.ts'

const SYNCS = 60
/** How long a small write takes until it is on the disk that the benches use. */
export function syncMs(): number {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-sync-'))
  const file = openSync(join(folder, 'x'), 'w')
  try {
    const bytes = Buffer.alloc(4096)
    const times = Array.from({ length: SYNCS }, () => {
      const start = performance.now()
      writeSync(file, bytes)
      fdatasyncSync(file)
      return performance.now() - start
    })
    return median(times)
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true, force: true })
  }
}
/** What a figure means nothing without. */
export function tellFacts(store: string): void {
  const cores = availableParallelism()
  const { KONTOR_GATEWAYS: gateways = 'auto' } = process.env
  console.log(
    `${cores} cores, gateways ${gateways}, store ${store}, a synced write of 4 KiB takes ${syncMs().toFixed(2)} ms`,
  )
}
export function tellGenerator(busy: number): void {
  const cores = availableParallelism()
  const share = `${THREADS} thread${THREADS === 1 ? '' : 's'}, the busiest ${(busy * 100).toFixed(0)} % busy`
  const shares = cores < 8 ? `; it shares the ${cores} cores with what it measures` : ''
  console.log(`  load generator: ${share}${busy > 0.9 ? ', so it may be the bottleneck' : ''}${shares}`)
}
