import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import ccxt from 'ccxt'
import * as gate from 'gate-api'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, deposit, holder, mine, proveBalanced, type Holder } from '../support/wallet.ts'

/** The real clients, as their users get them from the registry, against this platform. */
describe('unmodified clients', () => {
  let platform: TestPlatform
  let user: Holder & { credential: { key: string; secret: string } }
  let sub: { user_id: number }
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
    const made = await holder(platform)
    user = { ...made, credential: made.client.credential! }
    sub = await platform.user({ parent: user.user_id })
    await platform.credit(user.user_id, 'USDT', '1000')
    await deposit(platform, user.user_id, '1.5')
    await mine(platform, 'ETH', 30)
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })

  test('gate-api', async () => {
    const client = new gate.ApiClient(`${platform.url}/api/v4`)
    client.setApiKeySecret(user.credential.key, user.credential.secret)
    const wallet = new gate.WalletApi(client)
    const withdrawals = new gate.WithdrawalApi(client)
    const address = (await wallet.getDepositAddress('ETH')).body
    assert.match(address.address, /^0x/)
    assert.equal(address.multichainAddresses![0]!.minConfirms, 12)
    const deposits = (await wallet.listDeposits({ currency: 'ETH' })).body
    assert.equal(deposits[0]!.status, 'DONE')
    assert.equal(deposits[0]!.amount, '1.5')
    const record = new gate.LedgerRecord()
    Object.assign(record, {
      currency: 'ETH',
      chain: 'ETH',
      amount: '1',
      address: ETH_OUTSIDE,
      withdrawOrderId: 'sdk-1',
    })
    const sent = (await withdrawals.withdraw(record)).body
    assert.match(sent.id!, /^w\d+$/)
    const cancelled = (await withdrawals.cancelWithdrawal(sent.id!)).body
    assert.equal(cancelled.status, 'CANCELPEND')
    const history = (await wallet.listWithdrawals({ withdrawOrderId: 'sdk-1' })).body
    assert.equal(history[0]!.status, 'CANCEL')
    const transfer = new gate.Transfer()
    Object.assign(transfer, { currency: 'USDT', from: 'spot', to: 'futures', amount: '10', settle: 'usdt' })
    const { txId } = (await wallet.transfer(transfer)).body
    assert.equal(typeof txId, 'number')
    const subTransfer = new gate.SubAccountTransfer()
    Object.assign(subTransfer, {
      subAccount: String(sub.user_id),
      currency: 'USDT',
      amount: '5',
      direction: 'to',
      clientOrderId: 'sdk-sub-1',
    })
    await wallet.transferWithSubAccount(subTransfer)
    const subTransfers = (await wallet.listSubAccountTransfers({})).body
    assert.equal(subTransfers[0]!.clientOrderId, 'sdk-sub-1')
    const balances = (await wallet.listSubAccountBalances({})).body
    assert.equal(balances[0]!.available!['USDT'], '5')
    const status = (await wallet.getTransferOrderStatus({ clientOrderId: 'sdk-sub-1' })).body
    assert.equal(status.status, 'SUCCESS')
    const total = (await wallet.getTotalBalance({ currency: 'USDT' })).body
    assert.ok(Number(total.total!.amount) > 300_000)
    const fees = (await wallet.listWithdrawStatus({ currency: 'USDT' })).body
    assert.equal(fees[0]!.withdrawFixOnChains!['TRX'], '1')
    const chains = (await wallet.listCurrencyChains('USDT')).body
    assert.equal(chains.length, 3)
    const saved = (await wallet.listSavedAddress({ currency: 'ETH' })).body
    assert.equal(saved[0]!.address, ETH_OUTSIDE)
    await assert.rejects(
      withdrawals.withdraw(record),
      (error: { response?: { data?: { label?: string } } }) =>
        error.response?.data?.label === 'DUPLICATE_REQUEST',
    )
  })

  test('ccxt', async () => {
    const exchange = new ccxt.gate({ apiKey: user.credential.key, secret: user.credential.secret })
    const api = exchange.urls['api'] as unknown as Record<'public' | 'private', Record<string, string>>
    for (const group of [api.public, api.private])
      for (const name of Object.keys(group)) group[name] = `${platform.url}/api/v4`
    await exchange.loadMarkets()
    assert.ok(exchange.currencies['USDT']!.networks)
    const networks = await exchange.fetchDepositAddressesByNetwork('ETH')
    assert.match(String(Object.values(networks)[0]!.address), /^0x/)
    const deposits = await exchange.fetchDeposits('ETH')
    assert.equal(deposits[0]!.status, 'ok')
    assert.equal(deposits[0]!.amount, 1.5)
    assert.equal(deposits[0]!.type, 'deposit')
    const sent = await exchange.withdraw('ETH', 1, ETH_OUTSIDE)
    assert.match(sent.id!, /^w\d+$/)
    await mine(platform, 'ETH', 12)
    const list = await exchange.fetchWithdrawals('ETH')
    const mineOne = list.find(({ id }) => id === sent.id)!
    assert.equal(mineOne.status, 'ok')
    assert.equal(mineOne.fee!.cost, 0.002)
    assert.equal(mineOne.amount, 0.998)
    const transfer = await exchange.transfer('USDT', 3, 'spot', 'swap')
    assert.ok(transfer.id)
    const fees = (await exchange.fetchDepositWithdrawFees(['USDT'])) as unknown as Record<
      string,
      { networks: Record<string, { withdraw: { fee: number } }> }
    >
    assert.deepEqual(
      Object.values(fees['USDT']!.networks).map(({ withdraw }) => withdraw.fee),
      [3, 1, 1],
    )
    const implicit = exchange as unknown as Record<
      string,
      (params: object) => Promise<Record<string, Record<string, string>>>
    >
    const total = await implicit['privateWalletGetTotalBalance']!({ currency: 'USDT' })
    assert.ok(Number(total['total']!['amount']) > 300_000)
    const moved = await implicit['privateWalletPostSubAccountTransfers']!({
      sub_account: String(sub.user_id),
      currency: 'USDT',
      amount: '2',
      direction: 'to',
    })
    assert.ok(moved['tx_id'] !== undefined)
  })
})
