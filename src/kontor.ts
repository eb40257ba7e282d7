import type { Kontor, KontorOptions, ReplayOptions, ReplayReport } from './worlds/public.ts'
import { replayFile } from './worlds/replaying.ts'
import { startWorld } from './worlds/world.ts'

/** A whole platform inside this process: its own world, clock, keys and, unless told otherwise, a port of its own. */
export const startKontor: (options?: KontorOptions) => Promise<Kontor> = startWorld
/** Sends a recorded session again and tells where answers differ. */
export const replayTraffic: (file: string, options?: ReplayOptions) => Promise<ReplayReport> = replayFile
export { KontorError } from './worlds/public.ts'
export type * from './worlds/public.ts'
