/** What the other side of the line says is looked at: a gateway that says what none would say is cut off. */

export function number(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('a number is none')
  return value
}
export function string(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text is none')
  return value
}
export function record(value: unknown): Record<string, string> {
  if (value === null || typeof value !== 'object') throw new TypeError('an object is none')
  return value as Record<string, string>
}
