import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import type { Commits } from '../../src/machine/stream.ts'

/**
 * Exchanges of the tests, kept for the examples of /docs: `npm run examples` runs the tests with KONTOR_RECORD naming a
 * folder, and makes src/docs/examples.ts of what they leave there.
 */
export interface Exchange {
  readonly method: string
  /** Whole, with the query. */
  readonly path: string
  readonly body: unknown
  readonly status: number
  readonly reply: unknown
}
const folder = process.env['KONTOR_RECORD']
const best = new Map<string, Exchange>()
/** What the coverage is made of: `npm run conformance` names a folder for the labels that tests were told. */
const labelFolder = process.env['KONTOR_RECORD_LABELS']
const labels = new Set<string>()
const transitions = new Set<string>()
const FLOW_TABLES: ReadonlySet<string> = new Set(['withdrawal', 'deposit', 'push', 'sweep'])
/** From here on what becomes of money on its way is kept too. */
export function recordTransitions(commits: Commits): void {
  if (labelFolder === undefined) return
  const place = commits.subscribe(100_000, look, FLOW_TABLES)
  function look(): void {
    for (const { commands } of place.take().batches)
      for (const { changes } of commands)
        for (const { table, before, after } of changes)
          if (FLOW_TABLES.has(table.spec.name)) note(table.spec.name, before, after)
  }
}
function note(table: string, before: unknown, after: unknown): void {
  for (const [flow, member] of [
    [table, 'status'],
    ['refund', 'refund_status'],
  ] as const) {
    const [from, to] = [before, after].map((row) => (row as Record<string, unknown> | undefined)?.[member])
    if (typeof from === 'string' && typeof to === 'string' && from !== to)
      transitions.add(`${flow} ${from} ${to}`)
  }
}
if (labelFolder !== undefined)
  process.on('exit', () => {
    mkdirSync(labelFolder, { recursive: true })
    const file = process.argv[1]?.replace(/^.*\/dist\//, '').replace(/\.js$/, '.ts') ?? ''
    const recorded = { file, labels: [...labels], transitions: [...transitions] }
    writeFileSync(join(labelFolder, `${process.pid}.json`), JSON.stringify(recorded))
  })
/** This test was refused with this label there; or, without one, got what it asked for. */
export function recordLabel(name: string, label: string | undefined): void {
  if (labelFolder !== undefined) labels.add(`${name} ${label ?? 'OK'}`)
}
if (folder !== undefined)
  process.on('exit', () => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(Object.fromEntries(best)))
  })

export function record(name: string, endpoint: AnyEndpoint, exchange: Exchange): void {
  if (folder === undefined) return
  // A call that is only ever refused shows its refusal.
  const { label } = (exchange.reply ?? {}) as { label?: string }
  if (exchange.status !== endpoint.status && !(endpoint.refuses as readonly unknown[]).includes(label)) return
  const before = best.get(name)
  if (before === undefined || worth(exchange) > worth(before)) best.set(name, exchange)
}
/** One that shows something, and not too much of it. */
export function worth({ path, body, status, reply }: Exchange): number {
  const size = JSON.stringify(reply ?? '').length
  const empty = reply === undefined || (Array.isArray(reply) && reply.length === 0) || size <= 2
  const asked = (body === undefined ? 0 : JSON.stringify(body).length) + path.length
  return (status >= 300 ? -1e9 : 0) + (empty ? -1e6 : 0) - Math.abs(size - 500) - asked / 10
}
