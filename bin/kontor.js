#!/usr/bin/env node
// The command `kontor`. Everything is in src/cli; this file only finds its compiled form, or makes it.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { command } from './bundle.js'

if (command() === undefined) {
  const build = fileURLToPath(new URL('./build-if-stale.js', import.meta.url))
  const { status } = spawnSync(process.execPath, [build], { stdio: ['ignore', 2, 2] })
  if (status !== 0 || command() === undefined) process.exit(2)
}
const { run } = await import(command().href)
process.exitCode = await run(process.argv.slice(2), process.env)
