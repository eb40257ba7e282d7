import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, deposit, mine, newestDeposit, proveBalanced } from '../support/wallet.ts'

const DEEP = 30
describe('a deposit that a reorganisation takes away', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    for (const chain of ['ETH', 'XRP'])
      await platform.operator.ok('PATCH', `/chains/${chain}`, { auto_mine_seconds: 0 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const decide = (id: string, verb: string, more: object = {}) =>
    platform.operator.ok('POST', `/deposits/${id}/${verb}`, { reason: 'look', ...more })
  const drop = (txid: string, chain = 'ETH') =>
    platform.operator.ok('POST', `/chains/${chain}/reorg`, { depth: DEEP, drop: [txid] })
  /** The payment is in the network again, and then in a block. */
  const back = async (txid: string, chain = 'ETH'): Promise<void> => {
    await platform.operator.ok('PATCH', `/chains/${chain}/transactions/${txid}`, { state: 'pending' })
    await mine(platform, chain, DEEP)
  }
  /** Somebody's payment, so many blocks deep. */
  const paid = async (amount: string, blocks: number) => {
    const { client, user_id } = await platform.user()
    const { txid } = await deposit(platform, user_id, amount)
    if (blocks > 0) await mine(platform, 'ETH', blocks)
    const { id } = await newestDeposit(client)
    const look = async (): Promise<string> =>
      `${(await newestDeposit(client)).status} ${await platform.balance(user_id, 'ETH')}`
    return { txid, id: id as string, look }
  }

  test('before it is credited, and comes back: credited once', async () => {
    for (const blocks of [0, 1]) {
      const one = await paid('2', blocks)
      if (blocks === 0)
        await platform.operator.ok('PATCH', `/chains/ETH/transactions/${one.txid}`, { state: 'lost' })
      else await drop(one.txid)
      assert.equal(await one.look(), 'INVALID 0')
      await back(one.txid)
      assert.equal(await one.look(), 'DONE 2')
    }
  })
  test('while somebody looks at it, or has decided: it comes back as it went, and nobody has it', async () => {
    for (const [verb, status] of [
      ['hold', 'REVIEW'],
      ['block', 'BLOCKED'],
    ] as const) {
      const one = await paid('3', 0)
      await decide(one.id, verb)
      await mine(platform, 'ETH', DEEP)
      await drop(one.txid)
      assert.equal(await one.look(), 'INVALID 0')
      await back(one.txid)
      assert.equal(await one.look(), `${status} 0`)
      await decide(one.id, 'release')
      assert.equal(await one.look(), 'DONE 3')
    }
  })
  test('without a memo: it is nobody’s when it comes back', async () => {
    const { client, user_id } = await platform.user()
    const { address } = (await client.get('/wallet/deposit_address', { currency: 'XRP' })).body
    const payment = { address, currency: 'XRP', amount: '10' }
    const { txid } = await platform.operator.ok('POST', '/chains/XRP/deposits', payment)
    await mine(platform, 'XRP', DEEP)
    const [{ id }] = await platform.operator.ok('GET', '/deposits?user_id=0')
    await drop(txid as string, 'XRP')
    await back(txid as string, 'XRP')
    const [lost] = await platform.operator.ok('GET', '/deposits?user_id=0')
    assert.deepEqual([lost.id, lost.status], [id, 'MANUAL'])
    const to = (whose: number) =>
      platform.operator.call('POST', `/deposits/${String(id)}/release`, { user_id: whose })
    refused(await to(999_999), 400, 'USER_NOT_FOUND')
    assert.equal((await to(user_id)).body.status, 'DONE')
    assert.equal(await platform.balance(user_id, 'XRP'), '10')
  })
  test('too small: it is no larger when it comes back, and not refunded where the fee is more', async () => {
    const one = await paid('0.0001', DEEP)
    await drop(one.txid)
    await back(one.txid)
    assert.equal(await one.look(), 'INVALID 0')
    const two = await paid('0.0015', 0)
    await decide(two.id, 'block')
    await mine(platform, 'ETH', DEEP)
    const refund = await platform.operator.call('POST', `/deposits/${two.id}/refund`, {
      address: ETH_OUTSIDE,
    })
    refused(refund, 400, 'AMOUNT_TOO_LITTLE', /fee/)
    assert.equal((await decide(two.id, 'reject_refund')).refund_status, 'REJECTED')
  })
  test('to where it waits for a block again: PEND, and nobody has it meanwhile', async () => {
    const { core, chains } = platform.platform.desk
    for (const blocks of [1, 12, DEEP]) {
      const one = await paid('1', blocks)
      assert.match(await one.look(), [/TRACK 0/, /DEP_CREDITED 1/, /DONE 1/][[1, 12, DEEP].indexOf(blocks)]!)
      // Both before the driver looks: by two calls it would see the payment gone in between.
      const of = { chain: 'ETH', actor: 'test' }
      const gone = core.submit('sim.reorg', { ...of, depth: blocks, drop: [one.txid] })
      await Promise.all([gone, core.submit('sim.transaction', { ...of, txid: one.txid, state: 'pending' })])
      await chains.step('ETH')
      assert.equal(await one.look(), 'PEND 0')
      await mine(platform, 'ETH', DEEP)
      assert.equal(await one.look(), 'DONE 1')
    }
  })
  test('blocked before it is in a block', async () => {
    const one = await paid('1', 0)
    assert.equal((await decide(one.id, 'block')).status, 'BLOCKED')
  })
})
