import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { verifyStore } from '../../src/checks/ledger-check.ts'
import { wholeSnapshot } from '../support/whole-snapshot.ts'
import { rowsKey } from '../support/rows-key.ts'
import { Client, OperatorClient, ok } from '../support/client.ts'
import { postgres } from '../support/postgres.ts'
import { TOKEN, allPerms } from '../support/platform.ts'
import { PlatformProcess } from '../support/process.ts'
import { Trader } from '../support/spot.ts'
import { seeded } from './rounds.ts'

const TRADERS = 8
const ROUNDS = 3
const REPLIES_MIN = 120

interface Told {
  readonly trader: number
  readonly filled: string
  readonly status: string
}

after(async () => (await postgres()).stop())

for (const store of ['SQLite', 'PostgreSQL'] as const)
  test(`kill -9 under order load on ${store}: orders and fills that were told are there, queues too, and the proof balances`, async () => {
    await killedUnderLoad(store === 'SQLite' ? undefined : await (await postgres()).database())
  })

async function killedUnderLoad(databaseUrl: string | undefined): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'kontor-spot-crash-'))
  const env = {
    KONTOR_DATA: data,
    KONTOR_OPERATOR_TOKEN: TOKEN,
    ...(databaseUrl !== undefined && { KONTOR_DATABASE_URL: databaseUrl }),
  }
  let platform = await PlatformProcess.start(env)
  after(async () => {
    await platform.kill()
    rmSync(data, { recursive: true, force: true })
  })
  const traders = await makeTraders(platform.url)
  const random = seeded(11)
  const told = new Map<string, Told>()
  for (let round = 0; round < ROUNDS; round++) {
    const before = told.size
    const running = traders.map((trader, i) =>
      trade(new Trader(trader.user_id, trader.client), i, random, told),
    )
    while (told.size < before + REPLIES_MIN) await new Promise((resolve) => setTimeout(resolve, 2))
    await platform.kill()
    await Promise.all(running)

    const snapshot = await wholeSnapshot({ data, databaseUrl })
    assert.deepEqual((await verifyStore(snapshot, { key: rowsKey(data) })).wrong, [])
    const rows = new Map<string, { filled: string; status: string; user: number }>()
    await snapshot.each(
      'select id, user_id, filled, status from spot_order',
      ([id, user, filled, status]) => {
        rows.set(String(id), { user: Number(user), filled: filled as string, status: status as string })
      },
    )
    const [[fills]] = (await snapshot.query(
      `select count(*) from spot_fill f where not exists (select 1 from spot_trade t where t.id = f.trade_id)`,
      [],
    )) as [[number]]
    assert.equal(fills, 0, 'every fill has its trade')
    await snapshot.close()
    for (const [id, { trader, filled, status }] of told) {
      const row = rows.get(id)
      assert.equal(row?.user, traders[trader]!.user_id, `order ${id} was acknowledged`)
      assert.ok(Number(row.filled) >= Number(filled), `order ${id} lost a fill`)
      if (status !== 'open') assert.equal(row.status, status)
    }
    platform = await PlatformProcess.start(env)
    for (const trader of traders)
      Object.assign(trader, { client: new Client(platform.url, trader.client.credential) })
    const operator = new OperatorClient(platform.url, TOKEN)
    assert.equal((await operator.ok('GET', '/ledger/proof')).balanced, true)
    await checkQueue(traders)
  }
}

async function makeTraders(url: string): Promise<{ user_id: number; client: Client }[]> {
  const operator = new OperatorClient(url, TOKEN)
  const traders: { user_id: number; client: Client }[] = []
  for (let i = 0; i < TRADERS; i++) {
    const { user_id } = await operator.ok('POST', '/users', { login_name: `trader_${i}` })
    const keyBody = { name: 'k', mode: 1, perms: allPerms(), ip_whitelist: [] }
    const credential = await operator.ok('POST', `/users/${user_id}/keys`, keyBody)
    for (const [currency, amount] of [
      ['BTC', '100'],
      ['USDT', '5000000'],
    ])
      await operator.ok('POST', `/users/${user_id}/credit`, { account: 'spot', currency, amount })
    traders.push({ user_id, client: new Client(url, credential) })
  }
  return traders
}

/** Places and cancels until the platform is gone, writing down what it was told. */
async function trade(
  trader: Trader,
  i: number,
  random: () => number,
  told: Map<string, Told>,
): Promise<void> {
  const open: string[] = []
  try {
    for (;;) {
      if (open.length > 5 && random() < 0.5) {
        const id = open.shift()!
        const reply = await trader.client.delete(`/spot/orders/${id}`, { currency_pair: 'BTC_USDT' })
        if (reply.status === 200)
          told.set(id, { trader: i, filled: reply.body.filled_amount, status: 'cancelled' })
        continue
      }
      const side = random() < 0.5 ? 'buy' : 'sell'
      const reply = await trader.place(side, '0.01', String(50_000 + Math.floor(random() * 6)))
      if (reply.status !== 201) continue
      const { id, filled_amount: filled, status } = reply.body as Record<string, string>
      told.set(id!, { trader: i, filled: filled!, status: status! })
      if (status === 'open') open.push(id!)
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
  }
}

/** At each price the oldest order is filled first: the queue is what it was. */
async function checkQueue(traders: readonly { user_id: number; client: Client }[]): Promise<void> {
  const resting: { id: string; price: number; trader: Trader }[] = []
  for (const { user_id, client } of traders)
    for (const { orders } of ok(await client.get('/spot/open_orders')))
      for (const order of orders)
        if (order.side === 'sell')
          resting.push({ id: order.id, price: Number(order.price), trader: new Trader(user_id, client) })
  if (resting.length === 0) return
  const best = Math.min(...resting.map(({ price }) => price))
  const queue = resting.filter(({ price }) => price === best).sort((a, b) => Number(a.id) - Number(b.id))
  const [first] = queue
  const left = Number((await first!.trader.order(first!.id)).left)
  const other = traders.find(({ user_id }) => user_id !== first!.trader.user_id)!
  await new Trader(other.user_id, other.client).placed('buy', String(left), String(best), {
    time_in_force: 'ioc',
  })
  assert.equal((await first!.trader.order(first!.id)).status, 'closed')
  for (const { id, trader } of queue.slice(1)) assert.equal((await trader.order(id)).status, 'open')
}
