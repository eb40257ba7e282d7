import assert from 'node:assert/strict'
import { ok, type Client } from '../support/client.ts'
import type { TestPlatform } from '../support/platform.ts'
import { proveBalanced } from '../support/wallet.ts'
import { HOT, type EvmNode } from './node.ts'

/** Coins and tokens in the hot wallet, booked as the operator's. */
export async function bookFunds(platform: TestPlatform, node: EvmNode): Promise<void> {
  await node.pay(HOT, '50')
  await node.mine()
  await node.payToken(HOT, 5_000_000_000n)
  await node.mine()
  for (const [currency, amount] of [
    ['ETH', '50'],
    ['USDT', '5000'],
  ])
    await platform.operator.ok('POST', '/chains/EVM/book', { currency, amount, reason: 'first funds' })
}
export async function evmAddress(client: Client): Promise<string> {
  const reply = ok(await client.get('/wallet/deposit_address', { currency: 'ETH' }))
  const list = reply.multichain_addresses as { chain: string; address: string }[]
  return list.find(({ chain }) => chain === 'EVM')!.address
}
/** Custody, hot wallet and deposit addresses agree to the last unit. */
export async function proveReserves(platform: TestPlatform): Promise<void> {
  await proveBalanced(platform)
  const { reserves } = await platform.operator.ok('GET', '/ledger/proof')
  const ours = (reserves as { chain: string; difference: string }[]).filter(({ chain }) => chain === 'EVM')
  assert.equal(ours.length, 2)
  for (const one of ours) assert.equal(one.difference, '0', JSON.stringify(one))
}
export interface SweepRecord {
  readonly kind: string
  readonly currency: string
  readonly amount: string
  readonly address: string
  readonly status: string
  readonly txid: string
  readonly block_number: string
  readonly network_fee: string
}
/** Of one deposit address, newest first. */
export async function sweepsOf(platform: TestPlatform, address: string): Promise<SweepRecord[]> {
  const list = (await platform.operator.ok('GET', '/chains/EVM/sweeps')) as SweepRecord[]
  return list.filter((one) => one.address === address)
}
