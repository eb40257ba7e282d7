import type { Dialect } from '../sql.ts'

/** A numbered step of the schema. Once released it never changes; what comes after is a new one. */
export interface Migration {
  readonly id: number
  readonly name: string
  readonly up: (dialect: Dialect) => readonly string[]
}
