import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LEDGER_LINE } from '../../src/core/ledger/ledger.ts'
import { Batch } from '../../src/machine/batch.ts'
import { sectionsOf } from '../../src/machine/journal.ts'
import { Packer } from '../../src/machine/loose.ts'
import { Table, Tx, type TableSpec } from '../../src/machine/table.ts'
import { amountOf } from '../../src/money/amount.ts'

interface Thing {
  readonly id: number
  readonly name: string
  readonly more: object | null
  readonly done: boolean
}
const THING: TableSpec<Thing> = {
  name: 'thing',
  key: ['id'],
  columns: { id: 'int', name: 'text', more: 'json', done: 'bool' },
  live: ({ done }) => !done,
}
const thing = (id: number, name: string, done = false, more: object | null = null): Thing => ({
  ...{ id, name, more, done },
})

test('a batch says in values what its text says, on the other side of a thread too', () => {
  const table = new Table(THING)
  for (const id of [1, 2, 3]) table.swap(id, thing(id, `old "${id}"`), 'load')
  const nothing = new Table({ ...THING, name: 'nothing' })
  const tx = new Tx()
  tx.put(nothing, thing(1, 'made'))
  tx.remove(nothing, 1)
  tx.put(table, thing(1, 'new', true))
  tx.remove(table, 2)
  tx.remove(table, 9)
  tx.put(table, thing(4, 'a\nb', false, { a: '"' }))
  tx.put(table, thing(5, 'made'))
  tx.remove(table, 5)
  tx.put(table, thing(3, 'first'))
  tx.put(table, thing(3, 'last'))
  const line = { id: 7, entry: 7, account: 1, kind: 'fee', ref: 'x:1', at: 5 }
  tx.append(LEDGER_LINE, { ...line, amount: amountOf('-0.5'), after: amountOf('12345678901234567890.5') })
  const batch = new Batch()
  batch.add(tx, 5, 'test.act', '{"a":1}')
  const loose = batch.loose(3, 6)
  const packed = new Packer().pack(structuredClone(loose))
  assert.deepEqual(packed, new Packer().pack(loose))
  assert.deepEqual(packed, batch.packed(3, 6), 'and what is written at once')
  const { body, sections, ...rest } = packed
  assert.deepEqual(sections, sectionsOf(body))
  assert.deepEqual(rest, { sequence: 3, at: 6, count: 1, commands: '[[5,"test.act",{"a":1}]]' })
  assert.deepEqual(sectionsOf(body), [
    {
      table: 'thing',
      finished: 'summed',
      keys: '1\n2\n9\n4\n3\n',
      rows: [
        '[1,"new",null,true,false]',
        '-[2]',
        '-[9]',
        '[4,"a\\nb","{\\"a\\":\\"\\\\\\"\\"}",false,true]',
        '[3,"last",null,false,true]\n',
      ].join('\n'),
      befores: [
        '[1,"old \\"1\\"",null,false,true]',
        '[2,"old \\"2\\"",null,false,true]',
        '?',
        '',
        '[3,"old \\"3\\"",null,false,true]\n',
      ].join('\n'),
    },
    {
      table: 'ledger_line',
      finished: 'log',
      keys: '',
      rows: '[7,7,1,"-0.5","12345678901234567890.5","fee","x:1",5]\n',
      befores: '',
    },
  ])
  const changed = batch.sections(false)
  assert.deepEqual(
    changed.map(({ rows }) => rows),
    sectionsOf(body).map(({ rows }) => rows),
    'the rows are the same without those from before',
  )
  assert.equal(changed[0]!.befores, '\n'.repeat(5))
})

test('wherever the room for its values ends, a batch says how many rows each table and log has', () => {
  const line = { id: 7, entry: 7, account: 1, kind: 'fee', ref: 'x:1', at: 5, amount: amountOf('1') }
  for (let rows = 1; rows < 120; rows++) {
    const [table, other] = [new Table(THING), new Table({ ...THING, name: 'other' })]
    const tx = new Tx()
    for (let id = 1; id <= rows; id++) tx.put(table, thing(id, 'made'))
    tx.put(other, thing(1, 'made'))
    tx.append(LEDGER_LINE, { ...line, after: amountOf('2') })
    const batch = new Batch()
    batch.add(tx, 5, 'test.act', '{}')
    assert.deepEqual(new Packer().pack(batch.loose(3, 6)), batch.packed(3, 6), `${rows} rows before it`)
  }
})
test('values that end too soon or too late are no batch', () => {
  const table = new Table(THING)
  const tx = new Tx()
  tx.put(table, thing(1, 'made'))
  const batch = new Batch()
  batch.add(tx, 5, 'test.act', '{}')
  const loose = batch.loose(3, 6)
  const { slots, words } = loose.values
  for (const values of [
    { slots: slots.slice(0, -1), words },
    { slots: new Float64Array([...slots, 0]), words },
    { slots, words: `${words}x` },
    { slots, words: words.slice(1) },
  ])
    assert.throws(() => new Packer().pack({ ...loose, values }), /does not end|is not a function/)
})
