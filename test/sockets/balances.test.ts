import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ok, type Client, type Credential } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient, type Frame } from '../support/socket.ts'
import { ETH_OUTSIDE, deposit, holder, mine } from '../support/wallet.ts'

/** Balance channels and those of the unified account: causes, halves that did not move, and REST’s figures. */
describe('balances over sockets', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start()
  })
  after(() => platform.stop())
  const listen = async (credential: Credential, ...channels: string[]): Promise<SocketClient> => {
    const client = await SocketClient.open(platform.url, platform.now)
    for (const channel of channels)
      assert.equal((await client.subscribe(channel, undefined, credential))['result'].status, 'success')
    return client
  }
  const post = async (client: Client, path: string, body: object): Promise<Frame> => {
    const reply = await client.request('POST', path, { body })
    assert.ok(reply.status < 300, reply.text)
    return reply.body as Frame
  }
  /** What the last command told: currency, change, change of what is held, cause. */
  const causes = (client: SocketClient, channel = 'spot.balances'): string[][] =>
    client
      .pushed(channel)
      .flatMap(({ result }) => result as Frame[])
      .map(
        ({ currency, change, freeze_change, change_type }) =>
          [currency, change, freeze_change, change_type] as string[],
      )
  const fresh = async (client: SocketClient, act: () => Promise<unknown>): Promise<string[][]> => {
    client.frames.length = 0
    await act()
    await sleep(60)
    return causes(client)
  }

  test('each cause in its word', async () => {
    const maker = await platform.user()
    const taker = await platform.user()
    await platform.credit(maker.user_id, 'BTC', '10')
    await platform.credit(taker.user_id, 'USDT', '1000000')
    const client = await listen(taker.credential, 'spot.balances')
    const order = { currency_pair: 'BTC_USDT', amount: '0.1' }
    let placed: Frame
    assert.deepEqual(
      await fresh(client, async () => {
        placed = await post(taker.client, '/spot/orders', { ...order, side: 'buy', price: '50000' })
      }),
      [['USDT', '0', '5000', 'order-create']],
    )
    const path = `/spot/orders/${placed!['id'] as string}`
    const query = { currency_pair: 'BTC_USDT' }
    assert.deepEqual(
      await fresh(client, () => taker.client.request('PATCH', path, { query, body: { amount: '0.2' } })),
      [['USDT', '0', '5000', 'order-update']],
    )
    assert.deepEqual(await fresh(client, () => taker.client.request('DELETE', path, { query })), [
      ['USDT', '0', '-10000', 'order-update'],
    ])
    await post(maker.client, '/spot/orders', { ...order, side: 'sell', price: '60000' })
    const matched = await fresh(client, () =>
      post(taker.client, '/spot/orders', { ...order, side: 'buy', price: '60100' }),
    )
    assert.deepEqual(matched.map(([currency, , , cause]) => [currency, cause]).sort(), [
      ['BTC', 'order-match'],
      ['USDT', 'order-match'],
    ])
    assert.deepEqual(
      matched.find(([currency]) => currency === 'USDT'),
      ['USDT', '-6000', '0', 'order-match'],
    )
    // A fee in the platform token is told of that currency.
    await platform.credit(taker.user_id, 'GT', '100')
    assert.ok(
      (await taker.client.request('POST', '/wallet/debit_fee', { body: { enabled: true } })).status < 500,
    )
    assert.ok(
      (await taker.client.request('POST', '/account/debit_fee', { body: { enabled: true } })).status < 500,
    )
    await post(maker.client, '/spot/orders', { ...order, side: 'sell', price: '60000' })
    const fee = await fresh(client, () =>
      post(taker.client, '/spot/orders', { ...order, side: 'buy', price: '60000' }),
    )
    assert.equal(fee.find(([currency]) => currency === 'GT')?.[3], 'trade-fee-deduct')

    assert.deepEqual(
      await fresh(client, () =>
        post(taker.client, '/wallet/transfers', {
          currency: 'USDT',
          from: 'spot',
          to: 'margin',
          amount: '10',
          ...query,
        }),
      ),
      [['USDT', '-10', '0', 'margin-transfer']],
    )
    assert.deepEqual(
      await fresh(client, () =>
        post(taker.client, '/wallet/transfers', {
          currency: 'USDT',
          from: 'spot',
          to: 'futures',
          amount: '3',
          settle: 'usdt',
        }),
      ),
      [['USDT', '-3', '0', 'future-transfer']],
    )
    assert.deepEqual(await fresh(client, () => platform.credit(taker.user_id, 'USDT', '4')), [
      ['USDT', '4', '0', 'other'],
    ])
    await client.close()

    const payer = await holder(platform)
    const credential = await platform.key(payer.user_id, [{ name: 'spot', read_only: true }])
    const other = await listen(credential, 'spot.balances')
    const withdrawn = await fresh(other, () =>
      post(payer.client, '/withdrawals', {
        currency: 'ETH',
        chain: 'ETH',
        address: ETH_OUTSIDE,
        amount: '2',
      }),
    )
    assert.deepEqual(withdrawn[0], ['ETH', '0', '2', 'withdraw'])
    await other.close()
  })

  test('isolated margin: both currencies of a pair with their debts, as REST shows them', async () => {
    const { user_id, client: rest, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    const client = await listen(credential, 'spot.margin_balances')
    await post(rest, '/wallet/transfers', {
      currency: 'USDT',
      from: 'spot',
      to: 'margin',
      amount: '5000',
      currency_pair: 'BTC_USDT',
    })
    await post(rest, '/margin/uni/loans', {
      currency: 'USDT',
      currency_pair: 'BTC_USDT',
      type: 'borrow',
      amount: '100',
    })
    await post(rest, '/spot/orders', {
      currency_pair: 'BTC_USDT',
      account: 'margin',
      side: 'buy',
      amount: '0.01',
      price: '50000',
    })
    await sleep(60)
    const records = client.pushed('spot.margin_balances').flatMap(({ result }) => result as Frame[])
    assert.deepEqual(
      records.map(({ change, available, freeze }) => [change, available, freeze]),
      [
        ['5000', '5000', '0'],
        ['100', '5100', '0'],
        ['0', '4600', '500'],
      ],
    )
    const [account] = ok(await rest.get('/margin/accounts', { currency_pair: 'BTC_USDT' })) as {
      quote: Frame
    }[]
    const { currency, available, locked, borrowed, interest } = account!.quote
    const last = records.at(-1)!
    assert.deepEqual(
      [
        last['currency_pair'],
        last['currency'],
        last['available'],
        last['freeze'],
        last['borrowed'],
        last['interest'],
        last['user'],
      ],
      ['BTC_USDT', currency, available, locked, borrowed, interest, String(user_id)],
    )
    await client.close()
  })

  test('the unified account: balances, loans, assets and details are REST’s; a classic account hears none', async () => {
    const { user_id, client: rest, credential } = await platform.user()
    await platform.credit(user_id, 'USDT', '10000')
    const classic = await listen(credential, 'spot.cross_balances', 'spot.cross_loan')
    await platform.credit(user_id, 'USDT', '1')
    await sleep(60)
    assert.deepEqual(classic.pushed('spot.cross_balances'), [])
    ok(await rest.request('PUT', '/unified/unified_mode', { body: { mode: 'multi_currency' } }), 204)
    const client = await SocketClient.open(platform.url, platform.now, '/v4/ws/unified')
    assert.equal((await client.subscribe('unified.assets', [], credential))['result'].status, 'success')
    assert.equal(
      (await client.subscribe('unified.asset_detail', ['!all'], credential))['result'].status,
      'success',
    )
    assert.equal(
      (await client.subscribe('unified.asset_detail', ['!all', 'BTC'], credential))['error'].code,
      2,
    )
    await sleep(50)
    const compare = async (): Promise<void> => {
      const account = ok(await rest.get('/unified/accounts')) as Frame
      const assets = client.pushed('unified.assets').at(-1)!['result'] as Frame
      const cut = (text: string): string =>
        /^-?\d+(\.\d{1,2})?/
          .exec(text)![0]
          .replace(/(\.\d*?)0+$/, '$1')
          .replace(/\.$/, '')
      assert.equal(assets['u'], user_id)
      assert.deepEqual(
        [assets['r'], assets['R'], assets['b'], assets['e'], assets['l'], assets['T'], assets['a']],
        [
          'total_initial_margin_rate',
          'total_maintenance_margin_rate',
          'total_margin_balance',
          'unified_account_total_equity',
          'unified_account_total_liab',
          'unified_account_total',
          'total_available_margin',
        ].map((name) => cut(account[name] as string)),
      )
      const details = Object.assign(
        {},
        ...client.pushed('unified.asset_detail').map(({ result }) => result.dts as object),
      ) as Record<string, Frame>
      for (const [currency, balance] of Object.entries(account['balances'] as Record<string, Frame>)) {
        const { a, f, e, tl } = details[currency]!
        assert.deepEqual(
          [a, f, e, tl],
          [balance['available'], balance['freeze'], balance['equity'], balance['total_liab']],
        )
      }
    }
    await compare()
    const before = client.pushed('unified.asset_detail').length
    await post(rest, '/unified/loans', { currency: 'BTC', type: 'borrow', amount: '0.01' })
    await sleep(1_200)
    await compare()
    const detail = client.pushed('unified.asset_detail').slice(before)
    assert.deepEqual(
      detail.flatMap(({ result }) => Object.keys(result.dts as object)),
      ['BTC'],
      'only what changed',
    )
    const loans = classic.pushed('spot.cross_loan').map(({ result }) => result as Frame)
    assert.deepEqual(
      loans.map(({ user, currency, change, total, available, borrowed }) => [
        user,
        currency,
        change,
        total,
        available,
        borrowed,
      ]),
      [[String(user_id), 'BTC', '0.01', '0.01', '0.01', '0.01']],
    )
    const cross = classic.pushed('spot.cross_balances').flatMap(({ result }) => result as Frame[])
    assert.deepEqual(
      cross.map(({ currency, change, change_type }) => [currency, change, change_type]),
      [['BTC', '0.01', 'other']],
    )
    await client.close()
    await classic.close()
  })

  test('figures below zero are told as any others, to whoever subscribes then and to whoever listened before', async () => {
    const prices = (set: object) => platform.operator.ok('PUT', '/prices', set)
    await prices({ BTC: '60000', ETH: '3000' })
    const { user_id, client: rest, credential } = await platform.user()
    await platform.credit(user_id, 'BTC', '1')
    ok(await rest.request('PUT', '/unified/unified_mode', { body: { mode: 'multi_currency' } }), 204)
    await post(rest, '/unified/loans', { currency: 'USDT', type: 'borrow', amount: '50000' })
    const out = { currency: 'USDT', from: 'spot', to: 'futures', settle: 'usdt', amount: '50000' }
    await post(rest, '/wallet/transfers', out)
    const follow = async (): Promise<SocketClient> => {
      const client = await SocketClient.open(platform.url, platform.now, '/v4/ws/unified')
      for (const [channel, payload] of [
        ['unified.assets', []],
        ['unified.asset_detail', ['!all']],
      ] as const)
        assert.equal((await client.subscribe(channel, payload, credential))['result'].status, 'success')
      return client
    }
    const told = (client: SocketClient) => {
      const { b, a } = client.pushed('unified.assets').at(-1)!['result'] as Frame
      return `${b} ${a}`
    }
    const first = await follow()
    // 56000 x 0.98 - 50000 = 4880, 120 less than the initial margin of 5000.
    await prices({ BTC: '56000' })
    await sleep(1_200)
    const second = await follow()
    await sleep(60)
    assert.deepEqual([told(first), told(second)], ['4880 -120', '4880 -120'])

    // A deposit that was sold and then taken back by its chain leaves its currency below zero.
    const buyer = await platform.user()
    await platform.credit(buyer.user_id, 'USDT', '3000')
    const order = { currency_pair: 'ETH_USDT', amount: '1', price: '3000' }
    await post(buyer.client, '/spot/orders', { ...order, side: 'buy' })
    await platform.operator.ok('PATCH', '/chains/ETH', { auto_mine_seconds: 0 })
    const { txid } = await deposit(platform, user_id, '1')
    await mine(platform, 'ETH', 13)
    await post(rest, '/spot/orders', { ...order, side: 'sell' })
    await platform.operator.ok('POST', '/chains/ETH/reorg', { depth: 13, drop: [txid] })
    await sleep(1_200)
    const third = await follow()
    await sleep(60)
    for (const client of [first, third]) {
      const { ETH } = client.pushed('unified.asset_detail').at(-1)!['result'].dts as Record<string, Frame>
      assert.deepEqual([ETH!['a'], ETH!['b'], ETH!['e'], ETH!['tl']], ['-1', '-1', '-1', '1'])
      await client.close()
    }
    await second.close()
    assert.deepEqual(platform.faults, [])
  })
})
