import type { AnyEndpoint } from '../endpoint.ts'
import { accountEndpoints, modeEndpoints } from './account.ts'
import { batchEndpoints } from './batch.ts'
import { chaseEndpoints } from './chases.ts'
import { orderEndpoints, perpetualOrderEndpoints } from './orders.ts'
import { DELIVERY, PERPETUAL, type Group } from './paths.ts'
import { perpetualPositionEndpoints, positionEndpoints } from './positions.ts'
import { perpetualPriceOrderEndpoints, priceOrderEndpoints } from './price-orders.ts'
import { datedRecordEndpoints, perpetualRecordEndpoints, recordEndpoints } from './records.ts'
import { trailEndpoints } from './trails.ts'

const both = (group: Group): readonly AnyEndpoint[] => [
  ...accountEndpoints(group),
  ...positionEndpoints(group),
  ...orderEndpoints(group),
  ...priceOrderEndpoints(group),
  ...recordEndpoints(group),
]
/** The signed calls of contracts: those of dated ones are fewer. */
export const contractAccountEndpoints: readonly AnyEndpoint[] = [
  ...both(PERPETUAL),
  ...modeEndpoints(PERPETUAL),
  ...perpetualPositionEndpoints(PERPETUAL),
  ...perpetualOrderEndpoints(PERPETUAL),
  ...batchEndpoints(PERPETUAL),
  ...perpetualPriceOrderEndpoints(PERPETUAL),
  ...trailEndpoints(PERPETUAL),
  ...chaseEndpoints(PERPETUAL),
  ...perpetualRecordEndpoints(PERPETUAL),
  ...both(DELIVERY),
  ...datedRecordEndpoints(DELIVERY),
]
