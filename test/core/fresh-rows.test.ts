import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SPOT_FILL } from '../../src/core/tables/exchange/trades.ts'
import { AUDIT } from '../../src/core/tables/audit.ts'
import { Commits } from '../../src/machine/stream.ts'
import type { LogSpec } from '../../src/machine/table.ts'
import { FreshRows } from '../../src/runtime/fresh-rows.ts'

/** A store that has got as far as it is told. */
function made(told = 0): {
  commits: Commits
  reached: { told: number; projected: number }
  fresh: FreshRows
  land: (sequence: number, log?: LogSpec<never>) => void
  seen: () => number[] | undefined
} {
  const commits = new Commits()
  const reached = { told, projected: told }
  const fresh = new FreshRows(commits, { kind: 'sqlite', reached }, [SPOT_FILL])
  const land = (sequence: number, log: LogSpec<never> = SPOT_FILL): void => {
    reached.told = sequence
    const appended = [{ log: log as unknown as LogSpec<object>, row: { trade_id: sequence } }]
    commits.publish({ sequence, at: 1, rows: 1, commands: [{ sequence, at: 1, changes: [], appended }] })
  }
  const seen = (): number[] | undefined => fresh.of(SPOT_FILL)?.map(({ trade_id }) => trade_id)
  return { commits, reached, fresh, land, seen }
}

describe('rows that have landed', () => {
  test('are there in the moment in which they land, and go when the tables hold them', () => {
    const { reached, land, seen } = made()
    assert.deepEqual(seen(), [])
    land(1)
    land(2)
    assert.deepEqual(seen(), [1, 2])
    land(3, AUDIT)
    assert.deepEqual(seen(), [1, 2], 'those of other logs are not kept')
    reached.projected = 1
    assert.deepEqual(seen(), [2])
    reached.projected = 3
    assert.deepEqual(seen(), [])
  })
  test('are not known where they landed before anybody listened', () => {
    const { reached, land, seen } = made(7)
    reached.projected = 5
    land(8)
    assert.equal(seen(), undefined)
    reached.projected = 6
    assert.equal(seen(), undefined)
    reached.projected = 7
    assert.deepEqual(seen(), [8])
  })
  test('are not known where some were lost, until the tables hold those', () => {
    const { commits, reached, land, seen } = made()
    land(1)
    commits.lose()
    land(2)
    assert.equal(seen(), undefined)
    reached.projected = 1
    assert.deepEqual(seen(), [2])
    land(3)
    commits.lose()
    assert.equal(seen(), undefined)
    reached.projected = 3
    assert.deepEqual(seen(), [])
  })
  test('are not known where tables went back behind those that they had held', () => {
    const { reached, land, seen } = made()
    land(1)
    land(2)
    reached.projected = 2
    assert.deepEqual(seen(), [])
    reached.projected = 1
    assert.equal(seen(), undefined)
    land(3)
    reached.projected = 2
    assert.deepEqual(seen(), [3])
  })
  test('are not looked at where they are very many', () => {
    const { reached, land, seen } = made()
    for (let sequence = 1; sequence <= 5_000; sequence++) land(sequence)
    assert.equal(seen()?.length, 5_000)
    land(5_001)
    assert.equal(seen(), undefined)
    reached.projected = 10
    assert.equal(seen()?.length, 4_991)
  })
  test('begin anew with a world that does', () => {
    const { commits, reached, land, seen } = made(5)
    land(6)
    assert.deepEqual(seen(), [6])
    Object.assign(reached, { told: 0, projected: 0 })
    commits.lose()
    assert.deepEqual(seen(), [])
    land(1)
    assert.deepEqual(seen(), [1])
  })
})
