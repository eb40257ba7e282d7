import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pages } from '../bench/pages.ts'
import { PARTS } from '../bench/parts.ts'
import { draw, short, type Plot } from '../bench/plot.ts'
import { markdownTable, render } from '../bench/render.ts'
import { shown, type Conditions, type Results, type Table } from '../bench/results.ts'
import { isFlat, verdicts, type SoakSample } from '../bench/soak-report.ts'

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))

describe('plots', () => {
  const plot: Plot = {
    title: 'Rate & more <of it>',
    x: { label: 'balances', log: true },
    y: { label: 'a second' },
    series: [
      {
        name: 'one',
        points: [
          [1_000, 500],
          [10_000, 1_000],
          [1_000_000, 750],
        ],
      },
      {
        name: 'two',
        points: [
          [1_000, 100],
          [1_000_000, 0],
        ],
      },
    ],
  }
  const points = (svg: string): number[][][] =>
    [...svg.matchAll(/<polyline [^>]*points="([^"]*)"/g)].map(([, text]) =>
      text!.split(' ').map((pair) => pair.split(',').map(Number)),
    )
  test('the same data give the same bytes, other data others', () => {
    assert.equal(draw(plot), draw(structuredClone(plot)))
    const [first, ...others] = plot.series
    const changed = {
      ...plot,
      series: [{ ...first!, points: [[1_000, 600], ...first!.points.slice(1)] as const }, ...others],
    }
    assert.notEqual(draw(changed), draw(plot))
  })
  test('values stand where their ticks are: powers of ten in equal steps, amounts from zero up', () => {
    const [one, two] = points(draw(plot)) as [number[][], number[][]]
    const [a, b, c] = one.map(([x]) => x!) as [number, number, number]
    assert.ok(Math.abs((c - b) / (b - a) - 2) < 0.02, 'two powers of ten are twice as wide as one')
    const [low, high, middle] = one.map(([, y]) => y!) as [number, number, number]
    assert.ok(high < middle && middle < low, 'more is higher')
    const floor = two.at(-1)![1]!
    assert.ok(Math.abs((floor - low) / (floor - high) - 0.5) < 0.01, 'half as much is half as high')
    assert.match(draw(plot), />1,000<\/text>/)
    assert.match(draw(plot), />1M<\/text>/)
  })
  test('names are no markup, both grounds have colours, and nothing is no number', () => {
    const svg = draw(plot)
    assert.match(svg, /Rate &amp; more &lt;of it&gt;/)
    assert.match(svg, /prefers-color-scheme: dark/)
    for (const odd of [
      plot,
      { ...plot, series: [] },
      { ...plot, y: { label: 'y', log: true } },
      { ...plot, series: [{ name: 'one', points: [[5, 0]] as const }] },
    ])
      assert.doesNotMatch(draw(odd), /NaN|Infinity|undefined/)
  })
  test('figures are told as short as they can be', () => {
    assert.deepEqual([0, 0.05, 5, 1_500, 25_000, 2e6].map(short), ['0', '0.05', '5', '1,500', '25k', '2M'])
    assert.equal(shown('rate', 1_234_567.8), '1,234,568')
    assert.equal(shown('p99', 1_234.5678), '1,234.57')
  })
})

describe('the page of benchmarks', () => {
  const conditions: Conditions = {
    commit: 'abc1234',
    date: '2027-01-02 03:04',
    cores: 4,
    cpu: 'some CPU',
    memoryGB: 8,
    node: 'v20.0.0',
    gateways: 'auto',
    syncMs: 1.5,
    quick: false,
  }
  const table: Table = {
    title: 'Signed transfers',
    at: 'clients',
    rows: [
      { name: 'bare server', at: 64, figures: { rate: 20_000, ratio: 1, p99: 5 } },
      { name: 'kontor', at: 64, figures: { rate: 10_000, ratio: 0.5 } },
    ],
    plots: [{ figure: 'rate' }],
  }
  const results: Results = { parts: { http: { name: 'http', conditions, seconds: 1, tables: [table] } } }
  test('has every figure of the results, its conditions and its plot, and says what was not measured', () => {
    const { markdown, plots } = render(results, [])
    assert.match(markdown, /\| kontor +\| +64 \| +10,000 \| +0\.50 \| +\|/)
    assert.match(markdown, /Commit abc1234, 2027-01-02 03:04 UTC; 4 cores/)
    assert.deepEqual([...plots.keys()], ['http-rate.svg'])
    assert.match(markdown, /!\[[^\]]*\]\(benchmarks\/http-rate\.svg\)/)
    for (const { name } of PARTS.filter((one) => one.name !== 'http'))
      assert.match(markdown, new RegExp(`Not measured yet: .*--part ${name}\``))
    const quick = { ...results.parts['http']!, conditions: { ...conditions, quick: true } }
    assert.match(render({ parts: { http: quick } }, []).markdown, /these figures mean little/)
  })
  test('has columns for figures that are there, and no others', () => {
    assert.equal(
      markdownTable(table).split('\n')[0]!.replaceAll(/ +/g, ' '),
      '| | clients | a second | ratio | p99, ms |',
    )
  })
  test('is what the kept results make of it: no figure is written by hand', () => {
    const made = pages()
    for (const [file, text] of made) assert.equal(readFileSync(join(docs, file), 'utf8'), text, file)
    for (const folder of ['benchmarks', 'benchmarks/soak'])
      for (const file of existsSync(join(docs, folder)) ? readdirSync(join(docs, folder)) : [])
        if (file.endsWith('.svg'))
          assert.ok(made.has(`${folder}/${file}`), `${folder}/${file} is drawn by nobody`)
  })
})

describe('what a soak says', () => {
  const sample = (i: number): SoakSample => ({
    minute: i / 6,
    requests: 10_000,
    rate: 1_000,
    p50: 2,
    p99: 9,
    p999: 20,
    failures: 0,
    frames: 100,
    rss: 300,
    heap: 100,
    lagBatches: 20,
    lagMB: 1,
    journal: 24,
    tables: 50 + i * 5,
    wal: 4,
  })
  const course = (change: (i: number) => Partial<SoakSample> = () => ({})): SoakSample[] =>
    Array.from({ length: 60 }, (_, i) => ({ ...sample(i), ...change(i) }))
  const wrong = (samples: SoakSample[]): string[] =>
    verdicts({ store: 'sqlite', samples }).flatMap(({ what, well }) => (well === false ? [what] : []))
  test('flat, where files grow by as much for each request', () => {
    assert.equal(isFlat({ store: 'sqlite', samples: course() }), true)
    assert.match(
      verdicts({ store: 'sqlite', samples: course() }).find(({ what }) => what.startsWith('tables'))!.text,
      /500 .* 500/,
    )
    assert.equal(isFlat({ store: 'sqlite', samples: course().slice(0, 5) }), undefined)
  })
  test('not flat, and by what', () => {
    assert.deepEqual(wrong(course((i) => ({ rss: 300 + i * 4 }))), ['memory, MB'])
    assert.deepEqual(wrong(course((i) => ({ p99: 9 + i }))), ['p99, ms'])
    assert.deepEqual(wrong(course((i) => ({ tables: 50 + i ** 2 }))), ['tables, bytes for each request'])
    assert.deepEqual(wrong(course((i) => ({ lagBatches: i * 30 }))), ['lag of the tables, batches'])
    assert.deepEqual(wrong(course((i) => ({ failures: i === 30 ? 1 : 0 }))), ['requests that failed'])
    const log = course((i) => ({ wal: 4 + i * 4 }))
    assert.deepEqual(wrong(log), ['log of the database, MB'])
    assert.equal(isFlat({ store: 'postgres', samples: log }), true, 'it bounds its log by itself')
    assert.equal(isFlat({ store: 'sqlite', samples: course((i) => ({ heap: 100 + i * 4 })) }), false)
  })
})
