/**
 * The source text of a member of a JSON text that has been parsed already: signatures are made over what was sent, not
 * over what it means. Of two members with one name the last one counts, as JSON.parse has it. Not there: undefined.
 */
export function rawMember(text: string, path: readonly string[]): string | undefined {
  let from = 0
  let end = text.length
  for (const name of path) {
    const found = memberOf(text, from, name)
    if (found === undefined) return undefined
    ;[from, end] = found
  }
  return text.slice(from, end)
}

/**
 * The same of a text in which the name stands once and nothing is escaped, as nearly all are: found without reading what
 * stands before it. `text` is known to have the member where it is looked for. Undefined: it is no such text.
 */
export function soleMember(text: string, name: string): string | undefined {
  if (text.includes('\\')) return undefined
  const quoted = `"${name}"`
  const first = text.indexOf(quoted)
  if (first === -1 || text.includes(quoted, first + 1)) return undefined
  const colon = skipSpace(text, first + quoted.length)
  if (text.charCodeAt(colon) !== COLON) return undefined
  const from = skipSpace(text, colon + 1)
  return text.slice(from, valueEnd(text, from))
}

type Span = readonly [from: number, end: number]

/** Where the value of a member begins and ends, in the object that begins here. */
function memberOf(text: string, start: number, name: string): Span | undefined {
  let at = skipSpace(text, start)
  if (text.charCodeAt(at) !== OPEN) return undefined
  let found: Span | undefined
  do {
    at = skipSpace(text, at + 1)
    if (text.charCodeAt(at) !== QUOTE) return found
    const nameEnd = stringEnd(text, at)
    const isIt = isName(text, at, nameEnd, name)
    const colon = skipSpace(text, nameEnd)
    const from = skipSpace(text, colon + 1)
    const end = valueEnd(text, from)
    if (isIt) found = [from, end]
    at = skipSpace(text, end)
  } while (text.charCodeAt(at) === COMMA)
  return found
}
/** A name may be written with escapes. */
function isName(text: string, from: number, end: number, name: string): boolean {
  if (end - from - 2 === name.length && text.startsWith(name, from + 1)) return true
  const escape = text.indexOf('\\', from)
  return escape !== -1 && escape < end && JSON.parse(text.slice(from, end)) === name
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN = 0x7b
const CLOSE = 0x7d
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at++
  return at
}
/** Behind the closing quote: the next one that no escape stands before. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at++
  }
  return text.length
}
function valueEnd(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return stringEnd(text, start)
  if (first !== OPEN && first !== OPEN_LIST) return plainEnd(text, start)
  let depth = 0
  for (let at = start; at < text.length;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else {
      if (code === OPEN || code === OPEN_LIST) depth++
      else if (code === CLOSE || code === CLOSE_LIST) depth--
      at++
      if (depth === 0) return at
    }
  }
  return text.length
}
/** Numbers, true, false and null. */
function plainEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA || code === CLOSE || code === CLOSE_LIST || isSpace(code)) return at
  }
  return text.length
}
