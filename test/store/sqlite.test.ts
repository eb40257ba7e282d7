import { DECLARED } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { JournalChain } from '../../src/machine/journal.ts'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import Database from 'libsql'
import type { Opening, ReaderJob } from '../../src/store/messages.ts'
import { FileJournal, journalFiles, readJournal } from '../../src/store/file-journal.ts'
import { SqliteConnection } from '../../src/store/sqlite-connection.ts'
import { SqliteJournal } from '../../src/store/sqlite-journal.ts'
import { SqliteTables } from '../../src/store/sqlite-tables.ts'
import { SqliteWriter, type Finished } from '../../src/store/sqlite-writer.ts'
import { shapesOf } from '../../src/store/statements.ts'
import { SqliteStore, sqliteSnapshot } from '../../src/store/sqlite.ts'
import { StoreThread } from '../../src/store/thread.ts'
import { Fenced, StoreLost, StoreUnavailable } from '../../src/store/store.ts'
import { newSums } from '../../src/store/seals.ts'
import { KEY, storeContract } from './contract.ts'
import { hasOpen } from '../support/open-files.ts'
import { packed } from '../support/packed.ts'

const folder = mkdtempSync(join(tmpdir(), 'kontor-store-'))
after(() => rmSync(folder, { recursive: true, force: true }))

// An INTEGER column of SQLite holds whole numbers and truth alike; amounts and JSON are texts.
const STORED: Record<string, string> = { bool: 'integer', int: 'integer', amount: 'text', json: 'text' }

/** The one entry that holds it is changed, and gets a digest that fits again: whoever can write the file can do that. */
function reframed(bytes: string, from: string, to: string): string {
  const at = bytes.lastIndexOf('{"sequence"', bytes.indexOf(from))
  const line = bytes.indexOf('\n', at)
  const { commands, body } = JSON.parse(bytes.slice(at, line)) as { commands: number; body: number }
  const end = line + 1 + commands + body
  const frame = bytes.slice(at, end).replace(from, to)
  const digest = createHash('sha256').update(Buffer.from(frame, 'latin1')).digest('hex')
  return bytes.slice(0, at) + frame + digest + bytes.slice(end + 64)
}

// With few cores the text of a batch is written before it is handed to the journal's thread, with many by that thread.
for (const cores of [1, 8])
  storeContract(`SQLite store, of a machine with ${cores}`, () => {
    const path = join(folder, `contract-${cores}.db`)
    return Promise.resolve({
      open: (bound) => new SqliteStore(path, bound, cores),
      journaled: true,
      tamperJournal: (change) => {
        const [, from, to] = /replace\(body, '(.*)', '(.*)'\)/.exec(change)!
        for (const file of journalFiles(path)) {
          const bytes = readFileSync(file, 'latin1')
          if (bytes.includes(from!)) writeFileSync(file, reframed(bytes, from!, to!), 'latin1')
        }
        return Promise.resolve()
      },
      snapshot: () => Promise.resolve(sqliteSnapshot(path)),
      columns: async (store, table) => {
        const rows = await store.query('select name, type from pragma_table_info(?)', [table])
        return rows.map(([name, type]) => `${String(name)} ${String(type).toLowerCase()}`)
      },
      stored: (type) => STORED[type] ?? type,
      tamper: (sql) => {
        const db = new Database(path)
        // Whoever ran before it may still be writing.
        db.pragma('busy_timeout = 5000')
        db.exec(sql)
        db.close()
        return Promise.resolve()
      },
    })
  })

test('a file that is no database is refused in one line', async () => {
  const path = join(folder, 'garbage.db')
  writeFileSync(path, 'this is not a database, whatever its name says'.repeat(100))
  await assert.rejects(
    () => new SqliteStore(path).open(newSums(KEY), DECLARED),
    (error: Error) => {
      assert.ok(error instanceof StoreUnavailable)
      assert.match(error.message, /garbage\.db is damaged: .*not a database; restore it from a backup/)
      return true
    },
  )
})

test('a data folder that is a file is refused in one line', async () => {
  const path = join(folder, 'garbage.db', 'kontor.db')
  await assert.rejects(() => new SqliteStore(path).open(newSums(KEY), DECLARED), StoreUnavailable)
})

test('a look that is over holds nobody up', async () => {
  const path = join(folder, 'looked-at.db')
  const store = new SqliteStore(path)
  await store.open(newSums(KEY), DECLARED)
  const look = sqliteSnapshot(path)
  await look.query('select sequence from head')
  await look.close()
  const start = performance.now()
  await store.close()
  assert.ok(
    performance.now() - start < 5_000,
    'whoever closes the file waits for those who read, ten seconds long',
  )
})
test('a folder that never held a database has no snapshot', () => {
  assert.throws(() => sqliteSnapshot(join(folder, 'none', 'kontor.db')), /has it ever been started/)
})

test('a store thread that has died fails every job at once', async () => {
  const thread = new StoreThread<ReaderJob>('reader', {
    kind: 'sqlite',
    path: join(folder, 'no-such-folder', 'x.db'),
  })
  await assert.rejects(thread.ask({ op: 'query', sql: 'select 1', values: [] }), StoreLost)
  await assert.rejects(thread.ask({ op: 'query', sql: 'select 1', values: [] }), StoreLost)
  assert.ok(thread.failure instanceof StoreLost)
  await thread.close()
})

test('a store thread that has only begun rests when it has opened its file: what ends it in between ends the process', async (t) => {
  const path = join(folder, 'resting.db')
  new SqliteWriter(path).close()
  const thread = new StoreThread<ReaderJob>('reader', { kind: 'sqlite', path })
  const open = hasOpen(path)
  if (open === undefined) {
    t.skip('this system does not tell which files are open')
    return
  }
  assert.equal(open, false)
  await thread.rest()
  assert.equal(hasOpen(path), true)
})

const opening = (): Opening => ({
  now: 1,
  key: KEY,
  schema: newSums(KEY).schema,
  shapes: shapesOf(DECLARED),
})
const firstEntry = () => new JournalChain('', KEY).seal(packed(new Batch(), 1, 1))

test('who is overtaken while he starts does not start', async () => {
  const path = join(folder, 'overtaken.db')
  const other = new SqliteWriter(path)
  class Overtaken extends SqliteWriter {
    override finish(opening: Opening): Finished {
      other.take()
      return super.finish(opening)
    }
  }
  const tables = new SqliteTables(path, new Overtaken(path))
  await assert.rejects(tables.open(opening()), Fenced)
  await tables.close()
  other.close()
})

describe('who was overtaken, and does not know it yet', () => {
  interface Owner {
    readonly drained: number
    readonly append: () => void
    readonly close: () => Promise<void>
  }
  async function owner(path: string): Promise<Owner> {
    const tables = new SqliteTables(path)
    const { journalEpoch, drained } = await tables.open(opening())
    const journal = new SqliteJournal(path)
    journal.takenAt(journalEpoch, 0)
    const close = async (): Promise<void> => {
      journal.close()
      await tables.close()
    }
    return { drained, append: () => journal.append([firstEntry()], 0), close }
  }
  test('does not write over what his heir was told to be durable, though it is the first file of both', async () => {
    const path = join(folder, 'heir.db')
    const [late, heir] = [await owner(path), await owner(path)]
    heir.append()
    assert.throws(() => late.append(), Fenced)
    const next = await owner(path)
    assert.equal(next.drained, 1)
    for (const one of [late, heir, next]) await one.close()
  })
  test('leaves nothing that a later start would take for acknowledged', async () => {
    const path = join(folder, 'late.db')
    const [late, heir] = [await owner(path), await owner(path)]
    assert.throws(() => late.append(), Fenced)
    const next = await owner(path)
    assert.equal(next.drained, 0)
    assert.deepEqual(journalFiles(path), [], 'and it is tidied away')
    for (const one of [late, heir, next]) await one.close()
  })
  test('removes no file of his heir', () => {
    const path = join(folder, 'removed.db')
    const [late, heir] = [new FileJournal(path, 1), new FileJournal(path, 2)]
    heir.append([firstEntry()], 0)
    late.append([firstEntry()], 0)
    late.clear()
    assert.equal(readJournal(path, 0).length, 1)
    heir.clear()
    assert.deepEqual(journalFiles(path), [])
  })
  test('files of versions that named no owner are the first one’s', async () => {
    const path = join(folder, 'plain.db')
    const first = await owner(path)
    first.append()
    await first.close()
    const connection = new SqliteConnection(path)
    connection.run('update journal_owner set epoch = 0', [])
    connection.close()
    for (const file of journalFiles(path)) renameSync(file, file.replace(/\.\d+\.1$/, '.1'))
    const next = await owner(path)
    assert.equal(next.drained, 1)
    assert.deepEqual(journalFiles(path), [])
    await next.close()
  })
})

test('a journal beside a copy, which comes without one, is not taken for its own', async () => {
  const path = join(folder, 'copied.db')
  const first = new SqliteTables(path)
  const { journalEpoch } = await first.open(opening())
  await first.close()
  const journal = new SqliteJournal(path)
  journal.takenAt(journalEpoch, 0)
  journal.append([firstEntry()], 0)
  journal.close()
  const connection = new SqliteConnection(path)
  connection.run("update journal_owner set written = ''", [])
  connection.close()
  const again = new SqliteTables(path)
  await assert.rejects(async () => again.open(opening()), /restore both from a backup/)
  await again.close()
})
