import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sumsKey } from '../../src/runtime/secrets.ts'

/** The key of the sums over a platform's rows, from the data folder that it made. */
export const rowsKey = (data: string): string =>
  sumsKey(readFileSync(join(data, 'secret.key'), 'utf8').trim())
