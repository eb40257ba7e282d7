import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { ok } from '../support/client.ts'
import { ContractTrader, setIndex } from '../support/contracts.ts'
import { TestPlatform } from '../support/platform.ts'
import { eventually, proveBalanced } from '../support/wallet.ts'
import { dies } from './kill.ts'

const COMMITS_MAX = 12

/** One store: each platform dies one commit later in a liquidation, and the next one brings it to its end. */
test(
  'kill -9 after each commit of a fall that liquidates: whole, once, and balanced',
  { timeout: 280_000 },
  async () => {
    let platform = await TestPlatform.start()
    let kills = 0
    for (let commit = 1; commit <= COMMITS_MAX; commit++) {
      await setIndex(platform, { BTC: '60000' })
      const { user_id, client, credential } = await platform.user()
      const long = new ContractTrader(user_id, client)
      await long.fund(platform, '1000')
      const short = await ContractTrader.of(platform, '1000')
      ok(await long.ask('/positions/BTC_USDT/leverage', { leverage: '100' }))
      await short.placed(-1000, '60000')
      await long.placed(1000, '60000')
      await platform.platform.stop()
      const { data } = platform
      const walk = { kind: 'index', prices: { BTC: '59500' } } as const
      const killed = await dies({ env: { KONTOR_DATA: data }, commit, credential, walk })
      platform = await TestPlatform.start({}, data)
      if (killed) kills++
      // Whether the move itself was written is all that may differ.
      await setIndex(platform, { BTC: '59500' })
      const again = new ContractTrader(user_id, platform.client(credential))
      await eventually(async () => (await again.position()).size === 0, `the end of it, commit ${commit}`)
      // 1000, less the fee of 3 and the margin of 63, to the last unit.
      assert.equal((await again.account()).total, '934', `commit ${commit}`)
      assert.equal(ok(await again.get('/liquidates')).length, 1, `commit ${commit}`)
      assert.equal(ok(await again.get('/position_close')).length, 1, `commit ${commit}`)
      await proveBalanced(platform)
      const proof = await platform.operator.ok('GET', '/ledger/proof')
      assert.equal(proof.contracts_match, true, `commit ${commit}`)
      if (!killed) break
    }
    await platform.platform.stop()
    rmSync(platform.data, { recursive: true, force: true })
    assert.ok(kills >= 2 && kills < COMMITS_MAX, `${kills} commits`)
  },
)
