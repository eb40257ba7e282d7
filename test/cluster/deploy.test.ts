import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../../src/config.ts'
import { TestPlatform } from '../support/platform.ts'
import { postgres } from '../support/postgres.ts'
import { kontor } from '../support/process.ts'

/** What an operator starts from: names in it are real, and whoever can read it here has read it. */
const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const read = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8')
const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(DEPLOY.length))
const available = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined

const dashboard = JSON.parse(read('grafana/kontor.json')) as {
  panels: {
    id: number
    title: string
    targets: { expr: string }[]
    gridPos: Record<'x' | 'y' | 'w' | 'h', number>
  }[]
}
const queries = [
  ...[...read('prometheus/kontor.rules.yml').matchAll(/^ +expr: (.*)$/gm)].map(([, rule]) => rule!),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]

test('every metric and every label of rules and dashboard is told by a platform', async () => {
  const platform = await TestPlatform.start({ KONTOR_DATABASE_URL: await (await postgres()).database() })
  try {
    await platform.operator.ok('GET', '/status')
    const text = await (await fetch(`${platform.url}/metrics`)).text()
    const declared = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!))
    const told = new Set([...text.matchAll(/^(\w+)/gm)].map(([, name]) => name!))
    const used = new Set(
      files.flatMap((file) => [...read(file).matchAll(/\bkontor_[a-z_]+\b/g)].map(([name]) => name)),
    )
    for (const name of used) assert.ok(declared.has(name) || told.has(name), name)
    assert.ok(used.size > 20, [...used].join())
    for (const [, names] of queries.join('\n').matchAll(/by \(([^)]+)\) \((?:rate|increase)\(kontor_/g))
      for (const name of names!.split(', '))
        assert.ok(name === 'instance' || name === 'code' || text.includes(`${name}="`), `label ${name}`)
    for (const name of ['kontor_writes_stopped', 'kontor_commit_seconds_sum', 'kontor_projection_lag_bytes'])
      assert.ok(used.has(name), name)
  } finally {
    await platform.stop()
  }
})
test('every setting and every command that the units name exists, and all of them say what was tried', async () => {
  const known = new Set<string>(SETTINGS.flatMap(([name]) => [name, `${name}_FILE`]))
  for (const file of files) {
    if (file !== 'prometheus/kontor.rules.test.yml' && file !== 'README.md')
      assert.match(read(file).slice(0, 900), /[Tt]ried: /, `${file} does not say what was tried`)
    for (const [name] of read(file).matchAll(/KONTOR_[A-Z_]+/g))
      assert.ok(known.has(name), `${file}: ${name}`)
    for (const [, command] of read(file).matchAll(/^ExecStart=\S+ .*bin\/kontor\.js (\w+)/gm)) {
      const { code, errors } = await kontor([command!, '--help'])
      assert.equal(code, 0, `${file}: kontor ${command!} ${errors}`)
    }
  }
})
test('panels have a place and a number each', () => {
  const ids = dashboard.panels.map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
  for (const { gridPos, title } of dashboard.panels) assert.ok(gridPos.x + gridPos.w <= 24, title)
})
test(
  'promtool reads the rules and every query, and the rules do what their own tests say',
  { skip: !available('promtool') },
  () => {
    const at = { cwd: join(DEPLOY, 'prometheus'), encoding: 'utf8' } as const
    execFileSync('promtool', ['check', 'rules', 'kontor.rules.yml'], at)
    execFileSync('promtool', ['test', 'rules', 'kontor.rules.test.yml'], at)
    execFileSync('promtool', ['check', 'config', 'prometheus.yml'], at)
    const folder = mkdtempSync(join(tmpdir(), 'kontor-rules-'))
    try {
      const rules = queries.map((expr, i) => ({ record: `query_${i}`, expr }))
      writeFileSync(join(folder, 'all.yml'), JSON.stringify({ groups: [{ name: 'all', rules }] }))
      execFileSync('promtool', ['check', 'rules', join(folder, 'all.yml')], at)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
test('haproxy reads its configuration', { skip: !available('haproxy') || !available('openssl') }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-haproxy-'))
  try {
    const pem = join(folder, 'one.pem')
    const made = [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=api.example.com',
      '-days',
      '1',
    ]
    execFileSync('openssl', [...made, '-keyout', pem, '-out', `${pem}.crt`], { stdio: 'ignore' })
    writeFileSync(pem, text(`${pem}.crt`) + text(pem))
    const config = join(folder, 'haproxy.cfg')
    writeFileSync(config, read('haproxy/haproxy.cfg').replace('/etc/haproxy/certs/', pem))
    const run = spawnSync('haproxy', ['-c', '-f', config], { encoding: 'utf8' })
    assert.equal(run.status, 0, run.stderr)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
const text = (path: string): string => readFileSync(path, 'utf8')
