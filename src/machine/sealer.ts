import { createHash } from 'node:crypto'
import { BATCHES, batchText, rowsOf, sumOf, type PackedBatch, type TableText } from './batch.ts'
import type { Sums } from './sums.ts'

/** What makes a batch one that this platform wrote, behind all that came before it. */
export interface Seal {
  /** Hash chain over the changes of all batches up to this one. */
  readonly hash: string
  /** Keyed sums of all rows after this batch, and the code that only the key's owner can make over them. */
  readonly sums: string
  readonly schema: string
  readonly mac: string
}

/** Seals batch after batch. It needs nothing but their texts, so that it can work beside the thread that serves. */
export class Sealer {
  hash: string
  private readonly sums: Sums | undefined

  constructor(hash: string, sums?: Sums) {
    this.hash = hash
    this.sums = sums
  }
  seal(batch: PackedBatch<TableText>): Seal {
    const { sequence, at, count, commands, upserts, removes, appends, replaced } = batch
    const chain = createHash('sha256').update(this.hash)
    for (const write of [...upserts, ...removes, ...appends]) chain.update(write.table).update(write.rows)
    const hash = chain.digest('hex')
    this.hash = hash
    const { sums } = this
    if (sums === undefined) return { hash, sums: '', schema: '', mac: '' }
    for (const write of replaced)
      for (const row of rowsOf(write)) {
        const sum = sumOf(write, row)
        if (sum !== undefined) sums.subtract(sum, row)
      }
    for (const write of [...upserts, ...appends])
      for (const row of rowsOf(write)) {
        const sum = sumOf(write, row)
        if (sum !== undefined) sums.add(sum, row)
      }
    sums.add(BATCHES, batchText(sequence, at, count, hash, commands))
    const head = { sequence, hash, at, sums: sums.text(), schema: sums.schema }
    return { hash, sums: head.sums, schema: head.schema, mac: sums.mac(head) }
  }
}
