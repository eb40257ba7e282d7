import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** By endpoint and client: the method that calls it, and what it was answered. */
export type Clients = Record<string, Record<string, { method: string; status: number; label: string }>>
/** By channel or call: the clients that were served there. */
export type Channels = Record<string, string[]>
/** By endpoint and label: the tests that were told it. */
export type Labels = Record<string, Record<string, string[]>>
/** By flow, `FROM → TO`: the tests in which it happened. */
export type Transitions = Record<string, Record<string, string[]>>
/** What is covered by nothing, and why that is so. */
export interface Excused {
  readonly clients: Readonly<Record<string, string>>
  readonly channels: Readonly<Record<string, string>>
  /** By `endpoint LABEL`. */
  readonly labels: Readonly<Record<string, string>>
  /** By `flow FROM → TO`. */
  readonly transitions: Readonly<Record<string, string>>
}
export const FOLDER = fileURLToPath(new URL('../../../test/coverage/', import.meta.url))
const read = (name: string): unknown => JSON.parse(readFileSync(`${FOLDER}${name}.json`, 'utf8'))
export const coverageData = () => ({
  clients: read('clients') as Clients,
  channels: read('channels') as Channels,
  labels: read('labels') as Labels,
  transitions: read('transitions') as Transitions,
  excused: read('excused') as Excused,
})
export type CoverageData = ReturnType<typeof coverageData>
