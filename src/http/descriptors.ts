import { readFileSync } from 'node:fs'

const CONNECTIONS_MAX = 10_000
/** For the database, its threads, logs and connections to chains: a start must never find none left. */
const RESERVE = 256
/** What a process has at least where nobody tells. */
const USUAL = 1_024

/** How many connections may be open at once without running out of descriptors. */
export function connectionsByDescriptors(limit = descriptors()): number {
  return Math.max(16, Math.min(CONNECTIONS_MAX, limit - Math.min(RESERVE, Math.floor(limit / 2))))
}
function descriptors(): number {
  try {
    const soft = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? USUAL : soft === 'unlimited' ? CONNECTIONS_MAX * 2 : Number(soft)
  } catch {
    return USUAL
  }
}
