import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { differs, isFile, runs, type Block } from './documents.ts'

/** What a test can't do as it stands in the text, and what it does instead: the test prints this list. */
export const SUBSTITUTED: readonly { readonly what: RegExp; readonly by: string; readonly why: string }[] = [
  {
    what: /^npm ci\b/,
    by: 'npm ci --dry-run --offline --ignore-scripts --loglevel=error',
    why: 'installs nothing: it checks that package-lock.json agrees with package.json; node_modules is that of this checkout, and dist/ was made from these sources before the tests began',
  },
  {
    what: /^npm test$/,
    by: 'npm test -- core/amount',
    why: 'the whole suite is what runs this test; one file of it shows that the command works',
  },
]
/** Runs until it is ready, then in the background while the document goes on. */
const STARTS = /^(?:[A-Z_]+=\S+ )*(?:npm (?:run )?start|npx kontor start|node bin\/kontor\.js start)\b/

const RESULTS = '.doc-run'
const PRELUDE = `set -e
doc_start() {
  mkdir -p ${RESULTS}
  doc_log=$(mktemp ${RESULTS}/start.XXXXXX)
  "$DOC_SHELL" -c "$1" > "$doc_log" 2>&1 &
  doc_pid=$!
  doc_tries=0
  while ! grep -q '^kontor ready on ' "$doc_log"; do
    if ! kill -0 "$doc_pid" 2> /dev/null || [ "$doc_tries" -ge 600 ]; then
      cat "$doc_log" >&2
      echo "it did not become ready: $1" >&2
      return 1
    fi
    doc_tries=$((doc_tries + 1))
    sleep 0.1
  done
  cat "$doc_log"
}
`
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
/** A command line as the test runs it. */
export function runnable(line: string): string {
  const comment = line.replace(/\s+#.*$/, '')
  const parts = comment.split(' && ').map((part) => {
    const known = SUBSTITUTED.find(({ what }) => what.test(part.trim()))
    return known === undefined ? part.trim() : known.by
  })
  const starts = parts.at(-1)!
  if (STARTS.test(starts) && !/[&|;]/.test(starts)) {
    const before = parts.slice(0, -1)
    return [...before, `doc_start ${quoted(starts)}`].join('\n')
  }
  return SUBSTITUTED.some(({ what }) => comment.split(' && ').some((part) => what.test(part.trim())))
    ? parts.join('\n')
    : line
}

/** A clone of what git knows of this checkout and what it would take in, with what is not committed yet. */
export function freshClone(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-doc-'))
  const clone = join(folder, 'kontor')
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  git('clone', '--quiet', '--no-hardlinks', '--', root, clone)
  for (const file of git('ls-files', '-z', '-m', '-d', '-o', '--exclude-standard').split('\0')) {
    if (file === '') continue
    const target = join(clone, file)
    if (!existsSync(join(root, file))) rmSync(target, { force: true })
    else {
      mkdirSync(dirname(target), { recursive: true })
      copyFileSync(join(root, file), target)
    }
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'), 'dir')
  const now = new Date()
  for (const built of ['dist', join('console', 'dist')]) {
    cpSync(join(root, built), join(clone, built), { recursive: true })
    utimesSync(join(clone, built, '.built'), now, now)
  }
  return clone
}
/** What a document left behind goes; the next one finds the clone as it was. */
function sweep(clone: string, keep: ReadonlySet<string>): void {
  const left = execFileSync('git', ['ls-files', '-z', '-o', '--directory'], { cwd: clone, encoding: 'utf8' })
  for (const path of left.split('\0'))
    if (path !== '' && !keep.has(path.replace(/\/$/, '')))
      rmSync(join(clone, path), { recursive: true, force: true })
}
export const untracked = (clone: string): ReadonlySet<string> =>
  new Set(
    execFileSync('git', ['ls-files', '-z', '-o', '--directory'], { cwd: clone, encoding: 'utf8' })
      .split('\0')
      .map((path) => path.replace(/\/$/, ''))
      .concat('node_modules', 'dist'),
  )

const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(KONTOR_|NODE_TEST|NODE_OPTIONS|npm_)/.test(name)),
)
const PATIENCE_MS = 240_000

/** Runs a document's blocks in one shell, in order. Answers what went wrong; the outputs are held against the text. */
export async function runDocument(
  clone: string,
  shell: string,
  blocks: readonly Block[],
  keep: ReadonlySet<string>,
): Promise<string[]> {
  const script = [PRELUDE]
  const results = join(clone, RESULTS)
  mkdirSync(results, { recursive: true })
  blocks.forEach((block, i) => {
    if (isFile(block)) {
      const kept = join(results, `file-${i}`)
      writeFileSync(kept, `${block.text}\n`)
      script.push(`cp ${quoted(kept)} ${quoted(block.info)}`)
    } else if (runs(block)) {
      const lines = joinedLines(block.text).map(runnable).join('\n')
      script.push(`echo ${i} > ${RESULTS}/now`, `{\n:\n${lines}\n} > ${RESULTS}/out-${i}`)
    }
  })
  const file = join(results, 'script')
  writeFileSync(file, `${script.join('\n')}\n`)
  const child = spawn(shell, [file], {
    cwd: clone,
    env: { ...ENVIRONMENT, DOC_SHELL: shell, KONTOR_PORT: '0', KONTOR_LOG: 'error' },
    // A group of its own: the platforms that it started end with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const late = setTimeout(() => signal(child.pid!, 'SIGKILL'), PATIENCE_MS)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(late)
  await ended(child.pid!)
  const faults: string[] = []
  const output = (i: number): string => {
    const path = join(results, `out-${i}`)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  if (code !== 0) {
    const at = Number(readFileSync(join(results, 'now'), 'utf8'))
    const { document, line } = blocks[at]!
    faults.push(
      `${document}:${line} (${shell}): ended with ${code}\n${errors.slice(-2000)}${output(at).slice(-2000)}`,
    )
  } else
    blocks.forEach((block, i) => {
      if (i === 0 || !block.follows || !runs(blocks[i - 1]!)) return
      if (block.language !== 'text' && block.language !== 'json') return
      const fault = differs(block, output(i - 1))
      if (fault !== undefined)
        faults.push(
          `${block.document}:${block.line} (${shell}): ${fault}; it printed:\n${output(i - 1).slice(0, 2000)}`,
        )
    })
  sweep(clone, keep)
  return faults
}
/** A command over several lines, or a here-document, is left as it is. */
function joinedLines(text: string): string[] {
  return /<<|\\\n/.test(text) && !STARTS.test(text) ? [text] : text.split('\n')
}
function signal(group: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, name)
    return true
  } catch {
    return false
  }
}
async function ended(group: number): Promise<void> {
  signal(group, 'SIGTERM')
  for (let i = 0; i < 200 && signal(group, 0); i++) await sleep(25)
  signal(group, 'SIGKILL')
}
