import { amountOf, format, type Amount } from '../money/amount.ts'
import type { ColumnType } from './table.ts'

/** Rows travel to a store as JSON arrays in column order: one text for each table and batch. */
export type Columns = Readonly<Record<string, ColumnType>>
export type Encoder = (row: object) => unknown[]

export function encoderOf(columns: Columns, live?: (row: never) => boolean): Encoder {
  const names = Object.keys(columns)
  const amounts = names.map((name) => columns[name] === 'amount')
  return (row) => {
    const source = row as Record<string, unknown>
    const values = new Array<unknown>(names.length)
    for (let i = 0; i < names.length; i++) {
      const value = source[names[i]!]
      values[i] = amounts[i]! && value !== null ? format(value as Amount) : value
    }
    if (live !== undefined) values.push(live(row as never))
    return values
  }
}

/** Turns the values of a SELECT in column order back into a row. */
export function decoderOf<Row extends object>(columns: Columns): (values: readonly unknown[]) => Row {
  const entries = Object.entries(columns)
  return (values) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < entries.length; i++) {
      const [name, type] = entries[i]!
      row[name] = decodeValue(type, values[i])
    }
    return row as Row
  }
}

function decodeValue(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null
  switch (type) {
    case 'amount':
      return amountOf(value as string)
    case 'bool':
      return value === 1 || value === true
    case 'json':
      // SQLite hands text, PostgreSQL's driver the parsed value.
      return typeof value === 'string' ? (JSON.parse(value) as unknown) : value
    case 'int':
      return Number(value)
    case 'text':
      return value
  }
}
