import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Whether a process holds a file open; undefined: this system does not tell. */
export function hasOpen(path: string, pid: number | 'self' = 'self'): boolean | undefined {
  const folder = `/proc/${pid}/fd`
  if (!existsSync('/proc/self/fd')) return undefined
  try {
    return readdirSync(folder).some((fd) => isLinkTo(join(folder, fd), path))
  } catch {
    return false // the process is gone
  }
}
function isLinkTo(link: string, path: string): boolean {
  try {
    return readlinkSync(link) === path
  } catch {
    return false // closed meanwhile
  }
}
