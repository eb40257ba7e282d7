import type { AccountName } from '../core/ledger/accounts.ts'
import type { OrderAccount } from '../core/tables/exchange/order.ts'
import { UNIFIED } from '../core/tables/unified/loan-accounts.ts'
import type { Venue } from './event.ts'

/** Where something happened; `market` is empty where it belongs to none. */
export interface Place {
  readonly venue: Venue
  readonly market: string
}

export const venueOfOrder = (account: OrderAccount): Venue =>
  account === 'cross_margin' ? 'unified' : account

/** Contracts are known by group/settle/name. */
export const venueOfMarket = (market: string): Venue =>
  market.startsWith('futures/') ? 'futures' : market.startsWith('delivery/') ? 'delivery' : 'spot'

/** Of the account that owes: the unified one, the isolated one of a market, or of contracts: one position, or all cross ones. */
export function placeOfScope(scope: string): Place {
  const [group, , contract] = scope.split('/')
  if (group === 'futures' || group === 'delivery')
    return { venue: group, market: contract === undefined ? '' : scope }
  return scope === UNIFIED.scope ? { venue: 'unified', market: '' } : { venue: 'margin', market: scope }
}

const MARGIN = /^(?:debt\.(?:interest\.)?)?margin:(.+?)(?:\.locked)?$/
/** A unified account's money is its spot money; only its debts have accounts of their own. */
export function placeOfAccount(name: AccountName): Place {
  if (name === 'spot' || name === 'spot.locked') return { venue: 'spot', market: '' }
  if (name === UNIFIED.debt || name === UNIFIED.interest) return { venue: 'unified', market: '' }
  const market = MARGIN.exec(name)?.[1]
  return market === undefined ? { venue: 'wallet', market: '' } : { venue: 'margin', market }
}
