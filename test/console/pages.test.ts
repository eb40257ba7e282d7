import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { ConsoleFiles, ROUTES } from '../../src/docs/console-files.ts'
import { RawConnection } from '../support/raw.ts'
import { TestPlatform } from '../support/platform.ts'

const dist = new URL('../../../console/dist/', import.meta.url)
const index = readFileSync(new URL('index.html', dist), 'utf8')
const assets = readdirSync(new URL('assets/', dist)).filter((name) => !/\.(br|gz)$/.test(name))
const policyOf = (reply: Response): string => reply.headers.get('content-security-policy') ?? ''

test('whatever can fall due has words on the page of the clock', () => {
  const file = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const kinds = [...file('src/core/tables/due.ts').matchAll(/readonly '([a-z_.]+)':/g)].map(
    ([, name]) => name!,
  )
  const words = [...file('console/src/pages/lab/Clock.tsx').matchAll(/^ {2}'([a-z_.]+)': '/gm)].map(
    ([, name]) => name!,
  )
  assert.ok(kinds.length > 20)
  assert.deepEqual(words.sort(), kinds.sort())
})

for (const gateways of ['0', '1'])
  describe(`the console's pages, ${gateways} gateways`, () => {
    let platform: TestPlatform
    before(async () => {
      platform = await TestPlatform.start({ KONTOR_GATEWAYS: gateways })
    })
    after(() => platform.stop())

    test('every route is the one page, which nobody keeps and nobody frames', async () => {
      const nonces = new Set<string>()
      for (const path of [
        '/',
        '/trade/BTC_USDT',
        '/wallet/withdraw',
        '/enter',
        '/operate/x/y',
        '/sign-in?then=/keys',
      ]) {
        const reply = await fetch(platform.url + path, { headers: { Accept: 'text/html' } })
        assert.equal(reply.status, 200, path)
        assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
        assert.equal(reply.headers.get('cache-control'), 'no-cache')
        assert.equal(reply.headers.get('x-frame-options'), 'DENY')
        assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
        assert.equal(reply.headers.get('referrer-policy'), 'no-referrer')
        assert.equal(reply.headers.get('cross-origin-opener-policy'), 'same-origin')
        const policy = policyOf(reply)
        for (const part of [
          `default-src 'self'`,
          `script-src 'self'`,
          `frame-ancestors 'none'`,
          `base-uri 'none'`,
          `form-action 'self'`,
          `connect-src 'self'`,
        ])
          assert.ok(policy.split('; ').includes(part), part)
        assert.doesNotMatch(policy.replace(`style-src-attr 'unsafe-inline'`, ''), /unsafe|\*|https?:/)
        const nonce = /'nonce-([\w-]{22})'/.exec(policy)![1]!
        nonces.add(nonce)
        const text = await reply.text()
        assert.equal(text, index.replaceAll('__NONCE__', nonce))
        // No script but files of our own.
        assert.doesNotMatch(text, /<script(?![^>]* src="\/assets\/)|\son\w+=|style=/)
      }
      assert.equal(nonces.size, 6, 'a nonce is used once')
    })
    test('routes are for those who want a page; nothing else changed its meaning', async () => {
      for (const [path, accept, status] of [
        ['/trade', 'application/json', 404],
        ['/trade', '*/*', 200],
        ['/tradex', 'text/html', 404],
        ['/assets/', 'text/html', 404],
        ['/assets/nothing.js', '*/*', 404],
        ['/assets/../index.html', '*/*', 404],
        ['/assets/index.html', '*/*', 404],
        ['/console/v1/nothing', 'text/html', 404],
        ['/api/v4/spot/time', '*/*', 200],
        ['/docs', 'text/html', 200],
      ] as const)
        assert.equal((await fetch(platform.url + path, { headers: { Accept: accept } })).status, status, path)
      const posted = await fetch(`${platform.url}/wallet`, {
        method: 'POST',
        headers: { Accept: 'text/html' },
      })
      assert.equal(posted.status, 404)
    })
    test('no spelling of a path leads out of the folder', async () => {
      for (const path of [
        '/assets/../../package.json',
        '/assets/..%2f..%2fpackage.json',
        '/assets/%2e%2e/index.html',
        '/assets//etc/passwd',
        '//assets/x',
      ]) {
        const line = await RawConnection.open(platform.url)
        const received = await line.exchange(
          `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        )
        assert.match(received, /^HTTP\/1\.1 4\d\d /, path)
      }
    })
    test('files are kept for ever under their hash, and come compressed as they were built', async () => {
      assert.ok(assets.length > 3)
      for (const name of assets) {
        assert.match(name, /-[\w-]{8}\.\w+$/, 'a hash in its name')
        const plain = readFileSync(new URL(`assets/${name}`, dist))
        for (const [coding, unpack] of [
          ['br', brotliDecompressSync],
          ['gzip', gunzipSync],
          ['identity', (bytes: Buffer) => bytes],
        ] as const) {
          const line = await RawConnection.open(platform.url)
          const head = `GET /assets/${name} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n`
          const received = await line.exchange(`${head}\r\n`)
          assert.match(received, /^Cache-Control: public, max-age=31536000, immutable\r$/m)
          assert.match(received, /^X-Content-Type-Options: nosniff\r$/m)
          assert.equal(/^Content-Encoding: (\w+)/m.exec(received)?.[1] ?? 'identity', coding)
          const suffix = { br: '.br', gzip: '.gz', identity: '' }[coding]
          const built = readFileSync(new URL(`assets/${name}${suffix}`, dist))
          assert.equal(Number(/^Content-Length: (\d+)/m.exec(received)![1]), built.length)
          assert.ok(unpack(built).equals(plain))
          const etag = /^ETag: (.*)\r$/m.exec(received)![1]!
          const again = await RawConnection.open(platform.url)
          assert.match(await again.exchange(`${head}If-None-Match: ${etag}\r\n\r\n`), /^HTTP\/1\.1 304 /)
        }
      }
    })
    test('an address of operators alone has the pages too', async () => {
      const two = await TestPlatform.start({
        KONTOR_GATEWAYS: gateways,
        KONTOR_OPERATOR_LISTEN: '127.0.0.1:0',
      })
      for (const url of [two.url, two.platform.operatorUrl]) {
        const reply = await fetch(url)
        assert.equal(reply.status, 200)
        assert.match(policyOf(reply), /script-src 'self'/)
      }
      assert.equal((await fetch(`${two.platform.operatorUrl}/docs`)).status, 404)
      await two.stop()
    })
  })

describe('a console that nobody has built', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-console-'))
  let server: Server
  let url = ''
  before(async () => {
    const files = new ConsoleFiles(folder)
    server = createServer((request, response) => {
      assert.equal(files.counted('/', request), '/')
      files.send('/', request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })
  test('says so in one line, and how to build it', async () => {
    const reply = await fetch(url)
    assert.equal(reply.status, 503)
    assert.match(await reply.text(), /^[^\n]*not built[^\n]*npm ci[^\n]*\n$/)
  })
})

test('the first load is under 400 kB, compressed by gzip', () => {
  // The page, its script and styles, what those import, and the code of the first route with all of it.
  const seen = new Set<string>()
  const visit = (name: string): void => {
    if (seen.has(name)) return
    seen.add(name)
    if (!name.endsWith('.js')) return
    const text = readFileSync(new URL(`assets/${name}`, dist), 'utf8')
    for (const [, next] of text.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) visit(next!)
  }
  for (const [, name] of index.matchAll(/"\/assets\/([\w.-]+)"/g)) visit(name!)
  const first = assets.filter((name) => /^Trade-[\w-]{8}\.(js|css)$/.test(name))
  assert.ok(first.length > 0)
  first.forEach(visit)
  const size = [...seen].reduce(
    (sum, name) => sum + readFileSync(new URL(`assets/${name}.gz`, dist)).length,
    gzipSync(index).length,
  )
  assert.ok(size < 400_000, `${size} bytes: ${[...seen].join(' ')}`)
  console.log(`first load: ${size} bytes in ${seen.size + 1} files`)
})

test('every route of the console is served', () => {
  const table = readFileSync(new URL('../../../console/src/routes.tsx', import.meta.url), 'utf8')
  const paths = [...table.matchAll(/(?:path: |page\(\s*)'(\/[^']*)'/g)].map(([, path]) => path!)
  assert.ok(paths.length > 4)
  for (const path of paths) if (path !== '/') assert.ok(ROUTES.has(path.split('/')[1]!), path)
})
