import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { run } from '../../src/cli/main.ts'
import { amountOf, type Amount } from '../../src/money/amount.ts'
import { faultsOf, type InclusionProof } from '../../src/proof/liabilities.ts'
import { LiabilitySnapshot } from '../../src/proof/snapshot.ts'
import { refused } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

let platform: TestPlatform
const users: number[] = []
before(async () => {
  platform = await TestPlatform.start()
  for (let i = 0; i < 7; i++) {
    const { user_id } = await platform.user()
    users.push(user_id)
    await platform.credit(user_id, 'USDT', `${i + 1}.25`)
    if (i % 2 === 0) await platform.credit(user_id, 'BTC', '0.5')
  }
})
after(() => platform.stop())

/** A deep copy that a test may spoil. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- proofs are spoiled on purpose
const copy = (proof: InclusionProof): any => structuredClone(proof)
const proofOf = (user: number, query = ''): Promise<InclusionProof> =>
  platform.operator.ok('GET', `/ledger/liabilities/${user}${query}`) as Promise<InclusionProof>

test('every user has a proof that verifies, and the sums are those of the ledger', async () => {
  const { root, currencies } = await platform.operator.ok('GET', '/ledger/liabilities')
  const ledger = await platform.operator.ok('GET', '/ledger/proof')
  const owed = new Map(
    (ledger.currencies as { currency: string; user_liabilities: string }[])
      .filter(({ user_liabilities }) => user_liabilities !== '0')
      .map(({ currency, user_liabilities }) => [currency, user_liabilities]),
  )
  const told = new Map(
    (currencies as { currency: string; user_liabilities: string }[])
      .filter(({ user_liabilities }) => user_liabilities !== '0')
      .map(({ currency, user_liabilities }) => [currency, user_liabilities]),
  )
  assert.deepEqual(told, owed)
  const sums = new Map<string, bigint>()
  for (const { user_id } of platform.platform.desk.core.state.users.table.values()) {
    const proof = await proofOf(user_id, `?root=${String(root)}`)
    assert.deepEqual(faultsOf(proof, String(root)), [])
    for (const { currency, balance } of proof.balances)
      sums.set(currency, (sums.get(currency) ?? 0n) + amountOf(balance))
  }
  for (const { currency, sum } of currencies as { currency: string; sum: string }[])
    assert.equal(sums.get(currency) ?? 0n, amountOf(sum), currency)
})

test('a proof stays good for its root while balances move on, and unknown roots are told', async () => {
  const { root } = await platform.operator.ok('GET', '/ledger/liabilities')
  await platform.credit(users[0]!, 'USDT', '100')
  const later = await platform.operator.ok('GET', '/ledger/liabilities')
  assert.notEqual(later.root, root)
  const old = await proofOf(users[0]!, `?root=${String(root)}`)
  assert.deepEqual(faultsOf(old, String(root)), [])
  assert.match(faultsOf(old, String(later.root)).join(), /not the expected/)
  refused(
    await platform.operator.call('GET', `/ledger/liabilities/${users[0]!}?root=${'0'.repeat(64)}`),
    404,
    'NOT_FOUND',
    /no snapshot/,
  )
  refused(await platform.operator.call('GET', '/ledger/liabilities/999999'), 404, 'USER_NOT_FOUND', /999999/)
})

test('a tampered proof fails, wherever it was touched', async () => {
  const good = await proofOf(users[3]!)
  assert.ok(good.balances[0]!.path.length > 1)
  const spoils: readonly [string, (proof: ReturnType<typeof copy>) => void][] = [
    ['balance', (p) => (p.balances[0].balance = '1000')],
    ['negative balance', (p) => (p.balances[0].balance = '-1')],
    ['spelling', (p) => (p.balances[0].balance += '0')],
    ['user', (p) => (p.user_id += 1)],
    ['nonce', (p) => (p.balances[0].nonce = 'a'.repeat(64))],
    ['sum on the path', (p) => (p.balances[0].path[0].sum = '0')],
    ['negative sum', (p) => (p.balances[0].path[0].sum = '-5')],
    ['side', (p) => (p.balances[0].path[0].side = p.balances[0].path[0].side === 'left' ? 'right' : 'left')],
    ['hash on the path', (p) => (p.balances[0].path[1].hash = 'b'.repeat(64))],
    ['shorter path', (p) => p.balances[0].path.pop()],
    ['total', (p) => (p.currencies[0].sum = '1')],
    ['root', (p) => (p.root = 'c'.repeat(64))],
    ['no tree', (p) => p.currencies.pop() && (p.currencies = [])],
    ['twice', (p) => p.balances.push(p.balances[0])],
    ['version', (p) => (p.version = 2)],
    ['form', (p) => (p.balances = null)],
  ]
  for (const [what, spoil] of spoils) {
    const bad = copy(good)
    spoil(bad)
    assert.notDeepEqual(faultsOf(bad), [], what)
  }
})

test('who owes more than he has lowers no sum', async () => {
  const balances = new Map([
    ['USDT', new Map([1, 2, 3].map((user) => [user, user === 2 ? -70n : BigInt(user * 100)]))],
  ])
  const snapshot = await LiabilitySnapshot.of(balances, 1, 'salt')
  const [usdt] = snapshot.currencies
  assert.equal(amountOf(usdt!.sum), 400n)
  assert.equal(amountOf(usdt!.owed_by_users), 70n)
  assert.equal(amountOf(usdt!.user_liabilities), 330n as Amount)
  assert.deepEqual(snapshot.proof(2).balances, [])
  for (const user of [1, 3]) assert.deepEqual(faultsOf(snapshot.proof(user)), [])
})

test('trees of every size up to 40 prove every leaf', async () => {
  for (let size = 0; size <= 40; size++) {
    const leaves = new Map(Array.from({ length: size }, (_, i) => [i + 1, BigInt(i + 1)]))
    const snapshot = await LiabilitySnapshot.of(new Map([['BTC', leaves]]), 1, 'salt')
    for (const user of leaves.keys())
      assert.deepEqual(faultsOf(snapshot.proof(user)), [], `${user} of ${size}`)
  }
})

test('kontor verify-proof needs the file alone', async () => {
  const proof = await proofOf(users[1]!)
  const file = join(platform.data, 'proof.json')
  const check = async (text: string, ...options: string[]): Promise<number> => {
    writeFileSync(file, text)
    return run(['verify-proof', file, ...options], {})
  }
  assert.equal(await check(JSON.stringify(proof)), 0)
  assert.equal(await check(JSON.stringify(proof), '--root', proof.root), 0)
  assert.equal(await check(JSON.stringify(proof), '--root', '0'.repeat(64)), 1)
  assert.equal(await check(JSON.stringify({ ...proof, user_id: 1 })), 1)
  assert.equal(await check('{'), 2)
  assert.equal(await run(['verify-proof', `${file}.none`], {}), 2)
})

interface Reserve {
  chain: string
  currency: string
  custody: string
  unbooked: string
  on_chain: string | null
  difference: string | null
  error: string
}
const reserve = async (chain: string, currency: string): Promise<Reserve | undefined> => {
  const { reserves } = await platform.operator.ok('GET', '/ledger/proof')
  return (reserves as Reserve[]).find((one) => one.chain === chain && one.currency === currency)
}

test('custody is compared with the chains: booked, on its way in, and missing', async () => {
  const { operator } = platform
  await operator.ok('POST', '/chains/ETH/deposits', { user_id: users[0], currency: 'ETH', amount: '2' })
  await operator.ok('POST', '/chains/ETH/mine', { blocks: 1 })
  const waiting = await reserve('ETH', 'ETH')
  assert.deepEqual([waiting?.unbooked, waiting?.difference], ['2', '0'])
  await operator.ok('POST', '/chains/ETH/mine', { blocks: 100 })
  const booked = await reserve('ETH', 'ETH')
  assert.deepEqual([booked?.custody, booked?.unbooked, booked?.on_chain], ['2', '0', '2'])
  assert.equal((await operator.ok('GET', '/ledger/proof')).reserves_match, true)

  const port = platform.platform.desk.chains.port('ETH')
  port.holdings = () => Promise.resolve({ ETH: '1.5' })
  assert.equal((await reserve('ETH', 'ETH'))?.difference, '-0.5')
  port.holdings = () => Promise.reject(new Error('connection refused'))
  const silent = await reserve('ETH', 'ETH')
  assert.deepEqual([silent?.on_chain, silent?.difference], [null, null])
  assert.match(silent!.error, /connection refused/)
  assert.equal((await operator.ok('GET', '/ledger/proof')).reserves_match, false)
  Reflect.deleteProperty(port, 'holdings')
})
