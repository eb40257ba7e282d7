#!/usr/bin/env node
// The command `kontor`. Everything is in src/cli; this file only finds its compiled form.
import { command } from './bundle.js'

if (command() === undefined) await import('./build-if-stale.js')
const { run } = await import(command().href)
process.exitCode = await run(process.argv.slice(2), process.env)
