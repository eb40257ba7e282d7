import { hostname } from 'node:os'

type Environment = Readonly<Record<string, string | undefined>>
type Fail = (setting: string, why: string) => never

/** What a platform of several machines sets. */
export interface ClusterSettings {
  /** HOST:PORT for gateways on other machines; undefined: there are none. */
  readonly coreListen: string | undefined
  /** The same as gateways reach it. */
  readonly coreAddress: string | undefined
  /** Folder of the certificates with which cores and gateways know each other. */
  readonly certs: string | undefined
  /** What this process is called among the others. */
  readonly node: string
}
/** HOST:PORT, an IPv6 address in brackets. */
export function addressIn(value: string): { readonly host: string; readonly port: number } | undefined {
  const [, inBrackets, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/,]+)):(\d{1,5})$/.exec(value) ?? []
  const host = inBrackets ?? plain
  return host === undefined || Number(port) > 65535 ? undefined : { host, port: Number(port) }
}
const EVERYWHERE = new Set(['0.0.0.0', '::'])
const NODE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/

export function clusterSettings(env: Environment, fail: Fail): ClusterSettings {
  const coreListen = address(env, 'KONTOR_CORE_LISTEN', fail)
  const coreAddress = address(env, 'KONTOR_CORE_ADDRESS', fail)
  const certs = given(env, 'KONTOR_CERTS')
  if (coreListen !== undefined && certs === undefined) fail('KONTOR_CERTS', NEEDED)
  if (coreListen !== undefined && coreAddress === undefined && EVERYWHERE.has(addressIn(coreListen)!.host))
    fail('KONTOR_CORE_ADDRESS', `is needed: nobody can connect to ${coreListen}; say how gateways reach it`)
  return { coreListen, coreAddress, certs, node: nodeName(env, fail) }
}
const NEEDED = 'is needed where there are gateways on other machines; kontor certs FOLDER makes a first set'

/** What a gateway on another machine sets. */
export interface GatewaySettings {
  readonly cores: readonly string[]
  readonly certs: string
  readonly node: string
}
export function gatewaySettings(env: Environment, fail: Fail): GatewaySettings {
  const cores = (given(env, 'KONTOR_CORES') ?? '').split(/[\s,]+/).filter((one) => one !== '')
  if (cores.length === 0)
    fail('KONTOR_CORES', 'is needed: the addresses of the cores, such as --core a.example.com:9000,b:9000')
  for (const core of cores)
    if (addressIn(core) === undefined) fail('KONTOR_CORES', `lists HOST:PORT by comma; "${core}" is none`)
  const certs = given(env, 'KONTOR_CERTS')
  if (certs === undefined) return fail('KONTOR_CERTS', NEEDED)
  return { cores: [...new Set(cores)], certs, node: nodeName(env, fail) }
}

function address(env: Environment, name: string, fail: Fail): string | undefined {
  const value = given(env, name)
  if (value !== undefined && addressIn(value) === undefined)
    fail(name, `must be HOST:PORT, such as 10.0.0.1:9000, not "${value}"`)
  return value
}
function nodeName(env: Environment, fail: Fail): string {
  const name = given(env, 'KONTOR_NODE')
  if (name === undefined) return hostname()
  if (!NODE.test(name))
    fail('KONTOR_NODE', `must be a name of letters, digits, dots and dashes, not "${name}"`)
  return name
}
function given(env: Environment, name: string): string | undefined {
  const value = env[name]
  return value === undefined || value === '' ? undefined : value
}
