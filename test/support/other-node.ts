import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Versions of the packages that hold nothing but node's binary, and the sha512 of what they are: it is run, so it is pinned. */
const PINNED: Readonly<Record<string, readonly [version: string, sha512: string]>> = {
  'linux-arm64 20': [
    '20.20.2',
    'LCXJnNTFiyGuYBw2gZSI5OBFMbkjAPt8sqD/NKrWoE2QmDgSubTqFng6GaNJ9EJ8HpxBMGcWWpbbcs4Vo+CnGg==',
  ],
  'linux-arm64 22': [
    '22.23.3',
    'l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  ],
  'linux-arm64 24': [
    '24.21.0',
    'FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  ],
  'linux-x64 20': [
    '20.20.2',
    'PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==',
  ],
  'linux-x64 22': [
    '22.23.3',
    'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  ],
  'linux-x64 24': [
    '24.21.0',
    '3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  ],
}
/** What npm says when there is no way to the registry, and nothing in its cache: no finding about this project. */
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED|ENETUNREACH/

/**
 * The folder with a node of this major version: that of this process, else one of the registry; or why there is none.
 */
export async function nodeOf(major: number, place: string): Promise<{ bin: string } | { missing: string }> {
  if (Number(process.versions.node.split('.')[0]) === major) return { bin: join(process.execPath, '..') }
  const machine = `${process.platform}-${process.arch}`
  const [version, sha512] = PINNED[`${machine} ${major}`] ?? []
  if (version === undefined) return { missing: `no Node.js ${major} is pinned for ${machine}` }
  mkdirSync(place, { recursive: true })
  try {
    const options = ['--prefer-offline', '--ignore-scripts', '--loglevel=error', '--fetch-retries=1']
    await run('npm', ['pack', `node-${machine}@${version}`, '--pack-destination', place, ...options])
  } catch (error) {
    if (UNREACHABLE.test((error as { stderr: string }).stderr))
      return { missing: 'the registry, which has the other Node.js, can not be reached' }
    throw error
  }
  const tarball = join(
    place,
    readdirSync(place).find((name) => name.endsWith('.tgz'))!,
  )
  const found = createHash('sha512').update(readFileSync(tarball)).digest('base64')
  assert.equal(found, sha512, `node-${machine}@${version} is not what was pinned`)
  await run('tar', ['xzf', tarball, '-C', place, 'package/bin/node'])
  return { bin: join(place, 'package', 'bin') }
}
