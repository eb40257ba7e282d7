import { amountOf, format, type Amount } from '../money/amount.ts'
import type { ColumnType } from './table.ts'
import { HIGHEST, LOWEST, type ValueSink, type ValueSource } from './values.ts'

/**
 * Rows travel to a store as JSON arrays in column order: one text for each table and batch. A json column
 * travels as a text of its own, so that what a store gives back is, member by member, what it was given.
 */
export type Columns = Readonly<Record<string, ColumnType>>
export type Encoder = (row: object) => unknown[]

export function encoderOf(columns: Columns, live?: (row: never) => boolean): Encoder {
  const names = Object.keys(columns)
  const types = Object.values(columns)
  return (row) => {
    const source = row as Record<string, unknown>
    const values = new Array<unknown>(names.length)
    for (let i = 0; i < names.length; i++) {
      const value = source[names[i]!]
      const type = types[i]
      if (value === null || value === undefined) values[i] = null
      else if (type === 'amount') values[i] = format(value as Amount)
      else values[i] = type === 'json' ? JSON.stringify(value) : value
    }
    if (live !== undefined) values.push(live(row as never))
    return values
  }
}

/**
 * A row's way to its text has two halves, because they happen in different threads: its values are put behind one another
 * where the row is, and written as one JSON text by whoever keeps it. Both functions are written for the columns: a member
 * that is named in the code is read several times sooner than one that a variable names.
 */
export type RowValues = (row: object, into: ValueSink) => void
export function valuesOf(columns: Columns, live?: (row: never) => boolean): RowValues {
  const letters = Array.from(kindsOf(columns, live !== undefined))
  const members = membersOf(columns, live !== undefined)
  const puts = letters.map((letter, i) => PUTS[letter]!(members[i]!, letters.length))
  const source = `
    return (row, s) => {
      s.room(${letters.length})
      let { at, slots, amounts, words } = s
      ${puts.join('\n')}
      s.at = at
      s.words = words
    }`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- made of our own declarations
  return new Function('json', 'live', 'low', 'high', source)(jsonText, live, LOWEST, HIGHEST) as RowValues
}
/** How each of a row's values is read, the flag "live" last. */
function membersOf(columns: Columns, live: boolean): string[] {
  const members = Object.entries(columns).map(([name, type]) => {
    if (!NAME.test(name)) throw new TypeError(`${name} is not a name of a column`)
    return type === 'json' ? `json(row.${name})` : `row.${name}`
  })
  return live ? [...members, 'live(row)'] : members
}
const jsonText = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)
const putWord = (member: string): string =>
  `{ const v = ${member}; if (${isNull('v')}) slots[at++] = -1; else { slots[at++] = v.length; words += v } }`
const PUTS: Readonly<Record<string, (member: string, left: number) => string>> = {
  n: (member) => `{ const v = ${member}; slots[at++] = ${isNull('v')} ? NaN : v }`,
  b: (member) => `{ const v = ${member}; slots[at++] = ${isNull('v')} ? NaN : v ? 1 : 0 }`,
  t: putWord,
  j: putWord,
  a: (member, left) =>
    `{ const v = ${member}; if (${notNull('v')} && v >= low && v <= high) amounts[at++] = v; else { at = s.wide(at, v, ${left}); ({ slots, amounts } = s) } }`,
}

/** How each value of a row is written, a letter for each; the flag "live" is the last. */
export const kindsOf = (columns: Columns, live: boolean): string =>
  Object.values(columns)
    .map((type) => KINDS[type])
    .join('') + (live ? KINDS.bool : '')
const KINDS: Readonly<Record<ColumnType, string>> = { text: 't', amount: 'a', json: 'j', int: 'n', bool: 'b' }

/** The text of the row whose values come next. */
export type RowWriter = (from: ValueSource) => string
export function writerOf(kinds: string): RowWriter {
  const letters = Array.from(kinds)
  const source = `
    ${keptBy(letters)}
    return (s) => {
      const { slots, amounts, words } = s
      let { at, begin } = s
      ${letters.map((letter, i) => TAKES[letter]!(`v${i}`)).join('\n')}
      s.at = at
      s.begin = begin
      return ${textBy(letters)}
    }`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- made of our own letters
  return new Function('quoted', 'isPlain', 'format', 'low', source)(
    quoted,
    isPlain,
    format,
    LOWEST,
  ) as RowWriter
}
const takeWord = (value: string): string =>
  `let ${value} = null; { const length = slots[at++]; if (length >= 0) ${value} = words.slice(begin, begin += length) }`
const TAKES: Readonly<Record<string, (value: string) => string>> = {
  n: (value) => `let ${value} = slots[at++]; if (${value} !== ${value}) ${value} = null`,
  b: (value) => `let ${value} = slots[at++]; ${value} = ${value} === ${value} ? ${value} === 1 : null`,
  t: takeWord,
  j: takeWord,
  a: (value) =>
    `let ${value} = amounts[at++]; if (${value} < low) { s.at = at; ${value} = s.wide(); at = s.at }`,
}
/** Both halves at once. */
export function textOf(columns: Columns, live?: (row: never) => boolean): (row: object) => string {
  const letters = Array.from(kindsOf(columns, live !== undefined))
  const reads = membersOf(columns, live !== undefined).map((member, i) => `const v${i} = ${member}`)
  const source = `
    ${keptBy(letters)}
    return (row) => {
      ${reads.join('; ')}
      return ${textBy(letters)}
    }`
  const names = ['quoted', 'isPlain', 'format', 'json', 'live']
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- made of our own declarations
  return new Function(...names, source)(quoted, isPlain, format, jsonText, live) as (row: object) => string
}
/**
 * Of the values `v0`, `v1` …: an expression. Each piece that is put on makes a string of its own, so what stands between two
 * values is one piece. That asks for rows without a null and with words that JSON writes as they are; the others are
 * written value by value.
 */
function textBy(letters: readonly string[]): string {
  const odd = letters.flatMap((letter, i) => ODD[letter]?.(`v${i}`, `w${i}`) ?? []).join(' || ') || 'false'
  const values = letters.map((letter, i) => `(${isNull(`v${i}`)} ? 'null' : ${TEXTS[letter]!(`v${i}`, '')})`)
  let plain = ''
  let between = '['
  letters.forEach((letter, i) => {
    const [opening, text, closing] = PLAIN[letter]!(i)
    plain += `${JSON.stringify(between + opening)} + ${text} + `
    between = `${closing},`
  })
  return `${odd} ? '[' + ${values.join(` + ',' + `)} + ']' : ${plain}${JSON.stringify(`${between.slice(0, -1)}]`)}`
}
/** What is known from row to row. */
function keptBy(letters: readonly string[]): string {
  const kept = letters.flatMap((letter, i) => KEPT[letter]?.(i) ?? [])
  return kept.length === 0 ? '' : `let ${kept.join(', ')}`
}
const NAME = /^[a-z_]\w*$/i
const isNull = (value: string): string => `${value} === null || ${value} === undefined`
const notNull = (value: string): string => `${value} !== null && ${value} !== undefined`
type Code = Readonly<Record<string, (value: string, word: string) => string>>
/** What makes a value one that is written by itself. Words repeat from row to row: the last one that was plain is known. */
const ODD: Code = {
  t: (value, word) =>
    `(${value} !== ${word} && (${isNull(value)} || (isPlain(${value}) ? ((${word} = ${value}), false) : true)))`,
  a: isNull,
  n: isNull,
  b: isNull,
}
/** What stands before a value, the value, and what stands behind it. */
const PLAIN: Readonly<Record<string, (i: number) => readonly [string, string, string]>> = {
  t: (i) => ['"', `v${i}`, '"'],
  // Rows that follow each other have many amounts in common: to compare one takes a tenth of writing it.
  a: (i) => ['"', `(v${i} === a${i} ? t${i} : (t${i} = format(a${i} = v${i})))`, '"'],
  // Most rows have nothing there.
  j: (i) => ['', `(${isNull(`v${i}`)} ? 'null' : JSON.stringify(v${i}))`, ''],
  n: (i) => ['', `v${i}`, ''],
  b: (i) => ['', `v${i}`, ''],
}
const KEPT: Readonly<Record<string, (i: number) => string[]>> = {
  t: (i) => [`w${i} = ''`],
  a: (i) => [`a${i}`, `t${i}`],
}
const TEXTS: Code = {
  t: (value) => `quoted(${value})`,
  a: (value) => `'"' + format(${value}) + '"'`,
  j: (value) => `JSON.stringify(${value})`,
  n: (value) => value,
  b: (value) => value,
}
/** Most texts are words that JSON writes as they are. */
export const quoted = (text: string): string => (isPlain(text) ? `"${text}"` : JSON.stringify(text))
/** Whether JSON writes it as it is. */
export function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < SPACE || code > TILDE || code === QUOTE || code === BACKSLASH) return false
  }
  return true
}
const SPACE = 32
const TILDE = 126
const QUOTE = 34
const BACKSLASH = 92

/**
 * Turns the values of a SELECT in column order back into a row. The function is written for its columns, like the one that
 * writes them: a row that is made with all its members at once takes a third less memory than one that gets them one by one.
 */
export function decoderOf<Row extends object>(columns: Columns): (values: readonly unknown[]) => Row {
  let made = MADE.get(columns)
  if (made === undefined) MADE.set(columns, (made = rowMaker(columns)))
  return made(Object.values(columns).map(valueDecoder)) as (values: readonly unknown[]) => Row
}
type RowMaker = (decoders: readonly ((value: never) => unknown)[]) => (values: readonly unknown[]) => object
/** What is written for declared columns depends on nothing else, so that every platform may share it. */
const MADE = new WeakMap<Columns, RowMaker>()
function rowMaker(columns: Columns): RowMaker {
  const names = Object.keys(columns)
  const members = names.map((name, i) => {
    if (!NAME.test(name)) throw new TypeError(`${name} is not a name of a column`)
    return `${name}: v[${i}] === null || v[${i}] === undefined ? null : d${i}(v[${i}])`
  })
  const source = `
    const [${names.map((_, i) => `d${i}`).join(', ')}] = decoders
    return (v) => ({ ${members.join(', ')} })`
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- made of our own declarations
  return new Function('decoders', source) as RowMaker
}

function valueDecoder(type: ColumnType): (value: never) => unknown {
  switch (type) {
    case 'amount':
      return amountOf
    case 'bool':
      return (value: unknown) => value === 1 || value === true
    case 'json':
      return shared((text) => frozen(JSON.parse(text)))
    case 'int':
      return Number
    case 'text':
      return shared((text) => text)
  }
}

/** A column that repeats a few words, such as a currency or everybody's first settings, keeps one copy of each in memory. */
const SHARED_MAX = 1_000
const SHARED_LENGTH = 200
function shared(read: (text: string) => unknown): (text: string) => unknown {
  const words = new Map<string, unknown>()
  return (text) => {
    const known = words.get(text)
    if (known !== undefined) return known
    const value = read(text)
    if (words.size < SHARED_MAX && text.length <= SHARED_LENGTH) words.set(text, value)
    return value
  }
}
/** Rows are never changed, nor is what they hold: whoever tried would change others' rows too. */
function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
