import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, OperatorClient, ok, type Credential } from '../support/client.ts'
import { TOKEN, allPerms } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'
import { SocketClient, type Frame } from '../support/socket.ts'

/**
 * What was pushed survives kill -9: every order, fill and book that anybody heard of is there after the restart, ids go
 * on, and whoever followed a book can tell that he has to begin again.
 */
const PAIR = 'BTC_USDT'
const ROUNDS = 4

interface Trader {
  readonly userId: number
  readonly credential: Credential
}
let made = 0
async function trader(url: string): Promise<Trader> {
  const operator = new OperatorClient(url, TOKEN)
  const { user_id } = await operator.ok('POST', '/users', {
    login_name: `crash_${++made}`,
  })
  const credential = (await operator.ok('POST', `/users/${user_id as number}/keys`, {
    name: 'test',
    mode: 1,
    perms: allPerms(false),
    ip_whitelist: [],
  })) as Credential
  for (const [currency, amount] of [
    ['USDT', '90000000'],
    ['BTC', '900'],
  ])
    await operator.ok('POST', `/users/${user_id as number}/credit`, { account: 'spot', currency, amount })
  return { userId: user_id as number, credential }
}

for (const gateways of ['0', '2'])
  test(`what was pushed survives kill -9 (${gateways} gateways)`, async (context) => {
    const data = mkdtempSync(join(tmpdir(), 'kontor-'))
    const env = { KONTOR_DATA: data, KONTOR_OPERATOR_TOKEN: TOKEN, KONTOR_GATEWAYS: gateways }
    let platform = await PlatformProcess.start(env)
    context.after(() => platform.kill())
    const traders = [await trader(platform.url), await trader(platform.url)]
    let lastId = 0
    for (let round = 0; round < ROUNDS; round++) {
      const orders = new Map<string, Frame>()
      const fills: Frame[] = []
      const trades: Frame[] = []
      let book:
        { readonly u: number; readonly b: [string, string][]; readonly a: [string, string][] } | undefined
      let stop = false
      const clients: SocketClient[] = []
      const work = traders.map(async ({ credential }, who) => {
        const client = await SocketClient.open(platform.url)
        clients.push(client)
        client.listener = ({ channel, event, result }) => {
          if (event !== 'update') return
          if (channel === 'spot.orders')
            for (const order of result as Frame[]) orders.set(order['id'] as string, { ...order, who })
          if (channel === 'spot.usertrades')
            fills.push(...(result as Frame[]).map((fill) => ({ ...fill, who })))
          if (channel === 'spot.trades') trades.push(result as Frame)
          if (channel === 'spot.order_book')
            book = { u: result.lastUpdateId as number, b: result.bids, a: result.asks }
        }
        await client.login(credential)
        await client.call('spot.order_cancel_cp', { currency_pair: PAIR })
        await client.subscribe('spot.orders', ['!all'], credential)
        await client.subscribe('spot.usertrades', ['!all'], credential)
        if (who === 0) {
          await client.subscribe('spot.trades', [PAIR])
          await client.subscribe('spot.order_book', [PAIR, '100', '100ms'])
          assert.ok(book!.u >= lastId, 'ids go on')
        }
        for (let i = 0; !stop && client.closed === undefined; i++) {
          const side = (i + who) % 2 === 0 ? 'buy' : 'sell'
          const order = {
            currency_pair: PAIR,
            side,
            amount: '0.01',
            price: String(60_000 + (i % 7) - 3),
            text: `t-${round}-${i}`,
          }
          const answer = client.call('spot.order_place', order).catch(() => undefined)
          // Some are always under way.
          if (i % 10 === 9) await answer
        }
      })
      for (
        let i = 0;
        i < 200 && (book === undefined || orders.size < 60 || fills.length < 20 || trades.length < 20);
        i++
      )
        await sleep(50)
      await sleep(37 * round)
      await platform.kill()
      stop = true
      await Promise.all(work)
      for (const client of clients) assert.equal((await client.whenClosed()).code, 1006)

      platform = await PlatformProcess.start(env)
      assert.ok(
        orders.size > 20 && fills.length > 5 && trades.length > 5,
        `${orders.size} orders, ${fills.length} fills`,
      )
      for (const [id, { who, ...pushed }] of orders) {
        const rest = new Client(platform.url, traders[who as number]!.credential)
        const order = ok(await rest.get(`/spot/orders/${id}`, { currency_pair: PAIR })) as Frame
        // It may have gone on after the last that was told of it, never back.
        assert.equal(order['text'], pushed['text'])
        assert.ok(Number(order['filled_amount']) >= Number(pushed['filled_amount']))
        if (pushed['event'] === 'finish') assert.equal(order['finish_as'], pushed['finish_as'])
      }
      for (const who of traders.keys()) {
        const rest = new Client(platform.url, traders[who]!.credential)
        const known = new Set<string>()
        for (let page = 1; ; page++) {
          const rows = ok(
            await rest.get('/spot/my_trades', { currency_pair: PAIR, limit: 1000, page }),
          ) as Frame[]
          for (const row of rows) known.add(row['id'] as string)
          if (rows.length < 1000) break
        }
        for (const fill of fills)
          if (fill['who'] === who) assert.ok(known.has(String(fill['id'])), 'a fill was told and is gone')
      }
      const rest = new Client(platform.url)
      const shown = ok(
        await rest.get('/spot/order_book', { currency_pair: PAIR, limit: 100, with_id: true }),
      ) as Frame
      assert.ok((shown['id'] as number) >= book!.u, 'the book went back')
      if (shown['id'] === book!.u) assert.deepEqual([shown['bids'], shown['asks']], [book!.b, book!.a])
      lastId = shown['id'] as number
    }
    await platform.kill('SIGTERM')
    rmSync(data, { recursive: true, force: true })
  })
