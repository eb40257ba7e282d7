import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { run } from '../../src/cli/main.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { operatorEndpoints } from '../../src/endpoints.ts'
import { OperatorClient, ok, refused, type Reply } from '../support/client.ts'
import { LIVE_ENV, LivePlatform } from '../support/live.ts'
import { SECRET_KEY, TestPlatform, allPerms } from '../support/platform.ts'
import { ETH_OUTSIDE, eventually, holder } from '../support/wallet.ts'

const proposed = (reply: Reply): number => {
  assert.equal(reply.status, 202, reply.text)
  return reply.body.proposal.id as number
}

/** One operator of a live platform who wants money that is not his. */
describe('one person alone', () => {
  let live: LivePlatform
  before(async () => {
    live = await LivePlatform.start()
    // Without a price every withdrawal would wait for approval.
    const expires = Math.floor(Date.now() / 1000) + 3600
    await live.both('PUT', '/prices', { ETH: '2500', BTC: '60000', expires })
  })
  after(() => live.stop())
  const confirm = (id: number, by: OperatorClient) => by.call('POST', `/proposals/${id}/confirm`)
  const user = async (): Promise<number> =>
    (
      await live.admin.ok('POST', '/users', {
        login_name: `victim_${Date.now()}_${Math.random()}`.replace('.', ''),
      })
    ).user_id

  test('changes nothing that guards money: a second admin confirms it', async () => {
    const { user_id } = { user_id: await user() }
    const calls = [
      ['PATCH', '/currencies/ETH', { approvals: 2 }],
      ['PATCH', '/currencies/ETH', { approval_amount: '1' }],
      ['PATCH', '/currencies/ETH', { limits: { withdraw_day_limit: '77' }, withdraw_enabled: true }],
      ['PATCH', '/currencies/ETH', { chains: { ETH: { withdraw_fix: '0.1' } } }],
      ['PUT', '/policy', { new_address_hours: 0 }],
      ['PATCH', '/chains/ETH', { min_confirms: 2 }],
      ['PATCH', '/chains/ETH', { unlock_confirms: 13, paused: false }],
      ['PATCH', `/users/${user_id}`, { withdraw_day_limit: '1000000000' }],
      ['PATCH', '/markets/BTC_USDT', { up_rate: '9' }],
      ['POST', '/lending/fund', { currency: 'BTC', fund: 'pool', amount: '1000' }],
      ['POST', '/operators', { name: 'puppet', role: 'admin' }],
      ['POST', '/operators', { name: 'doll', role: 'operator' }],
      ['DELETE', '/operators/second', undefined],
    ] as const
    const look = async (): Promise<string> =>
      JSON.stringify([
        await live.admin.ok('GET', '/currencies/ETH'),
        await live.admin.ok('GET', '/policy'),
        await live.admin.ok('GET', `/users/${user_id}`),
        await live.admin.ok('GET', '/markets/BTC_USDT'),
        await live.admin.ok('GET', '/operators'),
        (({ min_confirms, unlock_confirms }) => [min_confirms, unlock_confirms])(
          await live.admin.ok('GET', '/chains/ETH'),
        ),
      ])
    const before = await look()
    const ids: number[] = []
    for (const [method, path, body] of calls) ids.push(proposed(await live.admin.call(method, path, body)))
    for (const id of ids) refused(await confirm(id, live.admin), 403, 'FORBIDDEN', /somebody else/)
    assert.equal(await look(), before)
    const waiting = await live.second.ok('GET', '/proposals?state=waiting')
    assert.deepEqual(
      waiting.map(({ id }: { id: number }) => id),
      [...ids].reverse(),
    )
    assert.ok(!JSON.stringify(waiting).includes('token_hash'))
    ok(await confirm(ids[0]!, live.second))
    assert.equal((await live.admin.ok('GET', '/currencies/ETH')).approvals, 2)
    refused(await confirm(ids[0]!, live.second), 400, 'INVALID_PARAM_VALUE', /done/)
    for (const id of ids.slice(1)) await live.second.ok('POST', `/proposals/${id}/reject`, { reason: 'no' })
    refused(await confirm(ids[1]!, live.second), 400, 'INVALID_PARAM_VALUE', /rejected/)
    const actions = (await live.admin.ok('GET', '/audit?limit=1000')).map(
      ({ action, operator }: { action: string; operator: string }) => `${operator} ${action}`,
    )
    for (const one of [
      'admin proposal.ask',
      'second proposal.confirm',
      'admin currency.configure',
      'second proposal.reject',
    ])
      assert.ok(actions.includes(one), one)
  })

  test("sets no customer's password, with which he could sign in as the customer", async () => {
    const user_id = await user()
    for (const body of [{ password: 'a horse of mine' }, { password: 'a horse of mine', vip: 1 }])
      for (const by of [live.admin, await live.operator(`night_${Object.keys(body).length}`)])
        refused(
          await by.call('PATCH', `/users/${user_id}`, body),
          400,
          'INVALID_PARAM_VALUE',
          /^password: .*console_link/,
        )
    assert.equal((await live.admin.ok('GET', `/users/${user_id}`)).vip, 0)
    // The way that takes two, and shows neither of them the whole of it.
    proposed(await live.admin.call('POST', `/users/${user_id}/console_link`))
  })

  test('what can not work is refused at once, and whoever is on duty can still stop things alone', async () => {
    refused(
      await live.admin.call('PATCH', '/chains/ETH', { min_confirms: 900, unlock_confirms: 2 }),
      400,
      'INVALID_PARAM_VALUE',
    )
    refused(await live.admin.call('DELETE', '/operators/nobody'), 404, 'NOT_FOUND')
    refused(await live.admin.call('PUT', '/policy', { nonsense: 1 }), 400, 'INVALID_PARAM_VALUE')
    const duty = await live.operator('duty')
    ok(await duty.call('PATCH', '/chains/ETH', { paused: true }))
    ok(await duty.call('PATCH', '/chains/ETH', { paused: false }))
    ok(await duty.call('PATCH', '/currencies/ETH', { withdraw_enabled: false }))
    ok(
      await duty.call('PATCH', '/currencies/ETH', {
        chains: { ETH: { withdraw_enabled: true } },
        withdraw_enabled: true,
      }),
    )
    ok(await duty.call('PATCH', '/markets/BTC_USDT', { trade_status: 'tradable' }))
    refused(await duty.call('PATCH', '/currencies/ETH', { approvals: 1 }), 403, 'FORBIDDEN', /admin/)
    const id = proposed(await live.admin.call('PUT', '/policy', { cancel_seconds: 1 }))
    refused(await confirm(id, duty), 403, 'FORBIDDEN', /admin/)
    refused(await duty.call('POST', `/proposals/${id}/reject`), 403, 'FORBIDDEN')
    await live.admin.ok('POST', `/proposals/${id}/reject`)
  })

  test('makes no puppet: each of two admins holds half of a new token, and its owner draws another', async () => {
    const asked = await live.admin.call('POST', '/operators', { name: 'third', role: 'operator' })
    const first = asked.body.token_first_half as string
    const { token_second_half: half } = await live.confirm(asked)
    for (const token of [first, half, `${half as string}${first}`])
      refused(
        await new OperatorClient(live.platform.url, token as string).call('GET', '/status'),
        401,
        'INVALID_CREDENTIALS',
      )
    const third = new OperatorClient(live.platform.url, `${first}${half as string}`)
    const own = await third.ok('POST', '/operators/me/token', { name: 'third' })
    assert.equal(own.name, 'third')
    refused(await third.call('GET', '/status'), 401, 'INVALID_CREDENTIALS')
    await new OperatorClient(live.platform.url, own.token as string).ok('GET', '/status')
    const [newest] = await live.admin.ok('GET', '/proposals?limit=1')
    assert.ok(!JSON.stringify(newest).includes(half as string), 'shown once')
  })

  test('who asked and is gone since does not count, nor does who is made again by that name', async () => {
    await live.operator('fourth', 'admin')
    const id = proposed(await live.as('fourth').call('PUT', '/policy', { cancel_seconds: 2 }))
    await live.both('DELETE', '/operators/fourth')
    await live.operator('fourth', 'admin')
    assert.equal(ok(await confirm(id, live.second)).state, 'waiting')
    assert.equal((await live.admin.ok('GET', '/policy')).cancel_seconds, 0)
    assert.equal(ok(await confirm(id, live.admin)).state, 'done')
    assert.equal((await live.admin.ok('GET', '/policy')).cancel_seconds, 2)
    await live.both('DELETE', '/operators/fourth')
  })

  test('gives nobody a key that can withdraw, nor an address, nor one with a past', async () => {
    const eve = await live.operator('eve')
    const mallory = await live.operator('mallory')
    const victim = await user()
    await live.credit(victim, 'ETH', '50')
    const keyed = await eve.call('POST', `/users/${victim}/keys`, { name: 'k', mode: 1, perms: allPerms() })
    const keyProposal = proposed(keyed)
    const client = live.platform.client({
      key: keyed.body.key as string,
      secret: keyed.body.secret as string,
    })
    const body = { currency: 'ETH', chain: 'ETH', amount: '5', address: ETH_OUTSIDE }
    refused(await client.post('/withdrawals', body), 401, 'INVALID_KEY')
    const address = { currency: 'ETH', chain: 'ETH', address: ETH_OUTSIDE, verified: true }
    const past = Math.floor(live.platform.now() - 2 * 86_400)
    refused(
      await eve.call('POST', `/users/${victim}/saved_addresses`, { ...address, verified_at: past }),
      400,
      'INVALID_PARAM_VALUE',
      /past/,
    )
    const addressProposal = proposed(await eve.call('POST', `/users/${victim}/saved_addresses`, address))
    for (const id of [keyProposal, addressProposal])
      refused(await confirm(id, eve), 403, 'FORBIDDEN', /somebody else/)
    assert.deepEqual(await eve.ok('GET', `/users/${victim}/saved_addresses`), [])
    ok(await confirm(keyProposal, mallory))
    refused(await client.post('/withdrawals', body), 400, 'ADDRESS_NOT_USED')
    ok(await confirm(addressProposal, mallory))
    const made = ok(await client.post('/withdrawals', body))
    assert.equal(made.status, 'REVIEW', 'new from its confirmation on')
    // A key that was frozen is not woken up by one either; one that can't withdraw is.
    const path = `/users/${victim}/keys/${keyed.body.key as string}`
    ok(await eve.call('PATCH', path, { state: 2 }))
    proposed(await eve.call('PATCH', path, { state: 1 }))
    refused(await client.get('/wallet/withdrawals'), 401, 'INVALID_CREDENTIALS')
    ok(await eve.call('POST', `/users/${victim}/keys`, { name: 'r', mode: 1, perms: allPerms(true) }))
  })

  test("asks for no withdrawal in a user's name, and lets go nothing that he held himself", async () => {
    const eve = await live.operator('eva')
    const mallory = await live.operator('mal')
    const victim = await user()
    await live.credit(victim, 'ETH', '50')
    await live.confirm(
      await eve.call('POST', `/users/${victim}/saved_addresses`, {
        currency: 'ETH',
        chain: 'ETH',
        address: ETH_OUTSIDE,
      }),
      mallory,
    )
    await live.both('PUT', '/policy', { new_address_hours: 0 })
    const body = { currency: 'ETH', chain: 'ETH', amount: '5', address: ETH_OUTSIDE }
    await eve.ok('PATCH', '/chains/ETH', { sender_stops_at: 'REQUEST' })
    const asked = ok(await eve.call('POST', `/users/${victim}/withdrawals`, body), 201)
    assert.equal(asked.status, 'REVIEW')
    refused(await eve.call('POST', `/withdrawals/${asked.id}/approve`), 403, 'FORBIDDEN')
    assert.equal((await mallory.ok('POST', `/withdrawals/${asked.id}/approve`)).status, 'REQUEST')
    await mallory.ok('POST', `/withdrawals/${asked.id}/divert`, { status: 'LOCKED' })
    refused(
      await mallory.call('POST', `/withdrawals/${asked.id}/approve`),
      403,
      'FORBIDDEN',
      /put this withdrawal/,
    )
    assert.equal((await live.admin.ok('POST', `/withdrawals/${asked.id}/approve`)).status, 'REQUEST')
    await eve.ok('PATCH', '/chains/ETH', { sender_stops_at: 'never' })
    await live.both('PUT', '/policy', { new_address_hours: 24 })
  })

  test('gives a deposit without a memo to nobody of his choice', async () => {
    const eve = await live.operator('eden')
    const friend = await user()
    const { core, chains } = live.platform.platform.desk
    const { address } = await core.submit('address.ensure', { user_id: friend, chain: 'XRP', address: null })
    await core.submit('sim.pay', {
      chain: 'XRP',
      user_id: null,
      address,
      memo: '',
      currency: 'XRP',
      amount: '500',
      actor: 'test',
    })
    await chains.step('XRP')
    await live.mine('XRP', 10)
    const [lost] = await eve.ok('GET', '/deposits?status=MANUAL')
    const id = proposed(await eve.call('POST', `/deposits/${lost.id}/release`, { user_id: friend }))
    refused(await confirm(id, eve), 403, 'FORBIDDEN')
    assert.equal(await live.platform.balance(friend, 'XRP'), '0')
    ok(await confirm(id, live.second))
    assert.equal(await live.platform.balance(friend, 'XRP'), '500')
  })

  test('proposals end by themselves after three days', async () => {
    const id = proposed(await live.admin.call('PUT', '/policy', { cancel_seconds: 5 }))
    await live.pass(72 * 3600 + 1)
    await eventually(
      async () =>
        (await live.admin.ok('GET', '/proposals?state=expired')).some((one: { id: number }) => one.id === id),
      'the end of the proposal',
    )
    refused(await confirm(id, live.second), 400, 'INVALID_PARAM_VALUE', /expired/)
  })
})

test('the only admin that ever was makes the second alone, and nothing else', async () => {
  const platform = await TestPlatform.start(LIVE_ENV)
  const { operator: admin } = platform
  proposed(await admin.call('POST', '/operators', { name: 'doll', role: 'operator' }))
  proposed(await admin.call('PUT', '/policy', { cancel_seconds: 1 }))
  const { token } = ok(await admin.call('POST', '/operators', { name: 'second', role: 'admin' }), 201)
  proposed(await admin.call('POST', '/operators', { name: 'third', role: 'admin' }))
  // Alone again he is not the only one that ever was.
  const second = new OperatorClient(platform.url, token as string)
  const id = proposed(await admin.call('DELETE', '/operators/second'))
  ok(await second.call('POST', `/proposals/${id}/confirm`))
  refused(await second.call('GET', '/status'), 401, 'INVALID_CREDENTIALS')
  proposed(await admin.call('POST', '/operators', { name: 'puppet', role: 'admin' }))
  await platform.stop()
})

test('approvals are those that it took when it was asked for, of operators who are still there', async () => {
  const platform = await TestPlatform.start()
  const { operator: admin } = platform
  await admin.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0, sender_stops_at: 'REQUEST' })
  await admin.ok('PATCH', '/currencies/ETH', { approval_amount: '1', approvals: 3 })
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => platform.colleague(name)))
  const { client } = await holder(platform)
  const ask = async (): Promise<string> =>
    ok(
      await client.post('/withdrawals', { currency: 'ETH', chain: 'ETH', amount: '2', address: ETH_OUTSIDE }),
    ).id
  const id = await ask()
  await admin.ok('PATCH', '/currencies/ETH', { approvals: 1 })
  const later = await ask()
  const approve = async (by: OperatorClient, one = id): Promise<string> =>
    (await by.ok('POST', `/withdrawals/${one}/approve`)).status
  assert.equal(await approve(a!), 'MANUAL', 'lowered since: that goes for later ones')
  assert.equal(await approve(a!, later), 'REQUEST')
  assert.equal(await approve(b!), 'MANUAL')
  ok(await admin.call('DELETE', '/operators/b'), 204)
  assert.equal(await approve(c!), 'MANUAL', 'b is gone')
  const again = await platform.colleague('b')
  const [shown] = (await admin.ok('GET', '/withdrawals?status=MANUAL')) as { approvals: unknown[] }[]
  assert.equal(shown!.approvals.length, 2, 'another b, who has said nothing yet')
  assert.equal(await approve(again), 'REQUEST')
  // Raised since: it takes more.
  const raised = await (async () => {
    const made = await ask()
    await admin.ok('PATCH', '/currencies/ETH', { approvals: 2 })
    return made
  })()
  assert.equal(await approve(a!, raised), 'MANUAL')
  assert.equal(await approve(c!, raised), 'REQUEST')
  await platform.stop()
})

test('every call of an operator that changes something is guarded in live mode, or harmless alone', () => {
  /** What one operator may do in live mode, and why it takes nobody's money. */
  const ALONE = new Set([
    'POST /operators/me/token', // one's own
    'POST /console_links', // one's own
    'POST /console_invitations', // an account without money or keys
    'POST /proposals/{id}/confirm',
    'POST /proposals/{id}/reject',
    'POST /users', // an account without money or keys
    'POST /users/{uid}/withdrawals', // waits for another operator
    'POST /deposits/{id}/hold',
    'POST /deposits/{id}/block',
    'POST /deposits/{id}/refund', // waits for another operator
    'POST /deposits/{id}/reject_refund',
    'POST /push/{id}/accept', // where its sender wants it; above the approval amount it takes as many as a withdrawal
    'POST /push/{id}/refuse',
    'POST /push/{id}/cancel',
    'POST /chains/{chain}/sweep', // from our own addresses into our own hot wallet
    'POST /policy/dry_run',
    'POST /due/{id}/retry', // what was due anyway
    'POST /liabilities/snapshots',
    'DELETE /orders', // what they held is free again, and still their owners'
    'DELETE /orders/{order_id}',
    'DELETE /sockets/{conn_id}', // its client connects again
    'POST /markets/halt', // stopping takes one, going on takes two
    'POST /markets/{currency_pair}/halt',
    ...['approve', 'reject', 'fail', 'retry', 'divert'].map((verb) => `POST /withdrawals/{id}/${verb}`),
  ])
  const open = operatorEndpoints(undefined as never)
    .filter(
      ({ method, sandboxOnly, guarded }) => method !== 'GET' && sandboxOnly !== true && guarded === undefined,
    )
    .map(({ method, path }) => `${method} ${path}`)
    .filter((name) => !ALONE.has(name))
  assert.deepEqual(open, [])
})

test('a changed configuration file waits for two admins, and is taken in at the next start', async () => {
  const live = await LivePlatform.start()
  const third = await live.operator('third', 'admin')
  const path = join(live.platform.data, 'world.json')
  const world = {
    currencies: BUILT_IN_WORLD.currencies.map((one) =>
      one.currency === 'ETH' ? { ...one, approvals: 1, approval_amount: '999999' } : one,
    ),
  }
  writeFileSync(path, JSON.stringify(world))
  const before = await live.admin.ok('GET', '/currencies/ETH')
  await live.restart({ KONTOR_CONFIG: path })
  assert.deepEqual(await live.admin.ok('GET', '/currencies/ETH'), before)
  const [waiting] = await live.admin.ok('GET', '/proposals?state=waiting')
  assert.equal(waiting.asked_by, '(configuration file)')
  assert.deepEqual(waiting.input.changes, ['currencies.ETH.approval_amount: "8000" → "999999"'])
  // The same file again asks for nothing new, and one admin is not two.
  await live.restart()
  assert.equal((await live.admin.ok('GET', '/proposals?state=waiting')).length, 1)
  const yes = (by: OperatorClient) => by.call('POST', `/proposals/${String(waiting.id)}/confirm`)
  assert.equal(ok(await yes(live.admin)).state, 'waiting')
  refused(await yes(live.admin), 403, 'FORBIDDEN')
  await live.restart()
  assert.deepEqual(await live.admin.ok('GET', '/currencies/ETH'), before)
  assert.equal(ok(await yes(live.as('third'))).state, 'done')
  assert.ok(third.token.length > 0)
  assert.deepEqual(await live.admin.ok('GET', '/currencies/ETH'), before, 'not under a running platform')
  await live.restart()
  assert.equal((await live.admin.ok('GET', '/currencies/ETH')).approval_amount, '999999')
  // Another file than the one that was agreed to waits anew.
  writeFileSync(path, JSON.stringify({ ...world, limits: { keys_max: 1, contract_ceiling: '1' } }))
  await live.restart()
  assert.equal((await live.admin.ok('GET', '/proposals?state=waiting')).length, 1)
  await live.stop()
})

test("whoever restarts the platform does not become its admin; a lost one's successor waits a day", async () => {
  const live = await LivePlatform.start()
  const stolen = 'c0ffee00c0ffee11c0ffee22c0ffee33c0ffee44'
  const { data } = live.platform
  await live.restart({ KONTOR_OPERATOR_TOKEN: stolen })
  refused(
    await new OperatorClient(live.platform.url, stolen).call('GET', '/status'),
    401,
    'INVALID_CREDENTIALS',
  )
  await live.admin.ok('GET', '/status')

  const recover = async (name: string): Promise<string> => {
    await live.platform.platform.stop()
    const write = process.stdout.write.bind(process.stdout)
    let said = ''
    process.stdout.write = (text: string) => (said += text) !== ''
    try {
      assert.equal(
        await run(['operator', 'recover', name, '--data', data], { KONTOR_SECRET_KEY: SECRET_KEY }),
        0,
      )
    } finally {
      process.stdout.write = write
    }
    live.platform = await TestPlatform.start(LIVE_ENV, data)
    live.admin = live.platform.operator
    return /token (\S+)/.exec(said)![1]!
  }
  const first = await recover('rescuer')
  const asks = (token: string) => new OperatorClient(live.platform.url, token).call('GET', '/operators')
  refused(await asks(first), 401, 'INVALID_CREDENTIALS')
  const [waiting] = await live.admin.ok('GET', '/proposals?state=waiting')
  refused(
    await live.admin.call('POST', `/proposals/${String(waiting.id)}/confirm`),
    400,
    'INVALID_PARAM_VALUE',
    /by itself/,
  )
  await live.admin.ok('POST', `/proposals/${String(waiting.id)}/reject`, { reason: 'nobody is lost' })
  await live.pass(25 * 3600)
  refused(await asks(first), 401, 'INVALID_CREDENTIALS')

  const second = await recover('rescuer')
  await live.pass(23 * 3600)
  refused(await asks(second), 401, 'INVALID_CREDENTIALS')
  await live.pass(3601)
  await eventually(async () => (await asks(second)).status === 200, 'the recovery')
  const actions = (await live.admin.ok('GET', '/audit?limit=1000')).map(
    ({ action, operator }: { action: string; operator: string }) => `${operator} ${action}`,
  )
  assert.ok(actions.includes('(recovery on the machine) proposal.ask'))
  assert.ok(actions.includes('(recovery on the machine) operator.recovered'))
  await live.stop()
})
