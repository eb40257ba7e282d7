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

type Span = readonly [from: number, end: number]

/** Where the value of a member begins and ends, in the object that begins here. */
function memberOf(text: string, start: number, name: string): Span | undefined {
  let at = skipSpace(text, start)
  if (text[at] !== '{') return undefined
  let found: Span | undefined
  do {
    at = skipSpace(text, at + 1)
    if (text[at] !== '"') return found
    const nameEnd = stringEnd(text, at)
    const isIt = nameOf(text, at, nameEnd) === name
    const colon = skipSpace(text, nameEnd)
    const from = skipSpace(text, colon + 1)
    const end = valueEnd(text, from)
    if (isIt) found = [from, end]
    at = skipSpace(text, end)
  } while (text[at] === ',')
  return found
}
/** A name may be written with escapes. */
function nameOf(text: string, from: number, end: number): string {
  const name = text.slice(from + 1, end - 1)
  return name.includes('\\') ? (JSON.parse(text.slice(from, end)) as string) : name
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && SPACE.has(text.charCodeAt(at))) at++
  return at
}
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Behind the closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}
function valueEnd(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return stringEnd(text, start)
  if (first !== '{' && first !== '[') return plainEnd(text, start)
  let depth = 0
  for (let at = start; at < text.length;) {
    const sign = text[at]
    if (sign === '"') at = stringEnd(text, at)
    else {
      if (sign === '{' || sign === '[') depth++
      else if (sign === '}' || sign === ']') depth--
      at++
      if (depth === 0) return at
    }
  }
  return text.length
}
/** Numbers, true, false and null. */
function plainEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && !/[\s,}\]]/.test(text[at]!)) at++
  return at
}
