import { JournalChain, type JournalEntry } from './journal.ts'
import { Packer, type ClosedBatch } from './loose.ts'

/** Writes batches as text, and seals each behind the one before it. */
export class Sealer {
  private readonly packer = new Packer()
  private chain: JournalChain | undefined

  /** What the next one is sealed behind. */
  sealBehind(hash: string, key: string): void {
    this.chain = new JournalChain(hash, key)
  }
  seal(batch: ClosedBatch): JournalEntry {
    if (this.chain === undefined) throw new TypeError('nobody said what this batch is sealed behind')
    return this.chain.seal(this.packer.pack(batch))
  }
}
