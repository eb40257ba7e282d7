// Makes dist/kontor of dist/src: the same modules in a few files. Node takes half of a start to find and read 560 small
// ones. Nothing is made shorter or renamed: a stack trace reads as before.
import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const source = join(root, 'dist', 'src')
const target = join(root, 'dist', 'kontor')
/** What is started by its name: the command, and the threads and processes that it starts. */
const ENTRIES = [
  'cli/main',
  'gateway/main',
  'gateway/line-worker',
  'store/journal-worker',
  'store/sealer-worker',
  'store/follower-worker',
  'store/stager-worker',
  'store/writer-worker',
  'store/reader-worker',
]

/** Without the tool the platform runs as well, from dist/src. */
export async function bundle() {
  if (!existsSync(join(root, 'node_modules', 'rolldown'))) return
  // Whole or not at all, whenever it is broken off.
  const next = `${target}.next`
  for (const folder of [target, next]) rmSync(folder, { recursive: true, force: true })
  const { rolldown } = await import('rolldown')
  const made = await rolldown({
    input: Object.fromEntries(ENTRIES.map((name) => [name, join(source, `${name}.js`)])),
    platform: 'node',
    // Packages stay where they are installed.
    external: /^[^./]/,
    logLevel: 'warn',
  })
  await made.write({
    dir: next,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // The file that tells places must lie in the first folder.
    codeSplitting: { groups: [{ name: 'places', test: /\/dist\/src\/places\.js$/ }] },
  })
  await made.close()
  renameSync(next, target)
}

/** What tests start as processes of their own. */
const PROGRAMS = [
  'crash/die-at-commit.js',
  'crash/die-at.js',
  'crash/die-in-stages.js',
  'sim/system/planted.js',
]

/**
 * The same of all tests, each still a file of its own: most of them load the whole platform, which is found and read as one
 * file then. Whatever they look for on the disk they find from where they were.
 */
export async function bundleTests(tests) {
  const files = [...tests, ...PROGRAMS]
  const folder = join(root, 'dist', 'tested')
  rmSync(folder, { recursive: true, force: true })
  const { rolldown } = await import('rolldown')
  const made = await rolldown({
    input: Object.fromEntries(
      files.map((file) => [file.replace(/\.js$/, ''), join(root, 'dist', 'test', file)]),
    ),
    platform: 'node',
    external: /^[^./]/,
    logLevel: 'warn',
    plugins: [{ name: 'where they were', transform: whereItWas }],
  })
  await made.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    codeSplitting: { groups: [{ name: 'platform', test: /\/dist\/src\/platform\.js$/ }] },
  })
  await made.close()
  return folder
}
function whereItWas(code, id) {
  if (!code.includes('import.meta.url')) return null
  // Threads come from the platform's bundle.
  const place = id === join(source, 'places.js') ? join(target, 'places.js') : id
  return { code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(place).href)), map: null }
}

/** The compiled command: the bundle, unless something was compiled since. */
export function command() {
  const [bundled, plain] = [target, source].map((folder) => join(folder, 'cli', 'main.js'))
  if (!existsSync(bundled)) return existsSync(plain) ? pathToFileURL(plain) : undefined
  // The compiler's own note: written whenever any file is. What is installed from a registry has none.
  const compiled = join(root, 'dist', '.tsbuildinfo')
  const fresh = !existsSync(compiled) || statSync(bundled).mtimeMs >= statSync(compiled).mtimeMs
  return pathToFileURL(fresh || !existsSync(plain) ? bundled : plain)
}
