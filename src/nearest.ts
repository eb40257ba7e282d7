/** For "did you mean": the known name that a mistyped one is closest to. */
const LENGTH_MAX = 64

/** Capitals, dashes and underscores are no difference: withdrawEnabled means withdraw_enabled. */
const plain = (name: string): string => name.toLowerCase().replace(/[-_\s]/g, '')

/** Undefined where nothing is near enough to be meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > LENGTH_MAX) return undefined
  const given = plain(name)
  let found: string | undefined
  let least = Infinity
  for (const one of known) {
    const other = plain(one)
    const most = Math.max(1, Math.floor(Math.max(given.length, other.length) / 3))
    const steps = Math.abs(given.length - other.length) > most ? Infinity : distance(given, other)
    if (steps <= most && steps < least) {
      found = one
      least = steps
    }
  }
  return found
}

/** Letters to change, add, leave out or swap with their neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let steps = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        steps = Math.min(steps, before[j - 2]! + 1)
      row.push(steps)
    }
    before = last
    last = row
  }
  return last[b.length]!
}

/** Completes "… is not known here": what was meant, or what there is. */
export function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  if (near !== undefined) return `did you mean ${near}?`
  return known.length === 0 ? 'nothing is' : `known are ${known.join(', ')}`
}
