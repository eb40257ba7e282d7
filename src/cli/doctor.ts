import { existsSync, readFileSync, statSync, statfsSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { checkChainKeys } from '../chain/chains.ts'
import { readConfig, type Config } from '../config.ts'
import { approvedFile } from '../core/operators/proposals.ts'
import { SECOND } from '../core/time.ts'
import { warningsOf } from '../composition/notices.ts'
import { folderFault, needsFolder, rightsFault } from '../runtime/folder.ts'
import { ownerText } from '../runtime/ownership.ts'
import { refuseSimulated } from '../runtime/loading.ts'
import { SecretBox, sha256 } from '../runtime/secrets.ts'
import { DATABASE_OFF_SECONDS, offsetOf } from '../runtime/wall-clock.ts'
import { modeOf, sightOf } from '../runtime/sight.ts'
import { databasePath, migrationsOf, openOwnerLock } from '../store/open.ts'
import { MIGRATIONS, pendingMigrations } from '../store/migrations/migrations.ts'
import { targetsOf } from '../store/postgres-hosts.ts'
import { postgresSnapshot } from '../store/postgres.ts'
import { sqliteSnapshot } from '../store/sqlite.ts'
import { StoreAway, type Snapshot } from '../store/store.ts'
import { ok, wrong, type Check } from './check.ts'
import { compareConfiguration, stateOf } from './configuration.ts'
import { gatewayChecks } from './gateway-checks.ts'
import { replicaChecks } from './replica-checks.ts'
import { settingOptions, type Command, type Environment } from './options.ts'

export const doctor: Command = {
  usage: 'kontor doctor [options]',
  detail: `Looks at everything that a start depends on and says one line about each; exit 0 when nothing is wrong, else 1,
and 2 when the settings or the configuration file can't be read. It takes the same options as start, changes nothing, and is safe beside a running platform.`,
  options: settingOptions(),
  words: 0,
  run: async ({ env }) => {
    const checks = await examine(env)
    for (const { well, text } of checks) process.stdout.write(`${well ? 'ok   ' : 'WRONG'} ${text}\n`)
    if (checks.every(({ well }) => well)) return 0
    return checks.some(({ settings }) => settings === true) ? 2 : 1
  },
}

async function examine(env: Environment): Promise<Check[]> {
  const checks = [nodeVersion()]
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    return [...checks, { ...wrong(`settings: ${(error as Error).message}`), settings: true }]
  }
  const file = env['KONTOR_CONFIG'] ?? ''
  checks.push(ok(`settings: mode ${config.mode}, ${file === '' ? 'built-in world' : `world of ${file}`}`))
  checks.push(...warningsOf(config).map((text) => ok(`warning: ${text}`)))
  checks.push(await port(config), ...(await gatewayChecks(config, env)))
  checks.push(await chainKeys(config), dataFolder(config))
  if (config.databaseUrl === undefined) checks.push(room(config))
  const database = await openDatabase(config)
  if ('well' in database) return [...checks, database, clock(undefined)]
  checks.push(await strangers(config), await owner(config))
  try {
    checks.push(...(await storeChecks(config, database)))
  } finally {
    await database.close()
  }
  return checks
}

function nodeVersion(): Check {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]
  const text = `Node.js ${process.versions.node}`
  return major > 20 || (major === 20 && minor >= 19) ? ok(text) : wrong(`${text}: 20.19 or later is needed`)
}

async function port({ host, port }: Config): Promise<Check> {
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
  const where = `${host}:${port}`
  if (code === undefined) return ok(`port: ${where} is free`)
  if (code !== 'EADDRINUSE') return wrong(`port: ${where} can't be listened on (${code})`)
  const running = await alive(host, port)
  return running
    ? ok(`port: ${where} is in use by a platform that is alive`)
    : wrong(`port: ${where} is in use by another program; stop it or set KONTOR_PORT`)
}

function alive(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ host, port, path: '/healthz', timeout: 2_000 }, (reply) => {
      reply.resume()
      resolve(reply.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
    request.on('close', () => resolve(false))
  })
}

/** A start needs the keys of its chains before it touches anything. */
async function chainKeys({ world }: Config): Promise<Check> {
  try {
    await checkChainKeys(world.chains)
    const real = world.chains.filter(({ kind }) => kind !== 'simulated').map(({ chain }) => chain)
    return ok(
      `chains: ${real.length === 0 ? 'simulated ones only' : `the keys of ${real.join(', ')} are there`}`,
    )
  } catch (error) {
    return wrong(`chains: ${(error as Error).message}`)
  }
}

function dataFolder(config: Config): Check {
  const { data } = config
  if (!needsFolder(config)) return ok('data folder: not used (live, on PostgreSQL)')
  const fault = rightsFault(data)
  if (fault !== undefined) return wrong(`data folder: ${fault}`)
  for (const name of ['credentials.json', 'secret.key']) {
    const path = join(data, name)
    if (existsSync(path) && (statSync(path).mode & 0o077) !== 0)
      return wrong(`data folder: ${path} can be read by others; run: chmod 600 ${path}`)
  }
  const use =
    config.databaseUrl === undefined ? '' : '; of this sandbox on PostgreSQL it keeps key and credentials'
  return ok(`data folder: ${data} is writable${existsSync(data) ? '' : ' (will be made)'}${use}`)
}
/** Whose world the folder is, and that neither mode writes over the other's files. */
async function strangers(config: Config): Promise<Check> {
  try {
    const fault = await sightOf(config, (sight) => folderFault(config, sight))
    if (fault !== undefined) return wrong(`data folder: ${fault}`)
  } catch (error) {
    return wrong(`data folder: ${(error as Error).message}`)
  }
  return ok(
    config.mode === 'live'
      ? 'credentials: a live platform writes no token and no key to any file'
      : `credentials: kept in ${join(config.data, 'credentials.json')}`,
  )
}
async function owner(config: Config): Promise<Check> {
  const lock = openOwnerLock(config)
  try {
    const holder = await lock.holder()
    return ok(
      holder === undefined
        ? 'owner: no living process has the database'
        : `owner: ${ownerText(holder)} has the database; a start needs --take-over`,
    )
  } catch (error) {
    return wrong(`owner: ${(error as Error).message}`)
  } finally {
    await lock.release()
  }
}

function room({ data, disk }: Config): Check {
  let folder = resolve(data)
  while (!existsSync(folder)) folder = dirname(folder)
  const { bavail, bsize } = statfsSync(folder)
  const megabytes = Math.floor((bavail * bsize) / 1e6)
  const [reserve, warning] = [disk.reserve / 1e6, disk.warning / 1e6]
  if (megabytes < reserve)
    return wrong(`disk: only ${megabytes} MB free; below ${reserve} (KONTOR_DISK_RESERVE) nothing is written`)
  if (megabytes < warning)
    return ok(`warning: disk: only ${megabytes} MB free (KONTOR_DISK_WARNING ${warning})`)
  return ok(`disk: ${megabytes} MB free`)
}

async function openDatabase({ data, databaseUrl, databaseWait }: Config): Promise<Snapshot | Check> {
  try {
    if (databaseUrl !== undefined) return await postgresSnapshot(databaseUrl)
    if (!existsSync(databasePath(data))) return ok('database: none yet; the first start makes it')
    return sqliteSnapshot(databasePath(data))
  } catch (error) {
    const later = error instanceof StoreAway ? `; a start waits for it for up to ${databaseWait} s` : ''
    return wrong(`database: ${(error as Error).message}${later}`)
  }
}

async function storeChecks(config: Config, snapshot: Snapshot): Promise<Check[]> {
  const checks: Check[] = []
  if (snapshot.kind === 'postgres')
    checks.push(...(await durability(config, snapshot)), await databaseClock(snapshot))
  const done = await migrationsOf(snapshot)
  try {
    const pending = pendingMigrations(done)
    const after = pending.length === 0 ? '' : `; the next start will bring it to ${MIGRATIONS.at(-1)!.id}`
    checks.push(ok(`database: ${snapshot.kind}, schema ${done.at(-1) ?? 0}${after}`))
    // Rows of an older schema can't be read yet.
    if (pending.length > 0) return [...checks, clock(undefined)]
  } catch (error) {
    return [...checks, wrong(`database: ${(error as Error).message}`)]
  }
  checks.push(...(await replicaChecks(config, snapshot)))
  checks.push(
    await madeIn(config),
    await secrets(config, snapshot),
    ...(await configuration(config, snapshot)),
  )
  const [[at]] = (await snapshot.query('select at from head')) as [[number]]
  const [setting] = await snapshot.query(`select "value" from setting where "name" = 'clock'`)
  const offset = setting === undefined ? 0 : (JSON.parse(String(setting[0])) as { offset: number }).offset
  return [...checks, clock({ at, offset: config.mode === 'sandbox' ? offset : 0 })]
}

/** What a changed configuration would break, before anything is touched. */
async function configuration(config: Config, snapshot: Snapshot): Promise<Check[]> {
  const state = await stateOf(snapshot)
  const { differing, breaks } = compareConfiguration(state, config)
  if (breaks.length > 0) return breaks.map((text) => wrong(`configuration: ${text}`))
  const agreed = approvedFile({ state }) === sha256(JSON.stringify(config.world))
  if (state.world.configured !== undefined && !agreed)
    try {
      refuseSimulated(config, state)
    } catch (error) {
      return [wrong(`configuration: ${(error as Error).message}`)]
    }
  if (differing.length === 0) return [ok('configuration: as the database has it')]
  const members = `${differing.length} ${differing.length === 1 ? 'member differs' : 'members differ'}`
  return [ok(`configuration: changed, and can be taken in (${members}; kontor config diff lists them)`)]
}

async function madeIn(config: Config): Promise<Check> {
  const made = await modeOf(config)
  if (made === undefined || made === config.mode) return ok(`mode: ${config.mode}, as the database`)
  return wrong(`mode: the database was made in ${made} mode; a start in ${config.mode} mode is refused`)
}

async function durability({ databaseUrl }: Config, snapshot: Snapshot): Promise<Check[]> {
  const [[fsync, commits, standbys]] = (await snapshot.query(
    `select current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names')`,
  )) as [[string, string, string]]
  const sets = commits === 'off' || commits === 'local' ? ' (kontor sets on)' : ''
  const checks = [
    fsync === 'on'
      ? ok(`PostgreSQL: fsync on, synchronous_commit ${commits}${sets}`)
      : wrong('PostgreSQL: fsync is off; acknowledged commands do not survive a power failure'),
  ]
  const servers = targetsOf(databaseUrl!).urls.length
  if (servers > 1)
    checks.push(
      ok(
        standbys === ''
          ? `warning: PostgreSQL: ${servers} servers are named, and synchronous_standby_names is empty: a fail-over may lose acknowledged commands`
          : `PostgreSQL: ${servers} servers are named; synchronous_standby_names is ${standbys}`,
      ),
    )
  return checks
}

async function secrets(config: Config, snapshot: Snapshot): Promise<Check> {
  const path = join(config.data, 'secret.key')
  // Beside an embedded store lies that one's key, not PostgreSQL's.
  const ours = config.databaseUrl === undefined || !existsSync(databasePath(config.data))
  const key = config.secretKey ?? (ours && existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined)
  let total = 0
  let unreadable = 0
  const box = key === undefined ? undefined : new SecretBox(key)
  await snapshot.each('select "secret_box" from api_key', ([sealed]) => {
    total++
    if (box?.open(String(sealed)) === undefined) unreadable++
  })
  if (unreadable === 0) return ok(`secret key: opens all ${total} API secrets`)
  return wrong(
    key === undefined
      ? `secret key: ${path} is missing; the ${total} API keys of the database can't sign`
      : `secret key: does not open ${unreadable} of ${total} API secrets; it is not the key they were sealed with`,
  )
}

async function databaseClock(snapshot: Snapshot): Promise<Check> {
  const before = Date.now()
  const [[told]] = (await snapshot.query('select extract(epoch from clock_timestamp()) * 1000')) as [
    [unknown],
  ]
  const off = Math.abs(offsetOf(before, Number(told), Date.now()))
  return off <= DATABASE_OFF_SECONDS
    ? ok('PostgreSQL: its clock agrees with this machine’s')
    : wrong(`PostgreSQL: its clock is ${off.toFixed(1)} s off this machine's; set them by the same source`)
}

const CLOCK_MIN = Date.UTC(2024, 0) * 1000
const CLOCK_SLACK = 5_000_000
/** `at`: the time of the last commit; the sandbox's clock may be ahead by `offset`. All in microseconds. */
function clock(last: { at: number; offset: number } | undefined): Check {
  const now = Date.now() * 1000
  const text = `clock: ${new Date().toISOString()}`
  if (now < CLOCK_MIN) return wrong(`${text} can't be right; set this machine's clock`)
  if (last !== undefined && now + last.offset + CLOCK_SLACK < last.at)
    return wrong(
      `${text} is before the last commit (${new Date(last.at / 1000).toISOString()}); set this machine's clock`,
    )
  if (last === undefined || last.offset < SECOND) return ok(text)
  return ok(`${text}; the sandbox's was moved to ${new Date((now + last.offset) / 1000).toISOString()}`)
}
