import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ok } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, holder, mine, proveBalanced, withdrawal } from '../support/wallet.ts'
import type { Way } from './die-at-commit.ts'

const SCRIPT = fileURLToPath(new URL('./die-at-commit.js', import.meta.url))
const COMMITS_MAX = 60

async function run(way: Way): Promise<boolean> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(way)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (signal === 'SIGKILL') return true
  assert.equal(code, 0, errors)
  return false
}

/** The platform is killed after every single commit of the way; a new process goes on, and nothing is paid twice or lost. */
test('kill -9 after each commit of a deposit and a withdrawal', { timeout: 600_000 }, async () => {
  const template = await TestPlatform.start()
  await template.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
  const { user_id, client } = await holder(template)
  await template.platform.stop()
  const order = 'crash-1'
  const body = { currency: 'ETH', chain: 'ETH', amount: '2', address: ETH_OUTSIDE, withdraw_order_id: order }
  const way = { user_id, credential: client.credential!, withdrawal: body }
  let kills = 0
  for (let commit = 1; commit <= COMMITS_MAX; commit++) {
    const data = mkdtempSync(join(tmpdir(), 'kontor-kill-'))
    cpSync(template.data, data, { recursive: true })
    if (!(await run({ ...way, data, commit }))) {
      rmSync(data, { recursive: true })
      break
    }
    kills++
    const platform = await TestPlatform.start({}, data)
    const owner = platform.client(client.credential)
    // The customer who saw no answer asks again: either it is new, or it is known.
    const again = await owner.post('/withdrawals', body)
    assert.ok(again.status === 200 || again.body.label === 'DUPLICATE_REQUEST', again.text)
    await mine(platform, 'ETH', 1)
    await mine(platform, 'ETH', 30)
    const records = ok(await owner.get('/wallet/withdrawals'))
    assert.equal(records.length, 1, `commit ${commit}`)
    assert.equal((await withdrawal(owner)).status, 'DONE', `commit ${commit}`)
    const txs = await platform.operator.ok('GET', '/chains/ETH/transactions')
    const paid = txs.filter((tx: { kind: string }) => tx.kind === 'out')
    assert.deepEqual(
      paid.map((tx: { amount: string; state: string; ok: boolean }) => [tx.amount, tx.state, tx.ok]),
      [['1.998', 'mined', true]],
      `commit ${commit}`,
    )
    const arrived = txs.length - paid.length
    const deposits = ok(await owner.get('/wallet/deposits'))
    assert.deepEqual(
      deposits.map((one: { status: string }) => one.status),
      Array.from({ length: arrived }, () => 'DONE'),
    )
    assert.equal(await platform.balance(user_id, 'ETH'), String(98 + 3 * arrived), `commit ${commit}`)
    await proveBalanced(platform)
    const proof = await platform.operator.ok('GET', '/ledger/proof')
    const { accounts } = proof.currencies.find((one: { currency: string }) => one.currency === 'ETH')
    assert.equal(accounts['withdrawal.in_flight'], '0')
    await platform.stop()
  }
  assert.ok(kills >= 10 && kills < COMMITS_MAX, `${kills} commits`)
  rmSync(template.data, { recursive: true, force: true })
})
