import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Batch } from '../../src/machine/batch.ts'
import { JournalChain } from '../../src/machine/journal.ts'
import { Sums } from '../../src/machine/sums.ts'
import { Follower } from '../../src/store/follower.ts'

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
    follower.take(chain.seal(new Batch().pack(sequence, sequence)))
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
