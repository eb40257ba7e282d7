import { parseArgs } from 'node:util'
import { SECRET_SETTINGS, fileSetting, urlHoldsPassword } from '../config-secrets.ts'
import { ConfigError, SETTINGS, SWITCHES, readConfig, type Config } from '../config.ts'
import { nearest } from '../nearest.ts'

export type Environment = Readonly<Record<string, string | undefined>>
/** Option name → what it means; an option with a `value` word takes one. */
export type OptionSpecs = Readonly<Record<string, { readonly value?: string; readonly help: string }>>

export interface Arguments {
  readonly env: Environment
  readonly values: Readonly<Record<string, string | undefined>>
  readonly flags: ReadonlySet<string>
  readonly words: readonly string[]
}

/** KONTOR_DATABASE_URL is also --database-url: both mean the same, and the option wins. */
export const optionOf = (setting: string): string =>
  setting
    .replace(/^KONTOR_/, '')
    .toLowerCase()
    .replaceAll('_', '-')

export const settingOptions = (...only: readonly string[]): OptionSpecs =>
  Object.fromEntries(
    SETTINGS.map(([setting, fallback, help]) => ({ name: optionOf(setting), fallback, help, setting }))
      .filter(({ name }) => only.length === 0 || only.includes(name))
      .map(({ name, fallback, help, setting }) => [
        name,
        {
          ...(!SWITCHES.has(setting) && { value: 'VALUE' }),
          help: `${help} (${setting}, default: ${fallback})${shownTo(setting)}`,
        },
      ]),
  )

const isSecret = (setting: string): boolean => (SECRET_SETTINGS as readonly string[]).includes(setting)
const isUrl = (setting: string): boolean => /_URLS?$/.test(setting)
const shownTo = (setting: string): string => {
  if (!isSecret(setting)) return ''
  return isUrl(setting)
    ? '; with a password in it, in the environment or a file only'
    : '; in the environment or a file only'
}
/** Everybody on the machine can read a command line. */
function refuseShown(option: string, setting: string, value: string): void {
  if (!isSecret(setting) || (isUrl(setting) && !urlHoldsPassword(value))) return
  throw new ConfigError(
    `--${option} would show a secret to everybody on this machine; set ${setting} in the environment, or ${fileSetting(setting)} to a file that holds it`,
  )
}

/** Of an option that there is none of: the one that is like it. What begins like a number was meant as a word. */
function optionMeant(mistake: string, names: readonly string[]): string {
  const [, given = ''] = /^Unknown option '-{1,2}([^']*)'/.exec(mistake) ?? []
  if (/^\d/.test(given)) return 'no number here may be negative; '
  const near = nearest(given, names)
  return near === undefined ? '' : `did you mean --${near}? `
}

/** Settings come from the environment and from options; a mistake is one line, told by a ConfigError. */
export function readArguments(args: readonly string[], specs: OptionSpecs, env: Environment): Arguments {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  let parsed
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    const [what] = (error as Error).message.split(/[.\n]/)
    throw new ConfigError(`${what!}; ${optionMeant(what!, Object.keys(specs))}--help shows the options`)
  }
  const settings: Record<string, string> = {}
  const values: Record<string, string> = {}
  const flags = new Set<string>()
  for (const [name, value] of Object.entries(parsed.values)) {
    const setting = SETTINGS.find(([setting]) => optionOf(setting) === name)
    if (typeof value !== 'string') {
      flags.add(name)
      if (setting !== undefined) settings[setting[0]] = 'on'
    } else {
      values[name] = value
      if (setting === undefined) continue
      refuseShown(name, setting[0], value)
      settings[setting[0]] = value
    }
  }
  return { env: { ...env, ...settings }, values, flags, words: parsed.positionals }
}

/** The options' part of a help page. */
export function describeOptions(specs: OptionSpecs): string {
  const rows = Object.entries(specs).map(([name, { value, help }]): [string, string] => [
    `--${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  ])
  const width = Math.max(...rows.map(([option]) => option.length))
  return rows.map(([option, help]) => `  ${option.padEnd(width)}  ${help}`).join('\n')
}

const PLACE = [
  'KONTOR_DATA',
  'KONTOR_DATABASE_URL',
  'KONTOR_DATABASE_URL_FILE',
  'KONTOR_SECRET_KEY',
  'KONTOR_SECRET_KEY_FILE',
] as const
/** Where the data and its key are, for commands that need no other setting. */
export const placeOf = (env: Environment): Config =>
  readConfig(Object.fromEntries(PLACE.map((setting) => [setting, env[setting]])))

/** A subcommand; `run` answers the exit code. */
export interface Command {
  readonly usage: string
  readonly detail: string
  readonly options: OptionSpecs
  /** How many; or at least and at most. */
  readonly words: number | readonly [number, number]
  readonly run: (args: Arguments) => Promise<number>
}
