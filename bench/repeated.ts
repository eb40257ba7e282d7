import { generate, median, type Load, type LoadResult } from './load-generator.ts'
import type { Row } from './results.ts'

/** The same load again and again, behind one that warms up: medians. */
export async function repeated(
  load: Omit<Load, 'seconds'>,
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<Row['figures']> {
  await generate({ ...load, seconds: 1 })
  const runs: LoadResult[] = []
  for (let round = 0; round < rounds; round++) runs.push(await generate({ ...load, seconds }))
  const figure = (of: 'rate' | 'p50' | 'p99' | 'p999'): number => median(runs.map((one) => one[of]))
  const failures = runs.reduce((sum, one) => sum + one.failures, 0)
  return { rate: figure('rate'), p50: figure('p50'), p99: figure('p99'), p999: figure('p999'), failures }
}
