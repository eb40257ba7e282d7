/**
 * Every way to say no. A refusal is expected, carries a label of this catalogue and undoes its command;
 * a broken invariant is our own bug, is caught by nobody and stops the process before the disk sees it.
 * The number is the HTTP status; where a label may also name a thing addressed by the path, see `notFound`.
 */
export const LABELS = {
  // request level
  INVALID_PARAM_VALUE: 400,
  INVALID_PROTOCOL: 400,
  INVALID_ARGUMENT: 400,
  INVALID_REQUEST_BODY: 400,
  MISSING_REQUIRED_PARAM: 400,
  BAD_REQUEST: 400,
  INVALID_CONTENT_TYPE: 400,
  NOT_ACCEPTABLE: 400,
  METHOD_NOT_ALLOWED: 405,
  NOT_FOUND: 404,
  // authentication
  INVALID_CREDENTIALS: 401,
  INVALID_KEY: 401,
  INVALID_SIGNATURE: 401,
  MISSING_REQUIRED_HEADER: 401,
  REQUEST_EXPIRED: 401,
  AUTHENTICATION_FAILED: 400,
  IP_FORBIDDEN: 403,
  READ_ONLY: 403,
  FORBIDDEN: 403,
  ACCOUNT_LOCKED: 403,
  SECOND_FACTOR_REQUIRED: 401,
  ELEVATION_REQUIRED: 403,
  // limits and load
  TOO_MANY_REQUESTS: 429,
  TOO_FAST: 429,
  TOO_BUSY: 503,
  // wallet and accounts
  SUB_ACCOUNT_NOT_FOUND: 400,
  SUB_ACCOUNT_LOCKED: 400,
  MARGIN_BALANCE_EXCEPTION: 400,
  MARGIN_TRANSFER_FAILED: 400,
  TOO_MUCH_FUTURES_AVAILABLE: 400,
  FUTURES_BALANCE_NOT_ENOUGH: 400,
  ACCOUNT_EXCEPTION: 400,
  SUB_ACCOUNT_TRANSFER_FAILED: 400,
  ADDRESS_NOT_USED: 400,
  WITHDRAWAL_OVER_LIMIT: 400,
  API_WITHDRAW_DISABLED: 400,
  INVALID_WITHDRAW_ID: 400,
  INVALID_WITHDRAW_CANCEL_STATUS: 400,
  DUPLICATE_REQUEST: 400,
  ORDER_EXISTS: 400,
  INVALID_CLIENT_ORDER_ID: 400,
  RISK_ERROR: 400,
  NEGATIVE_ASSETS: 400,
  RECEIVE_ERROR: 400,
  DEDUCTION_ERROR: 400,
  FINANCE_ERROR: 400,
  BALANCE_NOT_ENOUGH: 400,
  // spot and margin
  INVALID_PRECISION: 400,
  INVALID_CURRENCY: 400,
  INVALID_CURRENCY_PAIR: 400,
  POC_FILL_IMMEDIATELY: 400,
  ORDER_NOT_FOUND: 400,
  CLIENT_ID_NOT_FOUND: 400,
  ORDER_CLOSED: 400,
  ORDER_CANCELLED: 400,
  QUANTITY_NOT_ENOUGH: 400,
  MARGIN_NOT_SUPPORTED: 400,
  MARGIN_BALANCE_NOT_ENOUGH: 400,
  AMOUNT_TOO_LITTLE: 400,
  AMOUNT_TOO_MUCH: 400,
  REPEATED_CREATION: 400,
  LOAN_NOT_FOUND: 400,
  LOAN_RECORD_NOT_FOUND: 400,
  NO_MATCHED_LOAN: 400,
  NOT_MERGEABLE: 400,
  NO_CHANGE: 400,
  REPAY_TOO_MUCH: 400,
  TOO_MANY_CURRENCY_PAIRS: 400,
  TOO_MANY_ORDERS: 400,
  MIXED_ACCOUNT_TYPE: 400,
  AUTO_BORROW_TOO_MUCH: 400,
  TRADE_RESTRICTED: 400,
  FOK_NOT_FILL: 400,
  INITIAL_MARGIN_TOO_LOW: 400,
  ORDER_BOOK_NOT_FOUND: 400,
  CANCEL_FAIL: 400,
  PRICE_THRESHOLD_EXCEEDED: 400,
  AUTO_TRIGGER_PRICE_LESS_LAST: 400,
  AUTO_TRIGGER_PRICE_GREATE_LAST: 400,
  REQUEST_FORBIDDEN: 403,
  // unified account modes
  USER_LIAB: 400,
  USER_PENDING_ORDERS: 400,
  MODE_SET: 400,
  USER_NOT_FOUND: 400,
  LEVERAGE_TOO_HIGH: 400,
  LEVERAGE_TOO_LOW: 400,
  // contracts
  CONTRACT_NOT_FOUND: 400,
  CONTRACT_IN_DELISTING: 400,
  CONTRACT_NO_COUNTER: 400,
  POSITION_IN_LIQUIDATION: 400,
  POSITION_IN_CLOSE: 400,
  POSITION_EMPTY: 400,
  POSITION_HOLDING: 400,
  POSITION_NOT_FOUND: 400,
  POSITION_CROSS_MARGIN: 400,
  POSITION_DUAL_MODE: 400,
  SIZE_TOO_SMALL: 400,
  SIZE_TOO_LARGE: 400,
  PRICE_TOO_DEVIATED: 400,
  PRICE_OVER_BANKRUPT: 400,
  INCREASE_POSITION: 400,
  REDUCE_EXCEEDED: 400,
  ORDER_POC_IMMEDIATE: 400,
  ORDER_FOK: 400,
  ORDER_FINISHED: 400,
  ORDER_PENDING: 400,
  RISK_LIMIT_EXCEEDED: 400,
  RISK_LIMIT_NOT_MULTIPLE: 400,
  RISK_LIMIT_TOO_HIGH: 400,
  RISK_LIMIT_TOO_LOW: 400,
  LIQUIDATE_IMMEDIATELY: 400,
  INSUFFICIENT_AVAILABLE: 400,
  REMOVE_TOO_MUCH: 400,
  USER_PORTFOLIO_MARGIN: 400,
  // server
  SERVER_ERROR: 500,
} as const satisfies Record<string, number>

export type Label = keyof typeof LABELS

/**
 * An error that collects no stack: a refusal is an answer, not a fault, and nobody reads where it came from.
 * Calling Error's own constructor would cost more than most commands do.
 */
function Answer(this: Error, message: string): void {
  this.message = message
}
Answer.prototype = Object.create(Error.prototype) as Error

export class Refusal extends (Answer as unknown as new (message: string) => Error) {
  readonly label: Label
  readonly status: number
  constructor(label: Label, message: string, status: number = LABELS[label]) {
    super(message)
    this.label = label
    this.status = status
  }
}

export function refuse(label: Label, message: string): never {
  throw new Refusal(label, message)
}

/** What is told, with 503, of a request of which nobody knows whether it was carried out. */
export const UNKNOWN_FATE =
  'the platform is stopping; whether this request took effect is known after its restart'

/** The same labels are 404 when the thing they speak of was addressed by the path. */
export function notFound(label: Label, message: string): never {
  throw new Refusal(label, message, 404)
}

export class BrokenInvariant extends Error {}

export function invariant(condition: unknown, what: string): asserts condition {
  if (condition !== true) throw new BrokenInvariant(`invariant broken: ${what}`)
}
