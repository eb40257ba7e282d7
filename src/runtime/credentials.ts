import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError, type Config } from '../config.ts'

/** The keys of the first start, as a sandbox writes them down. */
export interface DemoAccount {
  readonly login_name: string
  readonly user_id: number
  readonly parent: number
  readonly key: string
  readonly secret: string
}
export interface Credentials {
  readonly url: string
  /** Where the operator API has an address of its own. */
  readonly operator_url?: string | undefined
  /** Of a sandbox on PostgreSQL: the database that they are for. */
  readonly database?: string
  readonly operator_token: string
  /** Of the main account. */
  readonly key: string
  readonly secret: string
  readonly accounts: readonly DemoAccount[]
}

type Place = Pick<Config, 'data' | 'credentials'>
/** Where they are: a file of its own, or one in the data folder. */
export const credentialsPath = ({ data, credentials }: Place): string =>
  credentials ?? `${data}/credentials.json`

export function readCredentials(config: Place): Credentials | undefined {
  const path = credentialsPath(config)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Credentials) : undefined
}
export function keepPrivate(path: string, text: string | Buffer): void {
  writeFileSync(path, text, { mode: 0o600 })
  chmodSync(path, 0o600)
}
/** Whoever waits for the file finds it whole. What is kept in memory writes none unless it is asked for. */
export function writeCredentials(config: Config, credentials: Credentials): void {
  if (config.memory && config.credentials === undefined) return
  const path = credentialsPath(config)
  const text = `${JSON.stringify(credentials, null, 2)}\n`
  try {
    const partial = `${path}.part`
    keepPrivate(partial, text)
    renameSync(partial, path)
  } catch (error) {
    if (config.credentials === undefined) throw error
    throw new ConfigError(
      `KONTOR_CREDENTIALS ${path} can't be written: ${(error as Error).message}; is there a folder ${dirname(path)}?`,
    )
  }
}
