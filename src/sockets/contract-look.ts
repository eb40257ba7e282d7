import type { Look } from '../api/futures/order-views.ts'
import { DELIVERY, PERPETUAL } from '../api/futures/paths.ts'
import { sizeNumber, sizeText } from '../api/futures/sizes.ts'

/** How records of an account (group/settle) are written, as REST would; `texts`: where the group has that. */
export function lookAt(account: string, texts: boolean): Look {
  const group = account.startsWith('delivery/') ? DELIVERY : PERPETUAL
  return { group, sizes: texts && group.texts ? sizeText : sizeNumber }
}
