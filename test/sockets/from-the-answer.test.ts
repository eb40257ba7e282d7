import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { orderOf } from '../support/events.ts'
import { TestPlatform } from '../support/platform.ts'
import { SocketClient } from '../support/socket.ts'

/**
 * Everything committed after the answer is pushed, though nobody listened before and the platform is busy: the batch
 * that was open when the first listener came was not collected.
 */
test('from the answer to the first subscription on nothing is missed', async () => {
  const platform = await TestPlatform.start()
  const { core } = platform.platform.desk
  const { user_id, credential } = await platform.user()
  const { user_id: busy } = await platform.user()
  for (const id of [user_id, busy]) await platform.credit(id, 'USDT', '100000000')
  let over = false
  const flood = (async () => {
    let there = true
    while (!over) {
      for (let i = 0; i < 40; i++) {
        const [from, to] = there ? (['spot', 'options'] as const) : (['options', 'spot'] as const)
        there = !there
        void core.submit('transfer.create', {
          user_id: busy,
          currency: 'USDT',
          from,
          to,
          amount: '1',
          currency_pair: null,
          settle: null,
        })
      }
      await turn()
      if (core.waiting > 2_000) await sleep(1)
    }
  })()
  const placing = { user_id, order: orderOf('BTC_USDT', 'buy', '0.001', '50000') }
  let missed = 0
  for (let round = 0; round < 150; round++) {
    const client = await SocketClient.open(platform.url, platform.now)
    let placed = Promise.resolve({ id: 0 })
    client.listener = (frame) => {
      // At the very moment at which the answer is read.
      if (frame['event'] === 'subscribe') placed = core.submit('spot.place', placing)
    }
    assert.equal((await client.subscribe('spot.orders', ['!all'], credential))['result'].status, 'success')
    const { id } = await placed
    await core.submit('spot.cancel', { user_id, id, currency_pair: 'BTC_USDT' })
    const told = (): boolean =>
      client
        .pushed('spot.orders')
        .some(({ result }) => result[0].id === String(id) && result[0].event === 'put')
    for (let i = 0; i < 100 && !told(); i++) await sleep(5)
    if (!told()) missed++
    await client.close()
  }
  over = true
  await flood
  await platform.stop()
  assert.equal(missed, 0)
})
