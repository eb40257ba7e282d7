import { openSnapshot } from '../store/open.ts'
import { READ_HEAD, storeHead } from '../store/head.ts'
import { placeOf, settingOptions, type Command } from './options.ts'

export const head: Command = {
  usage: 'kontor head [--data FOLDER | --database-url URL]',
  detail: `Prints the number and hash of the last batch as JSON. Kept on another machine, it shows later whether the end of
the database was cut off: kontor verify --head FILE. With KONTOR_HEAD the platform writes it down by itself.`,
  options: settingOptions('data', 'database-url', 'database-url-file'),
  words: 0,
  run: async ({ env }) => {
    const snapshot = await openSnapshot(placeOf(env))
    try {
      const last = (await snapshot.tail()).at(-1)
      const { sequence, hash, at } = last ?? storeHead((await snapshot.query(READ_HEAD))[0]!)
      process.stdout.write(`${JSON.stringify({ sequence, hash, at })}\n`)
      return 0
    } finally {
      await snapshot.close()
    }
  },
}
