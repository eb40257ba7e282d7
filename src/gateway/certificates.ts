import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto'
import { isIP } from 'node:net'
import { bits, boolean, explicit, implicit, integer, octets, oid, sequence, set, text, time } from './der.ts'

/** A certificate and its private key, both as PEM. */
export interface Identity {
  readonly cert: string
  readonly key: string
}
/** Who shows it: TLS itself refuses a gateway's where a core's is wanted, and the other way round. */
export type Role = 'core' | 'gateway'

const AUTHORITY_YEARS = 10
const YEARS = 2
const DAY_MS = 86_400_000
/** Clocks of other machines may be behind. */
const BEFORE_MS = 3_600_000

const OIDS = {
  commonName: '2.5.4.3',
  unit: '2.5.4.11',
  ecdsaSha256: '1.2.840.10045.4.3.2',
  subjectKey: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKey: '2.5.29.35',
  extendedUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const
const ALGORITHM = sequence(oid(OIDS.ecdsaSha256))

/** A new authority, which vouches for itself. */
export function makeAuthority(now = Date.now()): Identity {
  const { publicKey, privateKey } = newKey()
  const name = nameOf('Kontor authority', randomBytes(4).toString('hex'))
  const extensions = [
    extension(OIDS.basicConstraints, true, sequence(boolean(true), integer(Buffer.from([0])))),
    // It signs certificates and lists of withdrawn ones.
    extension(OIDS.keyUsage, true, bits(Buffer.from([0b0000_0110]), 1)),
    extension(OIDS.subjectKey, false, octets(keyId(publicKey))),
  ]
  const until = now + AUTHORITY_YEARS * 365.25 * DAY_MS
  return certificate({
    issuer: name,
    signer: privateKey,
    subject: name,
    publicKey,
    extensions,
    now,
    until,
    privateKey,
  })
}
/** One that this authority vouches for, under these host names and addresses. */
export function makeIdentity(...parts: Parameters<typeof signIdentity>): Identity {
  const [authority] = parts
  const made = signIdentity(...parts)
  const [read, issuer] = [new X509Certificate(made.cert), new X509Certificate(authority.cert)]
  if (!read.checkIssued(issuer) || !read.verify(issuer.publicKey))
    throw new TypeError(
      'authority.crt and authority.key do not belong together, or were not made by kontor certs',
    )
  return made
}
/** The same, whoever signs it and whether anybody should believe it. */
export function signIdentity(
  authority: Identity,
  name: string,
  role: Role,
  hosts: readonly string[],
  now = Date.now(),
): Identity {
  const { publicKey, privateKey } = newKey()
  const issuer = new X509Certificate(authority.cert)
  const extensions = [
    extension(OIDS.basicConstraints, true, sequence()),
    extension(OIDS.keyUsage, true, bits(Buffer.from([0b1000_0000]), 7)),
    extension(OIDS.extendedUsage, true, sequence(oid(role === 'core' ? OIDS.serverAuth : OIDS.clientAuth))),
    extension(OIDS.alternativeName, false, sequence(...hosts.map(alternativeName))),
    extension(OIDS.subjectKey, false, octets(keyId(publicKey))),
    extension(OIDS.authorityKey, false, sequence(implicit(0, keyId(issuer.publicKey)))),
  ]
  return certificate({
    issuer: subjectIn(issuer),
    signer: createPrivateKey(authority.key),
    subject: nameOf(name, role),
    publicKey,
    privateKey,
    extensions,
    now,
    // Nobody vouches for longer than it is vouched for.
    until: Math.min(now + YEARS * 365.25 * DAY_MS, Date.parse(issuer.validTo)),
  })
}

interface Parts {
  readonly issuer: Buffer
  readonly signer: KeyObject
  readonly subject: Buffer
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  readonly extensions: readonly Buffer[]
  readonly now: number
  readonly until: number
}
function certificate(parts: Parts): Identity {
  const { issuer, signer, subject, publicKey, privateKey, extensions, now, until } = parts
  const told = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ALGORITHM,
    issuer,
    sequence(time(new Date(now - BEFORE_MS)), time(new Date(until))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  )
  const der = sequence(told, ALGORITHM, bits(sign('sha256', told, signer)))
  return { cert: pem(der), key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}
const newKey = (): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')}\n-----END CERTIFICATE-----\n`
const nameOf = (common: string, unit: string): Buffer =>
  sequence(set(sequence(oid(OIDS.unit), text(unit))), set(sequence(oid(OIDS.commonName), text(common))))
/** As it stands in an authority that was made here. */
function subjectIn({ subject }: X509Certificate): Buffer {
  const [, unit, common] = /^OU=(.*)\nCN=(.*)$/.exec(subject) ?? []
  return nameOf(common ?? '', unit ?? '')
}
const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value))
/** Of the point itself, which is the last 65 bytes of a key on this curve. */
const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }).subarray(-65))
    .digest()

function alternativeName(host: string): Buffer {
  const kind = isIP(host)
  if (kind === 0) return implicit(2, Buffer.from(host, 'latin1'))
  return implicit(7, kind === 4 ? Buffer.from(host.split('.').map(Number)) : sixteen(host))
}
function sixteen(host: string): Buffer {
  const [head, tail] = host.split('::', 2).map((half) => half.split(':').filter((group) => group !== ''))
  const missing = 8 - head!.length - (tail?.length ?? 0)
  const groups = [...head!, ...Array<string>(missing).fill('0'), ...(tail ?? [])]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
