import { readConfig } from '../config.ts'
import { startPlatform, type Platform } from '../platform.ts'
import { createLog } from '../runtime/log.ts'
import { Fenced } from '../store/store.ts'

/** Runs the platform until it is told to stop. */
export async function start(env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const config = readConfig(env)
  const log = createLog(config.log, (line) => process.stderr.write(`${line}\n`))
  // Crash-only: start-up is the one way to recover, and it reads what the disk really holds.
  const fatal = (error: unknown): void => {
    log.error(error instanceof Fenced ? error.message : 'fatal: the next start recovers from the disk', {
      error,
    })
    process.exit(error instanceof Fenced ? 3 : 70)
  }
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  const platform = await startPlatform(config, log, fatal)
  banner(platform)
  await new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve)
    process.once('SIGINT', resolve)
  })
  log.info('stopping')
  await platform.stop()
  return 0
}

function banner({ url, credentials, desk }: Platform): void {
  const lines = [
    `kontor (${desk.mode}, ${desk.store.kind})`,
    `  API      ${url}/api/v4`,
    `  console  ${url}/`,
    `  docs     ${url}/docs`,
  ]
  if (desk.mode === 'sandbox') {
    lines.push(`  operator token  ${credentials.operator_token}`)
    for (const { login_name, user_id, key, secret } of credentials.accounts)
      lines.push(`  ${login_name} (${user_id})`, `    key     ${key}`, `    secret  ${secret}`)
  }
  process.stdout.write(`${lines.join('\n')}\nkontor ready on ${url}\n`)
}
