import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { changeFaults, describeFile, fileFaults } from '../../src/config-file.ts'
import { ConfigError, readConfig } from '../../src/config.ts'
import { ratesOf } from '../../src/core/spot/fees.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { format } from '../../src/money/amount.ts'
import { nearest } from '../../src/nearest.ts'

type Json = Record<string, unknown>
/** A world in which every object of the file occurs. */
const whole = (): Json => {
  const world = JSON.parse(JSON.stringify(BUILT_IN_WORLD)) as Json
  world['price_feed'] = { url: 'https://prices.example', seconds: 10, stale_seconds: 60 }
  const [chain] = world['chains'] as Json[]
  chain!['node'] = { rpc_url: 'http://127.0.0.1:8545' }
  return world
}
/** The first object at a place such as `currencies[].chains[]`, and the path to it as a message writes it. */
function at(world: Json, place: string): { object: Json; path: string } {
  let object = world
  let path = ''
  for (const step of place === '' ? [] : place.split('.')) {
    const name = step.replace('[]', '')
    const next = object[name]
    const i = step.endsWith('[]') ? 0 : undefined
    object = (i === undefined ? next : (next as Json[])[i]) as Json
    path += `${path === '' ? '' : '.'}${name}${i === undefined ? '' : `[${i}]`}`
  }
  return { object, path: path === '' ? '' : `${path}.` }
}

describe('the description of the configuration file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-file-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const refusal = (content: unknown): string => {
    const path = join(folder, 'world.json')
    writeFileSync(path, JSON.stringify(content))
    try {
      readConfig({ KONTOR_CONFIG: path })
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error))
      assert.ok(!error.message.includes('\n'))
      return error.message
    }
    return ''
  }

  test('fits the built-in world', () => {
    assert.deepEqual(fileFaults(BUILT_IN_WORLD), [])
    assert.deepEqual(fileFaults(whole()), [])
    assert.deepEqual(fileFaults({}), [])
  })
  test('a mistyped member is refused in every object, with its place and the name that was meant', () => {
    let tried = 0
    for (const [place, members] of describeFile())
      for (const name of members.keys()) {
        const typo = name.length > 4 ? name.slice(0, -2) + name.slice(-1) + name.slice(-2, -1) : `${name}x`
        // Two equal letters at the end change nothing when they are swapped.
        const wrong = members.has(typo) ? `${name}_` : typo
        const world = whole()
        const { object, path } = at(world, place)
        object[wrong] = null
        const [fault, ...others] = fileFaults(world)
        assert.deepEqual(others, [], `${path}${wrong}`)
        assert.equal(fault, `${path}${wrong} is not known; did you mean ${name}?`)
        tried++
      }
    assert.ok(tried > 100, `${tried} members`)
  })
  test('a member that is missing is told, unless it is optional', () => {
    for (const [place, members] of describeFile())
      for (const [name, type] of members) {
        const world = whole()
        const { object, path } = at(world, place)
        // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- that is the mistake
        delete object[name]
        const expected = type.endsWith('optional') ? [] : [`${path}${name} is missing`]
        assert.deepEqual(fileFaults(world), expected, `${path}${name}`)
      }
  })
  test('a value of another type is told, with the place and what it must be', () => {
    for (const [place, members] of describeFile())
      for (const name of members.keys())
        for (const value of [{ no: 'object' }, [[]], Infinity, -1, '1e5 ']) {
          const world = whole()
          const { object, path } = at(world, place)
          const type = members.get(name)!
          if ((value === '1e5 ' && type.startsWith('text')) || (value === -1 && type === 'number')) continue
          object[name] = value
          const faults = fileFaults(world)
          const [fault = ''] = faults
          assert.ok(fault.startsWith(`${path}${name}`), `${path}${name}: ${JSON.stringify(value)} → ${fault}`)
        }
  })
  test('readConfig refuses them in one line, before anything else is looked at', () => {
    const world = whole()
    assert.match(refusal({ marketz: [] }), /^KONTOR_CONFIG .*: marketz is not known; did you mean markets\?$/)
    const { object } = at(world, 'currencies[]')
    object['withdraw_enabld'] = false
    assert.match(
      refusal({ currencies: world['currencies'] }),
      /: currencies\[0\]\.withdraw_enabld is not known; did you mean withdraw_enabled\?$/,
    )
    assert.match(
      refusal({ limits: { keys_max: '20', contract_ceiling: 5, colour: 1, shade: 2, hue: 3 } }),
      /limits\.keys_max must be a whole number, not below 0, not "20"; limits\.contract_ceiling must be a decimal string such as "1\.5", not 5; limits\.colour is not known; known are .*; and 2 more$/,
    )
    assert.match(refusal({ 'a\nb': 1 }), /: "a\\nb" is not known; known are currencies, /)
    assert.match(refusal(JSON.parse('{"__proto__": {}}')), /: __proto__ is not known/)
    assert.match(refusal({ markets: {} }), /: markets must be a list, not \{\}$/)
    assert.match(refusal({ policy: null }), /: policy must be an object, not null$/)
  })
  test('some members of a section, as an operator changes them', () => {
    assert.deepEqual(changeFaults('policy', { cancel_seconds: 5 }), [])
    assert.deepEqual(changeFaults('policy', { velocity: { hours: 1, count: 2, usdt: '3', days: 4 } }), [
      'policy.velocity.days is not known; known are hours, count, usdt',
    ])
  })
  test('the nearest name', () => {
    const known = ['withdraw_enabled', 'deposit_enabled', 'chains', 'change']
    for (const [name, meant] of [
      ['withdrawEnabled', 'withdraw_enabled'],
      ['chnage', 'change'],
      ['chain', 'chains'],
      ['colour', undefined],
      ['x'.repeat(100_000), undefined],
    ] as const)
      assert.equal(nearest(name, known), meant)
  })
})

describe('docs/CONFIG.md', () => {
  const text = readFileSync(new URL('../../../docs/CONFIG.md', import.meta.url), 'utf8')
  const sections = text.split(/^#+ /m).map((section) => {
    const [title = '', ...lines] = section.split('\n')
    const rows = lines
      .filter((line) => line.startsWith('| ') && !/^\| (-+|member|exit code|VIP) /.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()))
    return { title, rows }
  })

  test('has a table for each object of the file, with all its members and their types', () => {
    for (const [place, members] of describeFile()) {
      if (place === '') continue
      const section = sections.find(({ title }) => title === `\`${place}\``)
      assert.ok(section !== undefined, `no heading \`${place}\``)
      const documented = section.rows.flatMap(([, names, type]) =>
        names!.split(', ').map((name): [string, string] => [name, type!]),
      )
      assert.deepEqual(documented.sort(), [...members].sort(), place)
    }
    for (const name of describeFile().get('')!.keys())
      assert.ok(
        sections.some(({ title }) => title === `\`${name}\`` || title === `\`${name}[]\``),
        name,
      )
  })
  test('and no table of anything else', () => {
    const places = [...describeFile().keys(), 'exchange_rates']
    for (const { title } of sections) {
      const [, place] = /^`(.*)`$/.exec(title) ?? []
      if (place !== undefined) assert.ok(places.includes(place), place)
    }
  })
  test('tells the fee tiers as they are', () => {
    const { rows } = sections.find(({ title }) => title === 'Fee tiers')!
    assert.deepEqual(
      rows.map(([, vip, maker, taker]) => [vip, maker, taker]),
      Array.from({ length: 17 }, (_, vip) => {
        const { maker, taker } = ratesOf(vip)
        return [String(vip), format(maker), format(taker)]
      }),
    )
  })
})
