import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import Database from 'libsql'
import { LEDGER_LINE } from '../../src/core/ledger/ledger.ts'
import { DECLARED, State } from '../../src/core/state.ts'
import { Batch } from '../../src/machine/batch.ts'
import { JournalChain } from '../../src/machine/journal.ts'
import { Tx } from '../../src/machine/table.ts'
import { FileJournal, copyJournal, journalFiles, readJournal } from '../../src/store/file-journal.ts'
import type { Place } from '../../src/store/messages.ts'
import { PostgresStore } from '../../src/store/postgres.ts'
import { checkSeals, compareSeals, newSums } from '../../src/store/seals.ts'
import { SqliteStore } from '../../src/store/sqlite.ts'
import { StoreDamaged, type OpenedHead, type Store } from '../../src/store/store.ts'
import { compiled } from '../support/compiled.ts'
import { postgres } from '../support/postgres.ts'
import type { Deadly, Point } from './die-at.ts'
import { packed } from '../support/packed.ts'

const SCRIPT = compiled('crash/die-at.js')
const KEY = '7'.repeat(64)
const folders: string[] = []
const folder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'kontor-journal-')))
  return folders.at(-1)!
}
after(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true })
})

/** The numbers that a process acknowledged until it died. */
async function acknowledgedBy(place: Place, point: Point, time = 1): Promise<number[]> {
  const deadly: Deadly = { place, point, time, key: KEY }
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(deadly)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', errors)
  return output.split('\n').filter(Boolean).map(Number)
}

/** Opens it as the next start would: everything is there, once, and adds up. Answers how far it goes. */
async function recovered(store: Store): Promise<OpenedHead> {
  const head = await store.open(newSums(KEY), DECLARED)
  try {
    const state = new State()
    await store.load(state.tables)
    const lines = await store.select(LEDGER_LINE, 'order by "id"', [])
    assert.deepEqual(
      lines.map(({ id }) => id),
      Array.from({ length: head.sequence }, (_, i) => i + 1),
      'each batch is there, whole and once',
    )
    assert.equal(state.counters.get('deadly')?.value ?? 0, head.sequence)
    assert.deepEqual(await compareSeals((sql, row) => store.scan(sql, row), head, KEY, DECLARED), [])
    assert.equal((await store.commandsAfter(0, 10_000)).length, head.sequence)
  } finally {
    await store.close()
  }
  return head
}

const STORES: [name: string, make: () => Promise<{ place: Place; open: () => Store }>][] = [
  [
    'SQLite',
    () => {
      const path = join(folder(), 'kontor.db')
      return Promise.resolve({ place: { kind: 'sqlite', path }, open: () => new SqliteStore(path) })
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const url = await (await postgres()).database()
      return { place: { kind: 'postgres', url }, open: () => new PostgresStore(url) }
    },
  ],
]
for (const [name, make] of STORES)
  describe(`kill -9 at every place between a command and the tables, on ${name}`, () => {
    for (const [point, time, unacknowledged] of [
      ['before the append', 7, 0],
      ['after the append, before the reply', 7, 1],
      ['inside a transaction of the tables', 1, 1],
      ['inside a transaction of the tables', 2, 1],
      ['between two transactions of the tables', 1, 1],
      ['between two transactions of the tables', 2, 1],
    ] as const)
      test(`${point} (${time})`, async () => {
        const { place, open } = await make()
        const told = await acknowledgedBy(place, point, time)
        assert.ok(told.length > 0)
        const { sequence } = await recovered(open())
        assert.ok(sequence >= told.at(-1)!, 'what was acknowledged is there')
        assert.ok(sequence <= told.at(-1)! + unacknowledged, 'and nothing that nobody asked for')
      })
    test('while the next start puts the journal into the tables, empties it, or migrates', async () => {
      const { place, open } = await make()
      const told = await acknowledgedBy(place, 'held')
      for (const point of [
        'at start, inside a transaction of the tables',
        'at start, before the journal is emptied',
        'at start, inside a migration',
      ] as const)
        assert.deepEqual(await acknowledgedBy(place, point), [], point)
      const { sequence, drained } = await recovered(open())
      assert.equal(sequence, told.at(-1))
      assert.equal(drained, 0, 'the second of them had come so far')
    })
  })

describe('a loss of power, on SQLite', () => {
  /** Commits that the tables took in without a sync, and the files as they were before. */
  async function unsynced(): Promise<{ old: string; path: string; begin: number; batches: number }> {
    const path = join(folder(), 'kontor.db')
    await acknowledgedBy({ kind: 'sqlite', path }, 'held')
    const { sequence: begin } = await recovered(new SqliteStore(path)) // a clean stop: one file, synced
    const old = join(folder(), 'kontor.db')
    copyFileSync(path, old)
    const told = await acknowledgedBy({ kind: 'sqlite', path }, 'between two transactions of the tables', 3)
    return { old, path, begin, batches: told.at(-1)! }
  }
  test('takes away what the tables had not synced, and the journal gives it back', async () => {
    const { old, path, begin, batches } = await unsynced()
    copyJournal(path, old)
    const { sequence, drained } = await recovered(new SqliteStore(old))
    assert.ok(sequence >= batches && batches > begin + 1)
    assert.equal(drained, sequence - begin)
  })
  test('wherever it cuts the last append, that one alone is gone, and never half of it', async () => {
    const { old, path } = await unsynced()
    const file = journalFiles(path)[0]!
    const size = statSync(file).size
    const entries = readJournal(path, 0)
    const last = entries.at(-1)!
    for (const cut of [1, 5, 63, 64, 65, 120, 400]) {
      const copy = join(folder(), 'kontor.db')
      copyFileSync(old, copy)
      copyJournal(path, copy)
      truncateSync(journalFiles(copy)[0]!, size - cut)
      assert.equal((await recovered(new SqliteStore(copy))).sequence, last.sequence - 1, `cut ${cut}`)
    }
  })
  test('a journal that is damaged in its middle is no torn end, and is not taken for one', async () => {
    const { old, path } = await unsynced()
    copyJournal(path, old)
    const [file] = journalFiles(old)
    const bytes = readFileSync(file!)
    const middle = bytes.indexOf('"deadly"', bytes.length / 2)
    const handle = openSync(file!, 'r+')
    writeSync(handle, 'D', middle + 1)
    closeSync(handle)
    const store = new SqliteStore(old)
    await assert.rejects(store.open(newSums(KEY), DECLARED), StoreDamaged)
    await store.close()
  })
})

test('a row that somebody slips in before the journal is taken into the tables is found at the start', async () => {
  const path = join(folder(), 'kontor.db')
  await acknowledgedBy({ kind: 'sqlite', path }, 'held')
  const forger = new Database(path)
  forger.exec(`insert into counter ("name", "value") values ('forged', 1000000)`)
  forger.close()
  const store = new SqliteStore(path)
  const sums = newSums(KEY)
  const head = await store.open(sums, DECLARED)
  assert.equal(head.drained, 60)
  const state = new State()
  await store.load(state.tables)
  await assert.rejects(checkSeals(store, state.tables, head, sums), /the rows of counter are not those/)
  await store.close()
})

describe('the files of the journal', () => {
  const chain = new JournalChain('', KEY)
  const state = new State()
  const entry = (sequence: number, kilobytes: number) => {
    const tx = new Tx()
    tx.put(state.world.settings, { name: 'big', value: 'x'.repeat(kilobytes * 1024) })
    const batch = new Batch()
    batch.add(tx, 1, 'test.act', '{}')
    return chain.seal(packed(batch, sequence, 1))
  }
  let path = ''
  before(() => {
    path = join(folder(), 'kontor.db')
  })
  test('are written over only where the tables hold what is in them, and stay few', () => {
    const journal = new FileJournal(path, 1)
    let safe = 0
    for (let sequence = 1; sequence <= 60; sequence++) {
      journal.append([entry(sequence, 900)], safe)
      const there = new Set(readJournal(path, 0).map((one) => one.sequence))
      for (let one = safe + 1; one <= sequence; one++)
        assert.ok(there.has(one), `batch ${one} is there after ${sequence}`)
      if (sequence === 30) assert.ok(journalFiles(path).length >= 6, 'nothing was safe, so all of it is kept')
      if (sequence > 30) safe = sequence - 3
    }
    const files = journalFiles(path).length
    for (let sequence = 61; sequence <= 160; sequence++) journal.append([entry(sequence, 900)], sequence - 3)
    assert.equal(journalFiles(path).length, files, 'no more files than before')
    assert.deepEqual(
      readJournal(path, 157).map((one) => one.sequence),
      [158, 159, 160],
    )
    assert.ok(existsSync(dirname(path)))
    journal.clear()
    assert.deepEqual(journalFiles(path), [])
  })
})
