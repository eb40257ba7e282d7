import assert from 'node:assert/strict'
import { test } from 'node:test'
import ccxt from 'ccxt'
import { CCXT_PRODUCTS } from '../../src/cli/ccxt-urls.ts'
import { kontor } from '../support/process.ts'

test('ccxt-urls names every address of the installed ccxt, so that no call goes elsewhere', async () => {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its own types are looser than its values
  const { api } = new ccxt.gate().urls as any
  assert.deepEqual(Object.keys(api).sort(), ['private', 'public'])
  for (const group of ['public', 'private'] as const)
    assert.deepEqual([...CCXT_PRODUCTS[group]].sort(), Object.keys(api[group]).sort(), group)
  const { code, output } = await kontor(['ccxt-urls', '--url', 'http://127.0.0.1:9/'])
  assert.equal(code, 0)
  const exchange = new ccxt.gate({ urls: JSON.parse(output) })
  assert.doesNotMatch(JSON.stringify(exchange.urls['api']), /gate/)
  assert.equal(JSON.stringify(exchange.urls['api']).split('http://127.0.0.1:9/api/v4').length - 1, 22)
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as above
  const live = (new ccxt.pro.gate({ urls: JSON.parse(output) }) as any).urls.api
  assert.doesNotMatch(JSON.stringify(live), /gate/)
  assert.equal(live.spot, 'ws://127.0.0.1:9/ws/v4/')
  assert.deepEqual(live.swap, {
    usdt: 'ws://127.0.0.1:9/fx-ws/v4/ws/usdt',
    btc: 'ws://127.0.0.1:9/fx-ws/v4/ws/btc',
  })
  const nowhere = await kontor(['ccxt-urls', '--data', '/nowhere'])
  assert.equal(nowhere.code, 2)
  assert.match(nowhere.errors, /^kontor: there is no \/nowhere\/credentials.json: [^\n]*\n$/)
})
