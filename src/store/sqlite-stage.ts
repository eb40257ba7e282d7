import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makePrivateFile } from '../files.ts'
import type { Rows, Shape, Staged } from './shapes.ts'
import { SqliteConnection } from './sqlite-connection.ts'

/** Portions that stand ready or are readied while one is being written. */
export const STAGES = 2
/** Files that take turns: what is read is none of those. */
const FILES = STAGES + 1

/** Of one owner of the tables: one that was overtaken may still be writing into its own. */
const stageName = (path: string): string => `${basename(path)}-stage-`
/** What those before have left behind. */
export function removeStages(path: string): void {
  const folder = dirname(path)
  for (const file of readdirSync(folder))
    if (file.startsWith(stageName(path))) rmSync(join(folder, file), { force: true })
}

/**
 * Takes rows out of their JSON into files in SQLite's own form. That is four fifths of what it costs to write them, and
 * whoever writes the tables can't do it in parallel; so another thread does it here. Nothing in these files is ever needed
 * again once the tables have it, and nothing of it survives its owner.
 */
export class SqliteStage {
  private readonly path: string
  private files: readonly { readonly path: string; opened?: SqliteConnection }[] = []
  private shapes: readonly Shape[] = []
  private next = 0

  constructor(path: string) {
    this.path = path
  }
  /** Whose tables they are, and what they look like. */
  begin(epoch: number, shapes: readonly Shape[]): void {
    this.shapes = shapes
    const name = join(dirname(this.path), `${stageName(this.path)}${epoch}`)
    this.files = Array.from({ length: FILES }, (_, i) => ({ path: `${name}-${i}` }))
  }
  /** Called again only when the tables have all but the last of these: its file is filled anew. */
  stage(rows: Rows): Staged {
    const file = this.files[this.next++ % FILES]!
    file.opened ??= this.open(file.path)
    file.opened.stage(rows)
    return { file: file.path, tables: rows.map(([table]) => table) }
  }
  close(): void {
    for (const { path, opened } of this.files) {
      opened?.close()
      rmSync(path, { force: true })
    }
  }
  private open(path: string): SqliteConnection {
    makePrivateFile(path)
    const connection = new SqliteConnection(path, 'stage')
    connection.makeStage(this.shapes)
    return connection
  }
}
