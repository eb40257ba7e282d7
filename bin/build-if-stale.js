// Compiles the TypeScript sources when dist/ is missing or older than any of them, and the console's pages likewise. Runs
// at install (prepare) and before start and test, so that nobody ever runs code that differs from the sources on disk.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const started = new Date()

function newest(path, kinds) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return kinds.test(path) ? stat.mtimeMs : 0
  // The folder's own time tells of removed files.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name), kinds)))
}
/** Is what was built there younger than all of these? Without sources (an installed package) it always is. */
function fresh(stamp, paths, kinds) {
  const sources = paths.map((path) => join(root, path)).filter(existsSync)
  if (sources.length === 0) return true
  return (
    existsSync(stamp) && statSync(stamp).mtimeMs >= Math.max(...sources.map((path) => newest(path, kinds)))
  )
}
function run(script, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' })
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
function stampNow(stamp) {
  writeFileSync(stamp, '')
  utimesSync(stamp, started, started)
}

async function compile() {
  const stamp = join(root, 'dist', '.built')
  const paths = ['tsconfig.json', 'src', 'test', 'bench', 'tools']
  const there = paths.slice(1).some((path) => existsSync(join(root, path)))
  if (!there || fresh(stamp, paths, /(\.ts|tsconfig\.json)$/)) return 0
  // The compiler that is a program of its machine; `typescript` itself is the one that lint can talk to.
  const compiler = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc')
  if (!existsSync(compiler)) {
    if (existsSync(stamp)) return 0
    console.error('kontor: the sources are not compiled and the compiler is missing; run: npm ci')
    return 2
  }
  // Removed sources must not live on as compiled tests: start from an empty folder.
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  const code = await run(compiler, ['-p', join(root, 'tsconfig.json')])
  if (code !== 0) return code
  await bundle()
  stampNow(stamp)
  return 0
}

async function pages() {
  const stamp = join(root, 'console', 'dist', '.built')
  const paths = ['src', 'index.html', 'build.js', 'vite.config.ts', 'package.json'].map(
    (name) => `console/${name}`,
  )
  if (!existsSync(join(root, 'console', 'src')) || fresh(stamp, paths, /\.(ts|tsx|css|svg|html|js|json)$/))
    return 0
  const tools = ['node_modules', 'console/node_modules'].some((folder) =>
    existsSync(join(root, folder, 'vite')),
  )
  // Without its tools the platform runs as well; `/` then says what is missing.
  if (!tools) return 0
  const code = await run(join(root, 'console', 'build.js'), [])
  if (code === 0) stampNow(stamp)
  return code
}

const [code, pagesCode] = await Promise.all([compile(), pages()])
process.exit(code === 0 ? pagesCode : code)
