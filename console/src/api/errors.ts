/** Refusals of the platform, and how they are told to people. */
export interface Refused {
  readonly status: number
  readonly label: string
  readonly message: string
  /** Seconds; NaN: it was not said. */
  readonly retryAfter?: number
}
export class ApiError extends Error implements Refused {
  readonly status: number
  readonly label: string
  readonly retryAfter: number
  constructor({ status, label, message, retryAfter = NaN }: Refused) {
    super(message)
    this.status = status
    this.label = label
    this.retryAfter = retryAfter
  }
}

/** What the label means in a sentence, and what to do. The platform's own message stands beside it. */
const SENTENCES: Readonly<Record<string, readonly [title: string, advice: string]>> = {
  OFFLINE: [
    'The platform does not answer',
    'What you see is as of the last answer. It is tried again by itself.',
  ],
  INVALID_CREDENTIALS: [
    'Name, password or code is wrong',
    'Look at them again; after some wrong tries there is a pause.',
  ],
  SECOND_FACTOR_REQUIRED: ['A code is needed', 'Type the six digits of your authenticator app.'],
  ELEVATION_REQUIRED: ['Please show again that it is you', 'This needs a code of the last five minutes.'],
  TOO_MANY_REQUESTS: ['Too many requests', 'Wait a few seconds, then try again.'],
  TOO_FAST: ['Too fast', 'Wait a few seconds, then try again.'],
  TOO_BUSY: ['The platform is busy', 'Try again in a moment.'],
  FORBIDDEN: ['You may not do this', 'The account or role that is signed in has no right to it.'],
  READ_ONLY: ['Reading only', 'What is signed in may look, not change.'],
  ACCOUNT_LOCKED: ['The account is locked', 'An operator can unlock it.'],
  SUB_ACCOUNT_LOCKED: ['The sub-account is locked', 'Unlock it first.'],
  BALANCE_NOT_ENOUGH: ['Not enough balance', 'Take less, cancel orders that hold it, or bring money in.'],
  MARGIN_BALANCE_NOT_ENOUGH: ['Not enough margin', 'Take less, or bring in collateral.'],
  INITIAL_MARGIN_TOO_LOW: ['The margin would be too low', 'Take less, repay, or bring in collateral.'],
  INVALID_PRECISION: ['Too many decimals', 'Use fewer decimals.'],
  AMOUNT_TOO_LITTLE: ['Too little', 'Take at least the minimum.'],
  AMOUNT_TOO_MUCH: ['Too much', 'Take at most the maximum.'],
  PRICE_THRESHOLD_EXCEEDED: ['The price is out of bounds', 'Take a price nearer to the last one.'],
  POC_FILL_IMMEDIATELY: [
    'It would trade at once',
    'A post-only order only waits in the book: move its price away.',
  ],
  FOK_NOT_FILL: [
    'It can’t be filled whole',
    'The book has not enough at this price: take less or a worse price.',
  ],
  ORDER_NOT_FOUND: ['No such order', 'It may have ended; look at the history.'],
  ORDER_CLOSED: ['The order has ended', 'Look at the history.'],
  ORDER_CANCELLED: ['The order was cancelled', 'Look at the history.'],
  ADDRESS_NOT_USED: [
    'This address is not saved',
    'Save it in the address book first; it may have to cool down.',
  ],
  WITHDRAWAL_OVER_LIMIT: [
    'Over the limit of withdrawals',
    'Take less, or wait until the window has moved on.',
  ],
  API_WITHDRAW_DISABLED: ['Withdrawals are off', 'An operator has closed them for this account.'],
  USER_LIAB: ['There are debts', 'Repay them first.'],
  USER_PENDING_ORDERS: ['There are open orders', 'Cancel them first.'],
  USER_NOT_FOUND: ['No such account', 'Look at its number again.'],
  INVALID_CURRENCY: ['No such currency', 'Choose one of the list.'],
  INVALID_CURRENCY_PAIR: ['No such market', 'Choose one of the list.'],
  TRADE_RESTRICTED: ['The market is halted', 'Orders are taken again when it resumes.'],
  NOT_FOUND: ['Not found', 'It may be gone, or this platform has it not.'],
  SERVER_ERROR: ['The platform made a mistake', 'It is logged. Try again.'],
}

export interface Told {
  readonly title: string
  readonly message: string
  readonly advice: string
  readonly label: string
}
const sentence = (text: string): string => {
  const trimmed = text.trim()
  if (trimmed === '') return ''
  // The name of a field that has a line in it stays as it is written.
  const begun = /^\w*_/.test(trimmed) ? trimmed : trimmed[0]!.toUpperCase() + trimmed.slice(1)
  return /[.!?)]$/.test(begun) ? begun : `${begun}.`
}
export function tell(error: unknown): Told {
  if (error instanceof ApiError) {
    const [title, advice] = SENTENCES[error.label] ?? ['That was refused', 'Change it and try again.']
    const wait = Number.isFinite(error.retryAfter) ? `Try again in ${error.retryAfter} s.` : advice
    return { title, message: sentence(error.message), advice: wait, label: error.label }
  }
  const message = error instanceof Error ? error.message : String(error)
  return {
    title: 'The page made a mistake',
    message: sentence(message),
    advice: 'Load the page again.',
    label: 'PAGE_ERROR',
  }
}
