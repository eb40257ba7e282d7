import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { curlOf, exampleOf } from '../../src/docs/example.ts'
import { EXAMPLES } from '../../src/docs/examples.ts'
import { refuseUnknown } from '../../src/api/fields.ts'
import { ENDPOINT_NAMES } from '../../tools/examples.ts'
import { OperatorClient, ok, send } from '../support/client.ts'
import { TOKEN, TestPlatform } from '../support/platform.ts'
import { endpointAt, mismatch } from '../support/shape.ts'

/** The names of its members; of a list those of its first. */
const membersOf = (value: unknown): string[] => {
  const one: unknown = Array.isArray(value) ? value[0] : value
  return one === null || typeof one !== 'object' ? [] : Object.keys(one).sort()
}

describe('examples of the reference', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_AGENTS: 'on' })
  })
  after(() => platform.stop())

  test('every endpoint has one, and no other is left over: `npm run examples` makes them', () => {
    assert.deepEqual(
      [...EXAMPLES.keys()].filter((name) => !ENDPOINT_NAMES.includes(name)),
      [],
    )
    assert.deepEqual(
      ENDPOINT_NAMES.filter((name) => !EXAMPLES.has(name)),
      [],
    )
  })
  test('each is of its endpoint, would be taken, and its reply has the declared shape', () => {
    for (const name of ENDPOINT_NAMES) {
      const example = exampleOf(name)!
      const [method] = name.split(' ') as [string]
      const served = endpointAt(method, example.path.split('?')[0]!)
      assert.equal(served?.name, name, example.path)
      const { endpoint } = served
      if (example.status < 300) {
        assert.equal(example.status, endpoint.status, name)
        if (endpoint.reply !== null) mismatch(endpoint.reply, example.reply, name)
      } else {
        const { label } = example.reply as { label: string }
        assert.ok((endpoint.refuses as readonly string[]).includes(label), `${name}: ${label}`)
      }
      if (endpoint.body !== undefined && example.body !== undefined)
        assert.doesNotThrow(() => endpoint.body!.read(example.body, '', refuseUnknown), name)
    }
  })
  test('none holds a secret', () => {
    for (const [name, text] of EXAMPLES) {
      assert.doesNotMatch(text, /"(secret|token|password)":"(?!SECRET|TOKEN|PASSWORD)[^"]/, name)
      assert.ok(!text.includes(TOKEN), name)
    }
  })
  test('public ones are answered in the same form today', async () => {
    let compared = 0
    for (const name of ENDPOINT_NAMES) {
      const example = exampleOf(name)!
      const [method] = name.split(' ') as [string]
      const { endpoint } = endpointAt(method, example.path.split('?')[0]!)!
      if (endpoint.access.kind !== 'public' || method !== 'GET') continue
      const reply = await send(platform.url, method, example.path, undefined, {})
      assert.ok(reply.status < 300 || reply.status === example.status, `${name}: ${reply.text}`)
      // What a test had made, or a range of its time, may be empty here; keys of a map are not its form.
      if (membersOf(reply.body).length === 0 || membersOf(example.reply).length === 0) continue
      if (/discount_tiers|sub_account|fee$/.test(name)) continue
      compared++
      assert.deepEqual(membersOf(reply.body), membersOf(example.reply), name)
    }
    assert.ok(compared > 10, String(compared))
  })
  test('calls that no other test of this folder makes', async () => {
    const { user_id } = await platform.user()
    const operator = new OperatorClient(platform.url, TOKEN)
    assert.equal((await operator.ok('GET', `/users/${user_id}/keys`))[0].user_id, user_id)
    await operator.ok('POST', '/lending/fund', { currency: 'USDT', fund: 'pool', amount: '1000' })
    const { client } = await platform.user()
    const old = { currency: 'USDT', amount: '1' }
    for (const path of ['/margin/cross/loans', '/margin/cross/repayments'])
      assert.equal((await client.post(path, old)).body.label, 'REQUEST_FORBIDDEN')
  })
  test('the page shows them as commands to copy, and the price bounds', async () => {
    const page = await (await fetch(`${platform.url}/docs`)).text()
    assert.equal(page.split('<pre class="curl">').length - 1, ENDPOINT_NAMES.length)
    assert.match(page, /up_rate<\/code> 9/)
    const { endpoint } = endpointAt('GET', '/api/v4/spot/tickers')!
    const command = curlOf(endpoint, { path: '/api/v4/spot/tickers', status: 200 })
    assert.equal(command, "curl -sS 'http://127.0.0.1:8080/api/v4/spot/tickers'")
    const order = endpointAt('POST', '/api/v4/spot/orders')!.endpoint
    assert.match(
      curlOf(order, { path: '/api/v4/spot/orders', body: { a: "it's" }, status: 201 }),
      /^eval "\$\(npx kontor sign POST '\/api\/v4\/spot\/orders' \\\n {2}--body '\{"a":"it'\\''s"\}' --curl\)"$/,
    )
    const openapi = ok(await send(platform.url, 'GET', '/openapi.json', undefined, {}))
    const { example } = openapi.paths['/api/v4/spot/orders'].post.requestBody.content['application/json']
    assert.equal(typeof example.currency_pair, 'string')
  })
})
