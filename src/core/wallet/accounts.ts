import { settledIn } from '../contract-margin/cash.ts'
import { marginName, type FreeName } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import type { World } from '../tables/world/world.ts'
import type { AccountKind } from '../tables/transfers.ts'

/** A kind with its pair or settle currency, made into the name of a ledger account. */
export interface AccountRef {
  readonly kind: AccountKind
  readonly name: FreeName
  readonly settle: string
  readonly currency_pair: string
}

const OPTIONS_SETTLE = 'usdt'

/** Checks that kind, pair, settle and currency agree, and finds the ledger account they mean. */
export function accountRef(
  world: World,
  kind: AccountKind,
  currency: string,
  given: { readonly currency_pair: string | null; readonly settle: string | null },
): AccountRef {
  switch (kind) {
    case 'spot':
      return { kind, name: 'spot', settle: '', currency_pair: '' }
    case 'margin': {
      if (given.currency_pair === null)
        refuse(
          'MISSING_REQUIRED_PARAM',
          'currency_pair: required when one side is margin, such as "BTC_USDT"',
        )
      const market = world.market(given.currency_pair)
      if (currency !== market.base && currency !== market.quote)
        refuse(
          'INVALID_PARAM_VALUE',
          `currency: a ${market.id} margin account holds ${market.base} and ${market.quote}, not ${currency}`,
        )
      return { kind, name: marginName(market.id), settle: '', currency_pair: market.id }
    }
    case 'futures':
    case 'delivery': {
      if (given.settle === null)
        refuse('MISSING_REQUIRED_PARAM', `settle: required when one side is ${kind}, such as "usdt"`)
      const settle = given.settle.toLowerCase()
      const known = world.settles(kind)
      if (!known.includes(settle))
        refuse(
          'INVALID_PARAM_VALUE',
          `settle: "${given.settle}" is not a settle currency of ${kind}; one of ${known.join(', ')}`,
        )
      agree(currency, settle)
      return { kind, name: settledIn(kind, settle).cash, settle, currency_pair: '' }
    }
    case 'options': {
      const settle = (given.settle ?? OPTIONS_SETTLE).toLowerCase()
      if (settle !== OPTIONS_SETTLE)
        refuse(
          'INVALID_PARAM_VALUE',
          `settle: options settle in ${OPTIONS_SETTLE}, not "${given.settle ?? ''}"`,
        )
      agree(currency, settle)
      return { kind, name: 'options', settle, currency_pair: '' }
    }
  }
}

function agree(currency: string, settle: string): void {
  if (currency !== 'POINT' && currency.toLowerCase() !== settle)
    refuse(
      'INVALID_PARAM_VALUE',
      `currency: an account that settles in ${settle} takes ${settle.toUpperCase()} or POINT, not ${currency}`,
    )
}
