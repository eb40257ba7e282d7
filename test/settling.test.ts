import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settled } from '../src/runtime/settling.ts'

/** Accounts to be looked at and items that are due; each look makes something due, each item something to look at. */
class Busy {
  readonly done: string[] = []
  private looks: number
  private due: number
  private readonly rounds: number
  constructor(looks: number, due: number, rounds: number) {
    this.looks = looks
    this.due = due
    this.rounds = rounds
  }
  readonly look = (): Promise<number> => {
    const { looks } = this
    this.looks = 0
    if (looks > 0 && this.done.push('look') < this.rounds) this.due++
    return Promise.resolve(looks)
  }
  readonly runDue = (): Promise<number> => {
    const { due } = this
    this.due = 0
    if (due > 0 && this.done.push('due') < this.rounds) this.looks++
    return Promise.resolve(due)
  }
  get left(): number {
    return this.looks + this.due
  }
}

for (const [looks, due] of [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const)
  for (const rounds of [1, 2, 3, 8])
    test(`${looks} to look at, ${due} due, ${rounds} that lead to one another: nothing is left`, async () => {
      const busy = new Busy(looks, due, rounds)
      await settled(busy.look, busy.runDue)
      assert.equal(busy.left, 0, busy.done.join(' '))
    })

test('what never ends is given up', async () => {
  const busy = new Busy(1, 0, Infinity)
  await settled(busy.look, busy.runDue)
  assert.equal(busy.left, 1)
})
