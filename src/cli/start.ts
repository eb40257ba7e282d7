import { SETTINGS, readConfig } from '../config.ts'
import { startPlatform, type Platform } from '../platform.ts'
import { createLog } from '../runtime/log.ts'
import { Fenced } from '../store/store.ts'
import type { Command } from './main.ts'
import { settingOptions, type Arguments, type Environment } from './options.ts'

export const start: Command = {
  usage: 'kontor start [options]',
  summary: 'runs the platform until SIGTERM',
  detail: 'Runs the platform. Every option can also be set in the environment; the option wins.',
  options: settingOptions(),
  words: 0,
  run,
}

async function run({ env }: Arguments): Promise<number> {
  const config = readConfig(env)
  // Whatever is made from here on is for this user alone.
  process.umask(0o077)
  const log = createLog(config.log, (line) => process.stderr.write(`${line}\n`))
  for (const name of unknownSettings(env))
    log.warn(`${name} is not a setting of this version and has no effect`)
  // Crash-only: start-up is the one way to recover, and it reads what the disk really holds.
  const fatal = (error: unknown): void => {
    log.error(error instanceof Fenced ? error.message : 'fatal: the next start recovers from the disk', {
      error,
    })
    process.exit(error instanceof Fenced ? 3 : 70)
  }
  // A reader of the log or of the banner that goes away takes nothing with it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  const told = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  const platform = await startPlatform(config, log, fatal)
  banner(platform)
  await told
  log.info('stopping')
  await platform.stop()
  return 0
}

const unknownSettings = (env: Environment): string[] =>
  Object.keys(env).filter(
    (name) => name.startsWith('KONTOR_') && SETTINGS.every(([setting]) => setting !== name),
  )

function banner({ url, operatorUrl, credentials, desk }: Platform): void {
  const lines = [
    `kontor (${desk.mode}, ${desk.store.kind})`,
    `  API      ${url}/api/v4`,
    `  console  ${url}/`,
    `  docs     ${url}/docs`,
    ...(operatorUrl === url ? [] : [`  operator ${operatorUrl}/operator/v1`]),
  ]
  if (desk.mode === 'sandbox') {
    lines.push(`  operator token  ${credentials.operator_token}`)
    for (const { login_name, user_id, key, secret } of credentials.accounts)
      lines.push(`  ${login_name} (${user_id})`, `    key     ${key}`, `    secret  ${secret}`)
  }
  process.stdout.write(`${lines.join('\n')}\nkontor ready on ${url}\n`)
}
