import { verifyStore } from '../checks/ledger-check.ts'
import { existingKey } from '../runtime/genesis.ts'
import { pendingKey } from '../runtime/rotation.ts'
import { sumsKey } from '../runtime/secrets.ts'
import { readKeptHead } from '../store/kept-head.ts'
import { openSnapshot } from '../store/open.ts'
import { StoreDamaged, type Snapshot } from '../store/store.ts'
import { placeOf, settingOptions, type Command } from './options.ts'

const SHOWN_MAX = 100

export const verify: Command = {
  usage:
    'kontor verify [--data FOLDER | --database-url URL] [--secret-key-file FILE | --without-key] [--head FILE]',
  detail: `Reads every ledger line, account, audit record and command batch, compares every live row with the keyed sums in
the head, and says "balanced" (exit 0) or exactly where not (exit 1). It only looks: it is safe beside a running platform.
The sums need the secret key (KONTOR_SECRET_KEY, or secret.key in the data folder).`,
  options: {
    ...settingOptions('data', 'database-url', 'database-url-file', 'secret-key-file'),
    'without-key': {
      help: 'leave the keyed sums out: rows that were changed consistently are not found then',
    },
    head: { value: 'FILE', help: 'what kontor head printed earlier: the database must go on from there' },
  },
  words: 0,
  run: async ({ env, values, flags }) => {
    const config = placeOf(env)
    const kept = values['head'] === undefined ? undefined : readKeptHead(values['head'])
    let snapshot: Snapshot
    try {
      snapshot = await openSnapshot(config)
    } catch (error) {
      if (!(error instanceof StoreDamaged)) throw error
      process.stdout.write(`wrong: ${error.message}\nNOT in order, 1 faults: nothing else can be read\n`)
      return 1
    }
    try {
      const key = flags.has('without-key')
        ? undefined
        : sumsKey((await pendingKey(config)) ?? existingKey(config))
      const found = await verifyStore(snapshot, { key, kept })
      const { wrong, lines, entries, accounts, currencies, contracts, audits, batches } = found
      for (const line of wrong.slice(0, SHOWN_MAX)) process.stdout.write(`wrong: ${line}\n`)
      if (wrong.length > SHOWN_MAX) process.stdout.write(`wrong: … and ${wrong.length - SHOWN_MAX} more\n`)
      const read = `${entries} entries (${lines} lines) on ${accounts} accounts in ${currencies} currencies, ${contracts} contracts, ${audits} audit records, ${batches} batches`
      const sums = key === undefined ? '; keyed sums were not compared' : ''
      process.stdout.write(
        `${wrong.length === 0 ? 'balanced' : `NOT in order, ${wrong.length} faults`}: ${read}${sums}\n`,
      )
      return wrong.length === 0 ? 0 : 1
    } finally {
      await snapshot.close()
    }
  },
}
