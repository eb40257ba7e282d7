import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { formatEther, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { SWEEP } from '../../src/core/tables/sweeps.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { newestDeposit } from '../support/wallet.ts'
import { DEPOSITS, EvmNode, HOT, HOT_KEY, evmWorld } from './node.ts'
import { bookFunds, evmAddress, proveReserves, sweepsOf } from './support.ts'

let node: EvmNode
let platform: TestPlatform
const folder = mkdtempSync(join(tmpdir(), 'kontor-sweep-'))

before(async () => {
  process.env['KONTOR_TEST_HOT_KEY'] = HOT_KEY
  process.env['KONTOR_TEST_SWEEPER'] = DEPOSITS.privateExtendedKey
  node = await EvmNode.start()
  const file = join(folder, 'world.json')
  writeFileSync(file, JSON.stringify(evmWorld(node, { ETH: '0.5', USDT: '20' })))
  platform = await TestPlatform.start({ KONTOR_CONFIG: file })
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
  await proveReserves(platform)
}

test('coins above the threshold go to the hot wallet once they are credited', async () => {
  const user = await platform.user()
  const address = await evmAddress(user.client)
  await node.pay(address, '1.5')
  await mined(1)
  await mined(1)
  assert.deepEqual(await sweepsOf(platform, address), [], 'not before it is credited')
  await mined(1)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '1.5')
  const [sent] = await sweepsOf(platform, address)
  assert.deepEqual([sent!.kind, sent!.currency, sent!.status], ['sweep', 'ETH', 'SENT'])
  const hot = await node.ether(HOT)
  await mined(1)
  await mined(2)
  const [done] = await sweepsOf(platform, address)
  assert.equal(done!.status, 'DONE')
  assert.ok(Number(done!.network_fee) > 0 && Number(done!.block_number) > 0)
  assert.equal((await node.ether(HOT)) - hot, parseEther(done!.amount))
  assert.ok((await node.ether(address)) < 10n ** 15n, 'only what the fee did not take is left')
  assert.equal(await platform.balance(user.user_id, 'ETH'), '1.5')
  const { hot_wallet } = await platform.operator.ok('GET', '/chains/EVM')
  assert.equal(Number(hot_wallet.ETH).toFixed(6), (Number(await node.ether(HOT)) / 1e18).toFixed(6))
})

test('tokens get their gas from the hot wallet first, and that is no deposit', async () => {
  const user = await platform.user()
  const address = await evmAddress(user.client)
  await node.payToken(address, 30_000_000n)
  await mined(3)
  assert.deepEqual(
    (await sweepsOf(platform, address)).map(({ kind, status }) => [kind, status]),
    [['gas', 'SENT']],
  )
  await mined(1)
  await mined(2)
  assert.deepEqual(
    (await sweepsOf(platform, address)).map(({ kind, currency, status }) => [kind, currency, status]),
    [
      ['sweep', 'USDT', 'SENT'],
      ['gas', 'ETH', 'DONE'],
    ],
  )
  const hot = await node.tokens(HOT)
  await mined(1)
  await mined(2)
  assert.equal((await sweepsOf(platform, address))[0]!.status, 'DONE')
  assert.equal((await node.tokens(HOT)) - hot, 30_000_000n)
  assert.equal(await node.tokens(address), 0n)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '0')
  assert.equal(ok(await user.client.get('/wallet/deposits')).length, 1)
})

test('little stays where it is, and so does what somebody must decide on', async () => {
  const [small, held] = [await platform.user(), await platform.user()]
  const [smallAddress, heldAddress] = [await evmAddress(small.client), await evmAddress(held.client)]
  await node.pay(smallAddress, '0.4')
  await node.pay(heldAddress, '2')
  await mined(1)
  const { id } = await newestDeposit(held.client)
  await platform.operator.ok('POST', `/deposits/${id}/hold`, { reason: 'who is this?' })
  await mined(4)
  assert.deepEqual(await sweepsOf(platform, smallAddress), [])
  assert.deepEqual(await sweepsOf(platform, heldAddress), [])
  await platform.operator.ok('POST', `/deposits/${id}/release`)
  await platform.operator.ok('PATCH', '/currencies/ETH', { chains: { EVM: { sweep_threshold: '0.1' } } })
  assert.equal((await platform.operator.ok('POST', '/chains/EVM/sweep')).chain, 'EVM')
  await mined(4)
  assert.equal((await sweepsOf(platform, smallAddress))[0]!.status, 'DONE')
  assert.equal((await sweepsOf(platform, heldAddress))[0]!.status, 'DONE')
  await platform.operator.ok('PATCH', '/currencies/ETH', { chains: { EVM: { sweep_threshold: '0.5' } } })
})

test('a reorganisation takes a sweep back, and the same one is sent again', async () => {
  const user = await platform.user()
  const address = await evmAddress(user.client)
  await node.pay(address, '3')
  await mined(3)
  await mined(3)
  const [done] = await sweepsOf(platform, address)
  assert.equal(done!.status, 'DONE')
  const hot = await node.ether(HOT)
  await node.reorg(3)
  assert.ok((await node.ether(HOT)) < hot)
  await step()
  await proveReserves(platform)
  assert.equal((await sweepsOf(platform, address))[0]!.status, 'SENT')
  await mined(1)
  await mined(2)
  const list = await sweepsOf(platform, address)
  assert.deepEqual([list.length, list[0]!.status, list[0]!.txid], [1, 'DONE', done!.txid])
  assert.equal(await platform.balance(user.user_id, 'ETH'), '3')
})

test('a sweep whose deposit was reorganised away waits, and takes what comes instead', async () => {
  const user = await platform.user()
  const address = await evmAddress(user.client)
  await node.mine(2)
  await node.pay(address, '4')
  await mined(3)
  assert.equal((await sweepsOf(platform, address))[0]!.status, 'SENT')
  await node.reorg(4)
  await mined(2)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '0')
  assert.equal((await sweepsOf(platform, address))[0]!.status, 'SENT')
  await node.pay(address, '5')
  await mined(1)
  await mined(3)
  assert.equal(await platform.balance(user.user_id, 'ETH'), '5')
  await mined(3)
  const [newest] = await sweepsOf(platform, address)
  assert.equal(newest!.status, 'DONE')
})

test('a sweep that fails costs its fee alone, and one that a reorganisation revives settles anew', async () => {
  const user = await platform.user()
  const address = await evmAddress(user.client)
  await node.payToken(address, 40_000_000n)
  await mined(3)
  await mined(3)
  const [sent] = await sweepsOf(platform, address)
  assert.deepEqual([sent!.kind, sent!.status], ['sweep', 'SENT'])
  await node.setTokens(address, 0n)
  await node.mine(3)
  await step()
  const [failed] = await sweepsOf(platform, address)
  assert.deepEqual([failed!.status, failed!.txid], ['FAIL', sent!.txid])
  assert.ok(Number(failed!.network_fee) > 0)
  await node.setTokens(address, 40_000_000n)
  await proveReserves(platform)
  await node.reorg(3)
  await node.setTokens(address, 40_000_000n)
  await step()
  assert.equal((await sweepsOf(platform, address)).find(({ txid }) => txid === sent!.txid)!.status, 'SENT')
  await mined(3)
  assert.equal((await sweepsOf(platform, address)).find(({ txid }) => txid === sent!.txid)!.status, 'DONE')
})

test("somebody else's use of a deposit address's key: the sweep is given up when it can't be mined any more", async () => {
  const user = await platform.user()
  const address = await evmAddress(user.client)
  await node.pay(address, '2')
  await mined(3)
  const [sent] = await sweepsOf(platform, address)
  assert.equal(sent!.status, 'SENT')
  await platform.operator.ok('PATCH', '/currencies/ETH', { chains: { EVM: { sweep_threshold: '100' } } })
  await node.drop(sent!.txid)
  const { privateKey } = DEPOSITS.deriveChild(0).deriveChild(user.user_id)
  const owner = privateKeyToAccount(`0x${Buffer.from(privateKey!).toString('hex')}`)
  assert.equal(owner.address, address)
  const foreign = await node.sendFrom(owner, { to: owner.address })
  await node.mine(1)
  const { gasUsed, effectiveGasPrice } = await node.client.getTransactionReceipt({ hash: foreign })
  await platform.operator.ok('POST', '/chains/EVM/book', {
    currency: 'ETH',
    amount: `-${formatEther(gasUsed * effectiveGasPrice)}`,
    reason: 'a fee that another program paid',
  })
  await step()
  assert.equal((await sweepsOf(platform, address))[0]!.status, 'SENT', 'a reorganisation may still revive it')
  await mined(3)
  await step()
  assert.equal((await sweepsOf(platform, address))[0]!.status, 'DROPPED')
  // As a process leaves it that dies between the disk and the node.
  const { core } = platform.platform.desk
  const [dropped] = await platform.platform.desk.store.select(SWEEP, 'where "txid" = ?', [sent!.txid])
  const { chain, kind, currency, intent } = dropped!
  const again = { chain, kind, currency, address, amount: sent!.amount, intent }
  assert.equal((await core.submit('sweep.intend', again))!.status, 'SIGNED')
  await step()
  assert.deepEqual(
    (await sweepsOf(platform, address)).map(({ status }) => status),
    ['DROPPED', 'DROPPED'],
  )
  await platform.operator.ok('PATCH', '/currencies/ETH', { chains: { EVM: { sweep_threshold: '0.5' } } })
  await platform.operator.ok('POST', '/chains/EVM/sweep')
  await mined(3)
  assert.equal((await sweepsOf(platform, address))[0]!.status, 'DONE')
})
