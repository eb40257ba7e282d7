import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { newestDeposit, outside, save, withdrawal } from '../support/wallet.ts'
import { DEPOSITS, EvmNode, HOT_KEY, evmWorld } from './node.ts'
import { bookFunds, evmAddress, proveReserves as proveEvmReserves } from './support.ts'

let node: EvmNode
let platform: TestPlatform
let env: Record<string, string>
const folder = mkdtempSync(join(tmpdir(), 'kontor-evm-'))

before(async () => {
  process.env['KONTOR_TEST_HOT_KEY'] = HOT_KEY
  node = await EvmNode.start()
  const file = join(folder, 'world.json')
  writeFileSync(file, JSON.stringify(evmWorld(node)))
  env = { KONTOR_CONFIG: file }
  platform = await TestPlatform.start(env)
  await bookFunds(platform, node)
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
const addressOf = (user: { client: ReturnType<TestPlatform['client']> }): Promise<string> =>
  evmAddress(user.client)
const proveReserves = (): Promise<void> => proveEvmReserves(platform)
async function payer(
  currency: string,
  amount: string,
  to: string,
): Promise<Awaited<ReturnType<TestPlatform['user']>>> {
  const user = await platform.user()
  await platform.credit(user.user_id, currency, amount)
  await save(platform, user.user_id, { currency, chain: 'EVM', address: to })
  return user
}

test('deposit addresses come from the extended public key, as any wallet derives them', async () => {
  const user = await platform.user()
  const { privateKey } = DEPOSITS.deriveChild(0).deriveChild(user.user_id)
  const key = `0x${Buffer.from(privateKey!).toString('hex')}` as const
  assert.equal(await addressOf(user), privateKeyToAccount(key).address)
})

test('coins and tokens arrive, are credited after their confirmations, and once only', async () => {
  const user = await platform.user()
  const address = await addressOf(user)
  const txid = await node.pay(address, '1.5')
  await mined(1)
  const seen = await newestDeposit(user.client)
  assert.deepEqual([seen.status, seen.txid, seen.amount], ['TRACK', txid, '1.5'])
  await proveReserves()
  await node.payToken(address, 12_345_678n)
  await mined(2)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '1.5')
  assert.equal(await platform.balance(user.user_id, 'USDT'), '0')
  await mined(3)
  assert.equal(await platform.balance(user.user_id, 'USDT'), '12.345678')
  assert.equal((await newestDeposit(user.client)).status, 'DONE')
  await proveReserves()
  platform = await platform.restart()
  await mined(1)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '1.5')
  assert.equal(ok(await platform.client(user.credential).get('/wallet/deposits')).length, 2)
  await proveReserves()
})

test('a withdrawal of coins and one of tokens reach their receivers', async () => {
  for (const [currency, receiver, get] of [
    ['ETH', outside('evm', 'coins'), async (to: string) => node.ether(to)],
    ['USDT', outside('evm', 'tokens'), async (to: string) => node.tokens(to)],
  ] as const) {
    const user = await payer(currency, '10', receiver)
    const body = { currency, chain: 'EVM', amount: '5', address: receiver }
    ok(await user.client.post('/withdrawals', body))
    await step()
    await mined(1)
    await proveReserves()
    await mined(2)
    const done = await withdrawal(user.client)
    assert.equal(done.status, 'DONE')
    assert.ok(Number(done.block_number) > 0)
    assert.equal(await get(receiver), currency === 'ETH' ? parseEther('4.99') : 4_000_000n)
    await proveReserves()
  }
})

test('a reorganisation takes a credited deposit back', async () => {
  const user = await platform.user()
  const address = await addressOf(user)
  await step()
  await node.pay(address, '2')
  await mined(3)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '2')
  await node.reorg(3)
  await mined(2)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '0')
  assert.equal((await newestDeposit(user.client)).status, 'INVALID')
  await proveReserves()
})

test('a payment that waits too long is sent again with a higher fee and the same nonce', async () => {
  const receiver = outside('evm', 'bumped')
  const user = await payer('ETH', '10', receiver)
  ok(
    await user.client.post('/withdrawals', { currency: 'ETH', chain: 'EVM', amount: '3', address: receiver }),
  )
  await step()
  const first = (await withdrawal(user.client)).txid
  await step()
  assert.equal((await withdrawal(user.client)).txid, first)
  await platform.operator.ok('POST', '/clock', { advance_seconds: 700 })
  await step()
  const second = (await withdrawal(user.client)).txid
  assert.notEqual(second, first)
  await step()
  assert.equal((await withdrawal(user.client)).txid, second, 'once in ten minutes')
  await mined(3)
  assert.equal((await withdrawal(user.client)).status, 'DONE')
  assert.equal(await node.ether(receiver), parseEther('2.99'))
  await proveReserves()
})

test('a node that is silent is told in the proof and stops nothing', async () => {
  node.stop()
  const { reserves, reserves_match } = await platform.operator.ok('GET', '/ledger/proof')
  assert.equal(reserves_match, false)
  const silent = (reserves as { chain: string; on_chain: string | null; error: string }[]).filter(
    ({ chain }) => chain === 'EVM',
  )
  assert.ok(silent.length > 0 && silent.every(({ on_chain, error }) => on_chain === null && error !== ''))
})
