import type { CommandBatch, StoreHead, Value } from './store.ts'

/** Changes one row while this process still owns the store and the sequence is unbroken, else none. */
export const ADVANCE_HEAD =
  'update head set sequence = ?, hash = ?, at = ?, sums = ?, "schema" = ?, mac = ? where epoch = ? and sequence = ?'
/** `from` is the sequence that the tables stand at. */
export const headValues = (head: StoreHead, epoch: number, from: number): Value[] => [
  head.sequence,
  head.hash,
  head.at,
  head.sums,
  head.schema,
  head.mac,
  epoch,
  from,
]
const HEAD_COLUMNS = 'epoch, sequence, hash, at, sums, "schema", mac'
export const RAISE_EPOCH = 'update head set epoch = epoch + 1'
export const TAKE_EPOCH = `${RAISE_EPOCH} returning ${HEAD_COLUMNS}`
export const READ_HEAD = `select ${HEAD_COLUMNS} from head`
export const storeHead = ([, sequence, hash, at, sums, schema, mac]: readonly unknown[]): StoreHead =>
  ({ sequence: Number(sequence), hash, at: Number(at), sums, schema, mac }) as StoreHead
/** New sums for the head that stands: after an upgrade, or when somebody vouches for what is there. */
export const SEAL_HEAD = 'update head set sums = ?, "schema" = ?, mac = ? where epoch = ? and sequence = ?'
export const REWIND_HEAD = `update head set sequence = 0, hash = '', at = 0, sums = '', "schema" = '', mac = '' where epoch = ?`
export const EMPTY_HEAD: StoreHead = { sequence: 0, hash: '', at: 0, sums: '', schema: '', mac: '' }
export const COMMANDS_AFTER =
  'select sequence, at, hash, commands from command_batch where sequence > ? order by sequence limit ?'
export const commandBatch = ([sequence, at, hash, commands]: readonly unknown[]): CommandBatch =>
  ({ sequence: Number(sequence), at: Number(at), hash, commands }) as CommandBatch
