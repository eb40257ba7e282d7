import { existsSync } from 'node:fs'
import { ConfigError, worldFor, type Config } from '../config.ts'
import { differenceText } from '../runtime/differences.ts'
import { modeOf } from '../runtime/sight.ts'
import { databasePath, openSnapshot } from '../store/open.ts'
import { compareConfiguration, stateOf, type Comparison } from './configuration.ts'
import { placeOf, settingOptions, type Command, type Environment } from './options.ts'

export const config: Command = {
  usage: 'kontor config diff [FILE] [--data FOLDER | --database-url URL]',
  detail: `Compares FILE (left out: KONTOR_CONFIG, else the built-in world) with the configuration that the database has,
member by member, and tells what the next start with it would refuse. Exit 0 when it can be taken in, 1 when
something breaks, 2 when the file itself is wrong. It only looks, and is safe beside a running platform.`,
  options: settingOptions(
    'data',
    'database-url',
    'database-url-file',
    'mode',
    'config',
    'simulated-chains',
    'cancel-orders',
  ),
  words: [1, 2],
  run: async ({ env, words: [verb, file] }) => {
    if (verb !== 'diff') throw new ConfigError(`there is no "config ${verb!}"; usage: ${config.usage}`)
    const settings = file === undefined ? env : { ...env, KONTOR_CONFIG: file }
    const place = placeOf(settings)
    const made = existing(place) ? await modeOf(place) : undefined
    const read = readFile(settings, made)
    if (made === undefined) {
      process.stdout.write('there is no database yet: the first start takes the configuration in as it is\n')
      return 0
    }
    const snapshot = await openSnapshot(place)
    try {
      return tell(compareConfiguration(await stateOf(snapshot), read), made)
    } finally {
      await snapshot.close()
    }
  },
}
const existing = ({ data, databaseUrl }: Config): boolean =>
  databaseUrl !== undefined || existsSync(databasePath(data))

/** As the platform of this database would read it: its mode is the database's, whatever the environment says. */
function readFile(
  env: Environment,
  made: Config['mode'] | undefined,
): Pick<Config, 'world' | 'cancelOrders'> {
  const mode = made ?? (env['KONTOR_MODE'] === 'live' ? 'live' : 'sandbox')
  const { world } = worldFor(env, mode)
  const cancelOrders = (env['KONTOR_CANCEL_ORDERS'] ?? '').split(/[\s,]+/)
  return { world, cancelOrders }
}

function tell({ differing, covered, breaks }: Comparison, mode: Config['mode']): number {
  const lines =
    differing.length === 0
      ? ['nothing differs']
      : [
          `${differing.length} ${differing.length === 1 ? 'member differs' : 'members differ'} from what the database has:`,
          ...differing.map((difference) => `  ${differenceText(difference)}`),
        ]
  for (const { where, counts } of covered)
    lines.push(`note   ${where} was changed at run time: ${JSON.stringify(counts)} goes on to count`)
  if (mode === 'live' && differing.length > 0 && breaks.length === 0)
    lines.push('note   in live mode it waits for two admins, and is taken in by the start after that')
  for (const text of breaks) lines.push(`BREAKS ${text}`)
  if (differing.length > 0 && breaks.length === 0) lines.push('nothing breaks')
  process.stdout.write(`${lines.join('\n')}\n`)
  return breaks.length === 0 ? 0 : 1
}
