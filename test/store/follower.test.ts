import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Batch } from '../../src/machine/batch.ts'
import { JournalChain, type JournalEntry } from '../../src/machine/journal.ts'
import { Portion } from '../../src/machine/portion.ts'
import { Sums } from '../../src/machine/sums.ts'
import { Follower, type Tables } from '../../src/store/follower.ts'
import type { StoreHead } from '../../src/store/store.ts'
import { packed } from '../support/packed.ts'

const KEY = '5'.repeat(64)

test('batches are gathered into one transaction, also after a reset of sequences that somebody waited for', async () => {
  const written: number[] = []
  const tables = {
    project: ({ entries }: { readonly entries: readonly unknown[] }) => void written.push(entries.length),
  }
  const follower = new Follower(
    tables,
    () => undefined,
    (error) => assert.ifError(error),
  )
  const begin = (): JournalChain => {
    follower.sealBehind('', new Sums(KEY, ''))
    return new JournalChain('', KEY)
  }
  const take = (chain: JournalChain, sequence: number): void =>
    follower.take(chain.seal(packed(new Batch(), sequence, sequence)))
  const first = begin()
  follower.hurry(1)
  take(first, 1)
  follower.hurry(1_000)
  await sleep(100)
  assert.deepEqual(written, [1])

  const anew = begin()
  for (let i = 1; i <= 5; i++) take(anew, i)
  await sleep(200)
  assert.deepEqual(written, [1, 5])
})

test('the next portion is made while one is written; where that fails, all of it comes again from the journal', async () => {
  const chain = new JournalChain('', KEY)
  const big = (sequence: number): JournalEntry => {
    const batch = packed(new Batch(), sequence, sequence)
    return chain.seal({ ...batch, commands: `["${'x'.repeat(200_000)}"]` })
  }
  const entries = Array.from({ length: 40 }, (_, i) => big(i + 1))
  const expected = new Sums(KEY, '')
  const whole = new Portion()
  for (const entry of entries) whole.add(entry)
  whole.count(expected)
  let reached: StoreHead = { sequence: 0, hash: '', at: 0, sums: '{}', schema: '', mac: '' }
  reached = { ...reached, mac: expected.mac(reached) }
  let under = 0
  let lost = 0
  const tables: Tables = {
    project: async (portion, head) => {
      under++
      assert.equal(under, 1, 'one at a time')
      await sleep(20)
      under--
      // The second and the fifth are lost on their way, each before it is there.
      if (++lost === 2 || lost === 5) throw new Error('the way is lost')
      assert.equal(portion.entries[0]!.sequence, reached.sequence + 1)
      reached = head
    },
    survives: (error) => (error as Error).message === 'the way is lost',
    seat: (found) =>
      Promise.resolve(
        found({ head: reached, tail: entries.filter(({ sequence }) => sequence > reached.sequence) }),
      ),
  }
  let progress = 0
  const follower = new Follower(
    tables,
    ({ sequence }) => (progress = sequence),
    (error) => assert.ifError(error),
  )
  follower.sealBehind('', new Sums(KEY, ''))
  for (const entry of entries) follower.take(entry)
  while (progress < 40) await sleep(10)
  assert.equal(reached.sequence, 40)
  assert.equal(
    reached.sums,
    expected.text(),
    'what was counted for a portion that was lost does not count twice',
  )
  assert.ok(lost > 5)
})

test('at rest the portion that is being written is finished, and no other is begun', async () => {
  const chain = new JournalChain('', KEY)
  let begun = 0
  let finished = 0
  const tables = {
    project: async () => {
      begun++
      await sleep(30)
      finished++
    },
  }
  const follower = new Follower(
    tables,
    () => undefined,
    (error) => assert.ifError(error),
  )
  follower.sealBehind('', new Sums(KEY, ''))
  const take = (sequence: number): void => follower.take(chain.seal(packed(new Batch(), sequence, sequence)))
  follower.hurry(2)
  take(1)
  take(2)
  assert.deepEqual([begun, finished], [1, 0])
  await follower.rest()
  assert.deepEqual([begun, finished], [1, 1])
  take(3)
  follower.hurry(3)
  await sleep(100)
  assert.deepEqual([begun, finished], [1, 1])
  await follower.rest()
})
