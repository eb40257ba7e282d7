/** Code blocks of the documents, and the rules by which they are written so that they can be run. */
export interface Block {
  readonly document: string
  readonly line: number
  readonly language: string
  /** What stands after the language: `norun REASON`, or the name of the file that a program is kept in. */
  readonly info: string
  readonly text: string
  /** Nothing but empty lines lies between this block and the one before. */
  readonly follows: boolean
}
/** What is not run by itself: it is shown, or is what a command prints. */
const SHOWN = new Set([
  'text',
  'http',
  'conf',
  'xml',
  'promql',
  'json',
  'mermaid',
  'csv',
  'ini',
  'nginx',
  'yaml',
  'toml',
  'dockerfile',
  'diff',
])
/** Programs: kept in the file that they name, for a command that runs it; or marked norun. */
const PROGRAMS = new Set(['js', 'ts', 'python', 'go', 'java', 'sql'])
const NORUN = /^norun(?: +(.*))?$/

export const reasonNotRun = ({ info }: Block): string | undefined => NORUN.exec(info)?.[1]
export const runs = (block: Block): boolean => block.language === 'sh' && block.info === ''
export const isFile = ({ language, info }: Block): boolean =>
  PROGRAMS.has(language) && info !== '' && !NORUN.test(info)

export function blocksOf(document: string, markdown: string): Block[] {
  const blocks: Block[] = []
  const lines = markdown.split('\n')
  let between = true
  for (let i = 0; i < lines.length; i++) {
    const fence = /^( *)(```+|~~~+)\s*(\S*)\s*(.*)$/.exec(lines[i]!)
    if (fence === null) {
      if (lines[i]!.trim() !== '') between = false
      continue
    }
    const [, indent = '', mark = '', language = '', info = ''] = fence
    const body: string[] = []
    const line = i + 1
    for (i++; i < lines.length && lines[i]!.trim() !== mark; i++)
      body.push(lines[i]!.startsWith(indent) ? lines[i]!.slice(indent.length) : lines[i]!)
    blocks.push({ document, line, language, info: info.trim(), text: body.join('\n'), follows: between })
    between = true
  }
  return blocks
}

/** What is wrong with the way in which a document is written. */
export function faultsOf(document: string, markdown: string): string[] {
  const faults = indentedBlocks(markdown).map(
    (line) => `${document}:${line}: an indented block; write it between fences marked sh, text, …`,
  )
  for (const block of blocksOf(document, markdown)) {
    const fault = faultOf(block)
    if (fault !== undefined) faults.push(`${document}:${block.line}: ${fault}`)
  }
  return faults
}
function faultOf(block: Block): string | undefined {
  const { language, info, text } = block
  if (language === '') return 'a block without a language; mark it sh, or text where it is only shown'
  if (NORUN.test(info)) return reasonNotRun(block) === undefined ? 'norun without a reason' : undefined
  if (language === 'sh') {
    if (info !== '') return `"sh ${info}" is neither sh nor sh norun REASON`
    return /^\s*\$ /m.test(text) ? 'a prompt ("$ ") inside a block that is run' : undefined
  }
  if (PROGRAMS.has(language))
    return info === '' ? `a program must name its file (${language} bot.mjs) or say norun REASON` : undefined
  if (!SHOWN.has(language)) return `the language "${language}" is not known here`
  if (language === 'json')
    try {
      JSON.parse(text)
    } catch (error) {
      return `not JSON: ${(error as Error).message}`
    }
  return undefined
}
/** Four spaces after an empty line, outside of a list: Markdown shows that as code. */
function indentedBlocks(markdown: string): number[] {
  const found: number[] = []
  let fenced = false
  let list = false
  let empty = true
  for (const [i, line] of markdown.split('\n').entries()) {
    if (/^ *(```|~~~)/.test(line)) fenced = !fenced
    else if (!fenced && line.trim() !== '') {
      if (/^( {4}|\t)/.test(line)) {
        if (empty && !list) found.push(i + 1)
      } else list = /^ {0,3}([-*+]|\d+[.)]) /.test(line) || (list && (!empty || /^ {2}/.test(line)))
    }
    empty = line.trim() === ''
  }
  return found
}

/** What a command printed, held against what the document shows: digits and letters of ids may differ. */
export function differs(shown: Block, output: string): string | undefined {
  if (shown.language === 'json') return jsonDiffers(JSON.parse(shown.text), lastJson(output), '')
  let rest = output
  for (const line of shown.text.split('\n').filter((text) => text.trim() !== '')) {
    const match = lineOf(line).exec(rest)
    if (match === null) return `the line "${line}" was not printed`
    rest = rest.slice(match.index + match[0].length)
  }
  return undefined
}
/** `…` stands for anything, a number for any number. */
const lineOf = (line: string): RegExp =>
  new RegExp(
    line
      .trim()
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\d+/g, '\\d+'))
      .join('.*'),
  )
function lastJson(output: string): unknown {
  for (const text of [output, output.trim().split('\n').at(-1) ?? ''])
    try {
      return JSON.parse(text)
    } catch {
      // The next form.
    }
  return undefined
}
/** The same members with the same kinds of values; of a list, its first. null fits anything. */
function jsonDiffers(shown: unknown, got: unknown, place: string): string | undefined {
  if (shown === null || got === null) return undefined
  if (Array.isArray(shown) !== Array.isArray(got) || typeof shown !== typeof got)
    return `${place || 'the output'} is ${(JSON.stringify(got) as string | undefined)?.slice(0, 100) ?? 'no JSON'}`
  if (Array.isArray(shown))
    return shown.length === 0 ? undefined : jsonDiffers(shown[0], (got as unknown[])[0], `${place}[0]`)
  if (typeof shown !== 'object') return undefined
  const names = [Object.keys(shown), Object.keys(got as object)].map((list) => list.sort().join(', '))
  if (names[0] !== names[1]) return `${place || 'the output'} has ${names[1]}; the document shows ${names[0]}`
  for (const [name, value] of Object.entries(shown)) {
    const fault = jsonDiffers(value, (got as Record<string, unknown>)[name], `${place}.${name}`)
    if (fault !== undefined) return fault
  }
  return undefined
}
