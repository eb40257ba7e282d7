import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import {
  anyObject,
  decimal,
  flag,
  integer,
  object,
  oneOf,
  optional,
  readFields,
  refuseUnknown,
  tellUnknown,
  withDefault,
  type Fields,
} from '../api/fields.ts'
import { array, bool, decimalText, int, shape, str } from '../api/shapes.ts'
import { currencyField } from '../api/wallet.ts'
import type { CurrencyChain, CurrencyChange } from '../core/tables/world/chains.ts'
import type { CurrencyConfig } from '../core/tables/world/config.ts'
import { notFound } from '../labels.ts'
import { canonical } from '../money/amount.ts'

const currencyShape = shape({
  currency: str,
  name: str,
  name_cn: str,
  precision: int,
  asset_class: str,
  low_cap: bool,
  status: str,
  deposit_enabled: bool,
  withdraw_enabled: bool,
  withdraw_day_limit: decimalText,
  withdraw_eachtime_limit: decimalText,
  approval_amount: decimalText,
  approvals: int,
  index_price: decimalText,
  chains: array(
    shape({
      chain: str,
      contract_address: str,
      decimal: int,
      deposit_enabled: bool,
      withdraw_enabled: bool,
      min_deposit_amount: decimalText,
      withdraw_amount_mini: decimalText,
      withdraw_fix: decimalText,
      withdraw_percent: decimalText,
      hot_wallet: str,
      sweep_threshold: decimalText,
    }),
  ),
})
const currencyView = (config: CurrencyConfig) => ({
  currency: config.currency,
  name: config.name,
  name_cn: config.name_cn,
  precision: config.precision,
  asset_class: config.asset_class,
  low_cap: config.low_cap,
  status: config.status ?? 'listed',
  deposit_enabled: config.deposit_enabled,
  withdraw_enabled: config.withdraw_enabled,
  withdraw_day_limit: canonical(config.withdraw_day_limit),
  withdraw_eachtime_limit: canonical(config.withdraw_eachtime_limit),
  approval_amount: canonical(config.approval_amount),
  approvals: config.approvals,
  index_price: canonical(config.index_price),
  chains: config.chains.map((on) => ({
    chain: on.chain,
    contract_address: on.contract_address,
    decimal: on.decimal,
    deposit_enabled: on.deposit_enabled,
    withdraw_enabled: on.withdraw_enabled,
    min_deposit_amount: canonical(on.min_deposit_amount),
    withdraw_amount_mini: canonical(on.withdraw_amount_mini),
    withdraw_fix: canonical(on.withdraw_fix),
    withdraw_percent: canonical(on.withdraw_percent),
    hot_wallet: on.hot_wallet,
    sweep_threshold: canonical(on.sweep_threshold ?? '0'),
  })),
})

/** What can be changed for one chain; named at the top it goes for all chains of the currency. */
const CHAIN_FIELDS = {
  min_deposit_amount: optional(decimal()),
  withdraw_amount_mini: optional(decimal()),
  withdraw_fix: optional(decimal()),
  withdraw_percent: optional(decimal()),
  hot_wallet: optional(oneOf('auto', 'manual')),
  sweep_threshold: optional(decimal()),
} satisfies Fields
const ONE_CHAIN = { ...CHAIN_FIELDS, deposit_enabled: optional(flag()), withdraw_enabled: optional(flag()) }
const TOP_FIELDS = {
  deposit_enabled: optional(flag()),
  withdraw_enabled: optional(flag()),
  withdraw_day_limit: optional(decimal()),
  withdraw_eachtime_limit: optional(decimal()),
  approval_amount: optional(decimal()),
  approvals: optional(integer(1, 100)),
} satisfies Fields
const MAPS = {
  withdraw_fix_on_chains: 'withdraw_fix',
  withdraw_percent_on_chains: 'withdraw_percent',
} as const

/** Keys of these are names of chains. */
const BY_CHAIN = {
  withdraw_fix_on_chains: withDefault(anyObject(), {}),
  withdraw_percent_on_chains: withDefault(anyObject(), {}),
  chains: withDefault(anyObject(), {}),
} satisfies Fields
const FLAT = { ...TOP_FIELDS, ...CHAIN_FIELDS, ...BY_CHAIN }
const GROUPS = { fees: withDefault(anyObject(), {}), limits: withDefault(anyObject(), {}) }
const BODY = { ...FLAT, ...GROUPS }

const given = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
type ChainPart = Partial<Omit<CurrencyChain, 'chain'>>

type Members = Readonly<Record<string, unknown>>
function inner(source: Members, name: string): Members {
  const value = source[name]
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Members) : {}
}
/** Reads a change in any of its spellings: flat, below `fees` and `limits`, or chain by chain. */
function readChange(config: CurrencyConfig, raw: Members): CurrencyChange {
  const { fees, limits } = readFields(GROUPS, raw)
  for (const [group, members] of Object.entries({ fees, limits }))
    tellUnknown(FLAT, members, `${group}.`, refuseUnknown)
  const flat = { ...raw, ...fees, ...limits }
  readFields(BY_CHAIN, flat)
  const everywhere: ChainPart = given(readFields(CHAIN_FIELDS, flat))
  const chains: Record<string, ChainPart> = {}
  const lay = (name: string, part: ChainPart): void => {
    const chain = name.toUpperCase()
    chains[chain] = { ...chains[chain], ...part }
  }
  if (Object.keys(everywhere).length > 0) for (const { chain } of config.chains) lay(chain, everywhere)
  for (const [name, member] of Object.entries(MAPS))
    for (const [chain, value] of Object.entries(inner(flat, name)))
      lay(chain, { [member]: decimal().read(value, `${name}.${chain}`) })
  for (const [chain, value] of Object.entries(inner(flat, 'chains'))) {
    const part = object(ONE_CHAIN).read(value, `chains.${chain}`, refuseUnknown)
    lay(chain, given(part))
  }
  return {
    ...given(readFields(TOP_FIELDS, flat)),
    ...(Object.keys(chains).length > 0 && { chains }),
  }
}

const SWITCHES: ReadonlySet<string> = new Set(['deposit_enabled', 'withdraw_enabled'])
const isSwitch = (body: Members): boolean =>
  Object.entries(body).every(
    ([name, value]) =>
      SWITCHES.has(name) ||
      (name === 'chains' &&
        Object.values(inner(body, 'chains')).every((one) =>
          Object.keys(inner({ one }, 'one')).every((member) => SWITCHES.has(member)),
        )) ||
      value === null,
  )

export const operatorCurrencyEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/currencies',
    summary: 'Lists the currencies with fees, limits and chains',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(currencyShape),
    refuses: [],
    handle: async ({ desk }) => desk.core.read(({ world }) => world.allCurrencies.map(currencyView)),
  }),
  endpoint({
    method: 'GET',
    path: '/currencies/{currency}',
    summary: 'Shows one currency with fees, limits and chains',
    access: operatorOf('viewer'),
    limit: null,
    params: { currency: currencyField },
    status: 200,
    reply: currencyShape,
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, path }) =>
      desk.core.read(({ world }) =>
        currencyView(
          world.findCurrency(path.currency) ??
            notFound('INVALID_CURRENCY', `currency: "${path.currency}" is not a currency of this platform`),
        ),
      ),
  }),
  endpoint({
    method: 'PATCH',
    path: '/currencies/{currency}',
    summary:
      'Changes switches, fees, limits and approvals of a currency, for all its chains or below chains.NAME for one',
    access: operatorOf('operator'),
    // Whoever is on duty can close a currency, and open it again; all else guards money, or takes it.
    guarded: { role: 'admin', when: ({ body }) => !isSwitch(body) },
    limit: null,
    params: { currency: currencyField },
    body: anyObject(BODY),
    status: 200,
    reply: currencyShape,
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, operator, path, body }) => {
      const config = await desk.core.read(
        ({ world }) =>
          world.findCurrency(path.currency) ??
          notFound('INVALID_CURRENCY', `currency: "${path.currency}" is not a currency of this platform`),
      )
      const change = readChange(config, body)
      const input = { currency: config.currency, change, actor: operator }
      return currencyView(await desk.core.submit('currency.configure', input))
    },
  }),
]
