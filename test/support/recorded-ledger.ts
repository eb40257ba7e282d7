import { amountOf } from '../../src/money/amount.ts'
import type { LedgerInput, LedgerOutput } from './linear-ledger.ts'
import { isMissing, type Caller, type Outcome } from './recorded-call.ts'
import { ETH_OUTSIDE } from './wallet.ts'

/** The model's operations as calls of the API. An id's first letter says what it is of: c transfer, w withdrawal, t- order. */
export const CURRENCY = 'ETH'
/** Nobody buys at this price, so an order at it only locks money. */
const FAR = { currency_pair: 'ETH_USDT', side: 'sell', price: '3100' } as const

export function sendLedger(caller: Caller, url: string, input: LedgerInput): Promise<Outcome> {
  switch (input.kind) {
    case 'read':
      return input.account === 'main'
        ? caller.call(url, 'GET', '/spot/accounts', { query: { currency: CURRENCY } })
        : caller.call(url, 'GET', '/wallet/sub_account_balances', { query: { sub_uid: input.account } })
    case 'cancel':
      return caller.call(url, 'DELETE', `/spot/orders/${input.id}`, {
        query: { currency_pair: FAR.currency_pair },
      })
    case 'find':
      if (input.id.startsWith('c'))
        return caller.call(url, 'GET', '/wallet/order_status', { query: { client_order_id: input.id } })
      if (input.id.startsWith('w'))
        return caller.call(url, 'GET', '/wallet/withdrawals', { query: { withdraw_order_id: input.id } })
      return caller.call(url, 'GET', `/spot/orders/${input.id}`, {
        query: { currency_pair: FAR.currency_pair },
      })
    case 'move': {
      const { id, from, to } = input
      const amount = decimal(input.amount)
      if (id.startsWith('w')) {
        const body = {
          currency: CURRENCY,
          chain: 'ETH',
          address: ETH_OUTSIDE,
          amount,
          withdraw_order_id: id,
        }
        return caller.call(url, 'POST', '/withdrawals', { body })
      }
      if (id.startsWith('t-'))
        return caller.call(url, 'POST', '/spot/orders', { body: { ...FAR, amount, text: id } })
      return caller.call(url, 'POST', '/wallet/sub_account_transfers', {
        body: {
          sub_account: from === 'main' ? to : from,
          direction: from === 'main' ? 'to' : 'from',
          currency: CURRENCY,
          amount,
          client_order_id: id,
        },
      })
    }
  }
}
/** What it says in the model's words; undefined: nothing that the rules provide for. */
export function heardLedger(
  input: LedgerInput,
  outcome: Outcome & { is: 'ok' | 'refused' },
): LedgerOutput | undefined {
  const label = outcome.is === 'refused' ? outcome.label : undefined
  switch (input.kind) {
    case 'move':
      if (outcome.is === 'ok') return { is: 'ok' }
      if (label === 'DUPLICATE_REQUEST') return { is: 'duplicate' }
      return label === 'BALANCE_NOT_ENOUGH' ? { is: 'short' } : undefined
    case 'cancel':
      if (outcome.is === 'ok') return { is: 'ok' }
      return isMissing(label) ? { is: 'gone' } : undefined
    case 'find': {
      if (outcome.is === 'refused') return isMissing(label) ? { is: 'none' } : undefined
      if (Array.isArray(outcome.body)) return { is: outcome.body.length === 0 ? 'none' : 'there' }
      return { is: outcome.body.status === 'cancelled' ? 'cancelled' : 'there' }
    }
    case 'read': {
      if (outcome.is === 'refused') return undefined
      const [row] = outcome.body
      const amount = input.account === 'main' ? row?.available : row.available[CURRENCY]
      return { is: 'amount', amount: amountOf(amount ?? '0') }
    }
  }
}

export const decimal = (amount: bigint): string => {
  const digits = amount.toString().padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '')
}
