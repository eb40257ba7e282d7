import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { TestPlatform } from '../support/platform.ts'
import { RawConnection } from '../support/raw.ts'

describe('host names', () => {
  let platform: TestPlatform
  before(async () => {
    platform = await TestPlatform.start({ KONTOR_HOSTS: 'api.example.com, *.Desk.example' })
  })
  after(() => platform.stop())
  const get = async (path: string, host: string | undefined, version = '1.1'): Promise<RawConnection> => {
    const line = await RawConnection.open(platform.url)
    const named = host === undefined ? '' : `Host: ${host}\r\n`
    await line.exchange(`GET ${path} HTTP/${version}\r\n${named}Connection: close\r\n\r\n`)
    return line
  }

  test('a foreign one is refused on every surface, and told what to do', async () => {
    for (const path of [
      '/',
      '/docs',
      '/openapi.json',
      '/metrics',
      '/api/v4/spot/time',
      '/operator/v1/status',
    ])
      for (const host of [
        'evil.example',
        'evil.example:8080',
        'api.example.com.evil.example',
        'localhost.evil.example',
        '127.0.0.1.evil.example',
        'desk.example',
        'notdesk.example',
        'a b',
        'user@127.0.0.1',
        '[::1',
      ]) {
        const line = await get(path, host)
        assert.deepEqual(line.statuses, [403], `${path} ${host} ${line.received}`)
        const { label, message } = JSON.parse(line.body) as { label: string; message: string }
        assert.equal(label, 'FORBIDDEN')
        assert.match(message, /KONTOR_HOSTS/)
        assert.match(line.received, /^X-Svc-Trace-ID: [0-9a-f]{32}\r/m)
      }
  })
  test('addresses, localhost and names of ours pass', async () => {
    for (const host of [
      '127.0.0.1',
      '127.0.0.1:8080',
      '10.0.0.7',
      '[::1]:8080',
      'localhost',
      'LOCALHOST:80',
      'localhost.',
      'kontor.localhost:8080',
      'api.example.com',
      'API.example.com:443',
      'eu.desk.example',
    ])
      assert.deepEqual((await get('/api/v4/spot/time', host)).statuses, [200], host)
    assert.deepEqual((await get('/api/v4/spot/time', undefined)).statuses, [400])
    assert.deepEqual((await get('/api/v4/spot/time', undefined, '1.0')).statuses, [200])
  })
  test('signs of life look at no Host', async () => {
    for (const path of ['/healthz', '/readyz', '/healthz?probe=1'])
      for (const host of ['evil.example', 'a b', undefined])
        assert.deepEqual((await get(path, host)).statuses, [200], `${path} ${String(host)}`)
  })
})

describe('pages', () => {
  test('say what may run in them, who may frame them, and what they are', async () => {
    const platform = await TestPlatform.start()
    for (const path of ['/docs']) {
      const reply = await fetch(platform.url + path)
      const text = await reply.text()
      const policy = reply.headers.get('content-security-policy')!
      assert.match(policy, /default-src 'none'/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe/)
      // What stands in the page is what the policy lets run.
      for (const tag of ['style', 'script'])
        for (const [, inside] of text.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))) {
          const hash = createHash('sha256').update(inside!).digest('base64')
          assert.ok(policy.includes(`${tag}-src 'sha256-${hash}'`), `${path} ${tag}`)
        }
      assert.equal(reply.headers.get('x-frame-options'), 'DENY')
    }
    for (const path of ['/', '/docs', '/openapi.json', '/metrics', '/healthz']) {
      const { headers } = await fetch(platform.url + path)
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path)
      assert.match(headers.get('x-in-time') ?? '', /^\d{16}$/)
    }
    await platform.stop()
  })
})
