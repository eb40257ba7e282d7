import { isPlain, quoted } from '../machine/codec.ts'
import type { JsonSchema } from './fields.ts'

/**
 * Writes replies as JSON, by the shape that is declared of them: half the time of JSON.stringify, which asks every object
 * anew what it is made of (0084). Whatever is not as the shape says is left to that.
 */
export function replyText(shape: JsonSchema, reply: unknown): string {
  let write = WRITERS.get(shape)
  if (write === undefined) WRITERS.set(shape, (write = writerOf(shape)))
  return write(reply)
}
type Writer = (value: unknown) => string
/** Undefined: the value is not what the shape says, or holds a text that JSON does not write as it is. */
type Attempt = (value: object) => string | undefined

/** What is written for a shape depends on nothing else, so that every platform may share it. */
const WRITERS = new WeakMap<JsonSchema, Writer>()

function writerOf(shape: JsonSchema): Writer {
  const { items, anyOf } = shape as { items?: JsonSchema; anyOf?: readonly JsonSchema[] }
  if (shape['type'] === 'array' && items !== undefined) return listWriter(writerOf(items))
  const attempts = (anyOf ?? [shape]).flatMap((one) => attemptOf(one) ?? [])
  if (attempts.length === 0) return scalarText
  return (value) => {
    if (typeof value !== 'object' || value === null) return scalarText(value)
    for (const attempt of attempts) {
      const text = attempt(value)
      if (text !== undefined) return text
    }
    return JSON.stringify(value)
  }
}
const listWriter =
  (one: Writer): Writer =>
  (values) => {
    if (!Array.isArray(values)) return JSON.stringify(values)
    let text = ''
    for (const value of values)
      text += `${text === '' ? '[' : ','}${value === undefined ? 'null' : one(value)}`
    return text === '' ? '[]' : `${text}]`
  }
const scalarText: Writer = (value) => {
  if (typeof value === 'string') return quoted(value)
  return Number.isFinite(value) ? `${value as number}` : JSON.stringify(value)
}

/** What makes a member one that is not written by itself, and how it is written; `v` is its value. */
interface Kind {
  readonly odd: (v: string) => string
  readonly text: (v: string) => string
}
const KINDS: Readonly<Record<string, Kind>> = {
  string: { odd: (v) => `typeof ${v} !== 'string' || !isPlain(${v})`, text: (v) => `"\${${v}}"` },
  // What is no number, or without end, is null in JSON.
  number: { odd: (v) => `typeof ${v} !== 'number' || ${v} - ${v} !== 0`, text: (v) => `\${${v}}` },
  boolean: { odd: (v) => `typeof ${v} !== 'boolean'`, text: (v) => `\${${v}}` },
}
const kindOf = ({ type }: JsonSchema): Kind | undefined => KINDS[type === 'integer' ? 'number' : String(type)]

/** Of an object whose members are all declared, and whose first is always there. */
function attemptOf({ type, properties, required, additionalProperties }: JsonSchema): Attempt | undefined {
  if (type !== 'object' || properties === undefined || additionalProperties !== false) return undefined
  const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>)
  const always = new Set(required as readonly string[])
  if (members.length === 0 || !always.has(members[0]![0])) return undefined
  const inner: Writer[] = []
  const there: string[] = []
  const reads: string[] = []
  const odd: string[] = []
  let text = ''
  for (const [i, [name, schema]] of members.entries()) {
    const v = `v${i}`
    const key = JSON.stringify(name)
    if (!NAME.test(name)) return undefined
    reads.push(`${v} = o.${name}`)
    const kind = kindOf(schema)
    const before = `${i === 0 ? '{' : ','}${key}:`
    if (kind !== undefined && always.has(name)) {
      odd.push(kind.odd(v))
      text += before + kind.text(v)
      continue
    }
    const written = `w[${inner.push(kind === undefined ? writerOf(schema) : scalarText) - 1}](${v})`
    if (always.has(name)) {
      odd.push(`${v} === undefined`)
      text += `${before}\${${written}}`
    } else {
      there.push(`(${v} === undefined ? 0 : 1)`)
      text += `\${${v} === undefined ? '' : '${before}' + ${written}}`
    }
  }
  // What has other members as well is of another shape.
  odd.push(`Object.keys(o).length !== ${[always.size, ...there].join(' + ')}`)
  const source = `return (o) => {
    const ${reads.join(', ')}
    return ${odd.join(' || ')} ? undefined : \`${text}}\`
  }`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- made of our own declarations
  return new Function('isPlain', 'w', source)(isPlain, inner) as Attempt
}
const NAME = /^[a-z_]\w*$/i
