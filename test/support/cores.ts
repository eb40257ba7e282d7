import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Loaded before anything else by `node --import …/cores.js?8`: the process, and every one that it starts, takes the machine for
 * one of so many cores. There batches leave the core as values, and another thread writes and seals them.
 */
const cores = Number(new URL(import.meta.url).search.slice(1))
os.availableParallelism = () => cores
syncBuiltinESMExports()
