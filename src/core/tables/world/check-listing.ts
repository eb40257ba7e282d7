import { CURRENCY_STATUSES } from './chains.ts'
import type { WorldConfig } from './config.ts'

/** What leaves must not be traded, nor be what all else is counted in. */
export function checkListing({ currencies, markets }: WorldConfig): void {
  for (const [i, { currency, status }] of currencies.entries()) {
    const where = `currencies[${i}].status`
    if (status === undefined) continue
    if (!CURRENCY_STATUSES.includes(status))
      throw new TypeError(`${where} must be one of ${CURRENCY_STATUSES.join(', ')}`)
    if (status === 'listed') continue
    if (currency === 'USDT') throw new TypeError(`${where}: USDT is what prices are counted in; it stays`)
    const open = markets.find(
      (one) => (one.base === currency || one.quote === currency) && one.status !== 'delisting',
    )
    if (open !== undefined)
      throw new TypeError(
        `${where} is ${status}, but ${open.id} is not delisted; give it "status": "delisting" or take it out first`,
      )
  }
}
