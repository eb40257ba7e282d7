import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ok, refused, type Client } from '../support/client.ts'
import { TestPlatform } from '../support/platform.ts'

describe('sub-accounts', () => {
  let platform: TestPlatform
  let main: { user_id: number; client: Client }
  before(async () => {
    platform = await TestPlatform.start()
    main = await platform.user()
  })
  after(() => platform.stop())
  let made = 0
  const sub = async (): Promise<number> =>
    ok(await main.client.post('/sub_accounts', { login_name: `sub_${++made}` }), 201).user_id as number

  test('one is made, listed and shown; the password never', async () => {
    const body = { login_name: 'alpha_1', remark: 'first', password: 'secret!', email: 'a@b.example' }
    const alpha = ok(await main.client.post('/sub_accounts', body), 201)
    assert.deepEqual(
      { ...alpha, user_id: 0, create_time: 0 },
      {
        user_id: 0,
        login_name: 'alpha_1',
        remark: 'first',
        email: 'a@b.example',
        state: 1,
        type: 1,
        create_time: 0,
      },
    )
    assert.ok(Math.abs(alpha.create_time - Date.now() / 1000) < 5)
    assert.ok(
      ok(await main.client.get('/sub_accounts')).some(
        ({ user_id }: { user_id: number }) => user_id === alpha.user_id,
      ),
    )
    assert.deepEqual(ok(await main.client.get(`/sub_accounts/${alpha.user_id}`)), alpha)
  })
  test("what is left out comes from the main account; the operator's type 3 is listed under 0 only", async () => {
    const owner = await platform.operator.ok('POST', '/users', {
      login_name: 'owner_7',
      email: 'owner@x.example',
    })
    const client = platform.client(
      await platform.key(owner.user_id, [{ name: 'sub_accounts', read_only: false }]),
    )
    assert.equal(
      ok(await client.post('/sub_accounts', { login_name: 'owned_7' }), 201).email,
      'owner@x.example',
    )
    const cross = await platform.operator.ok('POST', '/users', {
      login_name: 'cross_7',
      parent: owner.user_id,
      type: 3,
    })
    const names = async (query: Record<string, string>): Promise<string[]> =>
      ok(await client.get('/sub_accounts', query)).map(({ login_name }: { login_name: string }) => login_name)
    assert.deepEqual(await names({}), ['owned_7'])
    assert.deepEqual(await names({ type: '1' }), ['owned_7'])
    assert.deepEqual(await names({ type: '0' }), ['owned_7', 'cross_7'])
    refused(await client.get('/sub_accounts', { type: '2' }), 400, 'INVALID_PARAM_VALUE', /type.*"2"/)
    assert.equal(ok(await client.get(`/sub_accounts/${cross.user_id}`)).type, 3)
  })
  test('login names are unique on the whole platform and made of letters, digits and underscores', async () => {
    const other = await platform.user()
    ok(await other.client.post('/sub_accounts', { login_name: 'Unique_1' }), 201)
    refused(
      await main.client.post('/sub_accounts', { login_name: 'unique_1' }),
      400,
      'INVALID_PARAM_VALUE',
      /unique_1.*taken/,
    )
    for (const login_name of ['a b', 'a-b', 'é', 'a@b', 'x'.repeat(65), 7])
      refused(
        await main.client.post('/sub_accounts', { login_name }),
        400,
        'INVALID_PARAM_VALUE',
        /login_name/,
      )
    refused(
      await main.client.post('/sub_accounts', { remark: 'x' }),
      400,
      'MISSING_REQUIRED_PARAM',
      /login_name/,
    )
    refused(
      await main.client.post('/sub_accounts', { login_name: 'fine', email: 'no' }),
      400,
      'INVALID_PARAM_VALUE',
      /email/,
    )
  })
  test("somebody else's sub-account looks like none", async () => {
    const other = await platform.user()
    const id = await sub()
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/keys'],
      ['POST', '/keys'],
      ['GET', '/keys/abc'],
      ['PUT', '/keys/abc'],
      ['DELETE', '/keys/abc'],
      ['POST', '/lock'],
      ['POST', '/unlock'],
    ] as const) {
      refused(
        await other.client.request(method, `/sub_accounts/${id}${path}`),
        404,
        'SUB_ACCOUNT_NOT_FOUND',
        new RegExp(String(id)),
      )
      refused(
        await main.client.request(method, `/sub_accounts/${main.user_id}${path}`),
        404,
        'SUB_ACCOUNT_NOT_FOUND',
      )
    }
    refused(await main.client.get('/sub_accounts/abc'), 400, 'INVALID_PARAM_VALUE', /user_id.*"abc"/)
    refused(await main.client.get('/sub_accounts/%ff'), 400, 'INVALID_PARAM_VALUE')
  })

  test('a key is made with its secret, which is never shown again', async () => {
    const id = await sub()
    const body = {
      mode: 1,
      name: 'bot',
      perms: [{ name: 'wallet', read_only: true }, { name: 'spot' }],
      ip_whitelist: ['127.0.0.1', '10.0.0.1'],
    }
    const key = ok(await main.client.post(`/sub_accounts/${id}/keys`, body))
    assert.match(key.key, /^[0-9a-f]{32}$/)
    assert.match(key.secret, /^[0-9a-f]{64}$/)
    assert.deepEqual(key.perms, [
      { name: 'wallet', read_only: true },
      { name: 'spot', read_only: false },
    ])
    assert.equal(key.state, 1)
    assert.equal(key.update_at, key.updated_at)
    const { secret, ...shown } = key
    assert.deepEqual(ok(await main.client.get(`/sub_accounts/${id}/keys/${key.key}`)), shown)
    assert.deepEqual(ok(await main.client.get(`/sub_accounts/${id}/keys`)), [shown])
    const client = platform.client({ key: key.key, secret })
    refused(await client.post('/wallet/transfers', {}), 403, 'READ_ONLY')
    refused(await client.get('/account/detail'), 403, 'FORBIDDEN')
    refused(await main.client.get(`/sub_accounts/${id}/keys/${'0'.repeat(32)}`), 404, 'NOT_FOUND')
  })
  test('PUT replaces at once, and clears what is left out', async () => {
    const id = await sub()
    const { key, secret } = ok(
      await main.client.post(`/sub_accounts/${id}/keys`, {
        mode: 1,
        name: 'a',
        perms: [{ name: 'account' }],
      }),
    )
    const client = platform.client({ key, secret })
    const path = `/sub_accounts/${id}/keys/${key}`
    ok(await client.get('/account/detail'))
    ok(
      await main.client.put(path, { name: 'b', ip_whitelist: ['10.0.0.1'], perms: [{ name: 'account' }] }),
      204,
    )
    refused(await client.get('/account/detail'), 403, 'IP_FORBIDDEN')
    ok(await main.client.put(path, { perms: [{ name: 'wallet' }] }), 204)
    refused(await client.get('/account/detail'), 403, 'FORBIDDEN', /account/)
    const cleared = ok(await main.client.get(path))
    assert.deepEqual([cleared.name, cleared.ip_whitelist], ['', []])
    ok(await main.client.put(path, {}), 204)
    assert.deepEqual(ok(await main.client.get(path)).perms, [])
    refused(await main.client.put(path, { mode: 2 }), 400, 'INVALID_PARAM_VALUE', /mode/)
    ok(await main.client.put(path, { mode: 1 }), 204)
    ok(await main.client.delete(path), 204)
    refused(await client.get('/account/detail'), 401, 'INVALID_KEY')
    refused(await main.client.delete(path), 404, 'NOT_FOUND')
  })
  test('permissions, address lists and the number of keys have bounds', async () => {
    const id = await sub()
    const post = (body: object) => main.client.post(`/sub_accounts/${id}/keys`, body)
    refused(
      await post({ perms: [{ name: 'withdrawal' }] }),
      400,
      'INVALID_PARAM_VALUE',
      /withdrawal.*sub-account/,
    )
    refused(await post({ perms: [{ name: 'everything' }] }), 400, 'INVALID_PARAM_VALUE', /everything/)
    refused(await post({ perms: [{ name: 'spot' }, { name: 'spot' }] }), 400, 'INVALID_PARAM_VALUE', /twice/)
    refused(await post({ perms: [{ read_only: true }] }), 400, 'MISSING_REQUIRED_PARAM', /perms\[0\]\.name/)
    refused(await post({ perms: 'spot' }), 400, 'INVALID_PARAM_VALUE', /perms/)
    refused(await post({ mode: 3 }), 400, 'INVALID_PARAM_VALUE', /mode/)
    for (const ip of ['10.0.0.0/8', '::1', '300.1.1.1', 'localhost', '1.2.3', '010.1.2.3', '10.1.2.00'])
      refused(await post({ ip_whitelist: [ip] }), 400, 'INVALID_PARAM_VALUE', /ip_whitelist/)
    const ips = Array.from({ length: 21 }, (_, i) => `10.0.0.${i}`)
    refused(await post({ ip_whitelist: ips }), 400, 'INVALID_PARAM_VALUE', /20/)
    ok(await post({ ip_whitelist: ips.slice(1) }))
    for (let i = 1; i < 20; i++) ok(await post({ name: `k${i}` }))
    refused(await post({ name: 'one too many' }), 400, 'INVALID_PARAM_VALUE', /20 keys/)
  })

  test('a locked sub-account: its keys stop, its parent still reads and unlocks it', async () => {
    const child = await platform.user({ parent: main.user_id })
    const path = `/sub_accounts/${child.user_id}`
    ok(await child.client.get('/account/detail'))
    ok(await main.client.post(`${path}/lock`), 204)
    ok(await main.client.post(`${path}/lock`), 204)
    assert.equal(ok(await main.client.get(path)).state, 2)
    refused(await child.client.get('/account/detail'), 403, 'ACCOUNT_LOCKED')
    ok(await main.client.get(`${path}/keys`))
    ok(await main.client.post(`${path}/unlock`), 204)
    ok(await main.client.post(`${path}/unlock`), 204)
    assert.equal(ok(await main.client.get(path)).state, 1)
    ok(await child.client.get('/account/detail'))
  })
  test("the key's last use is told", async () => {
    const child = await platform.user({ parent: main.user_id })
    ok(await child.client.get('/account/detail'))
    const again = await platform.restart()
    platform = again
    main = { ...main, client: again.client(main.client.credential) }
    const [key] = ok(await main.client.get(`/sub_accounts/${child.user_id}/keys`))
    assert.ok(Math.abs(key.last_access - Date.now() / 1000) < 10)
  })
  test('unified_mode lists every sub-account', async () => {
    const owner = await platform.user()
    const child = await platform.user({ parent: owner.user_id })
    assert.deepEqual(ok(await owner.client.get('/sub_accounts/unified_mode')), [
      { user_id: child.user_id, is_unified: false, mode: 'classic' },
    ])
  })
})
