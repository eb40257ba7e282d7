import { weaknessOfKey } from '../config-secrets.ts'
import { ConfigError } from '../config.ts'
import { SEALED_MEMBERS, type Resealed } from '../core/operators/rotate.ts'
import type { State } from '../core/state.ts'
import { existingKey } from '../runtime/genesis.ts'
import { belongsTo, finishRotation, readKeyFile, takeNewKey, writeNewKey } from '../runtime/rotation.ts'
import { SecretBox, randomHex } from '../runtime/secrets.ts'
import { placeOf, settingOptions, type Command } from './options.ts'
import { onStore } from './on-store.ts'

export const rotateKeyCommand: Command = {
  usage:
    'kontor rotate-key [--data FOLDER | --database-url URL] [--secret-key-file FILE] [--new-secret-key-file FILE]',
  detail: `Stop the platform first: the command takes its database over. Everything is compared with the old key, then the
stored API secrets are sealed with the new key and the sums made anew, in one transaction: whenever it is interrupted, the
database belongs to the old key or to the new one, and running it again finishes it.
A key that lies in the data folder (secret.key) is replaced there. One that comes from KONTOR_SECRET_KEY or a file stays
where it is: name the new one with --new-secret-key-file, and start the platform with it afterwards.
Who may have copied the old key and the database can still open the copy: let users make new API keys then.`,
  options: {
    ...settingOptions('data', 'database-url', 'database-url-file', 'secret-key-file'),
    'new-secret-key-file': { value: 'FILE', help: 'file that holds the new key, 64 hex digits' },
  },
  words: 0,
  run: async ({ env, values }) => {
    const place = placeOf(env)
    const named = values['new-secret-key-file']
    if (await finishRotation(place)) {
      process.stdout.write('an interrupted rotation was finished: secret.key is the new key\n')
      if (named === undefined) return 0
    }
    const old = existingKey(place)
    if (place.secretKey !== undefined && named === undefined)
      throw new ConfigError(
        'the key comes from KONTOR_SECRET_KEY or a file: name the new one with --new-secret-key-file FILE (openssl rand -hex 32 > FILE)',
      )
    const fresh = named === undefined ? randomHex(32) : readKeyFile(named)
    if (fresh === old) throw new ConfigError('the new key is the old one; nothing was changed')
    const weak = weaknessOfKey(fresh)
    if (weak !== undefined) throw new ConfigError(`the new key ${weak}; make one with: openssl rand -hex 32`)
    const inFolder = place.secretKey === undefined
    if (!inFolder && (await belongsTo(place, fresh)) === true) {
      process.stdout.write('the database belongs to the new key already: start the platform with it\n')
      return 0
    }
    if (inFolder) writeNewKey(place.data, fresh)
    const counts = await onStore(
      'rotate-key',
      place,
      async ({ core }) => {
        const { resealed, unread } = reseal(core.state, new SecretBox(old), new SecretBox(fresh))
        await core.submit('secret_key.rotate', resealed)
        return { keys: Object.keys(resealed.keys).length, unread }
      },
      { newKey: fresh },
    )
    if (inFolder) takeNewKey(place.data)
    process.stdout.write(
      `${counts.keys} API secrets are sealed with the new key${counts.unread > 0 ? `; ${counts.unread} could not be opened with the old one and stay as they are` : ''}\n`,
    )
    process.stdout.write(
      inFolder
        ? 'secret.key in the data folder is the new key\n'
        : 'start the platform with the new key from now on\n',
    )
    return 0
  },
}

function reseal(state: State, old: SecretBox, fresh: SecretBox): { resealed: Resealed; unread: number } {
  const keys: Record<string, string> = {}
  const proposals: Record<string, Record<string, string>> = {}
  let unread = 0
  for (const { key, secret_box } of state.keys.table.values()) {
    const secret = old.open(secret_box)
    if (secret === undefined) unread++
    else keys[key] = fresh.seal(secret)
  }
  for (const { id, input } of state.proposals.waiting()) {
    const members: Record<string, string> = {}
    for (const name of SEALED_MEMBERS) {
      const sealed = input[name]
      const secret = typeof sealed === 'string' ? old.open(sealed) : undefined
      if (secret !== undefined) members[name] = fresh.seal(secret)
    }
    if (Object.keys(members).length > 0) proposals[String(id)] = members
  }
  const logins: Record<string, string> = {}
  for (const { subject, factor_box } of state.logins.logins.values()) {
    if (factor_box === '') continue
    const secret = old.open(factor_box)
    if (secret === undefined) unread++
    else logins[subject] = fresh.seal(secret)
  }
  return { resealed: { keys, proposals, logins }, unread }
}
