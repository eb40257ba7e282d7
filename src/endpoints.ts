import { accountEndpoints } from './api/account.ts'
import type { AnyEndpoint } from './api/endpoint.ts'
import { balanceEndpoints } from './api/balances.ts'
import { currencyEndpoints } from './api/currencies.ts'
import { depositEndpoints } from './api/deposits.ts'
import { contractDataEndpoints } from './api/futures/market-data.ts'
import { DELIVERY, PERPETUAL } from './api/futures/paths.ts'
import { perpetualDataEndpoints } from './api/futures/perpetual-data.ts'
import { spotAccountEndpoints } from './api/spot/account.ts'
import { batchEndpoints } from './api/spot/batch.ts'
import { feeEndpoints } from './api/spot/fees.ts'
import { marketDataEndpoints } from './api/spot/market-data.ts'
import { orderEndpoints } from './api/spot/orders.ts'
import { povOrderEndpoints } from './api/spot/pov-orders.ts'
import { priceOrderEndpoints } from './api/spot/price-orders.ts'
import { publicEndpoints } from './api/public.ts'
import { smallBalanceEndpoints } from './api/small-balance.ts'
import { subTransferEndpoints } from './api/sub-transfers.ts'
import { subAccountEndpoints } from './api/sub-accounts.ts'
import { unifiedAccountEndpoints } from './api/unified/account.ts'
import { calculatorEndpoints } from './api/unified/calculator.ts'
import { unifiedLeverageEndpoints } from './api/unified/leverage.ts'
import { unifiedLoanEndpoints } from './api/unified/loans.ts'
import { unifiedModeEndpoints } from './api/unified/modes.ts'
import { quickRepaymentEndpoints } from './api/unified/quick-repayment.ts'
import { unifiedTableEndpoints } from './api/unified/tables.ts'
import { marginAccountEndpoints } from './api/margin/account.ts'
import { crossMarginEndpoints } from './api/margin/cross.ts'
import { marginLoanEndpoints } from './api/margin/loans.ts'
import { contractAccountEndpoints } from './api/futures/endpoints.ts'
import { walletEndpoints } from './api/wallet.ts'
import { withdrawalEndpoints } from './api/withdrawals.ts'
export { consoleEndpoints } from './console/endpoints.ts'
import { operatorChainEndpoints } from './operator/chains.ts'
import { operatorCurrencyEndpoints } from './operator/currencies.ts'
import { policyEndpoints } from './operator/policy.ts'
import { operatorWalletEndpoints } from './operator/wallet.ts'
import { operatorAgentEndpoints } from './operator/agents.ts'
import { operatorContractEndpoints } from './operator/contracts.ts'
import { operatorCandleEndpoints } from './operator/candles.ts'
import { consoleLinkEndpoints } from './operator/console-links.ts'
import { operatorDueEndpoints } from './operator/due.ts'
import { operatorFaultEndpoints } from './operator/faults.ts'
import { operatorLedgerEndpoints } from './operator/ledger.ts'
import { explainContractEndpoints } from './operator/explain-contracts.ts'
import { operatorLendingEndpoints } from './operator/lending.ts'
import { operatorListingEndpoints } from './operator/listing.ts'
import { operatorMarketEndpoints } from './operator/markets.ts'
import { operatorOperatorEndpoints } from './operator/operators.ts'
import { operatorOrderEndpoints } from './operator/orders.ts'
import { platformEndpoints, type Controls } from './operator/platform.ts'
import { operatorPriceEndpoints } from './operator/prices.ts'
import { proposalEndpoints } from './operator/proposals.ts'
import { operatorRequestEndpoints } from './operator/requests.ts'
import { operatorSocketEndpoints } from './operator/sockets.ts'
import { operatorUserEndpoints } from './operator/users.ts'
import { operatorRecordEndpoints } from './operator/records.ts'
import { treasuryEndpoints } from './operator/treasury.ts'

/** The trading API's endpoints; the reference and the tests walk the same list. */
export const tradingEndpoints: readonly AnyEndpoint[] = [
  ...publicEndpoints,
  ...walletEndpoints,
  ...currencyEndpoints,
  ...depositEndpoints,
  ...withdrawalEndpoints,
  ...subTransferEndpoints,
  ...balanceEndpoints,
  ...smallBalanceEndpoints,
  ...subAccountEndpoints,
  ...accountEndpoints,
  ...marketDataEndpoints,
  ...orderEndpoints,
  ...batchEndpoints,
  ...priceOrderEndpoints,
  ...povOrderEndpoints,
  ...spotAccountEndpoints,
  ...feeEndpoints,
  ...unifiedAccountEndpoints,
  ...unifiedModeEndpoints,
  ...unifiedLeverageEndpoints,
  ...quickRepaymentEndpoints,
  ...unifiedLoanEndpoints,
  ...unifiedTableEndpoints,
  ...calculatorEndpoints,
  ...marginAccountEndpoints,
  ...marginLoanEndpoints,
  ...crossMarginEndpoints,
  ...contractDataEndpoints(PERPETUAL),
  ...perpetualDataEndpoints,
  ...contractDataEndpoints(DELIVERY),
  ...contractAccountEndpoints,
]
export const operatorEndpoints = (controls: Controls): readonly AnyEndpoint[] => [
  ...platformEndpoints(controls),
  ...operatorOperatorEndpoints,
  ...operatorFaultEndpoints(controls),
  ...operatorRequestEndpoints(controls),
  ...proposalEndpoints(controls),
  ...operatorLedgerEndpoints(),
  ...operatorUserEndpoints,
  ...consoleLinkEndpoints,
  ...operatorRecordEndpoints,
  ...treasuryEndpoints,
  ...operatorWalletEndpoints,
  ...operatorChainEndpoints,
  ...operatorCurrencyEndpoints,
  ...operatorPriceEndpoints(controls),
  ...policyEndpoints,
  ...operatorListingEndpoints,
  ...operatorMarketEndpoints,
  ...operatorContractEndpoints,
  ...operatorOrderEndpoints,
  ...operatorLendingEndpoints,
  ...explainContractEndpoints,
  ...operatorAgentEndpoints(controls),
  ...operatorCandleEndpoints,
  ...operatorDueEndpoints,
  ...operatorSocketEndpoints(controls),
]
