import { DECLARED, type State } from '../core/state.ts'
import type { Credentials } from '../runtime/credentials.ts'
import type { Table } from '../machine/table.ts'
import { MemoryStore } from '../store/memory.ts'
import type { Beginning } from './embedding.ts'
import type { Made } from './made.ts'

/** Of a platform in memory: the world as it is now. */
export async function captured(made: Made, credentials: Credentials): Promise<Beginning> {
  const { core, clock } = made
  const { sequence, value } = await core.snapshot((state) => ({
    rows: state.tables.map((table) => liveRows(table)),
    venues: venuesOf(state).map(({ trades, candles }) => ({
      trades: trades.memory,
      candles: candles.memory,
    })),
    at: clock.peek(),
    distance: clock.distance,
  }))
  // No turn lies between the batch that landed and this: the tables stand where memory stood.
  const image = memoryOf(made).copy()
  if (image.head.sequence !== sequence)
    throw new TypeError(`the tables stand at ${image.head.sequence}, memory at ${sequence}`)
  return { ...value, image, credentials }
}
/** A platform that nothing has happened to yet, or that was emptied, goes on from there. */
export async function takeUp(made: Made, beginning: Beginning): Promise<Credentials> {
  const { core, state, sums, clock, doors, config } = made
  const store = memoryOf(made)
  const head = await store.open(sums, DECLARED)
  core.restart(head)
  for (const [i, table] of state.tables.entries())
    for (const row of beginning.rows[i]!.map(ownRow(table))) table.swap(table.keyOf(row), row, 'load')
  for (const [i, { trades, candles }] of venuesOf(state).entries()) {
    trades.memory = beginning.venues[i]!.trades
    candles.memory = beginning.venues[i]!.candles
  }
  clock.distance = beginning.distance
  // A clock that runs is later by now anyway.
  clock.atLeast(config.clockStart === undefined ? head.at : beginning.at)
  sums.clear()
  sums.setAll(head.sums)
  store.sealBehind(head.hash, sums)
  return { ...beginning.credentials, url: doors.url }
}
/** Back to where it began, while nothing works. */
export async function startAgain(made: Made, beginning: Beginning): Promise<void> {
  memoryOf(made).begin(beginning.image)
  for (const table of made.state.tables) table.clear()
  made.clock.restart()
  await takeUp(made, beginning)
}

const venuesOf = ({ spot, futures }: State) => [spot, futures] as const
function liveRows(table: Table<object>): object[] {
  const { live } = table.spec
  const rows = [...table.values()]
  return (live === undefined ? rows : rows.filter(live)).map(ownRow(table))
}
/** Plain rows are nobody's. On those that are objects of a class the indexes of their world may leave notes. */
const ownRow = ({ spec: { revive } }: Table<object>): ((row: object) => object) => revive ?? ((row) => row)
function memoryOf({ store }: Made): MemoryStore {
  if (!(store instanceof MemoryStore)) throw new TypeError('only a world in memory can be copied')
  return store
}
