import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { request as plain } from 'node:http'
import { createServer, request as secure, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bodyDigest, sign, signatureString } from '../src/api/signature.ts'
import { freePort } from './support/ports.ts'
import { CERTIFICATE, PRIVATE_KEY } from './support/tls.ts'
import { TOKEN, TestPlatform } from './support/platform.ts'

const EXAMPLE = new URL('../../docs/examples/nginx.conf', import.meta.url)

interface Answer {
  readonly status: number
  readonly body: { readonly label?: string; readonly message?: string } & Record<string, unknown>
}
interface Proxy {
  readonly port: number
  stop(): void
}

/** The headers of docs/examples/nginx.conf, in a proxy that needs nothing but Node. */
async function nodeProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const server: Server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (request, response) => {
    const { host = '' } = request.headers
    const headers = {
      ...request.headers,
      host: host.replace(/:\d+$/, ''),
      'x-forwarded-for': request.socket.remoteAddress!,
    }
    const on = plain({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    on.on('error', () => response.destroy())
    request.pipe(on)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
/** The example itself, where there is an nginx to run it. */
async function nginxProxy(target: string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-nginx-'))
  const port = await freePort()
  writeFileSync(join(folder, 'cert.pem'), CERTIFICATE)
  writeFileSync(join(folder, 'key.pem'), PRIVATE_KEY)
  const site = readFileSync(EXAMPLE, 'utf8')
    .replace('server 127.0.0.1:8080;', `server ${new URL(target).host};`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`)
    .replace('/etc/ssl/kontor/fullchain.pem', join(folder, 'cert.pem'))
    .replace('/etc/ssl/kontor/privkey.pem', join(folder, 'key.pem'))
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(' ')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {} http { access_log off; ${temps} ${site} }`,
  )
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  return {
    port,
    stop: () => {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
const HAS_NGINX = spawnSync('nginx', ['-v']).status === 0

const PROXIES: Readonly<Record<string, ((target: string) => Promise<Proxy>) | undefined>> = {
  'a proxy of Node with the headers of the example': nodeProxy,
  'nginx with docs/examples/nginx.conf': HAS_NGINX ? nginxProxy : undefined,
}
for (const [name, start] of Object.entries(PROXIES))
  describe(
    `behind TLS: ${name}`,
    { skip: start === undefined && 'there is no nginx on this machine' },
    () => {
      let platform: TestPlatform
      let proxy: Proxy
      before(async () => {
        platform = await TestPlatform.start({
          KONTOR_TRUST_PROXY: '1',
          KONTOR_HOSTS: 'api.example.com',
          KONTOR_OPERATOR_LISTEN: '127.0.0.1:0',
        })
        proxy = await start!(platform.url)
      })
      after(async () => {
        proxy.stop()
        await platform.stop()
      })
      const ask = (
        path: string,
        headers: Record<string, string> = {},
        host = 'api.example.com',
      ): Promise<Answer> =>
        new Promise((resolve, reject) => {
          const request = secure(
            {
              host: '127.0.0.1',
              port: proxy.port,
              path,
              servername: 'api.example.com',
              ca: CERTIFICATE,
              headers: { Host: host, ...headers },
            },
            (response) => {
              let text = ''
              response.setEncoding('utf8').on('data', (part: string) => (text += part))
              response.on('end', () =>
                resolve({ status: response.statusCode!, body: JSON.parse(text) as Answer['body'] }),
              )
            },
          )
          request.on('error', reject)
          request.end()
        })
      const signed = (
        key: string,
        secret: string,
        query: string,
        more: Record<string, string> = {},
      ): Promise<Answer> => {
        const timestamp = String(Math.floor(Date.now() / 1000))
        const path = '/api/v4/spot/accounts'
        const parts = { method: 'GET', path, query, bodyDigest: bodyDigest(undefined), timestamp }
        return ask(`${path}${query === '' ? '' : `?${query}`}`, {
          KEY: key,
          Timestamp: timestamp,
          SIGN: sign(secret, signatureString(parts)),
          ...more,
        })
      }

      test('public and signed requests pass as they were sent, the query too', async () => {
        assert.equal((await ask('/api/v4/spot/time')).status, 200)
        const { credential } = await userWith([])
        assert.equal((await signed(credential.key, credential.secret, 'currency=BTC')).status, 200)
        assert.equal((await signed(credential.key, credential.secret, 'currency=%42TC')).status, 200)
        const { status, body } = await signed(credential.key, `${credential.secret}x`, '')
        assert.deepEqual([status, body.label], [401, 'INVALID_SIGNATURE'])
      })
      test('an IP list sees the client, and not what the client writes into X-Forwarded-For', async () => {
        const { credential } = await userWith(['203.0.113.9'])
        const forged = await signed(credential.key, credential.secret, '', {
          'X-Forwarded-For': '203.0.113.9',
        })
        assert.deepEqual([forged.status, forged.body.label], [403, 'IP_FORBIDDEN'])
        assert.match(forged.body.message!, /127\.0\.0\.1/)
      })
      test('neither the operator API nor the metrics are there, and no other name is answered', async () => {
        for (const path of ['/operator/v1/status', '/metrics'])
          assert.equal((await ask(path, { Authorization: `Bearer ${TOKEN}` })).status, 404, path)
        assert.equal((await ask('/readyz')).status, 200)
        assert.equal((await ask('/api/v4/spot/time', {}, 'evil.example')).status, 403)
      })
      async function userWith(ip_whitelist: string[]) {
        const operator = platform.operator
        const { user_id } = await operator.ok('POST', '/users', {
          login_name: `u${Math.random()}`.replace('.', ''),
        })
        const perms = [{ name: 'spot', read_only: false }]
        const credential = await operator.ok('POST', `/users/${user_id}/keys`, {
          name: 'k',
          mode: 1,
          perms,
          ip_whitelist,
        })
        return { credential: credential as { key: string; secret: string } }
      }
    },
  )
