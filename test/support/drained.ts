import { openStore } from '../../src/store/open.ts'
import { newSums } from '../../src/store/seals.ts'
import { rowsKey } from './rows-key.ts'

/** What a killed platform left in its journal goes into the tables, as the next start would see to it. */
export async function drained(place: { data: string; databaseUrl: string | undefined }): Promise<void> {
  const store = openStore(place)
  await store.open(newSums(rowsKey(place.data)))
  await store.close()
}
