import { ConfigError } from '../config.ts'
import { NotDone, OperatorApi, drive, type Said } from './operator-api.ts'
import type { Arguments } from './options.ts'

/** Any call of either API, for walks through the documentation and for scripts that have no JSON tool at hand. */
export const call = drive({
  usage: 'kontor call METHOD PATH [BODY] [--as LOGIN] [--pick MEMBER]',
  detail: `Calls the platform and prints the reply, such as
  kontor call GET /operator/v1/status
  kontor call POST /api/v4/spot/orders '{"currency_pair":"BTC_USDT","side":"buy","amount":"0.1","price":"20000"}'
Calls of /operator/v1 carry the operator token; those of /api/v4 are signed with the key of a demo account.
--pick prints one member of the reply, such as id, 0.status or accounts.0.key; a text without its quotes.`,
  options: {
    as: { value: 'LOGIN', help: 'demo (default), demo_bot or demo_treasury: which demo account signs' },
    pick: { value: 'MEMBER', help: 'prints this member of the reply alone' },
  },
  words: [2, 3],
  run: async (api, args) => {
    const reply = await send(api, args)
    const { pick } = args.values
    return pick === undefined ? said(reply) : { ...said(picked(reply, pick)), json: picked(reply, pick) }
  },
})

async function send(api: OperatorApi, { words, values }: Arguments): Promise<unknown> {
  const [method, path, body] = [words[0]!.toUpperCase(), words[1]!, words[2]]
  if (path.startsWith('/operator/v1/')) {
    if (values['as'] !== undefined)
      throw new ConfigError('--as is for calls of /api/v4: operators have tokens')
    return api.call(method, path.slice('/operator/v1'.length), body === undefined ? undefined : parsed(body))
  }
  if (!path.startsWith('/api/v4/'))
    throw new ConfigError(`PATH "${path}" must begin with /operator/v1/ or /api/v4/`)
  return api.signed(values['as'] ?? 'demo', method, path, body)
}
function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown
  } catch {
    throw new ConfigError(`BODY ${body.slice(0, 80)} is not JSON; put it between single quotes`)
  }
}
function picked(reply: unknown, members: string): unknown {
  let value = reply
  for (const name of members.split('.')) {
    const holder = value as Readonly<Record<string, unknown>> | null | undefined
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name))
      throw new NotDone(`the reply has no member "${members}": ${JSON.stringify(reply).slice(0, 200)}`)
    value = holder[name]
  }
  return value
}
const said = (value: unknown): Said => ({
  json: value ?? null,
  text: typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value),
})
