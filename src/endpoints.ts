import { accountEndpoints } from './api/account.ts'
import type { AnyEndpoint } from './api/endpoint.ts'
import { publicEndpoints } from './api/public.ts'
import { subAccountEndpoints } from './api/sub-accounts.ts'
import { walletEndpoints } from './api/wallet.ts'
import { platformEndpoints, type Controls } from './operator/platform.ts'
import { operatorUserEndpoints } from './operator/users.ts'

/** The trading API's endpoints; the reference and the tests walk the same list. */
export const tradingEndpoints: readonly AnyEndpoint[] = [
  ...publicEndpoints,
  ...walletEndpoints,
  ...subAccountEndpoints,
  ...accountEndpoints,
]
export const operatorEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  ...platformEndpoints(controls),
  ...operatorUserEndpoints,
]
