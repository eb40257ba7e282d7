import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Beginning } from '../composition/embedding.ts'
import { ConfigError, readConfig, type Config } from '../config.ts'
import { RULES } from '../core/commands.ts'
import { State } from '../core/state.ts'
import { decoderOf } from '../machine/codec.ts'
import type { Table } from '../machine/table.ts'
import { keepPrivate } from '../runtime/credentials.ts'
import { sha256 } from '../runtime/secrets.ts'
import type { Image } from '../store/image.ts'
import { newSums } from '../store/seals.ts'
import { VERSION } from '../version.ts'

/** A world that others can begin with: where it stands, and how it was set up. */
export interface Kept {
  readonly beginning: Beginning
  readonly config: Config
}
/** How the file is written; counts up when that changes. */
const FORMAT = 1
/** Of a world that is unpacked. */
const BYTES_MAX = 2 ** 30
interface Header {
  readonly kontor_world: number
  readonly version: string
  /** Of the rows, and of the rules that made them. */
  readonly schema: string
  readonly rules: number
  /** For who looks into it. */
  readonly time: number
  readonly sequence: number
  readonly sha256: string
}
type Packed = Omit<Beginning, 'rows' | 'venues'> & {
  readonly config: Config
  /** JSON of its own: amounts in it are beyond what JSON can write as numbers. */
  readonly venues: string
}
const SCHEMA = newSums('').schema

/** One line that tells what it is, and the rest packed. It holds keys: it is this user's alone. */
export function writeWorld(file: string, { beginning, config }: Kept): void {
  const { rows: _rows, venues, ...rest } = beginning
  const text = JSON.stringify({
    ...rest,
    venues: JSON.stringify(venues, withBigints),
    config,
  } satisfies Packed)
  const header: Header = {
    kontor_world: FORMAT,
    version: VERSION,
    schema: SCHEMA,
    rules: RULES,
    time: beginning.at / 1e6,
    sequence: beginning.image.head.sequence,
    sha256: sha256(text),
  }
  const packed = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), gzipSync(text)])
  try {
    keepPrivate(file, packed)
  } catch (error) {
    throw new ConfigError(`${file} can't be written: ${(error as Error).message}`)
  }
}

/** Whatever is wrong with the file is one sentence that says how to mend it. */
export function readWorld(file: string): Kept {
  const bytes = bytesOf(file)
  const end = bytes.indexOf(10)
  const header = headerIn(bytes.toString('utf8', 0, Math.max(0, Math.min(end, 4_096))))
  if (header === undefined)
    throw new ConfigError(
      `${file} is not a saved world: its first line does not say so; name a file that save(file) wrote`,
    )
  const { kontor_world, version, schema, rules } = header
  if (kontor_world !== FORMAT || schema !== SCHEMA || rules !== RULES)
    throw new ConfigError(
      `${file} was saved by kontor ${version} (format ${kontor_world}, rules ${rules}); this is kontor ${VERSION} (format ${FORMAT}, rules ${RULES}) with other rows or rules: make the world anew and save(file) it with this version`,
    )
  const text = unpacked(bytes.subarray(end + 1))
  if (text === undefined || sha256(text) !== header.sha256)
    throw new ConfigError(
      `${file} was cut off or changed after it was saved: its hash is not that of its first line; fetch it again from where it came from, or save(file) the world again`,
    )
  const { config, venues, ...rest } = JSON.parse(text) as Packed
  return {
    beginning: {
      ...rest,
      venues: JSON.parse(venues, revived) as Beginning['venues'],
      rows: rowsIn(rest.image),
    },
    // A setting that came later has its default.
    config: { ...readConfig({}), ...config },
  }
}
function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new ConfigError(
      `${file} can't be read: ${(error as Error).message}; name a file that save(file) wrote`,
    )
  }
}
function headerIn(line: string): Header | undefined {
  try {
    const header = JSON.parse(line) as Partial<Header> | null
    return typeof header?.kontor_world === 'number' ? (header as Header) : undefined
  } catch {
    return undefined
  }
}
function unpacked(bytes: Buffer): string | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: BYTES_MAX }).toString('utf8')
  } catch {
    return undefined
  }
}

/** The rows that the rules need, as a start would load them. */
function rowsIn(image: Image): object[][] {
  const tables = new Map(image.tables.map((table) => [table.name, table]))
  return new State().tables.map((table: Table<object>) => {
    const { name, columns, live, revive } = table.spec
    const { columns: stored, rows } = tables.get(name)!
    const places = Object.keys(columns).map((column) => stored.indexOf(column))
    const decode = decoderOf<object>(columns)
    return (JSON.parse(rows) as unknown[][])
      .map((values) => decode(places.map((place) => values[place])))
      .map((row) => (revive === undefined ? row : revive(row)))
      .filter((row) => live === undefined || live(row))
  })
}

const withBigints = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}n` : value
const revived = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value
