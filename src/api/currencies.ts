import type { CurrencyConfig } from '../core/tables/world/config.ts'
import type { World } from '../core/tables/world/world.ts'
import { notFound } from '../labels.ts'
import { PUBLIC, endpoint, type AnyEndpoint } from './endpoint.ts'
import { LIMITS } from './limits.ts'
import { array, bool, shape, str } from './shapes.ts'
import { currencyField } from './wallet.ts'

const currencyShape = shape({
  currency: str,
  name: str,
  delisted: bool,
  withdraw_disabled: bool,
  withdraw_delayed: bool,
  deposit_disabled: bool,
  trade_disabled: bool,
  fixed_rate: str,
  chain: str,
  total_supply: str,
  market_cap: str,
  chains: array(
    shape({ name: str, addr: str, withdraw_disabled: bool, withdraw_delayed: bool, deposit_disabled: bool }),
  ),
  category: array(str),
})
function currencyView(world: World, config: CurrencyConfig) {
  const markets = world.allMarkets.filter(
    ({ base, quote }) => base === config.currency || quote === config.currency,
  )
  const chains = config.chains.map((on) => ({
    name: on.chain,
    addr: on.contract_address,
    withdraw_disabled: !(config.withdraw_enabled && on.withdraw_enabled),
    withdraw_delayed: false,
    deposit_disabled: !(config.deposit_enabled && on.deposit_enabled),
  }))
  return {
    currency: config.currency,
    name: config.name,
    delisted: config.status === 'withdraw_only',
    // Without a chain there is nothing that could be open.
    withdraw_disabled: chains.every(({ withdraw_disabled }) => withdraw_disabled),
    withdraw_delayed: false,
    deposit_disabled: chains.every(({ deposit_disabled }) => deposit_disabled),
    trade_disabled:
      config.status === 'withdraw_only' ||
      (markets.length > 0 && markets.every((market) => market.config.trade_status === 'untradable')),
    fixed_rate: '',
    chain: chains[0]?.name ?? '',
    // Facts of the world outside that the platform does not know.
    total_supply: '',
    market_cap: '',
    chains,
    category: [],
  }
}

export const currencyEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/spot/currencies',
    summary: 'Lists the currencies with their chains',
    access: PUBLIC,
    limit: LIMITS.public,
    status: 200,
    reply: array(currencyShape),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read(({ world }) => world.allCurrencies.map((config) => currencyView(world, config))),
  }),
  endpoint({
    method: 'GET',
    path: '/spot/currencies/{currency}',
    summary: 'Shows one currency',
    access: PUBLIC,
    limit: LIMITS.public,
    params: { currency: currencyField },
    status: 200,
    reply: currencyShape,
    refuses: ['INVALID_CURRENCY'],
    handle: async ({ desk, path }) =>
      desk.core.read(({ world }) =>
        currencyView(
          world,
          world.findCurrency(path.currency) ??
            notFound(
              'INVALID_CURRENCY',
              `currency: "${path.currency}" is not a currency of this platform; GET /spot/currencies lists them`,
            ),
        ),
      ),
  }),
]
