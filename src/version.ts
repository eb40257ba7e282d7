import { readFileSync } from 'node:fs'
import { besideUs } from './places.ts'

export const VERSION = (
  JSON.parse(readFileSync(besideUs('../../package.json'), 'utf8')) as { version: string }
).version
