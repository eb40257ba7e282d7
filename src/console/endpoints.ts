import type { AnyEndpoint } from '../api/endpoint.ts'
import { consoleMoneyEndpoints } from './money.ts'
import { accountEndpoints } from './account.ts'
import { labEndpoints } from './lab.ts'
import { ownLoginEndpoints } from './own-login.ts'
import { passwordEndpoints } from './passwords.ts'
import type { ConsoleParts } from './parts.ts'
import { consoleRiskEndpoints } from './risk.ts'
import { signInEndpoints } from './sign-in.ts'
import { worthEndpoints } from './worth.ts'

/** The console's own endpoints, below /console/v1. */
export const consoleEndpoints = (parts: ConsoleParts): readonly AnyEndpoint[] => [
  ...signInEndpoints(parts),
  ...passwordEndpoints(parts),
  ...ownLoginEndpoints(parts),
  ...(parts.surface === 'operator' ? [] : consoleMoneyEndpoints),
  ...(parts.surface === 'operator'
    ? []
    : [...accountEndpoints, ...consoleRiskEndpoints, ...worthEndpoints(), ...labEndpoints(parts)]),
]
