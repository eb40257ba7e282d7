import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { makeAuthority, makeIdentity, type Identity, type Role } from '../../src/gateway/certificates.ts'
import { Channel, type Head } from '../../src/gateway/channel.ts'
import { PROTOCOL, TO_CORE, TO_GATEWAY } from '../../src/gateway/protocol.ts'
import { PlatformProcess } from './process.ts'
import { until } from './raw.ts'

/** Certificates in a folder of their own, as `kontor certs` leaves them. */
export class Certs {
  readonly folder = mkdtempSync(join(tmpdir(), 'kontor-certs-'))
  readonly authority: Identity
  constructor(authority = makeAuthority()) {
    this.authority = authority
    writeFileSync(join(this.folder, 'authority.crt'), authority.cert)
    this.add('core', 'core')
    this.add('gateway', 'gateway')
  }
  make(name: string, role: Role, now = Date.now()): Identity {
    return makeIdentity(this.authority, name, role, ['localhost', '127.0.0.1'], now)
  }
  add(name: string, role: Role, identity = this.make(name, role)): void {
    writeFileSync(join(this.folder, `${name}.crt`), identity.cert)
    writeFileSync(join(this.folder, `${name}.key`), identity.key)
  }
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** `kontor gateway` as a process of its own. */
export function launchGateway(
  cores: string,
  { folder }: Pick<Certs, 'folder'>,
  env: Record<string, string> = {},
): PlatformProcess {
  return PlatformProcess.launch(
    { KONTOR_PORT: '0', KONTOR_LOG: 'warn', KONTOR_CERTS: folder, KONTOR_CORES: cores, ...env },
    ['gateway'],
  )
}
export async function startGateway(...args: Parameters<typeof launchGateway>): Promise<PlatformProcess> {
  const gateway = launchGateway(...args)
  await gateway.ready()
  return gateway
}

/** A gateway of the test's own, with a certificate: it says what no gateway would, and keeps all that it is told. */
export class FakeGateway {
  readonly socket: TLSSocket
  readonly channel: Channel
  readonly heads: Head[] = []
  readonly texts: (string | undefined)[] = []
  /** Every byte that it was sent. */
  plaintext = ''
  closed: string | undefined
  private readonly beating: NodeJS.Timeout

  private constructor(socket: TLSSocket) {
    this.socket = socket
    socket.on('data', (bytes: Buffer) => (this.plaintext += bytes.toString('latin1')))
    this.channel = new Channel(socket, {
      message: (head, text) => {
        this.heads.push(head)
        this.texts.push(text?.toString())
      },
      closed: (why) => (this.closed = why),
    })
    this.beating = setInterval(() => this.channel.push([TO_CORE.BEAT, -1]), 500).unref()
  }
  static open(
    port: number,
    { ca, cert, key }: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>,
  ): Promise<FakeGateway> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca, cert, key, minVersion: 'TLSv1.3' })
      socket.once('error', reject)
      socket.once('secureConnect', () => {
        socket.off('error', reject)
        resolve(new FakeGateway(socket))
      })
    })
  }
  /** With a good certificate, and welcome. */
  static async welcomed(port: number, certs: Certs, name = 'gateway'): Promise<FakeGateway> {
    const { cert, key } = certs.make(name, 'gateway')
    const gateway = await FakeGateway.open(port, { ca: certs.authority.cert, cert, key })
    gateway.say([TO_CORE.HELLO, -1, PROTOCOL, '0.0.1'])
    await gateway.told(TO_GATEWAY.WELCOME)
    gateway.say([TO_CORE.READY, -1])
    return gateway
  }
  say(head: Head, text?: string | Uint8Array): void {
    this.channel.push(head, text)
  }
  of(kind: number, id?: number): [Head, string | undefined][] {
    return this.heads
      .map((head, i): [Head, string | undefined] => [head, this.texts[i]])
      .filter(([head]) => head[0] === kind && (id === undefined || head[2] === id))
  }
  async told(kind: number, id?: number): Promise<[Head, string | undefined]> {
    await until(
      () => this.of(kind, id).length > 0,
      10_000,
      () => `no message ${kind} for ${id ?? 'all'}; closed: ${this.closed ?? 'no'}`,
    )
    return this.of(kind, id)[0]!
  }
  async ended(): Promise<void> {
    await until(
      () => this.closed !== undefined,
      15_000,
      () => 'it was not cut',
    )
  }
  close(): void {
    clearInterval(this.beating)
    this.channel.close('')
  }
}
