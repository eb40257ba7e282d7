import type { Purpose } from '../../ledger/ledger.ts'

/** Where a market's orders of one kind of account keep their money. */
export interface OrderMoney {
  readonly freeBase: Purpose
  readonly heldBase: Purpose
  readonly freeQuote: Purpose
  readonly heldQuote: Purpose
}
