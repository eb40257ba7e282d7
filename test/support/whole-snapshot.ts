import { DECLARED } from '../../src/core/state.ts'
import { openSnapshot, openStore } from '../../src/store/open.ts'
import { newSums } from '../../src/store/seals.ts'
import type { Snapshot } from '../../src/store/store.ts'
import { rowsKey } from './rows-key.ts'

/**
 * A look at everything that was acknowledged. What a killed platform left in its journal goes into the tables first, as
 * the next start would see to it; a living one is waited for. `dead`: a server may still be at what it was asked for last,
 * so its place is taken first, as by a start: nothing lands behind this look.
 */
export async function wholeSnapshot(
  place: { data: string; databaseUrl: string | undefined },
  dead = false,
): Promise<Snapshot> {
  if (!dead || place.databaseUrl === undefined) {
    const snapshot = await openSnapshot(place)
    if ((await snapshot.tail()).length === 0) return snapshot
    await snapshot.close()
  }
  const store = openStore(place)
  await store.open(newSums(rowsKey(place.data)), DECLARED)
  await store.close()
  return openSnapshot(place)
}
