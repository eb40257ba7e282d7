// Compiles the TypeScript sources when dist/ is missing or older than any of them. Runs at install (prepare)
// and before start and test, so that nobody ever runs code that differs from the sources on disk.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stamp = join(root, 'dist', '.built')
const folders = ['src', 'test', 'bench', 'tools'].map((name) => join(root, name)).filter(existsSync)

function newest(path) {
  const stat = statSync(path)
  if (!stat.isDirectory()) return path.endsWith('.ts') ? stat.mtimeMs : 0
  // The folder's own time tells of removed files.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}

const started = new Date()
const sources = Math.max(statSync(join(root, 'tsconfig.json')).mtimeMs, ...folders.map(newest))
if (folders.length > 0 && (!existsSync(stamp) || statSync(stamp).mtimeMs < sources)) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  if (!existsSync(compiler)) {
    if (!existsSync(stamp)) {
      console.error('kontor: the sources are not compiled and the compiler is missing; run: npm ci')
      process.exit(2)
    }
  } else {
    // Removed sources must not live on as compiled tests: start from an empty folder.
    rmSync(join(root, 'dist'), { recursive: true, force: true })
    const result = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.json')], {
      stdio: 'inherit',
    })
    if (result.status !== 0) process.exit(result.status ?? 1)
    writeFileSync(stamp, '')
    utimesSync(stamp, started, started)
  }
}
