// Builds the pages to dist/: Vite makes them, then each file is compressed as it will be sent. The old folder stands
// until the new one is whole.
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'

const next = join(import.meta.dirname, 'dist.next')
const dist = join(import.meta.dirname, 'dist')
await build({ configFile: join(import.meta.dirname, 'vite.config.ts'), logLevel: 'warn' })
const assets = join(next, 'assets')
await Promise.all(
  readdirSync(assets).map(async (name) => {
    const file = join(assets, name)
    const bytes = readFileSync(file)
    const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    const [gz, br] = await Promise.all([
      promisify(gzip)(bytes, { level: 9 }),
      promisify(brotliCompress)(bytes, { params }),
    ])
    writeFileSync(`${file}.gz`, gz)
    writeFileSync(`${file}.br`, br)
  }),
)
rmSync(dist, { recursive: true, force: true })
renameSync(next, dist)
