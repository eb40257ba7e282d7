import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { formatEther, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { newestDeposit, outside, save, withdrawal } from '../support/wallet.ts'
import { EvmNode, HOT, HOT_KEY, evmWorld } from './node.ts'
import { bookFunds, evmAddress, proveReserves } from './support.ts'

const UNLOCK = 8
let node: EvmNode
let platform: TestPlatform
const folder = mkdtempSync(join(tmpdir(), 'kontor-nonce-'))

before(async () => {
  process.env['KONTOR_TEST_HOT_KEY'] = HOT_KEY
  node = await EvmNode.start()
  const file = join(folder, 'world.json')
  writeFileSync(file, JSON.stringify(evmWorld(node)))
  platform = await TestPlatform.start({ KONTOR_CONFIG: file })
  await bookFunds(platform, node)
  await platform.operator.ok('PATCH', '/chains/EVM', { unlock_confirms: UNLOCK })
})
after(async () => {
  await platform.stop()
  node.stop()
  rmSync(folder, { recursive: true, force: true })
})
const step = (): Promise<void> => platform.platform.desk.chains.step('EVM', { hurry: true })
async function mined(blocks: number): Promise<void> {
  await node.mine(blocks)
  await step()
}
/** A withdrawal that its chain was told about. */
async function paying(currency: string, receiver: string) {
  const user = await platform.user()
  await platform.credit(user.user_id, currency, '10')
  await save(platform, user.user_id, { currency, chain: 'EVM', address: receiver })
  const { id } = ok(
    await user.client.post('/withdrawals', { currency, chain: 'EVM', amount: '5', address: receiver }),
  )
  await step()
  return { ...user, id: id as string }
}
const setTokens = (units: bigint): Promise<void> => node.setTokens(HOT, units)
const decide = (id: string, verb: string) => platform.operator.call('POST', `/withdrawals/${id}/${verb}`)
const statusOf = async (user: { client: Parameters<typeof withdrawal>[0] }) =>
  (await withdrawal(user.client)).status

test('a failure that a reorganisation revives is paid by the same transaction, and once', async () => {
  const receiver = outside('evm', 'revived')
  const user = await paying('USDT', receiver)
  const tokens = await node.tokens(HOT)
  await setTokens(0n)
  await mined(3)
  assert.equal(await statusOf(user), 'FAIL')
  for (const verb of ['retry', 'reject', 'fail']) {
    const reply = await decide(user.id, verb)
    if (verb !== 'fail') assert.match(reply.body.message as string, /may still pay/)
    assert.equal(await statusOf(user), 'FAIL')
  }
  const row = platform.platform.desk.core.state.wallet.withdrawals.table.get(Number(user.id.slice(1)))!
  await node.reorg(3)
  await setTokens(tokens)
  await node.rpc('eth_sendRawTransaction', [row.intent!.raw['signed']])
  await mined(1)
  assert.equal(await statusOf(user), 'EXTPEND')
  await mined(2)
  assert.equal(await statusOf(user), 'DONE')
  assert.equal((await withdrawal(user.client)).txid, row.txid)
  assert.equal(await node.tokens(receiver), 4_000_000n)
  await proveReserves(platform)
})

test('a failure that is deep enough may be tried again, as another transaction', async () => {
  const receiver = outside('evm', 'again')
  const user = await paying('USDT', receiver)
  const first = (await withdrawal(user.client)).txid
  const tokens = await node.tokens(HOT)
  await setTokens(0n)
  await mined(1)
  await setTokens(tokens)
  await proveReserves(platform)
  await mined(UNLOCK - 2)
  assert.equal(await statusOf(user), 'FAIL')
  assert.equal((await decide(user.id, 'retry')).status, 400)
  await mined(1)
  assert.equal((await decide(user.id, 'retry')).status, 200)
  await step()
  await mined(3)
  const done = await withdrawal(user.client)
  assert.equal(done.status, 'DONE')
  assert.notEqual(done.txid, first)
  assert.equal(await node.tokens(receiver), 4_000_000n)
  await proveReserves(platform)
})

test("somebody else's use of the hot key is told, stops nothing, and the payment is signed anew when it is safe", async () => {
  await displacedAt('PEND')
})
test('so is one that its chain had been told of, and lost', async () => {
  await displacedAt('EXTPEND')
})
async function displacedAt(status: 'PEND' | 'EXTPEND'): Promise<void> {
  const stop = status === 'PEND' ? 'PEND' : 'never'
  await platform.operator.ok('PATCH', '/chains/EVM', { sender_stops_at: stop })
  const receiver = outside('evm', `displaced ${status}`)
  const user = await paying('ETH', receiver)
  const row = platform.platform.desk.core.state.wallet.withdrawals.table.get(Number(user.id.slice(1)))!
  assert.equal(row.status, status)
  if (status === 'EXTPEND') await node.drop(row.txid)
  const owner = privateKeyToAccount(HOT_KEY)
  const foreign = await node.sendFrom(owner, { to: owner.address })
  await platform.operator.ok('PATCH', '/chains/EVM', { sender_stops_at: 'never' })
  await node.mine(1)
  const { gasUsed, effectiveGasPrice } = await node.client.getTransactionReceipt({ hash: foreign })
  await platform.operator.ok('POST', '/chains/EVM/book', {
    currency: 'ETH',
    amount: `-${formatEther(gasUsed * effectiveGasPrice)}`,
    reason: 'a fee that another program paid',
  })
  const depositor = await platform.user()
  await node.pay(await evmAddress(depositor.client), '1')
  await mined(3)
  assert.equal((await newestDeposit(depositor.client)).status, 'DEP_CREDITED')
  const { displaced } = await platform.operator.ok('GET', '/chains/EVM')
  assert.deepEqual(
    displaced.map(({ id, dead }: { id: string; dead: boolean }) => [id, dead]),
    [[user.id, false]],
  )
  assert.match(await (await fetch(`${platform.url}/metrics`)).text(), /^kontor_chain_displaced 1$/m)
  assert.equal(await node.ether(receiver), 0n)
  await mined(UNLOCK - 4)
  await step()
  await mined(1)
  await mined(3)
  assert.equal(await statusOf(user), 'DONE')
  assert.equal(await node.ether(receiver), parseEther('4.99'))
  assert.deepEqual((await platform.operator.ok('GET', '/chains/EVM')).displaced, [])
  await proveReserves(platform)
}
