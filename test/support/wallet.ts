import assert from 'node:assert/strict'
import { simulatedAddress } from '../../src/core/chains/address-formats.ts'
import type { AddressFormat } from '../../src/core/tables/world/chains.ts'
import { ok, type Client } from './client.ts'
import type { TestPlatform } from './platform.ts'

export const DAY = 86_400

/** An address outside the platform, in the form of its chain. */
export const outside = (format: AddressFormat, name = 'somebody'): string =>
  simulatedAddress(format, 'outside', name)
export const ETH_OUTSIDE = outside('evm')

export interface Holder {
  readonly user_id: number
  readonly client: Client
}
/** A user with money and an address that has been verified long enough. */
export async function holder(
  platform: TestPlatform,
  options: { currency?: string; amount?: string; chain?: string; address?: string; tag?: string } = {},
): Promise<Holder> {
  const user = await platform.user()
  const { currency = 'ETH', amount = '100', chain = 'ETH', address = ETH_OUTSIDE, tag = '' } = options
  await platform.credit(user.user_id, currency, amount)
  await save(platform, user.user_id, { currency, chain, address, tag })
  return user
}
export async function save(
  platform: TestPlatform,
  userId: number,
  saved: {
    currency: string
    chain: string
    address: string
    tag?: string
    verified?: boolean
    ageSeconds?: number
  },
): Promise<void> {
  const { ageSeconds = 2 * DAY, ...body } = saved
  await platform.operator.ok('POST', `/users/${userId}/saved_addresses`, {
    verified: true,
    ...body,
    verified_at: Math.floor(platform.now() - ageSeconds),
  })
}
export const mine = (platform: TestPlatform, chain: string, blocks = 1): Promise<{ height: number }> =>
  platform.operator.ok('POST', `/chains/${chain}/mine`, { blocks })

export async function deposit(
  platform: TestPlatform,
  userId: number,
  amount: string,
  currency = 'ETH',
  chain = 'ETH',
): Promise<{ txid: string; address: string }> {
  return platform.operator.ok('POST', `/chains/${chain}/deposits`, { user_id: userId, currency, amount })
}
/** The newest withdrawal of an account, as its owner sees it. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
export async function withdrawal(client: Client, id?: string): Promise<any> {
  const rows = ok(await client.get('/wallet/withdrawals', id === undefined ? {} : { withdraw_id: id }))
  return rows[0]
}
/** The newest deposit. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into replies freely
export async function newestDeposit(client: Client): Promise<any> {
  return ok(await client.get('/wallet/deposits'))[0]
}
export async function proveBalanced(platform: TestPlatform): Promise<void> {
  const proof = await platform.operator.ok('GET', '/ledger/proof')
  assert.equal(proof.balanced, true)
  for (const { currency, total, accounts } of proof.currencies) {
    assert.equal(total, '0', currency)
    for (const name of ['withdrawal.in_flight', 'push.in_flight', 'deposits.unclaimed'])
      assert.ok(!String(accounts[name] ?? '0').startsWith('-'), `${name} ${currency}`)
  }
}
/** Waits for something that happens by itself, such as the sender's work. */
export async function eventually<T>(look: () => Promise<T | undefined | false>, what: string): Promise<T> {
  for (let i = 0; i < 100; i++) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return assert.fail(`${what} did not happen`)
}
