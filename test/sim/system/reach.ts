import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commands } from '../../../src/core/commands.ts'
import type { CommittedCommand } from '../../../src/machine/stream.ts'
import { ENDPOINTS, FLOWS, stepsOf } from '../../../tools/conformance/document.ts'

/** Kinds of things that a long run must have met, each by its name. */
export type Kind = 'command' | 'label' | 'transition'
const FLOW_TABLES: ReadonlySet<string> = new Set(['withdrawal', 'deposit', 'push', 'sweep'])
const FILE = fileURLToPath(new URL('../../../../test/sim/system/unreached.json', import.meta.url))

/** All that there is, from the declarations. */
export function everything(): Readonly<Record<Kind, readonly string[]>> {
  return {
    command: Object.keys(commands),
    label: [...new Set(ENDPOINTS.flatMap(({ endpoint }) => endpoint.refuses as readonly string[]))],
    transition: [
      ...new Set(
        Object.keys(FLOWS).flatMap((flow) => stepsOf(flow).map(({ from, to }) => `${flow} ${from} → ${to}`)),
      ),
    ],
  }
}
/** What the simulation can't reach, or does not drive yet, and why. */
export const unreached = (): Readonly<Record<Kind, Readonly<Record<string, string>>>> =>
  JSON.parse(readFileSync(FILE, 'utf8')) as never

/** By kind: what should have been met and was not; and what is excused although it was. */
export function missing(reached: Readonly<Record<string, number>>): { missed: string[]; idle: string[] } {
  const [all, excused] = [everything(), unreached()]
  const met = (kind: Kind, name: string): boolean => (reached[`${kind} ${name}`] ?? 0) > 0
  const kinds = Object.keys(all) as Kind[]
  return {
    missed: kinds.flatMap((kind) =>
      all[kind]
        .filter((name) => !met(kind, name) && excused[kind][name] === undefined)
        .map((name) => `${kind} ${name}`),
    ),
    idle: kinds.flatMap((kind) =>
      Object.keys(excused[kind])
        .filter((name) => met(kind, name) || !all[kind].includes(name))
        .map((name) => `${kind} ${name}`),
    ),
  }
}

/** Steps of flows, and what due work was done, in what a command changed. */
export function walked({ changes }: CommittedCommand, note: (what: string) => void): void {
  for (const { table, before, after } of changes) {
    const { name } = table.spec
    if (name === 'due') {
      const { command } = (before ?? {}) as { command?: string }
      if (after === undefined && command !== undefined) note(`command ${command}`)
    } else if (FLOW_TABLES.has(name))
      for (const [flow, member] of [
        [name, 'status'],
        ['refund', 'refund_status'],
      ] as const) {
        const [from, to] = [before, after].map(
          (row) => (row as Record<string, unknown> | undefined)?.[member],
        )
        // A flow may lead back to where it was: then something else of the row is another.
        const moved = from !== to || (flow === 'withdrawal' && before !== after)
        if (typeof from === 'string' && typeof to === 'string' && moved)
          note(`transition ${flow} ${from} → ${to}`)
      }
  }
}
