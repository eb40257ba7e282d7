import { readFileSync, readdirSync } from 'node:fs'

/** A process and those that it started. */
function familyOf(pid: number): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return [String(pid), ...pids.filter((one) => Number(statOf(one)[1]) === pid)]
}
/** The members of its line behind the name: state, parent, … */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
/** Memory in use, all of the family together. */
export function megabytes(pid: number): number {
  return familyOf(pid).reduce((sum, one) => {
    try {
      return sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0) / 1024
    } catch {
      return sum
    }
  }, 0)
}
const TICKS_A_SECOND = 100
/** Time of processors used so far, all of the family together. */
export const cpuSeconds = (pid: number): number =>
  familyOf(pid).reduce((sum, one) => {
    const stat = statOf(one)
    return sum + (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / TICKS_A_SECOND
  }, 0)
