import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseEther } from 'viem'
import { dies } from '../crash/kill.ts'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { LONG } from '../support/size.ts'
import { outside, save, withdrawal } from '../support/wallet.ts'
import { DEPOSITS, EvmNode, HOT_KEY, evmWorld } from './node.ts'
import { bookFunds, evmAddress, proveReserves, sweepsOf } from './support.ts'

/** The platform dies by SIGKILL after every single commit, each time one later; the next one goes on and checks. */
let node: EvmNode
let platform: TestPlatform
let env: Record<string, string>
const folder = mkdtempSync(join(tmpdir(), 'kontor-evm-crash-'))
const COMMITS_MAX = 40
/** The first commits all matter; of a sweep's many, every third. */
const STEP = LONG ? 1 : 3

before(async () => {
  process.env['KONTOR_TEST_HOT_KEY'] = HOT_KEY
  process.env['KONTOR_TEST_SWEEPER'] = DEPOSITS.privateExtendedKey
  node = await EvmNode.start()
  const file = join(folder, 'world.json')
  writeFileSync(file, JSON.stringify(evmWorld(node, { ETH: '0.5', USDT: '20' })))
  env = { KONTOR_CONFIG: file }
  platform = await TestPlatform.start(env)
  await bookFunds(platform, node)
})
after(async () => {
  await platform.stop()
  node.stop()
  rmSync(folder, { recursive: true, force: true })
})
async function mined(blocks: number): Promise<void> {
  await node.mine(blocks)
  await platform.platform.desk.chains.step('EVM', { hurry: true })
}
type User = Awaited<ReturnType<TestPlatform['user']>>
async function killed(
  commit: number,
  user: User,
  walk: Parameters<typeof dies>[0]['walk'],
): Promise<boolean> {
  await platform.platform.stop()
  const { data } = platform
  const died = await dies({ env: { ...env, KONTOR_DATA: data }, commit, credential: user.credential, walk })
  platform = await TestPlatform.start(env, data)
  return died
}

test('kill -9 after each commit of a withdrawal: it is paid once', { timeout: 280_000 }, async () => {
  let kills = 0
  for (let commit = 1; commit <= COMMITS_MAX; commit++) {
    const address = outside('evm', `killed ${commit}`)
    const user = await platform.user()
    await platform.credit(user.user_id, 'ETH', '10')
    await save(platform, user.user_id, { currency: 'ETH', chain: 'EVM', address })
    const body = { currency: 'ETH', chain: 'EVM', amount: '1', address, withdraw_order_id: 'killed' }
    const died = await killed(commit, user, { kind: 'evm', rpc: node.url, withdrawal: body })
    const owner = platform.client(user.credential)
    const again = await owner.post('/withdrawals', body)
    assert.ok(again.status === 200 || again.body.label === 'DUPLICATE_REQUEST', again.text)
    await platform.platform.desk.chains.step('EVM', { hurry: true })
    await mined(1)
    await mined(3)
    assert.equal(ok(await owner.get('/wallet/withdrawals')).length, 1)
    assert.equal((await withdrawal(owner)).status, 'DONE', `commit ${commit}`)
    assert.equal(await node.ether(address), parseEther('0.99'), `commit ${commit}`)
    await proveReserves(platform)
    if (!died) break
    kills++
  }
  assert.ok(kills >= 4 && kills < COMMITS_MAX, `${kills} kills`)
})

test(
  'kill -9 after commits of a token’s sweep: gas, then tokens, each once',
  { timeout: 280_000 },
  async () => {
    let kills = 0
    for (let commit = 1; commit <= COMMITS_MAX; commit += STEP) {
      const user = await platform.user()
      const address = await evmAddress(user.client)
      await node.payToken(address, 30_000_000n)
      const died = await killed(commit, user, { kind: 'sweep', rpc: node.url, blocks: [3, 1, 2, 1, 2] })
      for (let i = 0; i < 3; i++) await mined(3)
      const list = await sweepsOf(platform, address)
      assert.deepEqual(
        list.map(({ kind, status }) => [kind, status]),
        [
          ['sweep', 'DONE'],
          ['gas', 'DONE'],
        ],
        `commit ${commit}`,
      )
      assert.equal(await node.tokens(address), 0n)
      assert.equal(await platform.balance(user.user_id, 'USDT'), '30')
      assert.equal(await platform.balance(user.user_id, 'ETH'), '0')
      await proveReserves(platform)
      if (!died) break
      kills++
    }
    assert.ok(kills >= 6 / STEP && kills < COMMITS_MAX / STEP, `${kills} kills`)
  },
)
