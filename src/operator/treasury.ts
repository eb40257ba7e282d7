import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import { id, object, oneOf, positiveDecimal, text } from '../api/fields.ts'
import { array, decimalText, int64, nullable, shape, str } from '../api/shapes.ts'
import { currencyField } from '../api/wallet.ts'
import { PLATFORM, insuranceName, type PlatformAccountName } from '../core/ledger/accounts.ts'
import type { State } from '../core/state.ts'
import { EARNINGS, payableOf } from '../core/wallet/treasury.ts'
import { netOf } from '../core/withdrawals/send.ts'
import { format, parseAmount, type Amount } from '../money/amount.ts'

/** The platform's own money of each currency that it has or had any of. */
function ownMoney(state: State) {
  const { ledger, world } = state
  return world.allCurrencies
    .map(({ currency }) => {
      const balance = (name: PlatformAccountName): string => format(ledger.balance(PLATFORM, name, currency))
      return {
        currency,
        fees: balance('fees'),
        fees_payable: format(payableOf(state, 'fees', currency)),
        interest: balance('interest'),
        interest_payable: format(payableOf(state, 'interest', currency)),
        network_fees: balance('network_fees'),
        equity: balance('equity'),
        insurance: balance(insuranceName('unified')),
        insurance_margin: balance(insuranceName('margin')),
        lending_pool: balance('lending.pool'),
      }
    })
    .filter(({ currency: _currency, ...figures }) => Object.values(figures).some((figure) => figure !== '0'))
}

/** What withdrawals that were not sent yet will take out of a chain's hot wallet. */
function owedOn({ wallet, world }: State, chain: string): Map<string, Amount> {
  const sums = new Map<string, Amount>()
  for (const withdrawal of wallet.withdrawals.unsettled(chain)) {
    if (withdrawal.txid !== '') continue
    const before = sums.get(withdrawal.currency) ?? 0n
    sums.set(withdrawal.currency, (before + netOf(withdrawal)) as Amount)
  }
  const { native } = world.mustChain(chain)
  if (!sums.has(native)) sums.set(native, 0n as Amount)
  return sums
}
async function hotWallet(desk: Desk, chain: string) {
  let held: Readonly<Record<string, string>> | undefined
  let error = ''
  try {
    held = await desk.chains.port(chain).hotWallet()
  } catch (cause) {
    error = `the chain did not answer: ${(cause as Error).message.split('\n', 1)[0]!}`
  }
  const owed = await desk.core.read((state) => owedOn(state, chain))
  const currencies = new Set([...Object.keys(held ?? {}), ...owed.keys()])
  return [...currencies].sort().map((currency) => {
    const waiting = owed.get(currency) ?? (0n as Amount)
    const has = held === undefined ? undefined : parseAmount(held[currency] ?? '0')!
    return {
      chain,
      currency,
      held: has === undefined ? null : format(has),
      waiting: format(waiting),
      short: has === undefined ? null : format((has < waiting ? waiting - has : 0n) as Amount),
      error,
    }
  })
}

export const treasuryEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/treasury',
    summary: "The platform's own money, and what hot wallets hold beside what waits to be sent from them",
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: shape({
      currencies: array(
        shape({
          currency: str,
          fees: decimalText,
          fees_payable: decimalText,
          interest: decimalText,
          interest_payable: decimalText,
          network_fees: decimalText,
          equity: decimalText,
          insurance: decimalText,
          insurance_margin: decimalText,
          lending_pool: decimalText,
        }),
      ),
      hot_wallets: array(
        shape({
          chain: str,
          currency: str,
          held: nullable(decimalText),
          waiting: decimalText,
          short: nullable(decimalText),
          error: str,
        }),
      ),
    }),
    refuses: [],
    handle: async ({ desk }) => {
      const { chains, currencies } = await desk.core.read((state) => ({
        chains: state.world.allChains.map(({ chain }) => chain).sort(),
        currencies: ownMoney(state),
      }))
      const wallets = await Promise.all(chains.map((chain) => hotWallet(desk, chain)))
      return { currencies, hot_wallets: wallets.flat() }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/treasury/payouts',
    summary: "Pays earned fees or interest to a main account, which withdraws them under everybody's rules",
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    body: object({
      from: oneOf(...EARNINGS),
      currency: currencyField,
      amount: positiveDecimal(),
      user_id: id(),
      reason: text({ max: 200 }),
    }),
    status: 200,
    reply: shape({ tx_id: int64 }),
    refuses: ['USER_NOT_FOUND', 'INVALID_CURRENCY', 'BALANCE_NOT_ENOUGH'],
    handle: async ({ desk, operator, body }) => {
      const { tx_id } = await desk.core.submit('treasury.payout', { ...body, actor: operator })
      return { tx_id }
    },
  }),
]
