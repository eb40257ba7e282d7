import { availableParallelism, cpus, totalmem } from 'node:os'
import { commitHere } from '../tools/kept.ts'
import { syncMs } from './facts.ts'

/** Figures as data: what each bench gives besides what it prints. How each is called and written is here. */
interface Told {
  readonly heading: string
  readonly digits: number
}
export const FIGURES = {
  rate: { heading: 'a second', digits: 0 },
  ratio: { heading: 'ratio', digits: 2 },
  overTransaction: { heading: '× one transaction', digits: 2 },
  p50: { heading: 'p50, ms', digits: 2 },
  p99: { heading: 'p99, ms', digits: 2 },
  p999: { heading: 'p999, ms', digits: 2 },
  milliseconds: { heading: 'ms', digits: 2 },
  seconds: { heading: 's', digits: 2 },
  microseconds: { heading: 'µs', digits: 2 },
  cpu: { heading: 'CPU, µs each', digits: 2 },
  megabytes: { heading: 'memory, MB', digits: 0 },
  kilobytes: { heading: 'kB each', digits: 1 },
  count: { heading: 'number', digits: 0 },
  failures: { heading: 'failures', digits: 0 },
  generator: { heading: 'generator busy, %', digits: 0 },
} as const satisfies Record<string, Told>
export type Figure = keyof typeof FIGURES

export interface Row {
  readonly name: string
  /** How many of what the table's `at` names. */
  readonly at?: number
  readonly figures: Readonly<Partial<Record<Figure, number>>>
}
export interface Table {
  readonly title: string
  /** What the rows' `at` counts: clients, balances, … */
  readonly at?: string
  readonly rows: readonly Row[]
  /** Figures that are drawn over `at`, on which scale; a line for each name. */
  readonly plots?: readonly { readonly figure: Figure; readonly logX?: boolean; readonly logY?: boolean }[]
}
export interface Conditions {
  readonly commit: string
  readonly date: string
  readonly cores: number
  readonly cpu: string
  readonly memoryGB: number
  readonly node: string
  readonly gateways: string
  /** How long a small write takes until it is on the disk. */
  readonly syncMs: number
  /** Sizes for trying it out: such figures mean little. */
  readonly quick: boolean
}
/** What a part of the benches gave, and under which conditions. */
export interface PartResult {
  readonly name: string
  readonly conditions: Conditions
  readonly seconds: number
  readonly tables: readonly Table[]
}
export interface Results {
  readonly parts: Readonly<Record<string, PartResult>>
}

export const conditionsHere = (quick: boolean): Conditions => ({
  commit: commitHere(),
  date: new Date().toISOString().slice(0, 16).replace('T', ' '),
  cores: availableParallelism(),
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGB: Math.round(totalmem() / 1e9),
  node: process.version,
  gateways: process.env['KONTOR_GATEWAYS'] ?? 'auto',
  syncMs: Number(syncMs().toFixed(3)),
  quick,
})

export function shown(figure: Figure, value: number): string {
  const text = value.toFixed(FIGURES[figure].digits)
  return text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',')
}
/** The figures that a table has, in the order in which they are told. */
export const figuresOf = ({ rows }: Table): Figure[] =>
  (Object.keys(FIGURES) as Figure[]).filter((name) => rows.some(({ figures }) => figures[name] !== undefined))

/** For benches that have nothing of their own to say. */
export function print(table: Table): void {
  console.log(`\n${table.title}`)
  const wide = Math.max(...table.rows.map(({ name }) => name.length))
  for (const { name, at, figures } of table.rows) {
    const told = figuresOf(table).flatMap((figure) => {
      const value = figures[figure]
      return value === undefined ? [] : [`${FIGURES[figure].heading} ${shown(figure, value)}`]
    })
    const where = at === undefined ? '' : `${String(at).padStart(8)} ${table.at ?? ''}  `
    console.log(`  ${name.padEnd(wide)}  ${where}${told.join('  ')}`)
  }
}
