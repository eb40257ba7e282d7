import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedChain } from '../../src/chain/simulated.ts'
import { Engine } from '../spot/engine.ts'

test('what a simulated chain says that we hold is of the block that we followed last, as of any chain', async () => {
  const engine = new Engine()
  const user_id = engine.user({ ETH: '5' })
  const { address } = engine.must('address.ensure', { user_id, chain: 'ETH', address: null })
  const chain = new SimulatedChain({ core: { state: engine.state } } as never, 'ETH')
  const observe = (tip: { height: number; hash: string }): void => {
    engine.must('chain.observe', { chain: 'ETH', fork: 0, tip, payments: [], outcomes: [] })
  }
  engine.must('sim.fund', { chain: 'ETH', currency: 'ETH', amount: '10', actor: null })
  observe(engine.must('sim.advance', { chain: 'ETH' }))
  assert.deepEqual([await chain.holdings(), await chain.hotWallet()], [{ ETH: '10' }, { ETH: '10' }])

  const pay = { chain: 'ETH', user_id: null, address, memo: '', currency: 'ETH', amount: '2', actor: null }
  engine.must('sim.pay', pay)
  const out = { chain: 'ETH', txid: '0xab', currency: 'ETH', amount: '1', address: '0xcd', memo: '' }
  engine.must('sim.broadcast', { ...out, network_fee: '0.01' })
  engine.must('sim.mine', { chain: 'ETH', blocks: 2, actor: null })
  // As a crash may leave it: the block is there, and nobody has looked at it.
  assert.deepEqual([await chain.holdings(), await chain.hotWallet()], [{ ETH: '10' }, { ETH: '10.99' }])
  observe(engine.must('sim.advance', { chain: 'ETH' }))
  assert.deepEqual(await chain.holdings(), { ETH: '10.99' })
})
