import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { MessageChannel, parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { endsSoon, plainFingerprint, readCredentials, withdrawnIn, WITHDRAWN } from './cert-files.ts'
import { KnownSecrets } from './known-secrets.ts'
import type { Arrival, FromLine, LinePlace, ToLine, View } from './line-messages.ts'
import { BEAT_MS } from './protocol.ts'
import { Visitor } from './visitor.ts'

const HANDSHAKE_MS = 5_000
/** So often files are looked at: certificates may be renewed, or withdrawn. */
const FILES_MS = 2_000
const CLOSE_MS = 1_500
const DAY_MS = 86_400_000
/** Gateways, and whoever else knocks. */
const CONNECTIONS_MAX = 1_024
/** With one certificate, which several gateways may share: bounds are for each line. */
const LINES_MAX = 64
/** Who knocks all the time must not flood the log. */
const WARNED_MS = 10_000

/** The thread beside the core that gateways of other machines are connected to: TLS, frames and signatures are its work. */
class LineThread {
  private readonly place: LinePlace
  private readonly up: MessagePort
  private readonly server: Server
  private readonly secrets = new KnownSecrets()
  private readonly visitors = new Map<Visitor, { readonly fingerprint: string; readonly until: number }>()
  private view: View = { active: false, at: undefined }
  private withdrawn: ReadonlySet<string> = new Set()
  private seen = ''
  private warnedAt = -Infinity

  constructor(place: LinePlace, up: MessagePort) {
    this.place = place
    this.up = up
    this.server = createServer({
      ...this.credentials(),
      minVersion: 'TLSv1.3',
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout: HANDSHAKE_MS,
      noDelay: true,
      keepAlive: true,
    })
    this.server.maxConnections = CONNECTIONS_MAX
    this.server.on('secureConnection', (socket) => this.connected(socket))
    this.server.on('tlsClientError', (error, { remoteAddress }) => this.refused(remoteAddress, error.message))
    this.look()
    up.on('message', (message: ToLine) => {
      if ('view' in message) this.tell(message.view)
      else this.close()
    })
  }
  listen(): void {
    this.server.once('error', (error: NodeJS.ErrnoException) =>
      this.say({ failed: error.message, code: error.code }),
    )
    this.server.listen(this.place.port, this.place.host, () => {
      this.say({ listening: (this.server.address() as { port: number }).port })
      // No descriptor left for the next connection, for example: whoever is connected goes on.
      this.server.on('error', (error: Error) => this.refused(undefined, error.message))
    })
    let beatAt = performance.now()
    setInterval(() => {
      const now = performance.now()
      for (const visitor of this.visitors.keys()) visitor.beat(now - beatAt > 4 * BEAT_MS)
      beatAt = now
    }, BEAT_MS)
    setInterval(() => this.look(), FILES_MS)
    this.warnOfEnd()
    setInterval(() => this.warnOfEnd(), DAY_MS)
  }

  private tell(view: View): void {
    this.view = view
    for (const visitor of this.visitors.keys()) visitor.tell(view)
  }
  private close(): void {
    // What was said to them is on its way; each ends by itself, soon.
    this.server.close(() => process.exit(0))
    setTimeout(() => process.exit(0), CLOSE_MS)
  }
  private connected(socket: TLSSocket): void {
    socket.on('error', () => undefined)
    const certificate = socket.getPeerX509Certificate()
    const address = socket.remoteAddress ?? ''
    const fingerprint = plainFingerprint(certificate?.fingerprint256 ?? '')
    const why = this.whyNot(socket, certificate?.fingerprint256, fingerprint)
    if (certificate === undefined || why !== undefined) {
      this.refused(address, why ?? 'it shows no certificate')
      socket.destroy()
      return
    }
    const name = /^CN=(.*)$/m.exec(certificate.subject)?.[1] ?? certificate.subject
    const visitor: Visitor = new Visitor(socket, {
      name,
      version: this.place.version,
      secrets: this.secrets,
      view: () => this.view,
      arrived: (version, channel) => {
        const arrival: Arrival = { name, address, version, port: channel.port2 }
        this.up.postMessage({ gateway: arrival } satisfies FromLine, [channel.port2])
      },
      makeChannel: () => new MessageChannel(),
      gone: (why) => {
        this.visitors.delete(visitor)
        this.say({
          level: 'warn',
          message: 'a gateway of another machine is gone',
          fields: { name, address, why },
        })
      },
    })
    this.visitors.set(visitor, { fingerprint, until: Date.parse(certificate.validTo) })
    this.say({
      level: 'info',
      message: 'a gateway of another machine has connected',
      fields: { name, address },
    })
  }
  private whyNot(socket: TLSSocket, shown: string | undefined, fingerprint: string): string | undefined {
    if (shown === undefined) return 'it shows no certificate'
    if (this.withdrawn.has(fingerprint)) return 'its certificate is withdrawn'
    // It would be believed for what was checked at another time.
    if (socket.isSessionReused()) return 'it resumes a session'
    let lines = 0
    for (const other of this.visitors.values()) if (other.fingerprint === fingerprint) lines++
    return lines < LINES_MAX ? undefined : `${lines} gateways show this certificate`
  }
  private refused(address: string | undefined, why: string): void {
    const now = performance.now()
    if (now - this.warnedAt < WARNED_MS) return
    this.warnedAt = now
    this.say({
      level: 'warn',
      message: 'somebody was turned away from KONTOR_CORE_LISTEN',
      fields: { address, why },
    })
  }

  private credentials(): { ca: string; cert: string; key: string } {
    return readCredentials(this.place.certs, this.place.node, 'core')
  }
  /** New files count for whoever comes next, withdrawn ones and those that have ended for everybody at once. */
  private look(): void {
    const { certs, node } = this.place
    try {
      this.withdrawn = withdrawnIn(certs)
      const files = ['authority.crt', 'core.crt', 'core.key', `${node}.crt`, `${node}.key`, WITHDRAWN]
      const seen = files.map((file) => changedAt(join(certs, file))).join()
      if (seen !== this.seen && this.seen !== '') this.server.setSecureContext(this.credentials())
      this.seen = seen
    } catch (error) {
      this.refused(undefined, (error as Error).message)
    }
    const now = Date.now()
    for (const [visitor, { fingerprint, until }] of this.visitors)
      if (this.withdrawn.has(fingerprint)) visitor.end('its certificate is withdrawn')
      else if (until < now) visitor.end('its certificate has ended')
  }
  private warnOfEnd(): void {
    try {
      const days = endsSoon(this.credentials())
      if (days !== undefined)
        this.say({ level: 'warn', message: 'the certificates of this core end soon', fields: { days } })
    } catch (error) {
      this.say({ level: 'warn', message: (error as Error).message, fields: {} })
    }
  }
  private say(message: FromLine): void {
    this.up.postMessage(message)
  }
}
const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

try {
  new LineThread(workerData as LinePlace, parentPort!).listen()
} catch (error) {
  const { message, code } = error as NodeJS.ErrnoException
  parentPort!.postMessage({ failed: message, code } satisfies FromLine)
}
