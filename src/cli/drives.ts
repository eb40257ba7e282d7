import { ConfigError } from '../config.ts'
import { columns, countOf, drive, pairOf } from './operator-api.ts'

interface Balance {
  readonly account: string
  readonly currency: string
  readonly available: string
  readonly currency_pair: string
}
export const fund = drive({
  usage: 'kontor fund USER AMOUNT CURRENCY [--account spot] [--pair P] [--json]',
  detail: `Credits USER (a login name or id) out of operator equity, such as
  kontor fund demo 10 BTC`,
  options: {
    account: { value: 'KIND', help: 'spot (default), margin, futures, delivery or options' },
    pair: { value: 'PAIR', help: 'the market of an isolated margin account' },
    settle: { value: 'CURRENCY', help: 'the settle currency of a futures or delivery account' },
  },
  words: [3, 3],
  run: async (api, { words, values }) => {
    const [name, amount, currency] = words as [string, string, string]
    if (!/^\d+(\.\d+)?$/.test(amount))
      throw new ConfigError(`AMOUNT "${amount}" must be a decimal such as 1.5; usage: ${fund.usage}`)
    const user = await api.user(name)
    const { account = 'spot', pair, settle } = values
    const body = { account, currency, amount, currency_pair: pair, settle }
    const { tx_id } = await api.call<{ tx_id: number }>('POST', `/users/${user.user_id}/credit`, body)
    const rows = await api.get<Balance[]>(`/users/${user.user_id}/balances`)
    const held = rows.find(
      (row) =>
        row.account === account &&
        row.currency === currency.toUpperCase() &&
        (pair === undefined || row.currency_pair === pair.toUpperCase()),
    )
    const who = `${user.login_name} (${user.user_id})`
    const now = held === undefined ? '' : `; ${account} holds ${held.available} ${held.currency} free`
    return {
      json: { tx_id, user_id: user.user_id, login_name: user.login_name, balance: held ?? null },
      text: `credited ${amount} ${currency.toUpperCase()} to ${who}${now}`,
    }
  },
})

const SCENARIOS = ['crash', 'gap', 'thin_book', 'de_peg']
interface AgentMarket {
  readonly currency_pair: string
  readonly fair: number
  readonly scenario: string
  readonly until: number
}
export const crash = drive({
  usage: 'kontor crash MARKET [PERCENT] [--seconds N] [--scenario NAME] [--json]',
  detail: `Has the market agents make a crash, such as
  kontor crash BTC 30%
MARKET is a currency (its market with USDT) or a pair. Without PERCENT it is the scenario's usual one.`,
  options: {
    seconds: { value: 'N', help: 'how long it takes (default: 120)' },
    scenario: { value: 'NAME', help: `${SCENARIOS.join(', ')} (default: crash)` },
  },
  words: [1, 2],
  run: async (api, { words, values }) => {
    const name = values['scenario'] ?? 'crash'
    if (!SCENARIOS.includes(name))
      throw new ConfigError(`--scenario "${name}" must be one of ${SCENARIOS.join(', ')}`)
    const seconds = countOf(values, 'seconds', 86_400)
    const body = {
      name,
      currency_pair: pairOf(words[0]!),
      change: words[1] === undefined ? undefined : -shareOf(words[1]),
      seconds: seconds === undefined ? undefined : Number(seconds),
    }
    const market = await api.call<AgentMarket>('POST', '/agents/scenario', body)
    const until = new Date(market.until * 1000).toISOString()
    return {
      json: market,
      text: `${market.scenario} in ${market.currency_pair} until ${until}; the agents' price is ${market.fair} now`,
    }
  },
})
function shareOf(word: string): number {
  const match = /^(\d+(?:\.\d+)?)(%?)$/.exec(word)
  const number = match === null ? NaN : Number(match[1])
  const share = match?.[2] === '%' ? number / 100 : number
  if (!(share > 0 && share <= 0.95))
    throw new ConfigError(`PERCENT "${word}" must be from above 0% to 95%, such as 30% (or 0.3)`)
  return Number(share.toFixed(6))
}

export const mine = drive({
  usage: 'kontor mine CHAIN [BLOCKS] [--json]',
  detail: `Mines one block or BLOCKS of them; withdrawals that wait for the sender are sent first.`,
  words: [1, 2],
  run: async (api, { words }) => {
    const [chain, count = '1'] = words as [string, string?]
    if (!/^[1-9]\d{0,5}$/.test(count))
      throw new ConfigError(`BLOCKS "${count}" must be a whole number from 1 to 100000`)
    const path = `/chains/${encodeURIComponent(chain)}/mine`
    const reply = await api.call<{ height: number }>('POST', path, { blocks: Number(count) })
    return { json: reply, text: `${chain.toUpperCase()} is at height ${reply.height}` }
  },
})

interface OpenOrder {
  readonly id: string
  readonly user_id: number
  readonly login_name: string
  readonly currency_pair: string
  readonly account: string
  readonly side: string
  readonly price: string
  readonly left: string
  readonly create_time_ms: number
}
export const orders = drive({
  usage: 'kontor orders [cancel] [USER] [--pair PAIR] [--json]',
  detail: `Lists the open orders of USER (a login name or id), of a market, or of all; kontor orders cancel cancels those of a
USER, of a market, or of a USER in a market.`,
  options: {
    pair: { value: 'PAIR', help: 'a market, such as BTC_USDT' },
    limit: { value: 'N', help: 'at most so many (default: 100)' },
    agents: { help: "those of the sandbox's market agents too" },
  },
  words: [0, 2],
  run: async (api, { words, values, flags }) => {
    const cancels = words[0] === 'cancel'
    const [name, more] = cancels ? words.slice(1) : words
    if (more !== undefined) throw new ConfigError(`"${more}" is one word too many; usage: ${orders.usage}`)
    const limit = countOf(values, 'limit', 1_000)
    const currency_pair = values['pair'] === undefined ? undefined : pairOf(values['pair'])
    if (cancels && name === undefined && currency_pair === undefined)
      throw new ConfigError(`orders cancel needs a USER or --pair; usage: ${orders.usage}`)
    const user = name === undefined ? undefined : await api.user(name)
    const which = { user_id: user === undefined ? undefined : String(user.user_id), currency_pair }
    if (cancels) {
      const reply = await api.delete<{ cancelled: number }>('/orders', which)
      return { json: reply, text: `${reply.cancelled} orders cancelled` }
    }
    const agents = String(flags.has('agents') || currency_pair !== undefined)
    const list = await api.get<OpenOrder[]>('/orders', { ...which, limit, agents })
    return { json: list, text: list.length === 0 ? 'no open orders' : table(list) }
  },
})
const table = (list: readonly OpenOrder[]): string =>
  columns([
    ['ID', 'USER', 'MARKET', 'ACCOUNT', 'SIDE', 'PRICE', 'LEFT', 'SINCE'],
    ...list.map((order) => [
      order.id,
      `${order.login_name} (${order.user_id})`,
      order.currency_pair,
      order.account,
      order.side,
      order.price,
      order.left,
      new Date(order.create_time_ms).toISOString(),
    ]),
  ])
