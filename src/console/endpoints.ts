import type { AnyEndpoint } from '../api/endpoint.ts'
import { consoleMoneyEndpoints } from './money.ts'
import { ownLoginEndpoints } from './own-login.ts'
import { passwordEndpoints } from './passwords.ts'
import type { ConsoleParts } from './parts.ts'
import { signInEndpoints } from './sign-in.ts'

/** The console's own endpoints, below /console/v1. */
export const consoleEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  ...signInEndpoints(parts),
  ...passwordEndpoints(parts),
  ...ownLoginEndpoints(parts),
  ...(parts.surface === 'operator' ? [] : consoleMoneyEndpoints),
]
