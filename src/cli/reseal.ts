import { placeOf, settingOptions, type Command } from './options.ts'
import { onStore } from './on-store.ts'

export const reseal: Command = {
  usage: 'kontor reseal [--data FOLDER | --database-url URL] [--secret-key-file FILE]',
  detail: `A platform refuses to start on rows that it did not write. Whoever changed them on purpose (a repair, another
secret key) makes new sums over what is there with this command; it is written to the audit log. Stop the platform
first: a database that a living process owns is left alone.`,
  options: settingOptions('data', 'database-url', 'database-url-file', 'secret-key-file'),
  words: 0,
  run: ({ env }) =>
    onStore(
      'reseal',
      placeOf(env),
      async ({ core, differing }) => {
        await core.submit('audit.note', { actor: 'machine', action: 'reseal', detail: { differing } })
        for (const line of differing) process.stdout.write(`vouched for: ${line}\n`)
        process.stdout.write(`sealed at batch ${core.committed.sequence}\n`)
        return 0
      },
      { vouch: true },
    ),
}
