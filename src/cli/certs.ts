import { createPrivateKey, X509Certificate } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { ConfigError } from '../config.ts'
import { makePrivateFolder } from '../files.ts'
import { plainFingerprint, WITHDRAWN } from '../gateway/cert-files.ts'
import { makeAuthority, makeIdentity, type Identity, type Role } from '../gateway/certificates.ts'
import type { Command } from './options.ts'

const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/
const HOST = /^(?=.{1,253}$)(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/
const NAMES_MAX = 100
/** Whoever is called so is a core; everybody else is a gateway. */
const roleOf = (name: string): Role => (/^core(?![A-Za-z])/.test(name) ? 'core' : 'gateway')

export const certs: Command = {
  usage: 'kontor certs FOLDER [NAME…] [--host HOST[,HOST…]] [--withdraw NAME]',
  detail: `Makes a small private authority in FOLDER (authority.crt, authority.key) where there is none, and for each NAME a
certificate that it vouches for (NAME.crt, NAME.key); without names: core and gateway. A name that begins with "core"
(core, core1, core-a) is of a core, any other of a gateway, and neither can play the other. Nothing is overwritten; to
renew one, withdraw it or move its files away, and make it again.

Each machine gets authority.crt and its own two files in the folder that KONTOR_CERTS names: NAME.crt and NAME.key where
NAME is its KONTOR_NODE, or core.crt, gateway.crt and their keys. authority.key stays at home: whoever has it can make
gateways and cores. Files may be replaced by those of another authority; what counts is that a core's is for servers
(serverAuth) and names its hosts, and a gateway's is for clients (clientAuth).

--withdraw NAME puts its certificate on the list in FOLDER/withdrawn, which belongs on every core's machine: cores let
nobody in any more who shows it, and cut who is connected, within seconds.`,
  options: {
    host: {
      value: 'HOST',
      help: 'host names and addresses, by comma, under which cores are reached (default: localhost,127.0.0.1,::1)',
    },
    withdraw: { value: 'NAME', help: 'a certificate that was stolen, or is no longer needed' },
  },
  words: [1, NAMES_MAX + 1],
  run: ({ words: [folder, ...names], values }) => {
    const { withdraw: gone } = values
    if (gone !== undefined) withdraw(folder!, gone)
    if (gone === undefined || names.length > 0)
      make(folder!, names.length === 0 ? ['core', 'gateway'] : names, hostsIn(values['host']))
    return Promise.resolve(0)
  },
}

function hostsIn(value = 'localhost,127.0.0.1,::1'): string[] {
  const hosts = value.split(/[\s,]+/).filter((host) => host !== '')
  for (const host of hosts)
    if (isIP(host) === 0 && !HOST.test(host))
      throw new ConfigError(`--host lists names or addresses by comma; "${host}" is none`)
  if (hosts.length === 0) throw new ConfigError('--host names nobody')
  return hosts
}

function make(folder: string, names: readonly string[], hosts: readonly string[]): void {
  for (const name of names) {
    if (!NAME.test(name) || name === 'authority' || name === WITHDRAWN)
      throw new ConfigError(`"${name}" is no name for a certificate; use letters, digits, dots and dashes`)
    for (const file of filesOf(folder, name))
      if (existsSync(file))
        throw new ConfigError(`${file} is there already; withdraw it (--withdraw ${name}) or move it away`)
  }
  if (new Set(names).size < names.length) throw new ConfigError('a name is given twice')
  makePrivateFolder(folder)
  const authority = authorityIn(folder)
  for (const name of names) {
    const role = roleOf(name)
    write(folder, name, makeIdentity(authority, name, role, role === 'core' ? hosts : [name]))
    process.stdout.write(
      `${join(folder, `${name}.crt`)}: a ${role}${role === 'core' ? ` at ${hosts.join(', ')}` : ''}\n`,
    )
  }
}
function authorityIn(folder: string): Identity {
  const [cert, key] = filesOf(folder, 'authority')
  if (existsSync(cert) && existsSync(key)) {
    const found = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    try {
      if (!new X509Certificate(found.cert).checkPrivateKey(createPrivateKey(found.key)))
        throw new Error('they do not belong together')
    } catch (error) {
      throw new ConfigError(`${cert} and ${key} can't be used: ${(error as Error).message}`)
    }
    return found
  }
  if (existsSync(cert))
    throw new ConfigError(`${key} is not here: make certificates where the authority was made`)
  if (existsSync(key)) throw new ConfigError(`${cert} is missing beside ${key}`)
  const made = makeAuthority()
  write(folder, 'authority', made)
  process.stdout.write(`${cert}: a new authority; keep ${key} away from every other machine\n`)
  return made
}
const filesOf = (folder: string, name: string): [cert: string, key: string] => [
  join(folder, `${name}.crt`),
  join(folder, `${name}.key`),
]
function write(folder: string, name: string, { cert, key }: Identity): void {
  const [certFile, keyFile] = filesOf(folder, name)
  // Never over one that is there, whoever made it meanwhile.
  writeFileSync(keyFile, key, { mode: 0o600, flag: 'wx' })
  writeFileSync(certFile, cert, { mode: 0o600, flag: 'wx' })
}

function withdraw(folder: string, name: string): void {
  const [cert, key] = filesOf(folder, name)
  if (!NAME.test(name) || name === 'authority' || !existsSync(cert))
    throw new ConfigError(`--withdraw: there is no ${cert}`)
  const fingerprint = plainFingerprint(new X509Certificate(readFileSync(cert)).fingerprint256)
  appendFileSync(join(folder, WITHDRAWN), `${fingerprint} # ${name}\n`, { mode: 0o600 })
  for (const file of [cert, key])
    if (existsSync(file)) renameSync(file, `${file}.withdrawn-${fingerprint.slice(0, 8)}`)
  process.stdout.write(
    `${name} is withdrawn; copy ${join(folder, WITHDRAWN)} to the folder of certificates of every core\n`,
  )
}
