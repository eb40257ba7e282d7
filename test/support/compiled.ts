import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const BUNDLED = `${sep}dist${sep}tested${sep}`

/** A compiled file of the tests. Whoever runs as a bundle runs the others as bundles: they are read in half of the time. */
export function compiled(path: string): string {
  const [, running = ''] = process.argv
  const at = running.indexOf(BUNDLED)
  const folder =
    at === -1 ? dirname(dirname(fileURLToPath(import.meta.url))) : running.slice(0, at + BUNDLED.length)
  return join(folder, path)
}
