import { existsSync, readFileSync } from 'node:fs'

/** Loaded before the platform (node --import): the wall clock is off by as many milliseconds as a file says. */
const path = process.env['WALL_CLOCK_SHIFT']
const real = Date.now.bind(Date)
let shift = 0
const read = (): void => {
  if (path !== undefined && existsSync(path)) shift = Number(readFileSync(path, 'utf8'))
}
read()
setInterval(read, 50).unref()
Date.now = () => real() + shift
