import { EQUITY, spotOf } from '../ledger/accounts.ts'
import { refuse } from '../../labels.ts'
import { ZERO, add, amountOf, format, roundDown, type Amount } from '../../money/amount.ts'
import { nextId } from '../counters.ts'
import { mainOf } from '../family.ts'
import type { Line } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { hourOf } from '../time.ts'
import { guardOutflow } from '../unified/guard.ts'

const TOKEN = 'GT'
/** Worth in USDT below which a balance is dust. */
export const DUST_USDT = amountOf('1')
/**
 * Worth in USDT that a family may turn in an hour: at the index and without a fee it is for what is left over, and
 * money that was cut small would be exchanged at a price that is not the market's.
 */
const FAMILY_HOUR_USDT = amountOf('100')
/** What the platform does not turn: its token itself, cards, and money. */
const NEVER = new Set([TOKEN, 'POINT', 'USDT'])

export interface Dust {
  readonly currency: string
  readonly amount: Amount
  /** At index prices, rounded down to the token's precision. */
  readonly gt: Amount
  readonly usdt: Amount
}
/** The spot balances of an account that may be turned. */
export function dustOf(state: State, userId: number): Dust[] {
  const token = state.world.findCurrency(TOKEN)
  if (token === undefined) return []
  const dust: Dust[] = []
  for (const { currency, amount } of state.ledger.named(userId, 'spot')) {
    if (amount <= 0n || NEVER.has(currency)) continue
    // What has no price that can be relied on is not known to be dust, and nothing is given for it.
    if (state.prices.quote(currency).firm === 0n || state.prices.quote(TOKEN).firm === 0n) continue
    const usdt = state.prices.worth(currency, amount)
    if (usdt > DUST_USDT) continue
    const gt = roundDown(state.prices.fromUsdt(TOKEN, usdt), token.precision)
    if (gt > 0n) dust.push({ currency, amount, gt, usdt })
  }
  return dust.sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

/** The user's dust → the platform, and the token for it → the user, out of operator equity: as far as the hour goes. */
export function convertDust(
  ctx: Ctx,
  input: { user_id: number; currency: readonly string[]; is_all: boolean },
): null {
  const { state, tx, at } = ctx
  state.prices.requireFirm(TOKEN, 'nothing can be converted into it')
  const dust = dustOf(state, input.user_id)
  const named = input.currency.map((name) => state.world.currency(name).currency)
  for (const name of named)
    if (state.ledger.balance(input.user_id, 'spot', name) > 0n)
      state.prices.requireFirm(name, "it can't be converted")
  for (const name of named)
    if (!dust.some(({ currency }) => currency === name))
      refuse(
        'INVALID_PARAM_VALUE',
        `currency: ${name} is no small balance of this account; GET /wallet/small_balance lists them`,
      )
  const wanted = input.is_all ? dust : dust.filter(({ currency }) => named.includes(currency))
  if (wanted.length === 0)
    refuse('INVALID_PARAM_VALUE', 'currency: this account has no small balances to convert')
  const chosen = withinHour(ctx, input.user_id, wanted)
  const user = spotOf(input.user_id)
  for (const { currency, amount, gt } of chosen) {
    guardOutflow(state, input.user_id, 'spot', currency, amount)
    const id = nextId(tx, state.counters, 'small_balance')
    const lines: Line[] = [
      { ...user, currency, amount: (ZERO - amount) as Amount, kind: 'dust_swap_dctd' },
      { ...EQUITY, currency, amount },
      { ...EQUITY, currency: TOKEN, amount: (ZERO - gt) as Amount },
      { ...user, currency: TOKEN, amount: gt, kind: 'dust_swap_gt_add' },
    ]
    const ref = `small_balance:${id}`
    state.ledger.post(ctx, { kind: 'convert_small', ref, lines })
    const ordinal = (name: string): number => nextId(tx, state.counters, `g:${input.user_id}${name}`)
    tx.put(state.wallet.smallBalances, {
      id,
      user_id: input.user_id,
      currency,
      amount,
      gt_amount: gt,
      at,
      ordinal: ordinal(''),
      currency_ordinal: ordinal(`:${currency}`),
    })
  }
  return null
}
/** Counts what the family turns, and leaves out what would be more than an hour's. */
function withinHour({ state, tx, at }: Ctx, userId: number, dust: readonly Dust[]): Dust[] {
  const main = state.users.must(mainOf(state, userId))
  const hour = hourOf(at)
  const before = main.settings.small_balances
  let usdt = before?.hour === hour ? amountOf(before.usdt) : ZERO
  const chosen = dust.filter((one) => {
    const after = add(usdt, one.usdt)
    if (after > FAMILY_HOUR_USDT) return false
    usdt = after
    return true
  })
  if (chosen.length === 0)
    refuse(
      'AMOUNT_TOO_MUCH',
      `small balances worth ${format(usdt)} USDT were converted in this hour by this account, its main account and its sub-accounts; at most ${format(FAMILY_HOUR_USDT)} are. Try again in the next hour`,
    )
  const settings = { ...main.settings, small_balances: { hour, usdt: format(usdt) } }
  tx.put(state.users.table, { ...main, settings })
  return chosen
}
