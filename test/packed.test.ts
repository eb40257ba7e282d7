import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { nodeOf } from './support/other-node.ts'

/**
 * The package as npm would publish it, in an empty folder, with each Node.js that it is for. KONTOR_PACK=install lets npm
 * install it there, from the registry; else what package-lock.json says that it needs, and nothing else, is linked, which
 * costs no network.
 */
const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const app = mkdtempSync(join(tmpdir(), 'kontor-packed-'))
after(() => rmSync(app, { recursive: true, force: true }))

const PROGRAM = `import { startKontor, KontorError, type Kontor, type Snapshot } from 'kontor'

const kontor: Kontor = await startKontor({ agents: false, clock: '2030-01-01' })
const snapshot: Snapshot = await kontor.snapshot()
interface Order { readonly id: string; readonly status: string }
const order = await kontor.call<Order>('POST', '/spot/orders', {
  currency_pair: 'BTC_USDT', side: 'sell', amount: '0.1', price: '70000',
})
const fork = await startKontor({ from: snapshot, port: 'none' })
const missing = await fork.call('GET', \`/spot/orders/\${order.id}?currency_pair=BTC_USDT\`).catch((error: unknown) => error)
const reached = await fetch(\`\${kontor.url}/api/v4/spot/time\`)
console.log(order.status, missing instanceof KontorError && missing.label, reached.status, kontor.clock.now() >= snapshot.time)
await Promise.all([kontor.close(), fork.close()])
`
/** Names of packages that it needs at run time, and those that they need. */
function needed(): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean; link?: boolean }>
  }
  return Object.entries(packages)
    .filter(
      ([path, { dev, link }]) =>
        /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && dev !== true && link !== true,
    )
    .map(([path]) => path.slice('node_modules/'.length))
    .filter((name) => existsSync(join(root, 'node_modules', name)))
}
function link(name: string): void {
  const to = join(app, 'node_modules', name)
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), to)
}
async function install(tarball: string): Promise<void> {
  if (process.env['KONTOR_PACK'] === 'install') {
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: app })
    return
  }
  const place = join(app, 'node_modules', 'kontor')
  mkdirSync(place, { recursive: true })
  await run('tar', ['xzf', tarball, '-C', place, '--strip-components=1'])
  for (const name of needed()) link(name)
  mkdirSync(join(app, 'node_modules', '.bin'))
  symlinkSync(join(place, 'bin', 'kontor.js'), join(app, 'node_modules', '.bin', 'kontor'))
}

describe('the packed package in an empty folder', () => {
  before(async () => {
    await run(process.execPath, [join(root, 'dist/tools/types.js')])
    await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', app], { cwd: root })
    writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n')
    await install(
      join(
        app,
        readdirSync(app).find((name) => name.endsWith('.tgz'))!,
      ),
    )
  })

  test('holds what is meant for others, and no test', () => {
    const place = join(app, 'node_modules', 'kontor')
    assert.deepEqual(readdirSync(join(place, 'dist')).sort(), ['kontor', 'src'])
    for (const file of [
      'LICENSE',
      'README.md',
      'bin/kontor.js',
      'docs/testing.md',
      'dist/src/kontor.d.ts',
      'dist/kontor/cli/main.js',
    ])
      assert.ok(existsSync(join(place, file)), file)
  })
  test('a program in strict TypeScript is compiled against it', async () => {
    writeFileSync(join(app, 'app.ts'), PROGRAM)
    if (!existsSync(join(app, 'node_modules/@types/node'))) {
      link('@types/node')
      link('undici-types')
    }
    const options = [
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--lib',
      'es2023',
    ]
    for (const compiler of ['typescript', 'typescript-7']) {
      const tsc = join(root, 'node_modules', compiler, 'bin/tsc')
      const compiled = run(process.execPath, [tsc, ...options, '--types', 'node', 'app.ts'], { cwd: app })
      await compiled.catch((error: unknown) => assert.fail((error as { stdout: string }).stdout))
    }
  })

  for (const major of [20, 22, 24])
    test(`npx kontor starts it, and the program runs, on Node.js ${major}`, async (t) => {
      const found = await nodeOf(major, join(app, `node-${major}`))
      if ('missing' in found) return t.skip(found.missing)
      const { bin } = found
      const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}`, KONTOR_GATEWAYS: '0' }
      const node = join(bin, 'node')
      assert.match((await run(node, ['--version'])).stdout, new RegExp(`^v${major}\\.`))

      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
      const { stdout: told } = await run('npx', ['--no-install', 'kontor', 'version'], { cwd: app, env })
      assert.equal(told.trim(), version)
      await starts(env)

      const { stdout } = await run(node, ['app.js'], { cwd: app, env })
      assert.equal(stdout.trim(), 'open ORDER_NOT_FOUND 200 true')
    })
})

async function starts(env: NodeJS.ProcessEnv): Promise<void> {
  const args = ['--no-install', 'kontor', 'start', '--memory', '--port', '0']
  const child = spawn('npx', args, { cwd: app, stdio: ['ignore', 'pipe', 'inherit'], env, detached: true })
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = /^kontor ready on (\S+)$/.exec(line)
      if (ready === null) continue
      assert.equal((await fetch(`${ready[1]!}/readyz`)).status, 200)
      assert.equal((await fetch(`${ready[1]!}/openapi.json`)).status, 200)
      return
    }
    assert.fail('it ended before it was ready')
  } finally {
    // npx does not hand a signal on to what it runs: the whole group gets it.
    process.kill(-child.pid!, 'SIGTERM')
  }
}
