import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

/** What a long run keeps in a file, so that another one can go on from there. */
export function kept<T>(path: string | undefined): T | undefined {
  if (path === undefined || !existsSync(path)) return undefined
  return JSON.parse(readFileSync(path, 'utf8')) as T
}
/** Whoever kills this in between finds the file whole. */
export function keep(path: string, value: unknown): void {
  writeFileSync(`${path}.next`, `${JSON.stringify(value, null, 1)}\n`)
  renameSync(`${path}.next`, path)
}
/** What runs, as far as it was built just now; where there is no git, KONTOR_COMMIT says it. */
export function commitHere(): string {
  const { KONTOR_COMMIT: given } = process.env
  if (given !== undefined) return given
  const git = (...args: string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--', 'src') === '' ? '' : ' with changes'}`
  } catch {
    return 'unknown'
  }
}
