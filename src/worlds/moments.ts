import { ConfigError } from '../config.ts'

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }

/** Seconds of a step such as 90s, 2h30m or 1d. */
export function stepOf(step: number | string): number {
  if (typeof step === 'number') return step
  const text = step.replace(/^\+/, '')
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  if (!/^(\d+(\.\d+)?[smhdw])+$/.test(text))
    throw new ConfigError(`"${step}" must be seconds, or a step such as 1d, 2h30m or 90s`)
  return [...text.matchAll(/(\d+(?:\.\d+)?)([smhdw])/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]!,
    0,
  )
}
/** Unix seconds of a moment. */
export function timeOf(when: number | string | Date): number {
  if (typeof when === 'number') return when
  const at = when instanceof Date ? when.getTime() : parsed(when)
  if (Number.isNaN(at))
    throw new ConfigError(`"${String(when)}" must be Unix seconds, or a time such as 2031-01-31T08:00`)
  return at / 1000
}
/** UTC unless it names a zone. */
function parsed(text: string): number {
  if (/^\d{9,11}(\.\d+)?$/.test(text)) return Number(text) * 1000
  const date = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[+-]\d\d:\d\d)?$/.exec(text)
  return date === null ? NaN : Date.parse(`${date[1]!}T${date[2] ?? '00:00'}${date[3] ?? 'Z'}`)
}
