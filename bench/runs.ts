import type { PartName } from './parts.ts'
import type { Table } from './results.ts'

/** What each part runs; `quick`: just enough to see that it does. Only what is run is loaded. */
export const RUNS: Readonly<Record<PartName, (quick: boolean) => Promise<Table[]>>> = {
  http: async (quick) => (await import('./http.ts')).measured(quick),
  orders: async (quick) => (await import('./orders.ts')).measured(quick),
  core: async (quick) => (await import('./core.ts')).measured(quick),
  futures: async (quick) => (await import('./futures.ts')).measured(quick),
  match: async (quick) => (await import('./match.ts')).measured(quick),
  risk: async (quick) => (await import('./risk.ts')).measured(quick),
  'sockets-trades': async (quick) => (await import('./sockets.ts')).measured('trades', quick),
  'sockets-books': async (quick) => (await import('./sockets.ts')).measured('books', quick),
  'sockets-entry': async (quick) => (await import('./sockets.ts')).measured('entry', quick),
  'sockets-idle': async (quick) => (await import('./sockets.ts')).measured('idle', quick),
  'sockets-slow': async (quick) => (await import('./sockets.ts')).measured('slow', quick),
  steady: async (quick) => (await import('./steady.ts')).measured(quick),
  load: async (quick) => (await import('./load.ts')).measured(quick),
  tail: async (quick) => (await import('./tail.ts')).measured(quick),
  history: async () => (await import('./history.ts')).measured(),
  worlds: async (quick) => (await import('./worlds.ts')).measured(quick),
  'growth-accounts': async (quick) => (await import('./growth-accounts.ts')).measured(quick),
  'growth-history': async (quick) => (await import('./growth-history.ts')).measured(quick),
  'growth-resting': async (quick) => (await import('./growth-resting.ts')).measured(quick),
  'growth-keys': async (quick) => (await import('./growth-keys.ts')).measured(quick),
  'growth-sockets': async (quick) => (await import('./growth-sockets.ts')).measured(quick),
}
