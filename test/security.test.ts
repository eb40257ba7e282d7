import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
/** The last column names files, each followed by the beginnings of titles in it. */
const FILE = /`?(test\/[\w/.-]+\.ts)`?/
const WHOLE = /^all\b/

test('every threat names tests, and each of them is there', () => {
  const rows = read('docs/security.md')
    .split('\n')
    .filter((line) => /^\| .*test\/.* \|$/.test(line))
  assert.ok(rows.length > 100, `${rows.length} threats`)
  const missing: string[] = []
  let titles = 0
  for (const row of rows) {
    const cell = row
      .replace(/\s*\|$/, '')
      .split(' | ')
      .at(-1)!
    const parts = cell.split(FILE)
    for (let i = 1; i < parts.length; i += 2) {
      const file = parts[i]!
      if (!existsSync(join(root, file))) {
        missing.push(file)
        continue
      }
      const source = read(file).replaceAll("\\'", "'").replaceAll('\\`', '`')
      for (const told of parts[i + 1]!.replace(/^:/, '').split(';')) {
        // What stands in brackets is explained, what follows dots is left out.
        const title = told.replace(/[(…].*$/, '').replace(/^[\s.]+|[\s.,)]+$/g, '')
        if (title === '' || WHOLE.test(title) || title.startsWith('`npm run')) continue
        titles++
        if (!source.includes(title)) missing.push(`${file}: ${title}`)
      }
    }
  }
  assert.ok(titles > 150, `${titles} titles`)
  assert.deepEqual(missing, [])
})
