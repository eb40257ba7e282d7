import type { JsonSchema } from '../api/fields.ts'
import type { State } from '../core/state.ts'
import type { Permission } from '../core/tables/keys.ts'
import type { Books } from './book-streams.ts'
import { badArgument } from './envelope.ts'
import type { LiquidationStreams } from './liquidation-streams.ts'
import type { MarketStreams } from './market-streams.ts'
import type { Product as Address } from './paths.ts'
import type { Begin } from './stream.ts'

/** What public channels are made from. */
export interface Sources {
  readonly books: Books
  readonly markets: MarketStreams
  readonly contractBooks: Books
  readonly contractMarkets: MarketStreams
  readonly liquidations: LiquidationStreams
}
/** A stream that a subscription asks for. */
export interface Wanted {
  /** The same name is the same stream. */
  readonly name: string
  /** What clients call it, where that is told. */
  readonly title?: string
  /** Asked for by the word for all of them: it ends with that, and not by its own name. */
  readonly all?: boolean
  readonly begin: (sources: Sources) => Begin
}
/** What a private subscription covers: markets or currencies by name, or all of them. */
export interface Covered {
  readonly all: boolean
  readonly names: readonly string[]
}
export const ALL = '!all'
export const EVERYTHING: Covered = { all: true, names: [] }

/** Who asks, as far as it decides what is meant. */
export interface Asked {
  readonly world: State['world']
  /** Names must be of markets that there are. */
  readonly known: boolean
  readonly address: Address
  /** Numbers of contracts are written as texts. */
  readonly texts: boolean
}

interface Described {
  readonly name: string
  /** Below which prefix of addresses it is served. */
  readonly product: 'spot' | 'unified' | 'futures'
  /** Of contracts: dated ones do not have it. */
  readonly perpetual?: boolean
  readonly summary: string
  /** How its payload is written. */
  readonly payload: string
  /** How often something comes. */
  readonly pace: string
  /** The shape of what it pushes. */
  readonly result: JsonSchema
  /** Of its pushes; left out: `update`. */
  readonly event?: string
}
export interface PublicChannel extends Described {
  readonly access: 'public'
  /** A second subscription to the same stream is refused. */
  readonly single?: boolean
  /** Alone in the payload of an end: all of the channel that the connection has end. */
  readonly endsAll?: string
  /** "!all" stands for all contracts, those that are listed later too. */
  readonly takesAll?: boolean
  read(payload: unknown, asked: Asked): Wanted[]
}
export interface PrivateChannel extends Described {
  /** Of contracts: at the addresses of dated ones theirs. */
  readonly access: Permission
  read(payload: unknown, asked: Asked): Covered
}
export type Channel = PublicChannel | PrivateChannel

export const REAL_TIME = 'real time'

/** A number is taken for the text that it spells. `most`: what stands behind so many elements is not looked at. */
export function texts(payload: unknown, how: string, most = Infinity): string[] {
  if (!Array.isArray(payload) || payload.length === 0) badArgument(`payload: a list is needed, ${how}`)
  return (payload as unknown[])
    .slice(0, most)
    .map((item) =>
      typeof item === 'string' || typeof item === 'number'
        ? String(item)
        : badArgument(`payload: each element is a text, ${how}`),
    )
}
/** Names, all of them, or both: one that is unknown is a mistake beside "!all" too. */
export function namesOrAll(names: readonly string[], idOf: (name: string) => string): Covered {
  const ids = new Set(names.filter((name) => name !== ALL).map(idOf))
  return { all: names.includes(ALL), names: [...ids] }
}
/** In its own letters, as in REST: 1M is no minute. */
export function oneOf(what: string, value: string | undefined, allowed: readonly string[]): string {
  const found = allowed.find((one) => one === value)
  return (
    found ??
    badArgument(
      `${what}: ${value === undefined ? 'it is missing' : `"${value.slice(0, 40)}" is not known`}; it is one of ${allowed.join(', ')}`,
    )
  )
}
export const msOf = (pace: string): number => Number(pace.slice(0, -2))
/** The parts of `ob.<market>.<level>`. */
export function obuNamed(stream: string, what: string, example: string): { name: string; level: string } {
  const [, name, level] = /^ob\.(.+)\.(\d+)$/i.exec(stream) ?? []
  return name === undefined || level === undefined
    ? badArgument(`payload: "${stream.slice(0, 80)}" is not a stream; write ob.<${what}>.<level>, ${example}`)
    : { name, level }
}
