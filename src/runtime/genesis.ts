import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import type { Core } from '../machine/core.ts'
import type { Commands } from '../core/commands.ts'
import type { State } from '../core/state.ts'
import { approvedFile } from '../core/operators/proposals.ts'
import { FIRST_OPERATOR } from '../core/operators/operators.ts'
import { PERMISSIONS } from '../core/tables/keys.ts'
import { databasePath } from '../store/open.ts'
import { keepPrivate, type Credentials, type DemoAccount } from './credentials.ts'
import { demoPair, refuseOtherDemo } from './demo-keys.ts'
import { differences } from './differences.ts'
import { randomHex, sha256, type SecretBox } from './secrets.ts'

/**
 * The key that API secrets are encrypted with: from the environment, else a file made at first start. Beside a database
 * that was made before, none is made.
 */
export function secretKey(config: Config, made = false): string {
  if (config.secretKey !== undefined) return config.secretKey
  if (config.memory) return randomHex(32)
  const path = join(config.data, 'secret.key')
  if (existsSync(path)) return keyIn(path)
  if (made)
    throw new ConfigError(
      `KONTOR_DATA ${path} is missing, and the database was made with it: put it back from a backup, or set KONTOR_SECRET_KEY; a new key would open none of the stored API secrets`,
    )
  const key = randomHex(32)
  keepPrivate(path, `${key}\n`)
  return key
}

function keyIn(path: string): string {
  let key: string
  try {
    key = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`KONTOR_DATA ${path} can't be read: ${(error as Error).message}`)
  }
  if (!/^[0-9a-fA-F]{64}$/.test(key))
    throw new ConfigError(
      `KONTOR_DATA ${path} does not hold a key (32 bytes as 64 hex digits); put back the one that was made with this database`,
    )
  return key.toLowerCase()
}

/** The same for those who only look: a key that is not there is not made. */
export function existingKey(config: Config): string {
  const path = join(config.data, 'secret.key')
  // Beside an embedded store lies that one's key.
  const strange = config.databaseUrl !== undefined && existsSync(databasePath(config.data))
  if (config.secretKey === undefined && (strange || !existsSync(path)))
    throw new ConfigError(
      `the secret key is needed: set KONTOR_SECRET_KEY, or name the data folder that holds secret.key (${strange ? `${path} is that of an embedded store` : `there is no ${path}`})`,
    )
  return secretKey(config)
}

/**
 * Runs at every start; each step does nothing when it is already so. All of it is submitted in one turn and so
 * falls into one batch: a process that dies in the middle leaves a whole world or none. `keep` writes the
 * credentials down before the world that they open is committed, so that no world is ever without its keys.
 */
export async function ensureWorld(
  core: Core<State, Commands>,
  config: Config,
  secrets: SecretBox,
  known: Credentials | undefined,
  keep: (credentials: Credentials) => void,
): Promise<Credentials> {
  const first = core.state.world.configured === undefined
  if (!first) refuseOtherDemo(core, config)
  const steps: Promise<unknown>[] = []
  // First: what the world is worth depends on it.
  const live = config.mode === 'live'
  if (core.state.world.marked !== live) steps.push(core.submit('world.live', { live }))
  const before = core.state.world.configured
  if (JSON.stringify(before) !== JSON.stringify(config.world)) {
    const digest = sha256(JSON.stringify(config.world))
    if (!live || before === undefined || approvedFile(core) === digest)
      steps.push(core.submit('world.configure', { config: config.world }))
    else steps.push(core.submit('world.propose', { digest, changes: differences(before, config.world) }))
  }
  const operator_token = config.operatorToken ?? known?.operator_token ?? randomHex(32)
  steps.push(core.submit('operator.ensure', { name: FIRST_OPERATOR, token_hash: sha256(operator_token) }))
  steps.push(core.submit('spot.begin', {}))
  steps.push(core.submit('contract.begin', {}))
  steps.push(core.submit('lending.begin', { seed: config.mode === 'sandbox' }))
  steps.push(core.submit('futures.begin', { seed: config.mode === 'sandbox' }))
  const credentials =
    first && config.mode === 'sandbox'
      ? demoWorld(core, secrets, operator_token, known, config.demo, steps)
      : { ...(known ?? { url: '', key: '', secret: '', accounts: [] }), operator_token }
  keep(credentials)
  await Promise.all(steps)
  return credentials
}

const FUNDS: Readonly<Record<string, readonly (readonly [currency: string, amount: string])[]>> = {
  demo: [
    ['BTC', '10'],
    ['ETH', '100'],
    ['USDT', '1000000'],
    ['USDC', '100000'],
    ['SOL', '1000'],
    ['XRP', '100000'],
    ['DOGE', '1000000'],
    ['TRX', '100000'],
    ['GT', '1000'],
    ['POINT', '1000'],
  ],
  demo_bot: [
    ['BTC', '1'],
    ['USDT', '50000'],
  ],
  demo_treasury: [['USDT', '10000']],
}

/** Of the main account, where the world has contracts that are settled there. */
const CONTRACT_FUNDS = [
  ['futures', 'usdt', '20000'],
  ['futures', 'btc', '0.5'],
  ['delivery', 'usdt', '5000'],
] as const

function demoWorld(
  core: Core<State, Commands>,
  secrets: SecretBox,
  operator_token: string,
  known: Credentials | undefined,
  demo: Config['demo'],
  steps: Promise<unknown>[],
): Credentials {
  const accounts: DemoAccount[] = []
  let parent = 0
  for (const login_name of Object.keys(FUNDS)) {
    steps.push(
      core.submit('user.create', {
        login_name,
        email: parent === 0 ? 'demo@kontor.example' : null,
        password_hash: null,
        remark: '',
        vip: 0,
        parent_id: parent,
        type: 1,
        actor: null,
      }),
    )
    // Applied already, though not committed yet.
    const user = core.state.users.byLogin.get(login_name)!
    // After a reset the keys of the first start still work.
    const before = known?.accounts.find((account) => account.login_name === login_name)
    const { key, secret } = before ?? demoPair(demo, login_name, parent === 0)
    steps.push(
      core.submit('key.create', {
        user_id: user.user_id,
        name: 'demo',
        mode: 1,
        perms: PERMISSIONS.filter((name) => parent === 0 || name !== 'withdrawal').map((name) => ({
          name,
          read_only: false,
        })),
        ip_whitelist: [],
        key,
        secret_box: secrets.seal(secret),
        main: null,
        actor: null,
      }),
    )
    for (const [currency, amount] of FUNDS[login_name]!)
      steps.push(
        core.submit('user.credit', {
          user_id: user.user_id,
          account: 'spot',
          currency,
          amount,
          currency_pair: null,
          settle: null,
          actor: null,
        }),
      )
    const { allContracts } = core.state.world
    for (const [account, settle, amount] of parent === 0 ? CONTRACT_FUNDS : [])
      if (allContracts.some((contract) => contract.group === account && contract.settle === settle))
        steps.push(
          core.submit('user.credit', {
            user_id: user.user_id,
            account,
            currency: settle.toUpperCase(),
            amount,
            currency_pair: null,
            settle,
            actor: null,
          }),
        )
    accounts.push({ login_name, user_id: user.user_id, parent, key, secret })
    if (parent === 0) parent = user.user_id
  }
  const [main] = accounts as [DemoAccount]
  return { url: known?.url ?? '', operator_token, key: main.key, secret: main.secret, accounts }
}
