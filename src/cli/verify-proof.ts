import { readFileSync } from 'node:fs'
import { ConfigError } from '../config.ts'
import { faultsOf, type InclusionProof } from '../proof/liabilities.ts'
import type { Command, Arguments } from './options.ts'

export const verifyProof: Command = {
  usage: 'kontor verify-proof FILE [--root HEX]',
  detail: `Reads a proof as GET /operator/v1/ledger/liabilities/{uid} gives it and climbs from each balance to the root.
It needs the file and nothing else: no platform, no database, no network. Exit 0: verified; 1: what is wrong.`,
  options: {
    root: { value: 'HEX', help: 'the root that the platform published; without it the one in the file' },
  },
  words: 1,
  run: (args) => Promise.resolve(run(args)),
}

function run({ words, values }: Arguments): number {
  const proof = readJson(words[0]!)
  const faults = faultsOf(proof, values['root']?.toLowerCase())
  for (const fault of faults) process.stdout.write(`wrong: ${fault}\n`)
  if (faults.length > 0) return 1
  const { user_id, root, balances, currencies } = proof as InclusionProof
  const totals = new Map(currencies.map(({ currency, sum }) => [currency, sum]))
  for (const { currency, balance } of balances)
    process.stdout.write(`${currency}: ${balance} of ${totals.get(currency)!}\n`)
  const known = values['root'] === undefined ? 'compare it with the published one' : 'as expected'
  process.stdout.write(
    `verified: ${balances.length} balances of user ${user_id} under root ${root} (${known})\n`,
  )
  return 0
}
function readJson(file: string): unknown {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`"${file}" can't be read: ${(error as Error).message}`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw new ConfigError(`"${file}" is not JSON`)
  }
}
