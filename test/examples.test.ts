import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SETTINGS } from '../src/config.ts'
import { TestPlatform } from './support/platform.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../../docs/examples/${name}`, import.meta.url), 'utf8')

/** Names that somebody else exports. */
const FOREIGN = new Set(['up'])
/** Functions and words of the query language. */
const WORDS = new Set(['increase', 'rate', 'sum', 'delta', 'predict_linear'])

test('every metric of the sample alerts exists, and the ones that must be watched are among them', async () => {
  const platform = await TestPlatform.start()
  try {
    await platform.operator.ok('GET', '/status')
    const text = await (await fetch(`${platform.url}/metrics`)).text()
    const known = new Set([...text.matchAll(/^([a-z_]+)/gm)].map(([, name]) => name!))
    const rules = [...read('alerts.yml').matchAll(/^ +expr: (.*)$/gm)].map(([, rule]) => rule!)
    assert.ok(rules.length > 10)
    const named = new Set<string>()
    for (const rule of rules)
      for (const [, name] of rule.replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '').matchAll(/\b([a-z][a-z_]+)\b/g)) {
        if (FOREIGN.has(name!) || WORDS.has(name!)) continue
        assert.ok(known.has(name!), `${name!} in "${rule}"`)
        named.add(name!)
      }
    for (const name of [
      'kontor_writes_stopped',
      'kontor_due_failed',
      'kontor_chain_silent',
      'kontor_log_errors_total',
    ])
      assert.ok(named.has(name), name)
  } finally {
    await platform.stop()
  }
})

test('every setting that the examples name exists', () => {
  const known = new Set<string>(SETTINGS.map(([name]) => name))
  for (const file of ['kontor.service', 'nginx.conf', 'Caddyfile', 'logrotate.conf'])
    for (const [name] of read(file).matchAll(/KONTOR_[A-Z_]+/g))
      assert.ok(known.has(name), `${file}: ${name}`)
})
