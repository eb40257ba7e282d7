import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The house rules that a linter can't say; who may import whom is in layers.test.ts. */
const root = fileURLToPath(new URL('../../', import.meta.url))
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file: file.replaceAll('\\', '/'), text: readFileSync(join(root, 'src', file), 'utf8') }))

const RULES: readonly { readonly in: RegExp; readonly ban: RegExp; readonly use: string }[] = [
  {
    in: /^(core|machine|money)\//,
    ban: /Date\.now|new Date\(|Math\.random|setTimeout|setInterval|process\./,
    use: 'fields of the command',
  },
  {
    in: /^(core\/|machine\/(?!core\.ts)|money\/)/,
    ban: /\bawait\b|parseFloat|\.to(Fixed|Precision)\(|Math\.(exp|log\d*|sqrt|pow|cbrt|hypot|sin|cos|tan)\b|Number\.EPSILON/,
    use: 'synchronous code and Amount; agents think in src/agents',
  },
  {
    // The checks in front of the handlers look at live state and tell nobody: see LiveDesk.
    in: /^(api\/(?!door\.ts|pipeline\.ts|windows\.ts)|operator\/)/,
    ban: /\bcore\s*\.\s*state\b|\{[^}]*\bstate\b[^}]*\}\s*=\s*[\w.]*\bcore\b|\bLiveDesk\b(?! extends)/,
    use: 'core.read or the view of core.submit',
  },
  {
    in: /^(api\/(?!serve\.ts)|operator\/)/,
    ban: /IncomingMessage|ServerResponse|from 'node:http'/,
    use: 'plain requests and replies: a socket may ask as well',
  },
  { in: /^(api|operator)\//, ban: /from '\.\.\/store\/(?!store\.ts)/, use: "the store's port" },
  { in: /^(?!cli\/|config\.ts)/, ban: /process\.env/, use: 'config.ts' },
  { in: /^(?!store\/sqlite-connection\.ts)/, ban: /from 'libsql'/, use: 'store/sqlite-connection.ts' },
  {
    // A pool of random bytes, which is nobody's state, and the main program of a process.
    in: /^(?!http\/words\.ts|gateway\/main\.ts)/,
    ban: /^(export )?let /m,
    use: 'a member of an object: there may be many platforms in one process',
  },
  {
    // What is worked out of a declaration, or of a market's rules and a price, is the same whoever asks.
    in: /^(?!machine\/(apply|batch|codec)\.ts|core\/spot\/rules\.ts|api\/(fields|reply-text)\.ts)/,
    ban: /^(export )?const \w+(: (?!Readonly|readonly)[^=\n]+)? = (new (WeakMap|WeakSet)\b|new (Map|Set)(<[^\n]*>)?\(\)|\[\]$)/m,
    use: 'a member of an object: there may be many platforms in one process',
  },
  { in: /./, ban: /\b(TODO|FIXME|XXX)\b/, use: 'an issue' },
]

test('house rules', () => {
  const faults: string[] = []
  for (const { file, text } of sources) {
    if (text.split('\n').length > 500) faults.push(`${file} has over 500 lines: split it`)
    for (const { in: where, ban, use } of RULES) {
      const hit = where.test(file) ? ban.exec(text) : null
      if (hit !== null) faults.push(`${file}: "${hit[0]}" is not for this place; use ${use}`)
    }
  }
  assert.deepEqual(faults, [])
})
test('only the ledger changes a balance', () => {
  const others = sources.filter(
    ({ file, text }) =>
      file !== 'core/ledger/ledger.ts' && /\.(put|remove)\([^,]*ledger\.accounts/.test(text),
  )
  assert.deepEqual(
    others.map(({ file }) => file),
    [],
  )
})

test('what is started by its name is in the bundle of the command', () => {
  const bundle = readFileSync(join(root, 'bin', 'bundle.js'), 'utf8')
  const threads = sources.map(({ file }) => file).filter((file) => file.endsWith('-worker.ts'))
  assert.ok(threads.includes('store/journal-worker.ts'))
  const missing = threads.filter((file) => !bundle.includes(`'${file.slice(0, -3)}'`))
  assert.deepEqual(missing, [])
})
