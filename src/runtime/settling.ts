/** However they keep each other busy, who asks gets an answer. */
const ROUNDS_MAX = 1_000

/**
 * Looks at accounts and runs what is due until there is nothing more of either: who was looked at may have something due,
 * and what was due changes whom to look at. Both tell how much they did.
 */
export async function settled(look: () => Promise<number>, runDue: () => Promise<number>): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const looked = await look()
    if (looked + (await runDue()) === 0) return
  }
}
