import type { State } from '../core/state.ts'
import type { SavedAddress } from '../core/tables/addresses.ts'
import { DEPOSIT, type Deposit } from '../core/tables/deposits.ts'
import { depositId } from '../core/tables/withdrawals.ts'
import { dayAllowance } from '../core/withdrawals/usage.ts'
import type { CurrencyChain } from '../core/tables/world/chains.ts'
import type { CurrencyConfig } from '../core/tables/world/config.ts'
import { amountOf, canonical, format, min, roundDown } from '../money/amount.ts'
import { PUBLIC, endpoint, signed, type AnyEndpoint, type Desk } from './endpoint.ts'
import { integer, oneOf, optional, text, withDefault } from './fields.ts'
import {
  historyCurrency,
  pageFields,
  paginationHeaders,
  readPage,
  readWindow,
  windowFields,
  type Scope,
} from './history.ts'
import { LIMITS } from './limits.ts'
import { array, decimalText, int, int64, map, shape, str } from './shapes.ts'
import { currencyField } from './wallet.ts'

const depositMembers = {
  id: str,
  txid: str,
  timestamp: str,
  amount: decimalText,
  currency: str,
  address: str,
  memo: str,
  status: str,
  /** Of a blocked deposit with a refund. */
  'refund_status?': str,
  chain: str,
}
const depositView = (deposit: Deposit) => ({
  id: depositId(deposit.id),
  txid: deposit.txid,
  timestamp: String(Math.floor(deposit.at / 1e6)),
  amount: format(deposit.amount),
  currency: deposit.currency,
  address: deposit.address,
  memo: deposit.memo,
  status: deposit.status,
  ...(deposit.refund_status !== 'NONE' && { refund_status: deposit.refund_status }),
  chain: deposit.chain,
})
export const operatorDeposit = (deposit: Deposit) => ({
  ...depositView(deposit),
  user_id: deposit.user_id,
  block_number: String(deposit.height ?? 0),
  reason: deposit.reason,
})
export const operatorDepositShape = shape({
  ...depositMembers,
  user_id: int64,
  block_number: str,
  reason: str,
})

const savedMembers = { currency: str, chain: str, address: str, name: str, tag: str, verified: str }
export const savedShape = shape(savedMembers)
export const operatorSavedShape = shape({ ...savedMembers, user_id: int64 })
export const savedView = ({ currency, chain, address, name, tag, verified }: SavedAddress) => ({
  currency,
  chain,
  address,
  name,
  tag,
  verified: verified ? '1' : '0',
})

const flagOf = (on: boolean): 0 | 1 => (on ? 1 : 0)
const depositOpen = (currency: CurrencyConfig, on: CurrencyChain): boolean =>
  currency.deposit_enabled && on.deposit_enabled
const withdrawOpen = (currency: CurrencyConfig, on: CurrencyChain): boolean =>
  currency.withdraw_enabled && on.withdraw_enabled

/** Made at first asking: the chain's own wallet derives it, or the simulated derivation does. */
export async function depositAddress(desk: Desk, userId: number, chain: string) {
  const known = await desk.core.read(({ wallet }) => wallet.addresses.of(chain, userId))
  if (known !== undefined) return known
  const address = await desk.chains.port(chain).depositAddress(userId)
  return desk.core.submit('address.ensure', { user_id: userId, chain, address })
}

const rulesShape = shape({
  currency: str,
  name: str,
  name_cn: str,
  deposit: str,
  withdraw_percent: str,
  withdraw_fix: decimalText,
  withdraw_day_limit: decimalText,
  withdraw_day_limit_remain: decimalText,
  withdraw_amount_mini: decimalText,
  withdraw_eachtime_limit: decimalText,
  withdraw_fix_on_chains: map(decimalText),
  withdraw_percent_on_chains: map(str),
})
function rulesView(state: State, now: number, userId: number, config: CurrencyConfig) {
  const user = state.users.must(userId)
  const { limit, remain } = dayAllowance(state, user, config, now)
  const first = config.chains[0]!
  const smallest = config.chains.map((on) => amountOf(on.withdraw_amount_mini)).reduce(min)
  return {
    currency: config.currency,
    name: config.name,
    name_cn: config.name_cn,
    deposit: '0',
    withdraw_percent: `${canonical(first.withdraw_percent)}%`,
    withdraw_fix: canonical(first.withdraw_fix),
    withdraw_day_limit: format(roundDown(limit, config.precision)),
    withdraw_day_limit_remain: format(roundDown(remain, config.precision)),
    withdraw_amount_mini: format(smallest),
    withdraw_eachtime_limit: canonical(config.withdraw_eachtime_limit),
    withdraw_fix_on_chains: Object.fromEntries(
      config.chains.map((on) => [on.chain, canonical(on.withdraw_fix)]),
    ),
    withdraw_percent_on_chains: Object.fromEntries(
      config.chains.map((on) => [on.chain, `${canonical(on.withdraw_percent)}%`]),
    ),
  }
}

export const depositEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/wallet/currency_chains',
    summary: 'Lists the chains of a currency',
    access: PUBLIC,
    limit: LIMITS.public,
    query: { currency: currencyField },
    status: 200,
    reply: array(
      shape({
        chain: str,
        name_cn: str,
        name_en: str,
        contract_address: str,
        is_disabled: int,
        is_deposit_disabled: int,
        is_withdraw_disabled: int,
        decimal: str,
        is_tag: int,
      }),
    ),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, query }) =>
      desk.core.read(({ world }) => {
        const config = world.transported(query.currency)
        return config.chains.map((on) => {
          const chain = world.mustChain(on.chain)
          const deposits = depositOpen(config, on)
          const withdrawals = withdrawOpen(config, on)
          return {
            chain: on.chain,
            name_cn: chain.name_cn,
            name_en: chain.name_en,
            contract_address: on.contract_address,
            is_disabled: flagOf(!deposits && !withdrawals),
            is_deposit_disabled: flagOf(!deposits),
            is_withdraw_disabled: flagOf(!withdrawals),
            decimal: String(on.decimal),
            is_tag: flagOf(chain.tagged),
          }
        })
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/deposit_address',
    summary: "Gives the account's deposit addresses of a currency, one on each open chain",
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: { currency: currencyField },
    status: 200,
    reply: shape({
      currency: str,
      address: str,
      min_deposit_amount: decimalText,
      multichain_addresses: array(
        shape({
          chain: str,
          address: str,
          payment_id: str,
          payment_name: str,
          obtain_failed: int,
          min_confirms: int,
        }),
      ),
    }),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) => {
      const { config, open, chains } = await desk.core.read(({ world }) => {
        const config = world.transported(query.currency)
        if (config.chains.length === 0) world.currencyChain(config, null)
        const open = config.chains.filter((on) => depositOpen(config, on))
        return { config, open, chains: open.map((on) => world.mustChain(on.chain)) }
      })
      // A chain whose wallet does not answer is left out: an empty address would break real clients.
      const made = await Promise.allSettled(
        open.map((on) => depositAddress(desk, caller.user.user_id, on.chain)),
      )
      const items = open.flatMap((on, i) => {
        const result = made[i]!
        if (result.status === 'rejected') return []
        const chain = chains[i]!
        return [
          {
            chain: on.chain,
            address: result.value.address,
            payment_id: result.value.tag,
            payment_name: chain.tagged ? 'Tag' : '',
            obtain_failed: 0,
            min_confirms: chain.min_confirms,
          },
        ]
      })
      return {
        currency: config.currency,
        address: items[0]?.address ?? '',
        min_deposit_amount: canonical((open[0] ?? config.chains[0]!).min_deposit_amount),
        multichain_addresses: items,
      }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/deposits',
    summary: "Lists the account's deposits, newest first",
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: { currency: optional(currencyField), ...windowFields, ...pageFields(500) },
    status: 200,
    reply: array(shape(depositMembers)),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query, set }) => {
      const user_id = caller.user.user_id
      const currency = await desk.core.read((state) =>
        query.currency === null ? null : historyCurrency(state, query.currency),
      )
      const window = readWindow(desk, query, set)
      const scope: Scope<Deposit> =
        currency === null
          ? { columns: { user_id }, ordinal: 'ordinal' }
          : { columns: { user_id, currency }, ordinal: 'currency_ordinal' }
      const { rows, total } = await readPage(desk.store, DEPOSIT, scope, window, query)
      paginationHeaders(set, query, total)
      return rows.map(depositView)
    },
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/withdraw_status',
    summary: 'Tells fees and limits of withdrawals, with what is left of today',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: { currency: optional(currencyField) },
    status: 200,
    reply: array(rulesShape),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read((state) => {
        const { world } = state
        const { user_id } = caller.user
        const now = desk.clock.peek()
        if (query.currency !== null) {
          const config = world.transported(query.currency)
          if (config.chains.length === 0) world.currencyChain(config, null)
          return [rulesView(state, now, user_id, config)]
        }
        return world.allCurrencies
          .filter(({ chains }) => chains.length > 0)
          .map((config) => rulesView(state, now, user_id, config))
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/saved_address',
    summary: "Lists the account's saved withdrawal addresses",
    access: signed('wallet'),
    limit: LIMITS.wallet,
    query: {
      currency: optional(currencyField),
      chain: optional(text({ max: 32 })),
      verified: optional(oneOf('0', '1')),
      limit: withDefault(integer(1, 100), 50),
      page: withDefault(integer(1, 1_000_000), 1),
    },
    status: 200,
    reply: array(savedShape),
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, caller, query }) =>
      desk.core.read(({ world, wallet }) => {
        const currency = query.currency === null ? null : world.currency(query.currency).currency
        const chain = query.chain?.toUpperCase() ?? null
        const start = (query.page - 1) * query.limit
        return wallet.addresses
          .savedBy(caller.user.user_id)
          .filter(
            (saved) =>
              (currency === null || saved.currency === currency) &&
              (chain === null || saved.chain === chain) &&
              (query.verified === null || saved.verified === (query.verified === '1')),
          )
          .slice(start, start + query.limit)
          .map(savedView)
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/wallet/getLowCapExchangeList',
    summary: 'Lists the low-cap tokens: no chains, deposits or withdrawals through the API',
    access: signed('wallet'),
    limit: LIMITS.wallet,
    status: 200,
    reply: array(str),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read(({ world }) =>
        world.allCurrencies.filter(({ low_cap }) => low_cap).map(({ currency }) => currency),
      ),
  }),
]
