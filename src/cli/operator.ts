import { ConfigError } from '../config.ts'
import { randomHex, sha256 } from '../runtime/secrets.ts'
import { placeOf, settingOptions, type Command } from './options.ts'
import { onStore } from './on-store.ts'

export const operator: Command = {
  usage: 'kontor operator recover NAME [--data FOLDER | --database-url URL]',
  detail: `Stop the platform first: a database that a living process owns is left alone.
Prints the token of a new admin NAME (an operator of that name is replaced). It works 24 hours later, on the running
platform, unless an admin who is still there rejects it: it is listed among GET /operator/v1/proposals, and both the
asking and the making are in the audit log.`,
  options: settingOptions('data', 'database-url', 'database-url-file', 'secret-key-file'),
  words: 2,
  run: async ({ env, words }) => {
    const [verb, name] = words as [string, string]
    if (verb !== 'recover') throw new ConfigError(`there is no "operator ${verb}"; usage: ${operator.usage}`)
    if (!/^[A-Za-z0-9_.@-]{1,64}$/.test(name))
      throw new ConfigError(`NAME "${name}" must be up to 64 letters, digits and _ . @ -`)
    const token = randomHex(32)
    const { effective_at } = await onStore('operator recover', placeOf(env), ({ core }) =>
      core.submit('operator.recover', { name, token_hash: sha256(token) }),
    )
    const when = new Date(effective_at / 1000).toISOString()
    process.stdout.write(
      `admin ${name}\ntoken ${token}\nworks from ${when} on, when the platform is running\n`,
    )
    return 0
  },
}
