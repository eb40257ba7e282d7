import { openSnapshot } from '../store/open.ts'
import { verifyStore } from './ledger-check.ts'
import type { Command } from './main.ts'
import { placeOf, settingOptions } from './options.ts'

const SHOWN_MAX = 100

export const verify: Command = {
  usage: 'kontor verify [--data FOLDER | --database-url URL]',
  summary: 'adds up the whole ledger again and says balanced, or where not',
  detail: `Reads every ledger line, account, audit record and command batch, and says "balanced" (exit 0) or exactly
where not (exit 1). It only looks: it is safe beside a running platform.`,
  options: settingOptions('data', 'database-url'),
  words: 0,
  run: async ({ env }) => {
    const snapshot = await openSnapshot(placeOf(env))
    try {
      const found = await verifyStore(snapshot)
      const { wrong, lines, entries, accounts, currencies, audits, batches } = found
      for (const line of wrong.slice(0, SHOWN_MAX)) process.stdout.write(`wrong: ${line}\n`)
      if (wrong.length > SHOWN_MAX) process.stdout.write(`wrong: … and ${wrong.length - SHOWN_MAX} more\n`)
      const read = `${entries} entries (${lines} lines) on ${accounts} accounts in ${currencies} currencies, ${audits} audit records, ${batches} batches`
      process.stdout.write(
        `${wrong.length === 0 ? 'balanced' : `NOT in order, ${wrong.length} faults`}: ${read}\n`,
      )
      return wrong.length === 0 ? 0 : 1
    } finally {
      await snapshot.close()
    }
  },
}
