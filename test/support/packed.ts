import type { Batch } from '../../src/machine/batch.ts'
import type { PackedBatch } from '../../src/machine/journal.ts'
import { Packer } from '../../src/machine/loose.ts'

/** What a journal keeps of a batch. */
export const packed = (batch: Batch, sequence: number, at: number): PackedBatch =>
  new Packer().pack(batch.loose(sequence, at))
