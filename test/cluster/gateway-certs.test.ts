import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, createServer, type Server } from 'node:tls'
import { readCredentials } from '../../src/gateway/cert-files.ts'
import { makeAuthority, makeIdentity, signIdentity } from '../../src/gateway/certificates.ts'
import { PROTOCOL, TO_CORE, TO_GATEWAY } from '../../src/gateway/protocol.ts'
import { TestPlatform } from '../support/platform.ts'
import { kontor } from '../support/process.ts'
import { until } from '../support/raw.ts'
import { freePort } from '../support/ports.ts'
import { Certs, FakeGateway, launchGateway } from '../support/remote.ts'

const YEAR = 365.25 * 86_400_000

describe('certificates', () => {
  const authority = makeAuthority()
  const read = new X509Certificate(authority.cert)
  test('an authority vouches for itself, for ten years', () => {
    assert.ok(read.ca && read.checkIssued(read) && read.verify(read.publicKey))
    assert.ok(Math.abs(Date.parse(read.validTo) - Date.now() - 10 * YEAR) < 86_400_000)
    assert.equal(read.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
  })
  test('and for cores and gateways, by role, under their hosts, for two', () => {
    const hosts = ['core-1.example.com', '10.1.2.3', '2001:db8::7', '::1', '*.kontor.internal']
    const core = new X509Certificate(makeIdentity(authority, 'core', 'core', hosts).cert)
    assert.ok(core.checkIssued(read) && core.verify(read.publicKey) && !core.ca)
    assert.ok(Math.abs(Date.parse(core.validTo) - Date.now() - 2 * YEAR) < 86_400_000)
    assert.ok(Date.parse(core.validFrom) <= Date.now())
    for (const host of ['core-1.example.com', 'b.kontor.internal'])
      assert.equal(core.checkHost(host) !== undefined, true)
    for (const ip of ['10.1.2.3', '2001:db8::7', '::1']) assert.equal(core.checkIP(ip), ip)
    assert.equal(core.checkHost('core-2.example.com'), undefined)
    assert.equal(core.checkIP('10.1.2.4'), undefined)
    assert.deepEqual(core.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    const gateway = new X509Certificate(makeIdentity(authority, 'gw', 'gateway', ['gw']).cert)
    assert.deepEqual(gateway.keyUsage, ['1.3.6.1.5.5.7.3.2'])
    assert.notEqual(core.serialNumber, gateway.serialNumber)
    assert.match(gateway.subject, /CN=gw$/m)
  })
  test('never for longer than the authority itself lasts, nor with a key that is not its own', () => {
    const old = makeAuthority(Date.now() - 9 * YEAR)
    const made = new X509Certificate(makeIdentity(old, 'core', 'core', ['x']).cert)
    assert.ok(Date.parse(made.validTo) <= Date.parse(new X509Certificate(old.cert).validTo))
    const mixed = { cert: authority.cert, key: makeAuthority().key }
    assert.throws(() => makeIdentity(mixed, 'core', 'core', ['x']), /do not belong together/)
  })
  test('lengths of every size are written as DER wants them', () => {
    for (const count of [1, 8, 9, 17, 40, 80]) {
      const hosts = Array.from({ length: count }, (_, i) => `host-${i}.a-long-name.example.com`)
      const { cert } = makeIdentity(authority, 'core', 'core', hosts)
      assert.equal(new X509Certificate(cert).subjectAltName?.split(', ').length, count)
    }
  })
})

describe('kontor certs', () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'kontor-certs-')), 'made')
  after(() => rmSync(folder, { recursive: true, force: true }))
  const names = (): string[] => readdirSync(folder).sort()
  test('makes an authority, a core and a gateway that nobody else may read', async () => {
    const { code, errors } = await kontor(['certs', folder])
    assert.equal(code, 0, errors)
    assert.deepEqual(names(), [
      'authority.crt',
      'authority.key',
      'core.crt',
      'core.key',
      'gateway.crt',
      'gateway.key',
    ])
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    for (const name of names()) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
    const core = new X509Certificate(readFileSync(join(folder, 'core.crt')))
    assert.equal(core.checkIP('127.0.0.1'), '127.0.0.1')
    assert.equal(core.checkHost('localhost'), 'localhost')
  })
  test('who has none is told which files would do', () => {
    assert.throws(
      () => readCredentials(folder, 'gw-7', 'nobody' as 'gateway'),
      /KONTOR_CERTS .*made has no gw-7\.crt \(KONTOR_NODE\) and no nobody\.crt; kontor certs/,
    )
  })
  test('overwrites nothing, and goes on with the authority that is there', async () => {
    const before = readFileSync(join(folder, 'authority.crt'), 'utf8')
    const again = await kontor(['certs', folder])
    assert.equal(again.code, 2)
    assert.match(again.errors, /core\.crt is there already/)
    const more = await kontor([
      'certs',
      folder,
      'gw-2',
      'core-2',
      'core3',
      '--host',
      'b.example.com,10.0.0.2',
    ])
    assert.equal(more.code, 0, more.errors)
    assert.equal(readFileSync(join(folder, 'authority.crt'), 'utf8'), before)
    const authority = new X509Certificate(before)
    const core = new X509Certificate(readFileSync(join(folder, 'core-2.crt')))
    assert.ok(core.verify(authority.publicKey))
    assert.equal(core.checkIP('10.0.0.2'), '10.0.0.2')
    const usageOf = (name: string): unknown =>
      new X509Certificate(readFileSync(join(folder, `${name}.crt`))).keyUsage
    assert.deepEqual(usageOf('gw-2'), ['1.3.6.1.5.5.7.3.2'])
    // As machines are usually called.
    assert.deepEqual(usageOf('core3'), usageOf('core-2'))
    assert.notDeepEqual(usageOf('core3'), usageOf('gw-2'))
  })
  for (const [args, why] of [
    [['authority'], /no name for a certificate/],
    [['../core'], /no name for a certificate/],
    [['x', 'x'], /given twice/],
    [['y', '--host', 'a b/c'], /"b\/c" is none/],
    [['--withdraw', 'nobody'], /there is no/],
  ] as const)
    test(`refuses ${args.join(' ')} in one line`, async () => {
      const before = names()
      const { code, errors } = await kontor(['certs', folder, ...args])
      assert.equal(code, 2)
      assert.match(errors, why)
      assert.equal(errors.trim().split('\n').length, 1)
      assert.deepEqual(names(), before)
    })
  test('makes none where the authority’s key is not', async () => {
    const other = mkdtempSync(join(tmpdir(), 'kontor-certs-'))
    writeFileSync(join(other, 'authority.crt'), readFileSync(join(folder, 'authority.crt')))
    const { code, errors } = await kontor(['certs', other])
    assert.equal(code, 2)
    assert.match(errors, /authority\.key is not here/)
    rmSync(other, { recursive: true })
  })
})

describe('who is let in at KONTOR_CORE_LISTEN', () => {
  const certs = new Certs()
  const { ca } = { ca: certs.authority.cert }
  let port = 0
  let platform: TestPlatform
  before(async () => {
    port = await freePort()
    platform = await TestPlatform.start({
      KONTOR_CORE_LISTEN: `127.0.0.1:${port}`,
      KONTOR_CERTS: certs.folder,
      KONTOR_LOG: 'silent',
    })
  })
  after(async () => {
    await platform.stop()
    certs.remove()
  })
  /** With TLS 1.3 a client hears of its refusal when it reads. */
  const refused = async (options: Parameters<typeof FakeGateway.open>[1]): Promise<void> => {
    const gateway = await FakeGateway.open(port, options).catch(() => undefined)
    if (gateway === undefined) return
    gateway.say([TO_CORE.HELLO, -1, PROTOCOL, '0.0.1'])
    await gateway.ended()
    assert.deepEqual(gateway.heads, [])
    gateway.close()
  }
  test('a gateway of our authority', async () => {
    const gateway = await FakeGateway.welcomed(port, certs)
    assert.equal(gateway.of(TO_GATEWAY.VIEW)[0]![0][2], 1)
    assert.equal(gateway.of(TO_GATEWAY.VIEW)[0]![0][3], `127.0.0.1:${port}`)
    gateway.close()
  })
  test('nobody without a certificate', () => refused({ ca }))
  test('nobody of another authority', async () => {
    const other = makeAuthority()
    await refused({ ca, ...makeIdentity(other, 'gateway', 'gateway', ['x']) })
  })
  test('nobody whose certificate is signed by a gateway’s', async () => {
    const stolen = certs.make('gateway', 'gateway')
    const forged = signIdentity(stolen, 'another', 'gateway', ['x'])
    assert.throws(() => makeIdentity(stolen, 'another', 'gateway', ['x']), /were not made by/)
    await refused({ ca, cert: `${forged.cert}${stolen.cert}`, key: forged.key })
  })
  test('no core, whose certificate is for servers', () => refused({ ca, ...certs.make('core-2', 'core') }))
  test('nobody whose certificate has ended', () =>
    refused({ ca, ...certs.make('gateway', 'gateway', Date.now() - 3 * YEAR) }))
  test('nobody whose certificate begins tomorrow', () =>
    refused({ ca, ...certs.make('gateway', 'gateway', Date.now() + 86_400_000) }))
  test('nobody who speaks TLS 1.2, or none', async () => {
    const { cert, key } = certs.make('gateway', 'gateway')
    const old = connect({ host: '127.0.0.1', port, ca, cert, key, maxVersion: 'TLSv1.2' })
    await new Promise((resolve) => old.once('error', resolve))
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)
    assert.equal(response, undefined)
  })
  test('a gateway of another protocol is told so, and of another version of the program is welcome', async () => {
    const { cert, key } = certs.make('gateway', 'gateway')
    const gateway = await FakeGateway.open(port, { ca, cert, key })
    gateway.say([TO_CORE.HELLO, -1, PROTOCOL + 1, '9.0.0'])
    await gateway.ended()
    assert.deepEqual(
      gateway.heads.map(([kind, , protocol]) => [kind, protocol]),
      [[TO_GATEWAY.UNSUITED, PROTOCOL]],
    )
  })
  test('whose certificate is withdrawn is cut within seconds, and does not come back; the others stay', async () => {
    const { cert, key } = certs.make('stolen', 'gateway')
    const stolen = await FakeGateway.open(port, { ca, cert, key })
    stolen.say([TO_CORE.HELLO, -1, PROTOCOL, '0.0.1'])
    await stolen.told(TO_GATEWAY.WELCOME)
    const other = await FakeGateway.welcomed(port, certs)
    certs.add('stolen', 'gateway', { cert, key })
    const { code, errors } = await kontor(['certs', certs.folder, '--withdraw', 'stolen'])
    assert.equal(code, 0, errors)
    await stolen.ended()
    await refused({ ca, cert, key })
    assert.equal(other.closed, undefined)
    other.close()
  })
  test('nobody by a session of earlier: certificates are looked at each time', async () => {
    const { cert, key } = certs.make('gateway', 'gateway')
    const options = { host: '127.0.0.1', port, ca, cert, key, minVersion: 'TLSv1.3' } as const
    const first = connect(options)
    const session = await new Promise<Buffer>((resolve) => first.once('session', resolve))
    const again = connect({ ...options, session })
    let reused = false
    const begun = performance.now()
    again.once('secureConnect', () => (reused = again.isSessionReused()))
    await new Promise((resolve) => again.once('close', resolve).on('error', resolve).resume())
    assert.ok(reused, 'it was no resumed session')
    assert.ok(performance.now() - begun < 4_000, 'it was let in, and cut for its silence')
    assert.equal(first.destroyed, false)
    first.destroy()
  })
  test('a core’s new certificate counts for whoever comes next, without a restart', async () => {
    const serial = async (): Promise<string> => {
      const gateway = await FakeGateway.welcomed(port, certs)
      const { serialNumber } = gateway.socket.getPeerX509Certificate()!
      gateway.close()
      return serialNumber
    }
    const before = await serial()
    certs.add('core', 'core')
    await until(async () => (await serial()) !== before)
  })
})

describe('whom a gateway asks', () => {
  const certs = new Certs()
  after(() => certs.remove())
  /** Somebody who plays a core, and notes what he is told. */
  async function impostor(identity: {
    cert: string
    key: string
  }): Promise<{ port: number; heard: () => string; server: Server }> {
    let heard = ''
    const server = createServer({ ...identity, minVersion: 'TLSv1.3' }, (socket) => {
      socket.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')))
      socket.on('error', () => undefined)
    })
    server.on('tlsClientError', () => undefined)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: (server.address() as { port: number }).port, heard: () => heard, server }
  }
  for (const [name, identity, why] of [
    ['one with the certificate of a gateway', certs.make('gateway', 'gateway'), /purpose/],
    [
      'one of another authority',
      new Certs().make('core', 'core'),
      /self.signed|signature|issuer|certificate/,
    ],
    ['one whose certificate has ended', certs.make('core', 'core', Date.now() - 3 * YEAR), /expired/],
    [
      'a core of another host',
      makeIdentity(certs.authority, 'core', 'core', ['elsewhere.example.com']),
      /does not match|altnames/i,
    ],
  ] as const)
    test(`not ${name}`, async () => {
      const { port, heard, server } = await impostor(identity)
      const gateway = launchGateway(`127.0.0.1:${port}`, certs)
      await until(
        () => why.test(gateway.errors),
        20_000,
        () => gateway.errors,
      )
      assert.equal(heard(), '')
      const url = /listening on (\S+)/.exec(gateway.output)![1]!
      assert.equal((await fetch(`${url}/healthz`)).status, 200)
      assert.equal((await fetch(`${url}/readyz`)).status, 503)
      await gateway.kill()
      server.close()
    })
  test('a gateway without certificates, or with wrong settings, says so in one line and ends', async () => {
    for (const [env, why] of [
      [{ KONTOR_CORES: 'x:1' }, /KONTOR_CERTS is needed/],
      [{ KONTOR_CERTS: certs.folder }, /KONTOR_CORES is needed/],
      [{ KONTOR_CERTS: certs.folder, KONTOR_CORES: 'nowhere' }, /"nowhere" is none/],
      [{ KONTOR_CERTS: '/nonexistent', KONTOR_CORES: 'x:1' }, /authority\.crt can't be read/],
    ] as const) {
      const { code, errors } = await kontor(['gateway', '--port', '0'], env)
      assert.equal(code, 2, errors)
      assert.match(errors, why)
      assert.equal(errors.trim().split('\n').length, 1)
    }
    const core = await kontor(['start', '--port', '0'], { KONTOR_CORE_LISTEN: '127.0.0.1:0' })
    assert.equal(core.code, 2)
    assert.match(core.errors, /KONTOR_CERTS is needed/)
    const wide = await kontor(['start', '--port', '0'], {
      KONTOR_CORE_LISTEN: '0.0.0.0:0',
      KONTOR_CERTS: certs.folder,
    })
    assert.match(wide.errors, /KONTOR_CORE_ADDRESS is needed/)
  })
})
