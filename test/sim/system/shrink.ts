import type { Step } from './plan.ts'

/**
 * Fewer steps that still fail: halves, quarters and so on are left out as long as what is left goes wrong. At most
 * `tries` histories are run.
 */
export async function shrink(
  steps: readonly Step[],
  fails: (steps: readonly Step[]) => Promise<boolean>,
  tries = 60,
): Promise<readonly Step[]> {
  let left = steps
  for (let size = Math.ceil(left.length / 2); size >= 1 && tries > 0;) {
    let removed = false
    for (let from = 0; from < left.length && tries > 0; from += size) {
      const fewer = [...left.slice(0, from), ...left.slice(from + size)]
      if (fewer.length === left.length || fewer.length === 0) continue
      tries--
      if (!(await fails(fewer))) continue
      left = fewer
      from -= size
      removed = true
    }
    if (size === 1 && !removed) break
    if (!removed || size > left.length) size = size === 1 ? 0 : Math.ceil(size / 2)
  }
  return left
}
