#!/usr/bin/env node
// The command `kontor`. Everything is in src/cli; this file only finds its compiled form.
import { existsSync } from 'node:fs'

const main = new URL('../dist/src/cli/main.js', import.meta.url)
if (!existsSync(main)) await import('./build-if-stale.js')
const { run } = await import(main.href)
process.exitCode = await run(process.argv.slice(2), process.env)
