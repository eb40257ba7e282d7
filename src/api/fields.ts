import { refuse } from '../labels.ts'
import { nearest } from '../nearest.ts'

/**
 * Parameters, declared once: each field reads a value off the wire, refuses it with a message that names the
 * parameter, the value and the mend, and describes itself as JSON Schema for the reference.
 */
export type JsonSchema = Readonly<Record<string, unknown>>
export interface Field<T> {
  readonly schema: JsonSchema
  readonly required: boolean
  /** `value` is never undefined, null or an empty text: those count as absent. */
  read(value: unknown, name: string, unknown?: Unknown): T
  /** What an absent value means; only asked when not required. */
  absent(): T
}
/** Is told of each member that no field reads: its place, its name, and the names that are known there. */
export type Unknown = (prefix: string, member: string, known: Fields, value: unknown) => void
export type Fields = Readonly<Record<string, Field<unknown>>>
export type Values<F extends Fields> = { readonly [N in keyof F]: F[N] extends Field<infer T> ? T : never }

const SHOWN_MAX = 80
const shown = (value: unknown): string => {
  // Of a list no more is written than is shown: it may have half a million items.
  const some = Array.isArray(value) ? (value as unknown[]).slice(0, SHOWN_MAX) : value
  const text = typeof some === 'string' ? `"${some}"` : JSON.stringify(some)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
function wrong(name: string, value: unknown, mend: string): never {
  // Without a name it is the body itself.
  return refuse('INVALID_PARAM_VALUE', `${name === '' ? 'the body' : name}: ${shown(value)} ${mend}`)
}
/** What operators send has a purpose: a member that is written wrong must not be left out unseen. */
export const refuseUnknown: Unknown = (prefix, member, known, value) => {
  const names = Object.keys(known)
  const near = nearest(member, names)
  const mend = near === undefined ? '' : `; did you mean ${near}?`
  const list = names.length === 0 ? 'nothing is' : `known are ${names.join(', ')}`
  wrong(
    `${prefix.slice(0, 80)}${member === '' ? '""' : member.slice(0, 80)}`,
    value,
    `is not known here${mend}${mend === '' ? '; ' : ' '}${list}`,
  )
}
function field<T>(schema: JsonSchema, read: Field<T>['read']): Field<T> {
  return {
    schema,
    required: true,
    read,
    absent: () => {
      throw new TypeError('a required field has no default')
    },
  }
}

/** Left out: null. */
export function optional<T>(inner: Field<T>): Field<T | null> {
  return {
    schema: inner.schema,
    required: false,
    read: (value, name, unknown) => inner.read(value, name, unknown),
    absent: () => null,
  }
}
/** Left out: the given value. */
export function withDefault<T>(inner: Field<T>, value: NoInfer<T>): Field<T> {
  return {
    schema: { ...inner.schema, default: value },
    required: false,
    read: (given, name, unknown) => inner.read(given, name, unknown),
    absent: () => value,
  }
}
export function described<T>(inner: Field<T>, description: string): Field<T> {
  return { ...inner, schema: { ...inner.schema, description } }
}

export interface TextRule {
  readonly max?: number
  readonly pattern?: RegExp
  /** Completes "value …", such as `must be 1 to 64 letters`. */
  readonly mend?: string
  readonly example?: string
}
export function text(rule: TextRule = {}): Field<string> {
  const max = rule.max ?? 256
  const schema: JsonSchema = {
    type: 'string',
    maxLength: max,
    ...(rule.pattern && { pattern: rule.pattern.source }),
    ...(rule.example !== undefined && { examples: [rule.example] }),
  }
  return field(schema, (value, name) => {
    if (typeof value !== 'string') return wrong(name, value, 'must be a string')
    // What a database can't keep, or a log can't show, never gets further than this.
    if (!value.isWellFormed() || hasControl(value))
      return wrong(name, value, 'must not hold control characters')
    if (value.length > max) return wrong(name, value, `is longer than ${max} characters`)
    if (rule.pattern !== undefined && !rule.pattern.test(value))
      return wrong(name, value, rule.mend ?? `must match ${rule.pattern.source}`)
    return value
  })
}
const hasControl = (value: string): boolean => /[\u0000-\u001f\u007f]/.test(value)

export function integer(low: number, high: number): Field<number> {
  return field({ type: 'integer', minimum: low, maximum: high }, (value, name) => {
    const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isSafeInteger(number))
      return wrong(name, value, `must be a whole number from ${low} to ${high}`)
    if (number < low || number > high) return wrong(name, value, `is out of range; from ${low} to ${high}`)
    return number
  })
}
/** For durations and probabilities; never for money. */
export function number(low: number, high: number): Field<number> {
  return field({ type: 'number', minimum: low, maximum: high }, (value, name) => {
    const given = typeof value === 'string' && /^\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : value
    if (typeof given !== 'number' || !(given >= low && given <= high))
      return wrong(name, value, `must be a number from ${low} to ${high}`)
    return given
  })
}
export const id = (): Field<number> => integer(1, 999_999_999_999_999)

/** Several ids: "7,8" in a query, or an array in a body. */
export function ids(max: number): Field<number[]> {
  const one = id()
  return listOf(one, max)
}
export function listOf<T>(one: Field<T>, max: number): Field<T[]> {
  return field({ type: 'array', items: one.schema, maxItems: max }, (value, name, unknown) => {
    // Of a text no more is split than may be in it: it may have half a million items.
    const items = typeof value === 'string' ? value.split(',', max + 1).map((part) => part.trim()) : value
    if (!Array.isArray(items)) return wrong(name, value, 'must be a list')
    if (items.length > max) return wrong(name, value, `has too many items; at most ${max} are allowed`)
    return items.map((item, i) => {
      if (item === '' || item === null || item === undefined)
        return wrong(`${name}[${i}]`, item, 'must not be empty')
      return one.read(item, `${name}[${i}]`, unknown)
    })
  })
}

/** In any case, as text: Python clients write True and False into a query. */
export function flag(): Field<boolean> {
  return field({ type: 'boolean' }, (value, name) => {
    const said = typeof value === 'string' ? value.toLowerCase() : value
    if (said === true || said === 'true' || said === '1') return true
    if (said === false || said === 'false' || said === '0') return false
    return wrong(name, value, 'must be true or false')
  })
}

export function oneOf<const T extends string>(...allowed: readonly T[]): Field<T> {
  return field({ type: 'string', enum: allowed }, (value, name) => {
    if (!(allowed as readonly unknown[]).includes(value))
      return wrong(name, value, `must be one of ${allowed.join(', ')}`)
    return value as T
  })
}
/** A name in any case; the answer is as it is written here. */
export function oneName<const T extends string>(...allowed: readonly T[]): Field<T> {
  return field({ type: 'string', enum: allowed }, (value, name) => {
    const given = typeof value === 'string' ? value.toUpperCase() : value
    return (
      allowed.find((one) => one.toUpperCase() === given) ??
      wrong(name, value, `must be one of ${allowed.join(', ')}`)
    )
  })
}
export function oneOfNumbers<const T extends number>(...allowed: readonly T[]): Field<T> {
  return field({ type: 'integer', enum: allowed }, (value, name) => {
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
    if (!(allowed as readonly unknown[]).includes(number))
      return wrong(name, value, `must be one of ${allowed.join(', ')}`)
    return number as T
  })
}

/**
 * An amount or price in a request: a decimal string, no sign, no exponent. Zero passes; the rules decide. `finer` is what one
 * is called that has more decimals than any amount: orders have a label of their own for that.
 */
export function decimal(
  finer: 'INVALID_PARAM_VALUE' | 'INVALID_PRECISION' = 'INVALID_PARAM_VALUE',
): Field<string> {
  const schema = { type: 'string', format: 'decimal', examples: ['1.5'] }
  return field(schema, (value, name) => {
    if (typeof value === 'string' && /^\d{1,20}(\.\d{1,18})?$/.test(value)) return value
    if (typeof value === 'number')
      return wrong(name, value, 'must be a decimal string, such as "1.5": numbers lose digits')
    if (typeof value !== 'string' || !/^\d+(\.\d+)?$/.test(value))
      return wrong(name, value, 'must be a decimal string such as "1.5", with no sign and no exponent')
    return /^\d{21}/.test(value)
      ? wrong(name, value, 'has more than 20 digits before the point')
      : refuse(finer, `${name}: ${shown(value)} has more than 18 decimals`)
  })
}
export function positiveDecimal(finer?: 'INVALID_PRECISION'): Field<string> {
  const inner = decimal(finer)
  return field(inner.schema, (value, name) => {
    const read = inner.read(value, name)
    return /^[0.]*$/.test(read) ? wrong(name, value, 'must be above zero') : read
  })
}

/** A time: Unix seconds, or milliseconds when it has 13 digits. */
export function time(): Field<number> {
  return field({ type: 'integer', format: 'int64', description: 'Unix seconds' }, (value, name) => {
    const digits = typeof value === 'number' ? String(value) : value
    if (typeof digits !== 'string' || !/^\d{1,13}(\.\d{1,9})?$/.test(digits))
      return wrong(name, value, 'must be a Unix time in seconds')
    const whole = digits.split('.')[0]!
    return whole.length === 13 ? Number(digits) / 1000 : Number(digits)
  })
}
/** Microseconds up to which such a time reaches: a whole second means all of it, a millisecond all of that, as records show them. */
export function untilMicros(seconds: number): number {
  const micros = Math.round(seconds * 1e6)
  return micros % 1e6 === 0 ? micros + 999_999 : micros % 1e3 === 0 ? micros + 999 : micros
}

export function object<F extends Fields>(fields: F): Field<Values<F>> {
  const required = Object.entries(fields).filter(([, { required }]) => required)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required: required.map(([name]) => name) }),
  }
  return field(schema, (value, name, unknown) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return name === ''
        ? refuse('INVALID_REQUEST_BODY', 'the body must be a JSON object')
        : wrong(name, value, 'must be an object')
    return readFields(fields, value as Record<string, unknown>, name === '' ? '' : `${name}.`, unknown)
  })
}

export function readFields<F extends Fields>(
  fields: F,
  source: Readonly<Record<string, unknown>>,
  prefix = '',
  unknown?: Unknown,
): Values<F> {
  // First, because a required member is most often missing where it is written wrong.
  if (unknown !== undefined) tellUnknown(fields, source, prefix, unknown)
  let reader = readers.get(fields)
  if (reader === undefined) readers.set(fields, (reader = readerOf(fields)))
  return reader(source, prefix, unknown) as Values<F>
}
type Reader = (
  source: Readonly<Record<string, unknown>>,
  prefix: string,
  unknown: Unknown | undefined,
) => object
/** What is written for declared fields depends on nothing else, so that every platform may share it. */
const readers = new WeakMap<Fields, Reader>()
/**
 * The function is written for its fields: members that are named in the code are read sooner than those that a variable
 * names, each field is asked at a place of its own, and what comes out has all its members at once.
 */
function readerOf(fields: Fields): Reader {
  const names = Object.keys(fields)
  const members = names.map((name, i) => {
    const text = JSON.stringify(name)
    // What every object has from birth counts only where it was sent.
    const given =
      name in {} ? `(Object.hasOwn(source, ${text}) ? source[${text}] : undefined)` : `source[${text}]`
    const read = `f${i}.read(value, prefix === '' ? ${text} : prefix + ${text}, unknown)`
    const absent = fields[name]!.required ? `missing(prefix, ${text})` : `f${i}.absent()`
    return `${text}: (value = ${given}) !== undefined && value !== null && value !== '' ? ${read} : ${absent}`
  })
  const source = `
    const { ${names.map((name, i) => `${JSON.stringify(name)}: f${i}`).join(', ')} } = fields
    return (source, prefix, unknown) => { let value; return { ${members.join(', ')} } }`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- made of our own declarations
  return new Function('fields', 'missing', source)(fields, missing) as Reader
}
const missing = (prefix: string, name: string): never =>
  refuse('MISSING_REQUIRED_PARAM', `Missing required parameter: ${prefix}${name}`)

export function tellUnknown(
  known: Fields,
  source: Readonly<Record<string, unknown>>,
  prefix: string,
  unknown: Unknown,
): void {
  for (const member in source)
    if (!Object.hasOwn(known, member)) unknown(prefix, member, known, source[member])
}

/** An object that must not hold anything else, whoever sends it. */
export function strict<F extends Fields>(fields: F): Field<Values<F>> {
  const inner = object(fields)
  return {
    ...inner,
    schema: { ...inner.schema, additionalProperties: false },
    read: (value, name) => inner.read(value, name, refuseUnknown),
  }
}

/** Any JSON object: a map whose keys are data, or one that its handler reads, by the `known` fields. */
export function anyObject(known?: Fields): Field<Readonly<Record<string, unknown>>> {
  return field({ type: 'object' }, (value, name, unknown) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return wrong(name, value, 'must be an object')
    const source = value as Record<string, unknown>
    if (known !== undefined && unknown !== undefined)
      tellUnknown(known, source, name === '' ? '' : `${name}.`, unknown)
    return source
  })
}
