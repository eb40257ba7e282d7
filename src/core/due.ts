import type { Ctx } from './state.ts'
import { nextId } from './counters.ts'
import { Table, type TableSpec } from './table.ts'

/**
 * Work that falls due: interest, expiries, daily figures. A due item is a row that names a command and its
 * input; the ticker runs items in the order of their time, each as a command of its own.
 */
export interface DueItem {
  readonly id: number
  /** Microseconds. */
  readonly at: number
  readonly command: string
  readonly input: Readonly<Record<string, unknown>>
}
export const DUE: TableSpec<DueItem> = {
  name: 'due',
  key: ['id'],
  columns: { id: 'int', at: 'int', command: 'text', input: 'json' },
}

export class Due {
  readonly table = new Table(DUE)
  /** Latest first, so that the next one is taken off the end. */
  private readonly sorted: DueItem[] = []
  constructor() {
    this.table.observe((before, after) => {
      if (before !== undefined) this.sorted.splice(this.place(before), 1)
      if (after !== undefined) this.sorted.splice(this.place(after), 0, after)
    })
  }
  next(): DueItem | undefined {
    return this.sorted.at(-1)
  }
  private place(item: DueItem): number {
    let low = 0
    let high = this.sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      const other = this.sorted[middle]!
      if (other.at > item.at || (other.at === item.at && other.id > item.id)) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function schedule(ctx: Ctx, at: number, command: string, input: Record<string, unknown>): number {
  const id = nextId(ctx.tx, ctx.state.counters, 'due')
  ctx.tx.put(ctx.state.due.table, { id, at, command, input })
  return id
}
export function unschedule(ctx: Ctx, id: number): void {
  if (ctx.state.due.table.get(id) !== undefined) ctx.tx.remove(ctx.state.due.table, id)
}
