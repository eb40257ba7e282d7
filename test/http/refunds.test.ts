import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ok, refused, type OperatorClient } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, deposit, mine, newestDeposit, proveBalanced } from '../support/wallet.ts'

let platform: TestPlatform
let second: OperatorClient
before(async () => {
  platform = await TestPlatform.start()
  second = await platform.colleague('second')
  await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
})
after(() => platform.stop())

const DEEP = 30
async function blocked(amount = '3') {
  const user = await platform.user()
  await deposit(platform, user.user_id, amount)
  await mine(platform, 'ETH', 1)
  const { id } = await newestDeposit(user.client)
  await platform.operator.ok('POST', `/deposits/${id}/block`, { reason: 'sanctioned' })
  await mine(platform, 'ETH', DEEP)
  return { ...user, id: id as string }
}
const refund = (id: string, body: Record<string, unknown> = { address: ETH_OUTSIDE }) =>
  platform.operator.ok('POST', `/deposits/${id}/refund`, body)
const payment = async () => (await platform.operator.ok('GET', '/withdrawals?user_id=0'))[0]
/** A refund always waits for somebody else than who asked for it. */
const approve = async () => second.ok('POST', `/withdrawals/${(await payment()).id}/approve`)
const statusOf = async (user: { client: Parameters<typeof newestDeposit>[0] }) =>
  (await newestDeposit(user.client)).refund_status
async function unclaimed(): Promise<string> {
  const { currencies } = await platform.operator.ok('GET', '/ledger/proof')
  const { accounts } = currencies.find((one: { currency: string }) => one.currency === 'ETH')
  return accounts['deposits.unclaimed'] ?? '0'
}

test('a blocked deposit is refunded: REFUNDING, then REFUNDED', async () => {
  const user = await blocked()
  assert.equal(await statusOf(user), undefined, 'nothing is shown before there is a refund')
  assert.equal(await unclaimed(), '3')
  assert.equal((await refund(user.id)).refund_status, 'REFUNDING')
  assert.equal(await statusOf(user), 'REFUNDING')
  await mine(platform, 'ETH', DEEP)
  const waiting = await payment()
  assert.equal(waiting.status, 'MANUAL', 'whoever blocks a deposit does not send it where he likes alone')
  refused(await platform.operator.call('POST', `/withdrawals/${waiting.id}/approve`), 403, 'FORBIDDEN')
  await approve()
  await mine(platform, 'ETH', 1)
  await mine(platform, 'ETH', DEEP)
  assert.equal(await statusOf(user), 'REFUNDED')
  const paid = await payment()
  assert.deepEqual([paid.status, paid.amount, paid.address, paid.user_id], ['DONE', '3', ETH_OUTSIDE, 0])
  assert.equal(await unclaimed(), '0')
  assert.equal(await platform.balance(user.user_id, 'ETH'), '0')
  assert.deepEqual(ok(await user.client.get('/wallet/withdrawals')), [])
  await proveBalanced(platform)
  for (const call of ['refund', 'reject_refund', 'release'])
    assert.equal(
      (await platform.operator.call('POST', `/deposits/${user.id}/${call}`, { address: ETH_OUTSIDE })).body
        .label,
      'INVALID_PARAM_VALUE',
    )
})

test('a refund that fails: REFUND_FAILED, and again; turned down: REJECTED', async () => {
  const user = await blocked()
  await refund(user.id)
  await approve()
  await mine(platform, 'ETH', 1)
  const { id } = await payment()
  await platform.operator.ok('POST', `/withdrawals/${id}/fail`, { reason: 'refused there' })
  assert.equal(await statusOf(user), 'REFUNDING')
  await platform.operator.ok('POST', `/withdrawals/${id}/reject`)
  assert.equal(await statusOf(user), 'REFUND_FAILED')
  assert.equal(await unclaimed(), '3')
  const turned = await platform.operator.ok('POST', `/deposits/${user.id}/reject_refund`, {
    reason: 'seized',
  })
  assert.equal(turned.refund_status, 'REJECTED')
  assert.equal(await statusOf(user), 'REJECTED')
  await refund(user.id)
  await approve()
  await mine(platform, 'ETH', DEEP)
  await mine(platform, 'ETH', DEEP)
  assert.equal(await statusOf(user), 'REFUNDED')
  await proveBalanced(platform)
  const { reserves_match } = await platform.operator.ok('GET', '/ledger/proof')
  assert.equal(reserves_match, true, 'what the chain took for the failed payment is booked')
})

test('a large refund needs another operator, and a reorganisation of it is followed', async () => {
  await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '5' })
  const user = await blocked('6')
  await refund(user.id)
  const held = await payment()
  assert.equal(held.status, 'MANUAL')
  const own = await platform.operator.call('POST', `/withdrawals/${held.id}/approve`)
  assert.equal(own.body.label, 'FORBIDDEN')
  await platform.operator.ok('POST', `/withdrawals/${held.id}/reject`)
  assert.equal(await statusOf(user), 'REFUND_FAILED')
  await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '100000' })
  await refund(user.id)
  await approve()
  await mine(platform, 'ETH', 1)
  await mine(platform, 'ETH', 12)
  assert.equal(await statusOf(user), 'REFUNDED')
  const { txid } = await payment()
  await platform.operator.ok('POST', '/chains/ETH/reorg', { depth: 14, drop: [txid] })
  assert.equal(await statusOf(user), 'REFUNDING')
  await mine(platform, 'ETH', DEEP)
  assert.equal(await statusOf(user), 'REFUNDED')
  await proveBalanced(platform)
})

test('what can not be refunded says why', async () => {
  const user = await platform.user()
  await deposit(platform, user.user_id, '2')
  await mine(platform, 'ETH', 1)
  const { id } = await newestDeposit(user.client)
  const call = (path: string, body: object) => platform.operator.call('POST', `/deposits/${path}`, body)
  const refuses = async (path: string, body: object, message: RegExp, label = 'INVALID_PARAM_VALUE') => {
    const reply = await call(path, body)
    assert.equal(reply.body.label, label)
    assert.match(reply.body.message as string, message)
  }
  await refuses(`${id}/refund`, { address: ETH_OUTSIDE }, /only a BLOCKED/)
  await platform.operator.ok('POST', `/deposits/${id}/block`)
  await refuses(`${id}/refund`, { address: ETH_OUTSIDE }, /confirmations/)
  await mine(platform, 'ETH', DEEP)
  await refuses(`${id}/refund`, { address: 'nowhere' }, /address/)
  const { address } = ok(await user.client.get('/wallet/deposit_address', { currency: 'ETH' }))
  await refuses(`${id}/refund`, { address }, /belongs to this platform/)
  await refuses(`${id}/refund`, {}, /address/, 'MISSING_REQUIRED_PARAM')
  await refuses('d999999/refund', { address: ETH_OUTSIDE }, /no deposit/, 'NOT_FOUND')
  await refuses('d999999/reject_refund', {}, /no deposit/, 'NOT_FOUND')
})

test('a deposit that a reorganisation takes: nobody else pays for its refund, sent or not', async () => {
  const other = await blocked('7')
  const before = await unclaimed()
  const txidOf = async (user: { client: Parameters<typeof newestDeposit>[0] }): Promise<string> =>
    (await newestDeposit(user.client)).txid
  const drop = async (...txids: string[]): Promise<void> => {
    await platform.operator.ok('POST', '/chains/ETH/reorg', { depth: 100, drop: txids })
    await mine(platform, 'ETH', 1)
  }
  // Not sent yet: it stays, and whoever approves it all the same sends nobody's money.
  const waiting = await blocked()
  await refund(waiting.id)
  await drop(await txidOf(waiting))
  await approve()
  await mine(platform, 'ETH', 2)
  const held = await payment()
  assert.equal(held.status, 'REVIEW')
  assert.equal(await unclaimed(), before)
  await platform.operator.ok('POST', `/withdrawals/${held.id}/reject`)
  assert.equal(await statusOf(waiting), 'REFUND_FAILED')
  assert.equal(await unclaimed(), before)

  // Sent: the operator has paid it.
  const sent = await blocked()
  await refund(sent.id)
  await approve()
  await mine(platform, 'ETH', DEEP)
  assert.equal(await statusOf(sent), 'REFUNDED')
  const equity = await ofEquity()
  await drop(await txidOf(sent))
  assert.equal(await unclaimed(), before)
  assert.equal(await ofEquity(), equity - 3)
  await proveBalanced(platform)

  // On its way, and then it fails: nothing was lost.
  const failing = await blocked()
  await refund(failing.id)
  await approve()
  await mine(platform, 'ETH', 1)
  await drop(await txidOf(failing))
  const { id } = await payment()
  await platform.operator.ok('POST', `/withdrawals/${id}/fail`, { reason: 'refused there' })
  await platform.operator.ok('POST', `/withdrawals/${id}/reject`)
  assert.equal(await unclaimed(), before)
  assert.equal(await ofEquity(), equity - 3)

  await platform.operator.ok('POST', `/deposits/${other.id}/release`)
  assert.equal(await platform.balance(other.user_id, 'ETH'), '7')
  await proveBalanced(platform)
})
async function ofEquity(): Promise<number> {
  const { currencies } = await platform.operator.ok('GET', '/ledger/proof')
  const { accounts } = currencies.find((one: { currency: string }) => one.currency === 'ETH')
  return Number(accounts['equity'] ?? '0')
}
