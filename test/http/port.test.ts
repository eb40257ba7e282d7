import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { State } from '../../src/core/state.ts'
import type { Table } from '../../src/machine/table.ts'
import { ok, refused } from '../support/client.ts'
import { LivePlatform } from '../support/live.ts'
import { TestPlatform } from '../support/platform.ts'
import { ETH_OUTSIDE, holder, proveBalanced } from '../support/wallet.ts'

/** Lets the newest record leave memory, as it does by itself after some ten thousand others. */
function depart(platform: TestPlatform, tableOf: (state: State) => unknown): void {
  const table = tableOf(platform.platform.desk.core.state) as Table<object>
  const key = table.keyOf([...table.values()].at(-1)!)
  table.retire(
    Array.from({ length: 40_001 }, () => key),
    () => false,
  )
  assert.equal(table.get(key), undefined)
}
/** The next answer of the store about a table is kept back until it is let go. */
function holdBack(platform: TestPlatform, name: string): { asked: Promise<void>; release: () => void } {
  const { store } = platform.platform.desk
  const select = store.select.bind(store)
  let release!: () => void
  let told!: () => void
  const held = new Promise<void>((resolve) => (release = resolve))
  const asked = new Promise<void>((resolve) => (told = resolve))
  store.select = async (spec, where, values) => {
    const rows = await select(spec, where, values)
    if (spec.name !== name) return rows
    store.select = select
    told()
    await held
    return rows
  }
  return { asked, release }
}

describe('rules that look at records are the commands’ own', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0, send_delay_seconds: 3600 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })

  test('a transfer that was made and left memory while the store was asked is not made again', async () => {
    const main = await platform.user()
    const sub = await platform.user({ parent: main.user_id })
    await platform.credit(main.user_id, 'USDT', '1000')
    const body = { sub_account: String(sub.user_id), currency: 'USDT', amount: '1', direction: 'to' }
    const same = { ...body, client_order_id: 'made-and-gone' }
    const { asked, release } = holdBack(platform, 'sub_transfer')
    const late = main.client.post('/wallet/sub_account_transfers', same)
    await asked
    ok(await main.client.post('/wallet/sub_account_transfers', same))
    depart(platform, ({ wallet }) => wallet.subTransfers.table)
    release()
    refused(await late, 400, 'DUPLICATE_REQUEST', /made-and-gone/)
    assert.equal(await platform.balance(sub.user_id, 'USDT'), '1')
    // Others' records that leave in between only make it look again.
    const other = holdBack(platform, 'sub_transfer')
    const next = main.client.post('/wallet/sub_account_transfers', { ...body, client_order_id: 'another' })
    await other.asked
    ok(await main.client.post('/wallet/sub_account_transfers', body))
    depart(platform, ({ wallet }) => wallet.subTransfers.table)
    other.release()
    ok(await next)
    assert.equal(await platform.balance(sub.user_id, 'USDT'), '3')
  })

  test('nor is a withdrawal that was over by then', async () => {
    const { client, user_id } = await holder(platform)
    const body = {
      currency: 'ETH',
      chain: 'ETH',
      amount: '1',
      address: ETH_OUTSIDE,
      withdraw_order_id: 'gone',
    }
    const { asked, release } = holdBack(platform, 'withdrawal')
    const late = client.post('/withdrawals', body)
    await asked
    const { id } = ok(await client.post('/withdrawals', body))
    ok(await client.delete(`/withdrawals/${String(id)}`), 202)
    depart(platform, ({ wallet }) => wallet.withdrawals.table)
    release()
    refused(await late, 400, 'DUPLICATE_REQUEST', /gone/)
    assert.equal(await platform.balance(user_id, 'ETH'), '100')
    refused(
      await client.delete(`/withdrawals/${String(id)}`),
      400,
      'INVALID_WITHDRAW_CANCEL_STATUS',
      /CANCEL/,
    )
  })

  test('nor is a loan', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    const body = { currency: 'BTC', type: 'borrow', amount: '0.01', text: 't-once' }
    const { asked, release } = holdBack(platform, 'loan_record')
    const late = client.post('/unified/loans', body)
    await asked
    ok(await client.post('/unified/loans', body))
    depart(platform, ({ margin }) => margin.records)
    release()
    refused(await late, 400, 'DUPLICATE_REQUEST', /t-once/)
    assert.equal(await platform.balance(user_id, 'BTC'), '0.01')
  })

  test('a cancelled withdrawal’s money is back within the cancel itself', async () => {
    const { client, user_id } = await holder(platform)
    const { id } = ok(
      await client.post('/withdrawals', { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }),
    )
    const types: string[] = []
    const { core } = platform.platform.desk
    const submit = core.submit.bind(core) as (type: never, ...rest: never[]) => Promise<never>
    core.submit = (type: never, ...rest: never[]) => {
      types.push(type)
      return submit(type, ...rest)
    }
    try {
      ok(await client.delete(`/withdrawals/${String(id)}`), 202)
    } finally {
      delete (core as { submit?: unknown }).submit
    }
    assert.deepEqual(
      types.filter((type) => type.startsWith('withdrawal.')),
      ['withdrawal.cancel'],
    )
    assert.equal(await platform.balance(user_id, 'ETH'), '100')
    assert.ok(
      [...core.state.due.table.values()].every(({ command }) => command !== 'withdrawal.refund'),
      'nothing is left to be refunded again',
    )
  })

  test('an order is found by its text within the command: of 30 who cancel it one wins', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '100000')
    const order = {
      currency_pair: 'BTC_USDT',
      type: 'limit',
      side: 'buy',
      amount: '0.001',
      price: '30000',
      text: 't-mine',
    }
    for (const round of [1, 2]) {
      const { id } = ok(await client.post('/spot/orders', order), 201)
      const replies = await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          i % 3 === 0
            ? client.post('/spot/cancel_batch_orders', [{ currency_pair: 'BTC_USDT', id: 't-mine' }])
            : client.delete(`/spot/orders/${i % 3 === 1 ? 't-mine' : String(id)}`, {
                currency_pair: 'BTC_USDT',
              }),
        ),
      )
      const results = replies.map(({ status, body }) =>
        Array.isArray(body)
          ? { won: body[0].succeeded === true, label: body[0].label as string, id: body[0].id as string }
          : { won: status === 200, label: body.label as string, id: body.id as string },
      )
      const won = results.filter((result) => result.won)
      assert.equal(won.length, 1, `round ${round}`)
      assert.equal(won[0]!.id, id)
      for (const { won: mine, label } of results) if (!mine) assert.equal(label, 'ORDER_CANCELLED')
    }
    refused(
      await client.delete('/spot/orders/t-never', { currency_pair: 'BTC_USDT' }),
      404,
      'CLIENT_ID_NOT_FOUND',
      /t-never/,
    )
    const { id: open } = ok(await client.post('/spot/orders', order), 201)
    refused(
      await client.delete('/spot/orders/t-mine', { currency_pair: 'ETH_USDT' }),
      404,
      'ORDER_NOT_FOUND',
      /ETH_USDT/,
    )
    const [amended] = ok(
      await client.post('/spot/amend_batch_orders', [
        { currency_pair: 'BTC_USDT', order_id: 't-mine', price: '30000', amount: '0.001' },
      ]),
    )
    assert.deepEqual([amended.succeeded, amended.id, amended.label], [false, open, 'NO_CHANGE'])
  })

  test('the name of a market is never the name of another account', async () => {
    const { client, user_id } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    ok(await client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    const loan = { currency: 'BTC', type: 'borrow', amount: '0.01', currency_pair: 'unified' }
    refused(await client.post('/margin/uni/loans', loan), 400, 'INVALID_CURRENCY_PAIR')
    assert.equal(await platform.balance(user_id, 'BTC'), '0')
  })

  test('an operator decides about the attempt that its chain was asked about, and no other', async () => {
    const { client, user_id } = await holder(platform)
    const body = { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE }
    const { id } = ok(await client.post('/withdrawals', body))
    const act = (verb: string) => platform.operator.call('POST', `/withdrawals/${String(id)}/${verb}`, {})
    const { chains } = platform.platform.desk
    const send = () => chains.step('ETH', { hurry: true })
    await send()
    ok(await act('fail'))
    const port = chains.port('ETH')
    const abandon = port.abandon.bind(port)
    let release!: () => void
    let told!: () => void
    const held = new Promise<void>((resolve) => (release = resolve))
    const asked = new Promise<void>((resolve) => (told = resolve))
    port.abandon = async (intent) => {
      const dead = await abandon(intent)
      port.abandon = abandon
      told()
      await held
      return dead
    }
    // The first attempt is dead, and one operator is on the way to give the money back for it.
    const late = act('reject')
    await asked
    ok(await act('retry'))
    await send()
    ok(await act('fail'))
    release()
    refused(await late, 400, 'INVALID_PARAM_VALUE', /attempt 2/)
    assert.equal(await platform.balance(user_id, 'ETH'), '99')
    ok(await act('reject'))
    assert.equal(await platform.balance(user_id, 'ETH'), '100')
  })
})

describe('two people', () => {
  test('two changes of the policy that wait at once both stand when both are confirmed', async () => {
    const live = await LivePlatform.start()
    try {
      const [one, two] = [
        await live.admin.call('PUT', '/policy', { cancel_seconds: 7 }),
        await live.admin.call('PUT', '/policy', { new_address_hours: 3 }),
      ]
      await live.confirm(one)
      await live.confirm(two)
      const policy = await live.admin.ok('GET', '/policy')
      assert.deepEqual([policy.cancel_seconds, policy.new_address_hours], [7, 3])
    } finally {
      await live.platform.stop()
    }
  })
})
