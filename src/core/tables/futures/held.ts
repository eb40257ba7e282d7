import { Sorted } from '../../sorted.ts'
import type { Table } from '../../../machine/table.ts'
import type { Position } from './positions.ts'

/** Positions that hold something, by contract, in the order of their ids: for work that goes through all of them. */
export class HeldPositions {
  private readonly byContract = new Map<string, Sorted<string>>()
  private readonly table: Table<Position>

  constructor(table: Table<Position>) {
    this.table = table
    table.observe((before, after) => {
      const [was, is] = [holds(before), holds(after)]
      if (was === is) return
      const { id, contract } = (after ?? before)!
      let ids = this.byContract.get(contract)
      if (ids === undefined)
        this.byContract.set(contract, (ids = new Sorted<string>((one, other) => one < other)))
      if (is) ids.add(id)
      else ids.remove(id)
    })
  }
  /** Those that come after an id, `count` at most. */
  after(contract: string, id: string, count: number): Position[] {
    const ids = this.byContract.get(contract)
    if (ids === undefined) return []
    const from = ids.placeOf(id)
    const first = ids.items[from] === id ? from + 1 : from
    return ids.items.slice(first, first + count).map((next) => this.table.get(next)!)
  }
}
const holds = (row: Position | undefined): boolean => row !== undefined && row.size !== 0n
