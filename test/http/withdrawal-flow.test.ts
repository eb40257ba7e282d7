import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { FINAL_DEPTH } from '../../src/core/tables/tips.ts'
import { WITHDRAWAL_FLOW, WITHDRAWAL_STATUSES } from '../../src/core/tables/withdrawal.flow.ts'
import { OperatorClient, ok, refused, type Client } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { withoutContracts } from '../support/plain-world.ts'
import {
  DAY,
  ETH_OUTSIDE,
  deposit,
  eventually,
  holder,
  mine,
  outside,
  proveBalanced,
  save,
  withdrawal,
} from '../support/wallet.ts'

describe('the way of a withdrawal', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start(withoutContracts())
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
  })
  after(async () => {
    await proveBalanced(platform)
    await platform.stop()
  })
  const body = { currency: 'ETH', chain: 'ETH', amount: '2', address: ETH_OUTSIDE }
  const ask = async (client: Client, change: object = {}): Promise<{ id: string; status: string }> =>
    ok(await client.post('/withdrawals', { ...body, ...change }))
  const act = (id: string, verb: string, detail: object = {}) =>
    platform.operator.ok('POST', `/withdrawals/${id}/${verb}`, detail)
  const operator = async (name: string, role: string): Promise<OperatorClient> => {
    const { token } = await platform.operator.ok('POST', '/operators', { name, role })
    return new OperatorClient(platform.url, token)
  }
  const trueStatus = async (userId: number): Promise<string> =>
    (await platform.operator.ok('GET', `/withdrawals?user_id=${userId}&limit=1`))[0].status

  test('every diversion: shown in each view, cancelled, approved, rejected', async () => {
    const shown: Record<string, string> = { VERIFY: 'REQUEST' }
    for (const status of ['REVIEW', 'MANUAL', 'VERIFY', 'FVERIFY', 'DMOVE', 'LOCKED']) {
      const { client, user_id } = await holder(platform)
      const first = await ask(client)
      assert.equal((await act(first.id, 'divert', { status })).status, status)
      assert.equal((await withdrawal(client, first.id)).status, shown[status] ?? status)
      assert.equal(ok(await client.delete(`/withdrawals/${first.id}`), 202).status, 'CANCELPEND')
      assert.equal(await platform.balance(user_id, 'ETH'), '100')

      const second = await ask(client)
      await act(second.id, 'divert', { status, reason: 'look' })
      assert.equal((await act(second.id, 'approve')).status, 'REQUEST')
      await mine(platform, 'ETH', 12)
      assert.equal((await withdrawal(client, second.id)).status, 'DONE')

      const third = await ask(client)
      await act(third.id, 'divert', { status })
      assert.equal((await act(third.id, 'reject', { reason: 'no' })).status, 'REJECT')
      assert.equal((await withdrawal(client, third.id)).status, 'REJECT')
      assert.equal(await platform.balance(user_id, 'ETH'), '98')
    }
    const { client, user_id } = await holder(platform)
    const made = await ask(client)
    assert.equal((await act(made.id, 'divert', { status: 'INVALID' })).status, 'INVALID')
    assert.equal((await withdrawal(client, made.id)).status, 'REJECT')
    assert.equal(await platform.balance(user_id, 'ETH'), '100')
    refused(
      await platform.operator.call('POST', `/withdrawals/${made.id}/divert`, { status: 'REVIEW' }),
      400,
      'INVALID_PARAM_VALUE',
      /INVALID: .*; operators can ask for nothing$/,
    )
    refused(await platform.operator.call('POST', '/withdrawals/w99999/approve'), 404, 'INVALID_WITHDRAW_ID')
    const open = await ask(client)
    refused(
      await platform.operator.call('POST', `/withdrawals/${open.id}/divert`, { status: 'DONE' }),
      400,
      'INVALID_PARAM_VALUE',
      /DONE/,
    )
    refused(
      await platform.operator.call('POST', `/withdrawals/${open.id}/divert`),
      400,
      'MISSING_REQUIRED_PARAM',
      /status/,
    )
    refused(
      await platform.operator.call('POST', `/withdrawals/${open.id}/approve`),
      400,
      'INVALID_PARAM_VALUE',
      // Not what the sender and the chain bring about.
      /REQUEST: .*; operators can ask for reject, divert$/,
    )
  })

  test('the sender can be stopped at each step, and goes on', async () => {
    const { client, user_id } = await holder(platform)
    for (const [stop, status] of [
      ['PROCES', 'PROCES'],
      ['PEND', 'PEND'],
      ['never', 'EXTPEND'],
    ] as const) {
      await platform.operator.ok('PATCH', '/chains/ETH', { sender_stops_at: stop })
      if (stop === 'PROCES') await ask(client)
      await mine(platform, 'ETH')
      assert.equal(await trueStatus(user_id), status)
      const { id, status: shown } = await withdrawal(client)
      assert.equal(shown, status === 'EXTPEND' ? status : 'REQUEST')
      refused(
        await client.delete(`/withdrawals/${id}`),
        400,
        'INVALID_WITHDRAW_CANCEL_STATUS',
        new RegExp(status),
      )
    }
  })

  test('a withdrawal is sent by itself after its time to be cancelled', async () => {
    const { client, user_id } = await holder(platform)
    await platform.operator.ok('PATCH', '/chains/ETH', { send_delay_seconds: 1 })
    await ask(client)
    await eventually(async () => (await trueStatus(user_id)) === 'EXTPEND', 'sending')
    await platform.operator.ok('PATCH', '/chains/ETH', { send_delay_seconds: 3600 })
    await ask(client)
    assert.equal(await trueStatus(user_id), 'REQUEST')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 3600 })
    assert.equal(await trueStatus(user_id), 'EXTPEND')
    await platform.operator.ok('PATCH', '/chains/ETH', { send_delay_seconds: 2 })
  })

  test('fail, retry and reject: nothing is paid twice', async () => {
    const { client, user_id } = await holder(platform)
    const made = await ask(client)
    await mine(platform, 'ETH')
    const { txid } = await withdrawal(client, made.id)
    assert.equal((await act(made.id, 'fail', { reason: 'out of gas' })).status, 'FAIL')
    assert.equal((await withdrawal(client, made.id)).status, 'FAIL')
    await act(made.id, 'retry')
    await mine(platform, 'ETH', 12)
    const done = await withdrawal(client, made.id)
    assert.equal(done.status, 'DONE')
    assert.notEqual(done.txid, txid)
    const paid = (await platform.operator.ok('GET', '/chains/ETH/transactions')).filter(
      (tx: { txid: string; ok: boolean; state: string }) =>
        [txid, done.txid].includes(tx.txid) && tx.ok && tx.state === 'mined',
    )
    assert.equal(paid.length, 1)

    const second = await ask(client)
    await mine(platform, 'ETH')
    const sent = await withdrawal(client, second.id)
    await platform.operator.ok('PATCH', `/chains/ETH/transactions/${sent.txid}`, { state: 'failed' })
    await mine(platform, 'ETH', 12)
    assert.equal((await withdrawal(client, second.id)).status, 'FAIL')
    const cancelled = await act(second.id, 'reject', { reason: 'gave up' })
    assert.equal(cancelled.status, 'CANCEL')
    const record = await withdrawal(client, second.id)
    assert.equal(record.fail_reason, 'gave up')
    assert.equal(await platform.balance(user_id, 'ETH'), '98')
  })

  test('stuck and lost transactions, and one that a reorganisation took after DONE', async () => {
    const { client } = await holder(platform)
    const made = await ask(client)
    await platform.operator.ok('POST', '/clock', { advance_seconds: 5 })
    const { txid } = await withdrawal(client, made.id)
    const tx = (state: string) => platform.operator.ok('PATCH', `/chains/ETH/transactions/${txid}`, { state })
    await tx('stuck')
    await mine(platform, 'ETH', 20)
    assert.equal((await withdrawal(client, made.id)).block_number, '0')
    await tx('lost')
    await mine(platform, 'ETH', 12)
    const done = await withdrawal(client, made.id)
    assert.equal(done.status, 'DONE')
    assert.equal(done.txid, txid)
    // It has paid, and was booked so: nobody makes a failure of it.
    refused(
      await platform.operator.call('PATCH', `/chains/ETH/transactions/${txid}`, { state: 'failed' }),
      400,
      'INVALID_PARAM_VALUE',
      /reorg/,
    )
    await platform.operator.ok('POST', '/chains/ETH/reorg', { depth: 12, drop: [txid] })
    assert.equal((await withdrawal(client, made.id)).status, 'EXTPEND')
    await mine(platform, 'ETH', 12)
    const again = await withdrawal(client, made.id)
    assert.equal(again.status, 'DONE')
    assert.equal(again.txid, txid)
  })

  test('one that failed so long ago that memory has let go of it is not sent again by a reorganisation', async () => {
    const { client, user_id } = await holder(platform)
    const made = await ask(client)
    await mine(platform, 'ETH')
    const { txid } = await withdrawal(client, made.id)
    await platform.operator.ok('PATCH', `/chains/ETH/transactions/${txid}`, { state: 'failed' })
    await mine(platform, 'ETH', FINAL_DEPTH)
    await mine(platform, 'ETH', 12)
    assert.equal(await trueStatus(user_id), 'FAIL')
    platform = await platform.restart()
    await platform.operator.ok('POST', '/chains/ETH/reorg', { depth: 3 })
    await mine(platform, 'ETH', 12)
    assert.equal(await trueStatus(user_id), 'FAIL')
    // And who gives it up gives back what was never paid.
    await act(made.id, 'reject', { reason: 'gave up' })
    assert.equal(await platform.balance(user_id, 'ETH'), '100')
  })

  test('approval amount: N of M, each operator once, roles and statements', async () => {
    await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '5', approvals: 2 })
    const { client } = await holder(platform)
    assert.equal((await ask(client, { amount: '5' })).status, 'REQUEST')
    const made = await ask(client, { amount: '5.1' })
    assert.equal(made.status, 'MANUAL')
    const viewer = await operator('vera', 'viewer')
    refused(await viewer.call('POST', `/withdrawals/${made.id}/approve`), 403, 'FORBIDDEN')
    const anna = await operator('anna', 'operator')
    refused(
      await anna.call('POST', `/withdrawals/${made.id}/approve`, { amount: '5' }),
      400,
      'INVALID_PARAM_VALUE',
      /amount/,
    )
    refused(
      await anna.call('POST', `/withdrawals/${made.id}/approve`, { address: outside('evm', 'x') }),
      400,
      'INVALID_PARAM_VALUE',
      /address/,
    )
    const statement = { amount: '5.10', currency: 'eth', chain: 'ETH', address: ETH_OUTSIDE }
    assert.equal((await anna.ok('POST', `/withdrawals/${made.id}/approve`, statement)).status, 'MANUAL')
    assert.equal((await anna.ok('POST', `/withdrawals/${made.id}/approve`)).approvals.length, 1)
    assert.equal((await act(made.id, 'approve')).status, 'REQUEST')
    await platform.operator.ok('PATCH', '/currencies/ETH', { approval_amount: '8000', approvals: 1 })
  })

  test('the id of a record of another kind is none', async () => {
    const { client } = await holder(platform)
    const { id } = await ask(client)
    const number = id.slice(1)
    refused(
      await platform.operator.call('POST', `/withdrawals/d${number}/divert`, { status: 'REVIEW' }),
      400,
      'INVALID_PARAM_VALUE',
      /w17/,
    )
    for (const verb of ['hold', 'release', 'block', 'reject_refund'])
      refused(
        await platform.operator.call('POST', `/deposits/${id}/${verb}`),
        400,
        'INVALID_PARAM_VALUE',
        /d17/,
      )
    assert.equal((await act(number, 'divert', { status: 'REVIEW' })).id, id)
    assert.equal((await act(id, 'reject')).status, 'REJECT')
  })
  test('a decision about what is over says so, also when memory has let go of it', async () => {
    const { client, user_id } = await holder(platform)
    const { id } = await ask(client)
    ok(await client.delete(`/withdrawals/${id}`), 202)
    await deposit(platform, user_id, '1')
    await mine(platform, 'ETH', FINAL_DEPTH + 1)
    const [{ id: deposited, status }] = ok(await client.get('/wallet/deposits'))
    assert.equal(status, 'DONE')
    platform = await platform.restart()
    const decide = (path: string, body: object = {}) => platform.operator.call('POST', path, body)
    for (const [verb, body] of [
      ['approve', {}],
      ['reject', {}],
      ['fail', {}],
      ['retry', {}],
      ['divert', { status: 'REVIEW' }],
    ] as const)
      refused(await decide(`/withdrawals/${id}/${verb}`, body), 400, 'INVALID_PARAM_VALUE', /CANCEL/)
    for (const [verb, body] of [
      ['hold', {}],
      ['release', {}],
      ['block', {}],
      ['refund', { address: ETH_OUTSIDE }],
      ['reject_refund', {}],
    ] as const)
      refused(await decide(`/deposits/${deposited}/${verb}`, body), 400, 'INVALID_PARAM_VALUE', /DONE/)
    refused(await decide('/withdrawals/w99999/reject'), 404, 'INVALID_WITHDRAW_ID')
    refused(await decide('/deposits/d99999/hold'), 404, 'NOT_FOUND')
  })

  test('nobody approves what he asked for', async () => {
    const { user_id } = await holder(platform)
    const anna = await operator('asker', 'operator')
    const made = await anna.ok('POST', `/users/${user_id}/withdrawals`, body)
    await act(made.id, 'divert', { status: 'MANUAL' })
    refused(await anna.call('POST', `/withdrawals/${made.id}/approve`), 403, 'FORBIDDEN', /asker/)
    assert.equal((await act(made.id, 'approve')).status, 'REQUEST')
  })

  test('policy: new addresses, changed passwords, velocity, the book, and a dry run', async () => {
    const { client, user_id } = await holder(platform)
    const fresh = outside('evm', 'fresh')
    await save(platform, user_id, { currency: 'ETH', chain: 'ETH', address: fresh, ageSeconds: 0 })
    assert.equal((await ask(client, { address: fresh })).status, 'REVIEW')
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY })
    assert.equal((await ask(client, { address: fresh })).status, 'REQUEST')
    await platform.operator.ok('PATCH', `/users/${user_id}`, { password: 'another' })
    assert.equal((await ask(client)).status, 'REVIEW')
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY })
    const before = await platform.operator.ok('GET', '/policy')
    const run = await platform.operator.ok('POST', '/policy/dry_run', {
      policy: { velocity: { hours: 1, count: 0, usdt: '1' } },
    })
    assert.ok(run.judged > 3 && run.changed.length > 0)
    assert.equal(run.changed[0].draft[0].status, 'REVIEW')
    assert.deepEqual(await platform.operator.ok('GET', '/policy'), before)
    refused(
      await platform.operator.call('PUT', '/policy', { nonsense: 1 }),
      400,
      'INVALID_PARAM_VALUE',
      /nonsense/,
    )
    refused(
      await platform.operator.call('PUT', '/policy', { cancel_seconds: -1 }),
      400,
      'INVALID_PARAM_VALUE',
    )
    await platform.operator.ok('PUT', '/policy', { velocity: { hours: 2, count: 1, usdt: '1000000' } })
    assert.equal((await ask(client)).status, 'REQUEST')
    assert.equal((await ask(client)).status, 'REVIEW')
    await platform.operator.ok('PUT', '/policy', {
      ...before,
      address_book_only: false,
      new_address_hours: 0,
    })
    assert.equal((await ask(client, { address: outside('evm', 'stranger') })).status, 'REQUEST')
    await platform.operator.ok('PUT', '/policy', { ...before, verify_above_usdt: '100', cancel_seconds: 60 })
    const verified = await ask(client)
    assert.equal(verified.status, 'VERIFY')
    assert.equal((await withdrawal(client, verified.id)).status, 'REQUEST')
    ok(await client.delete(`/withdrawals/${verified.id}`), 202)
    assert.equal((await withdrawal(client, verified.id)).status, 'CANCELPEND')
    await platform.operator.ok('POST', '/clock', { advance_seconds: 61 })
    assert.equal((await withdrawal(client, verified.id)).status, 'CANCEL')
    await platform.operator.ok('PUT', '/policy', before)
  })

  test('a paused chain takes requests and keeps them LOCKED; the hot wallet may run short', async () => {
    const { client, user_id } = await holder(platform)
    const before = await ask(client)
    await platform.operator.ok('PATCH', '/chains/ETH', { paused: true })
    assert.equal((await withdrawal(client, before.id)).status, 'LOCKED')
    const made = await ask(client)
    assert.equal(made.status, 'PEND')
    assert.equal((await withdrawal(client, made.id)).status, 'LOCKED')
    await mine(platform, 'ETH', 20)
    assert.equal(await trueStatus(user_id), 'LOCKED')
    await platform.operator.ok('PATCH', '/chains/ETH', { paused: false })
    await mine(platform, 'ETH', 12)
    assert.equal((await withdrawal(client, made.id)).status, 'DONE')
    assert.equal((await withdrawal(client, before.id)).status, 'DONE')

    await platform.operator.ok('PATCH', '/currencies/ETH', { hot_wallet: 'manual' })
    const { hot_wallet } = await platform.operator.ok('GET', '/chains/ETH')
    const short = await ask(client, { amount: String(Math.ceil(Number(hot_wallet['ETH'])) + 3) })
    await mine(platform, 'ETH')
    assert.equal((await withdrawal(client, short.id)).status, 'DMOVE')
    await platform.operator.ok('POST', '/chains/ETH/fund', { currency: 'ETH', amount: '50' })
    await mine(platform, 'ETH', 12)
    assert.equal((await withdrawal(client, short.id)).status, 'DONE')
    await platform.operator.ok('PATCH', '/currencies/ETH', { hot_wallet: 'auto' })
  })

  test('day limits: what is left is told, comes back with a refund, and starts anew', async () => {
    const { client, user_id } = await holder(platform)
    const rules = async () => ok(await client.get('/wallet/withdraw_status', { currency: 'ETH' }))[0]
    await platform.operator.ok('PATCH', `/users/${user_id}`, { withdraw_day_limit: '30000' })
    await platform.operator.ok('PUT', '/prices', { ETH: '3000' })
    assert.equal((await rules()).withdraw_day_limit, '10')
    const made = await ask(client, { amount: '4' })
    assert.equal((await rules()).withdraw_day_limit_remain, '6')
    refused(await client.post('/withdrawals', { ...body, amount: '7' }), 400, 'WITHDRAWAL_OVER_LIMIT', /6/)
    ok(await client.delete(`/withdrawals/${made.id}`), 202)
    assert.equal((await rules()).withdraw_day_limit_remain, '10')
    await ask(client, { amount: '9' })
    await platform.operator.ok('POST', '/clock', { advance_seconds: DAY })
    assert.equal((await rules()).withdraw_day_limit_remain, '10')
    await platform.operator.ok('PATCH', '/currencies/ETH', {
      limits: { withdraw_eachtime_limit: '3', withdraw_day_limit: '5' },
      fees: { withdraw_fix_on_chains: { ETH: '0.01' }, withdraw_percent: '1' },
    })
    const now = await rules()
    assert.equal(now.withdraw_day_limit, '5')
    assert.equal(now.withdraw_fix_on_chains.ETH, '0.01')
    assert.equal(now.withdraw_percent_on_chains.ETH, '1%')
    refused(await client.post('/withdrawals', { ...body, amount: '4' }), 400, 'WITHDRAWAL_OVER_LIMIT')
    assert.equal(ok(await client.post('/withdrawals', { ...body, amount: '2' })).fee, '0.03')
    platform = await platform.restart()
    const kept = ok(
      await platform.client(client.credential).get('/wallet/withdraw_status', { currency: 'ETH' }),
    )[0]
    assert.equal(kept.withdraw_eachtime_limit, '3')
    await platform.operator.ok('PUT', '/prices', { ETH: null })
    await platform.operator.ok('PATCH', '/currencies/ETH', {
      withdraw_eachtime_limit: '10000',
      withdraw_day_limit: '20000',
      withdraw_fix: '0.002',
      withdraw_percent: '0',
    })
  })

  test('history: by id, order id, class, currency and window', async () => {
    const { client } = await holder(platform)
    const now = Math.floor(platform.now())
    const made = await ask(client, { withdraw_order_id: 'mine-1' })
    await ask(client)
    const list = async (query: Record<string, string | number>) =>
      ok(await client.get('/wallet/withdrawals', query))
    assert.equal((await list({})).length, 2)
    assert.equal((await list({ withdraw_id: made.id, from: 1, to: 2 }))[0].withdraw_order_id, 'mine-1')
    assert.equal((await list({ withdraw_order_id: 'mine-1' }))[0].id, made.id)
    const order = { withdraw_order_id: 'mine-1' }
    assert.equal((await list({ ...order, from: now, to: now + 60 })).length, 1)
    assert.equal((await list({ ...order, to: now - 10 })).length, 0)
    assert.equal((await list({ ...order, from: 1, to: 2 })).length, 0)
    refused(await client.get('/wallet/withdrawals', { ...order, from: 2, to: 1 }), 400, 'INVALID_PARAM_VALUE')
    assert.equal((await list({ asset_class: 'SPOT' })).length, 2)
    assert.equal((await list({ asset_class: 'PILOT' })).length, 0)
    assert.equal((await list({ currency: 'ETH', limit: 1, offset: 1 }))[0].id, made.id)
    assert.equal((await list({ currency: 'ETH', asset_class: 'PILOT' })).length, 0)
    assert.equal((await list({ currency: 'BTC' })).length, 0)
    assert.equal((await list({ from: now - 50, to: now - 40 })).length, 0)
    const paged = await client.get('/wallet/withdrawals', { limit: 1 })
    assert.equal(paged.headers.get('x-pagination-total'), '2')
    const other = await holder(platform)
    assert.deepEqual(ok(await other.client.get('/wallet/withdrawals', { withdraw_id: made.id })), [])
    refused(
      await client.get('/wallet/withdrawals', { from: now - 31 * DAY, to: now }),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(await client.get('/wallet/withdrawals', { limit: 1001 }), 400, 'INVALID_PARAM_VALUE')
  })

  test('the flow is sound: everything is reachable, and everything ends', () => {
    const reached = new Set<string>(['REQUEST', 'REVIEW', 'MANUAL', 'VERIFY', 'FVERIFY', 'LOCKED'])
    for (let grew = true; grew;) {
      grew = false
      for (const from of reached)
        for (const to of Object.values(WITHDRAWAL_FLOW[from as 'REQUEST']))
          if (!reached.has(to)) {
            reached.add(to)
            grew = true
          }
    }
    assert.deepEqual([...reached].sort(), [...WITHDRAWAL_STATUSES].sort())
    const ends = new Set<string>(['DONE', 'CANCEL', 'REJECT', 'INVALID'])
    for (let grew = true; grew;) {
      grew = false
      for (const status of WITHDRAWAL_STATUSES)
        if (!ends.has(status) && Object.values(WITHDRAWAL_FLOW[status]).some((to) => ends.has(to))) {
          ends.add(status)
          grew = true
        }
    }
    assert.equal(ends.size, WITHDRAWAL_STATUSES.length)
  })
})
