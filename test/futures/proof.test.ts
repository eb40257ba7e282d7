import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tx } from '../../src/machine/table.ts'
import { format, type Amount } from '../../src/money/amount.ts'
import { proveContracts, type ContractProof } from '../../src/proof/contracts.ts'
import { Desk } from './desk.ts'
import { BTC_USD, BTC_USDT } from './world.ts'

const proofOf = ({ state }: Desk, id: string): ContractProof =>
  proveContracts(state).find(({ group, settle, contract }) => `${group}/${settle}/${contract}` === id)!

test('the proof of contracts finds a size and a cost that nobody traded, linear and inverse', () => {
  const desk = new Desk()
  for (const [id, amount] of [
    [BTC_USDT, '1000000'],
    [BTC_USD, '10'],
  ] as const) {
    const [first, second, third] = [desk.holder(amount, id), desk.holder(amount, id), desk.holder(amount, id)]
    desk.trade(id, first, second, 1000, '60000')
    desk.trade(id, third, first, 400, '61500')
    const proof = proofOf(desk, id)
    assert.equal(`${format(proof.long)} ${format(proof.short)} ${proof.ok}`, '1000 1000 true')
    assert.notEqual(proof.clearing, 0n, 'one side has realised what the other has not')
    assert.equal(proof.clearing, id === BTC_USD ? proof.cost : -proof.cost)
    const position = desk.state.futures.positions.get(second, id, 'single')!
    for (const change of [
      { size: (position.size - 10n ** 18n) as Amount },
      { cost: (position.cost + 1n) as Amount },
    ]) {
      const tx = new Tx()
      tx.put(desk.state.futures.positions.table, { ...position, ...change })
      assert.equal(proofOf(desk, id).ok, false, `${id} ${Object.keys(change).join()}`)
      tx.rollback()
      assert.equal(proofOf(desk, id).ok, true)
    }
  }
})
