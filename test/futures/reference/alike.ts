import assert from 'node:assert/strict'

/** Both must say the same. */
export function equal(got: unknown, wanted: unknown, what: string): void {
  if (!alike(got, wanted)) assert.equal(show(sorted(got)), show(sorted(wanted)), what)
}
const show = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one), 1)
/** As texts are made of everything only where something differs. */
function alike(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => alike(one[name], other[name]))
}
/** Members in the order of their names, so that rows can be compared as texts. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
