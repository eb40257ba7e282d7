import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** Who stands on whom, as docs/ARCHITECTURE.md says it: the tables there are read, not repeated. */
const root = fileURLToPath(new URL('../../', import.meta.url))
const document = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')

interface Import {
  readonly from: string
  readonly to: string
  /** Erased by the compiler. */
  readonly typeOnly: boolean
  /** Loaded when it is called. */
  readonly late: boolean
}
const STATIC = /^(?:import|export)(\s+type)?\s+[\w*{][^;'"=(]*?from '(\.{1,2}\/[^']+)'/gm
const BARE = /^import '(\.{1,2}\/[^']+)'/gm
const LATE = /\bimport\('(\.{1,2}\/[^']+)'\)/g

function importsOf(file: string, text: string): Import[] {
  const to = (path: string): string => posix.normalize(posix.join(dirname(file), path))
  return [
    ...[...text.matchAll(STATIC)].map(([, type, path]) => ({
      from: file,
      to: to(path!),
      typeOnly: type !== undefined,
      late: false,
    })),
    ...[...text.matchAll(BARE)].map(([, path]) => ({
      from: file,
      to: to(path!),
      typeOnly: false,
      late: false,
    })),
    ...[...text.matchAll(LATE)].map(([, path]) => ({
      from: file,
      to: to(path!),
      typeOnly: false,
      late: true,
    })),
  ]
}
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))
const imports = files.flatMap((file) => importsOf(file, readFileSync(join(root, 'src', file), 'utf8')))

/** The rows of the table whose first column is headed so: its cells, as they stand there. */
function tableOf(heading: string): string[][] {
  const lines = document.split('\n')
  const head = lines.findIndex((line) => line.startsWith('|') && line.includes(heading))
  assert.notEqual(head, -1, `docs/ARCHITECTURE.md has no table "${heading}"`)
  const rows: string[][] = []
  for (const line of lines.slice(head + 2)) {
    if (!line.startsWith('|')) break
    rows.push(
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  }
  return rows
}
const named = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)

/** The row that a file belongs to: the folder at the top, or the file itself. */
const rowOf = (file: string): string => file.split('/')[0]!
const roomOf = (file: string): string => file.split('/')[1]!
const childrenOf = (folder: string): string[] => readdirSync(join(root, folder)).sort()

/** Files that lead back to themselves, each group once. */
function circlesOf(arrows: readonly Import[]): string[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to])
  const reached = (start: string): Set<string> => {
    const seen = new Set<string>()
    const open = [...(next.get(start) ?? [])]
    for (let file = open.pop(); file !== undefined; file = open.pop())
      if (!seen.has(file)) {
        seen.add(file)
        open.push(...(next.get(file) ?? []))
      }
    return seen
  }
  const reach = new Map([...next.keys()].map((file) => [file, reached(file)]))
  const circles = new Set<string>()
  for (const [file, seen] of reach)
    if (seen.has(file))
      circles.add(
        [...seen]
          .filter((other) => reach.get(other)?.has(file) === true)
          .sort()
          .join(' '),
      )
  return [...circles]
}

test('every folder of src and every file at its top has a row, and imports what its row allows', () => {
  const rows = tableOf('folder or file of `src`')
  const names = rows.map(([folder]) => named(folder!)[0]!)
  assert.deepEqual([...names].sort(), childrenOf('src'))
  const allowed = new Map<string, ReadonlySet<string>>()
  for (const [index, [, , cell]] of rows.entries()) {
    const own = cell === 'everything' ? names.slice(0, index) : named(cell!)
    const like = /^as `([^`]+)`/.exec(cell!)?.[1]
    allowed.set(names[index]!, new Set([...own, ...(like === undefined ? [] : allowed.get(like)!)]))
  }
  for (const [index, name] of names.entries())
    for (const below of allowed.get(name)!)
      assert.ok(
        names.slice(0, index).includes(below),
        `docs/ARCHITECTURE.md lets ${name} import ${below}, which is not above it in the table`,
      )
  const faults = new Set<string>()
  const used = new Map(names.map((name) => [name, new Set<string>()]))
  for (const { from, to } of imports) {
    const [row, other] = [rowOf(from), rowOf(to)]
    if (row === other) continue
    used.get(row)!.add(other)
    if (!allowed.get(row)!.has(other)) faults.add(`${from} imports ${to}`)
  }
  assert.deepEqual([...faults], [])
  // What a row may do and does not is a door that somebody forgot to close.
  for (const [index, [, , cell]] of rows.entries())
    if (cell !== 'everything' && !cell!.startsWith('as '))
      assert.deepEqual(
        named(cell!).filter((name) => !used.get(names[index]!)!.has(name)),
        [],
        `${names[index]!} may import what it does not`,
      )
})

test('each room of the core imports only from rooms below it', () => {
  const rooms = tableOf('room of `src/core`').map(([room]) => named(room!)[0]!)
  assert.deepEqual([...rooms].sort(), childrenOf('src/core'))
  const up = imports
    .filter(({ from, to }) => from.startsWith('core/') && to.startsWith('core/'))
    .filter(({ from, to }) => rooms.indexOf(roomOf(to)) > rooms.indexOf(roomOf(from)))
  assert.deepEqual(
    up.map(({ from, to }) => `${from} imports ${to}`),
    [],
  )
})

test('no file imports itself round a circle, be it by value or by type', () => {
  assert.deepEqual(circlesOf(imports.filter(({ late }) => !late)), [])
})

test('the reader of imports sees every way to write one, and circles are found', () => {
  const text = `import { a } from './a.ts'
import type { B } from '../b/b.ts'
import {
  c,
  type D,
} from './c.ts'
import './e.ts'
export { f } from './f.ts'
export type * from './g.ts'
export const h = 'from', i = async () => (await import('./i.ts')).i
/** taken from './no.ts' */
`
  assert.deepEqual(
    importsOf('x/y.ts', text).map(
      ({ to, typeOnly, late }) => `${to}${typeOnly ? ' type' : ''}${late ? ' late' : ''}`,
    ),
    ['x/a.ts', 'b/b.ts type', 'x/c.ts', 'x/f.ts', 'x/g.ts type', 'x/e.ts', 'x/i.ts late'],
  )
  const arrow = (from: string, to: string): Import => ({ from, to, typeOnly: false, late: false })
  assert.deepEqual(circlesOf([arrow('a', 'b'), arrow('b', 'c'), arrow('c', 'b'), arrow('c', 'd')]), ['b c'])
})
