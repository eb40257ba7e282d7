import { accountEndpoints } from './api/account.ts'
import type { AnyEndpoint } from './api/endpoint.ts'
import { spotAccountEndpoints } from './api/spot/account.ts'
import { batchEndpoints } from './api/spot/batch.ts'
import { feeEndpoints } from './api/spot/fees.ts'
import { marketDataEndpoints } from './api/spot/market-data.ts'
import { orderEndpoints } from './api/spot/orders.ts'
import { priceOrderEndpoints } from './api/spot/price-orders.ts'
import { publicEndpoints } from './api/public.ts'
import { subAccountEndpoints } from './api/sub-accounts.ts'
import { walletEndpoints } from './api/wallet.ts'
import { operatorMarketEndpoints } from './operator/markets.ts'
import { platformEndpoints, type Controls } from './operator/platform.ts'
import { operatorUserEndpoints } from './operator/users.ts'

/** The trading API's endpoints; the reference and the tests walk the same list. */
export const tradingEndpoints: readonly AnyEndpoint[] = [
  ...publicEndpoints,
  ...walletEndpoints,
  ...subAccountEndpoints,
  ...accountEndpoints,
  ...marketDataEndpoints,
  ...orderEndpoints,
  ...batchEndpoints,
  ...priceOrderEndpoints,
  ...spotAccountEndpoints,
  ...feeEndpoints,
]
export const operatorEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  ...platformEndpoints(controls),
  ...operatorUserEndpoints,
  ...operatorMarketEndpoints,
]
