import { draw } from './plot.ts'
import { PARTS, type Part, type PartName } from './parts.ts'
import {
  FIGURES,
  figuresOf,
  shown,
  type Conditions,
  type PartResult,
  type Results,
  type Table,
} from './results.ts'
import { renderSoaks, type Soak } from './soak-report.ts'

/** docs/BENCHMARKS.md and its plots, made of the results alone: no figure is written by hand. */
export interface Rendered {
  readonly markdown: string
  /** By name of the file in docs/benchmarks. */
  readonly plots: ReadonlyMap<string, string>
}
const INTRODUCTION = `# Benchmarks

This page is written by \`npm run bench -- all\` from \`docs/benchmarks/results.json\`; no figure in it is written by hand. Figures of two machines can't be
compared; those of one table can: whatever is held against each other ran in turn, in one run, on one machine.

\`\`\`sh norun it takes half an hour
npm run bench -- all
npm run bench -- all --part http,orders
npm run bench -- all --resume results.json
npm run bench -- all --write results.json
\`\`\`

Each part is a process of its own and takes under nine minutes. \`--results FILE\` adds to another file, for another machine (\`node dist/bench/main.js all --part http --results FILE\`; KONTOR_COMMIT
says what runs where there is no git), \`--resume FILE\` leaves out what that file has of this commit, \`--write FILE\` takes such a file in and renders, \`--quick\` only tries everything.

**Beside what.** A bare \`node:http\` server and a bare \`ws\` server, which do what any server in Node must; one PostgreSQL transaction for each request, which is how most back ends are built; and
\`nodejs-order-book\`, a matching engine from npm. No other complete platform is among them: we know of none that comes from npm and runs by itself.
`

const described = ({
  commit,
  date,
  cores,
  cpu,
  memoryGB,
  node,
  gateways,
  syncMs,
  quick,
}: Conditions): string =>
  `${quick ? '**Sizes for trying it out: these figures mean little.** ' : ''}Commit ${commit}, ${date} UTC; ${cores} cores (${cpu}), ${memoryGB} GB, Node ${node}, gateways ${gateways}; a synced write of 4 KiB takes ${syncMs.toFixed(2)} ms.`

export function markdownTable(table: Table): string {
  const figures = figuresOf(table)
  const head = [
    '',
    ...(table.at === undefined ? [] : [table.at]),
    ...figures.map((name) => FIGURES[name].heading),
  ]
  const lines = table.rows.map(({ name, at, figures: own }) => [
    name,
    ...(table.at === undefined ? [] : [at === undefined ? '' : at.toLocaleString('en-US')]),
    ...figures.map((figure) => (own[figure] === undefined ? '' : shown(figure, own[figure]))),
  ])
  const wide = head.map((_, i) => Math.max(3, ...[head, ...lines].map((line) => line[i]!.length)))
  const written = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(wide[i]!) : cell.padStart(wide[i]!))).join(' | ')} |`
  const rule = `| ${wide.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [written(head), rule, ...lines.map(written)].join('\n')
}
/** A line for each name that has the figure more than once. */
function plotsOf(part: string, table: Table, place: number): [file: string, alt: string, svg: string][] {
  return (table.plots ?? []).map(({ figure, logX = false, logY = false }) => {
    const names = [...new Set(table.rows.map(({ name }) => name))]
    const series = names.map((name) => ({
      name,
      points: table.rows.flatMap(({ name: own, at, figures }): [number, number][] =>
        own === name && at !== undefined && figures[figure] !== undefined ? [[at, figures[figure]]] : [],
      ),
    }))
    const { heading } = FIGURES[figure]
    const title = `${table.title}: ${heading}`
    const svg = draw({
      title,
      x: { label: table.at ?? '', log: logX },
      y: { label: heading, log: logY },
      series,
    })
    return [`${part}${place === 0 ? '' : `-${place + 1}`}-${figure}.svg`, title, svg]
  })
}
function rendered(
  { title, about, name }: Part,
  result: PartResult | undefined,
  plots: Map<string, string>,
): string {
  if (result === undefined)
    return `## ${title}\n\n${about}\n\nNot measured yet: \`npm run bench -- all --part ${name}\`.`
  const tables = result.tables.map((table, place) => {
    const images = plotsOf(name, table, place).map(([file, alt, svg]) => {
      plots.set(file, svg)
      return `![${alt}](benchmarks/${file})`
    })
    return [`**${table.title}**`, markdownTable(table), ...images].join('\n\n')
  })
  return [`## ${title}`, about, described(result.conditions), ...tables].join('\n\n')
}

/** What most people come for: rows of the parts below. */
const GLANCE: readonly (readonly [part: PartName, row: string, at: number | undefined, what: string])[] = [
  ['http', 'kontor on SQLite', 64, 'signed, durable transfers on SQLite, 64 clients'],
  ['http', 'kontor on PostgreSQL', 64, 'the same on PostgreSQL'],
  ['http', 'one transaction each', 64, 'the same as one PostgreSQL transaction each'],
  ['orders', 'kontor on SQLite', 64, 'signed, durable orders on SQLite, 64 clients'],
  ['orders', 'kontor on PostgreSQL', 64, 'the same on PostgreSQL'],
  ['futures', 'contracts on SQLite', 64, 'signed, durable orders of contracts on SQLite, 64 clients'],
  ['match', 'whole core', undefined, 'matched and booked in memory, 100,000 orders resting'],
  ['match', 'nodejs-order-book', undefined, 'the same stream in nodejs-order-book, which matches alone'],
]
function glance({ parts }: Results): string[] {
  const rows = GLANCE.flatMap(([part, name, at, what]) => {
    const found = parts[part]?.tables[0]?.rows.find((row) => row.name === name && row.at === at)
    if (found === undefined) return []
    const { rate, p50, p99 } = found.figures
    const figures = Object.fromEntries(
      Object.entries({ rate, p50, p99 }).filter(([, value]) => value !== undefined),
    )
    return [{ name: what, figures }]
  })
  return rows.length === 0 ? [] : ['## At a glance', markdownTable({ title: '', rows })]
}

export function render(results: Results, soaks: readonly Soak[]): Rendered {
  const plots = new Map<string, string>()
  const sections = PARTS.map((part) => rendered(part, results.parts[part.name], plots))
  const soak = renderSoaks(soaks)
  for (const [file, svg] of soak.plots) plots.set(`soak/${file}`, svg)
  return {
    markdown: `${[INTRODUCTION.trim(), ...glance(results), ...sections, soak.markdown].join('\n\n')}\n`,
    plots,
  }
}
