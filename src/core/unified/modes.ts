import { refuse } from '../../labels.ts'
import { ONE_RATE, format, negate, parseRate, rateOf, type Rate } from '../../money/amount.ts'
import { noteTransfer } from '../contract-margin/accounts.ts'
import { POINTS, UNIFIED_CONTRACTS, debtOf } from '../contract-margin/cash.ts'
import { contractName, spotOf } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { mainIdOf } from '../tables/users.ts'
import {
  MODE_SETTINGS,
  holdsContracts,
  SETTINGS_OF,
  type MarginAccount,
  type Mode,
  type ModeSetting,
  type ModeSettings,
} from '../tables/unified/accounts.ts'
import { requireShared, requireUnified } from './accounts.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import type { LoanTerms } from '../tables/world/unified.ts'
import { CASH, payContractDebt } from './contracts.ts'
import { keepCovered } from './guard.ts'
import { requireIsolated } from './loans.ts'

export interface ModeChange {
  readonly user_id: number
  readonly mode: Mode
  readonly settings: Readonly<Record<ModeSetting, boolean | null>>
}
/** Switches an account's mode, or settings within it. */
export function setMode(ctx: Ctx, input: ModeChange): null {
  const { state } = ctx
  const account = state.margin.of(input.user_id)
  const { mode } = input
  const given = MODE_SETTINGS.filter((name) => input.settings[name] !== null)
  const allowed = SETTINGS_OF[mode]
  for (const name of given)
    if (!allowed.includes(name))
      refuse(
        'INVALID_PARAM_VALUE',
        `settings.${name}: ${mode} mode has no such setting; it has ${allowed.length === 0 ? 'none' : allowed.join(', ')}`,
      )
  for (const name of ['usdt_futures', 'options'] as const)
    if (mode === 'multi_currency' && account.settings[name] === true && input.settings[name] === false)
      refuse(
        'INVALID_PARAM_VALUE',
        `settings.${name}: once on it can't be switched off in multi_currency mode`,
      )
  const settings: ModeSettings = Object.fromEntries(
    allowed.map((name) => [name, input.settings[name] ?? account.settings[name] ?? false]),
  )
  const changed = allowed.some((name) => settings[name] !== (account.settings[name] ?? false))
  if (account.mode === mode && !changed)
    refuse('MODE_SET', `mode: the account is in ${mode} mode already, with these settings`)
  if (account.mode !== mode) checkSwitch(state, account, mode)
  const [held, holds] = [holdsContracts(account), holdsContracts({ mode, settings })]
  // What positions need differs from mode to mode.
  if (held !== holds || (holds && account.mode !== mode)) {
    if (held) payContractDebt(ctx, account.user_id, 'unified_mode')
    checkContracts(state, account.user_id)
  }
  if (holds && !held) moveContractCash(ctx, account.user_id)
  changeCovered(ctx, { ...account, mode, settings }, 'settings')
  return null
}
function checkSwitch(state: State, account: MarginAccount, mode: Mode): void {
  const userId = account.user_id
  if ((mode === 'classic' || mode === 'single_currency') && state.margin.owes(userId, UNIFIED.scope)) {
    const { currency } = state.margin.loansOf(userId).find(({ scope }) => scope === UNIFIED.scope)!
    refuse(
      'USER_LIAB',
      `mode: the account owes ${currency}; POST /unified/loans repays it, then ${mode} is possible`,
    )
  }
  const open = state.spot.openOrders(userId).find((order) => order.account !== 'spot')
  if (open !== undefined)
    refuse(
      'USER_PENDING_ORDERS',
      `mode: order ${open.id} of the ${open.account} account is open; cancel such orders before switching`,
    )
}

/** Positions and orders of contracts in USDT are the unified account's, or they are not: nothing may hang between. */
function checkContracts(state: State, userId: number): void {
  const { futures } = state
  const { account } = UNIFIED_CONTRACTS
  if (futures.positions.holds(userId, account))
    refuse('POSITION_HOLDING', 'mode: there is a position in a contract settled in usdt; close it first')
  const open = futures.openPairs(userId).find((id) => id.startsWith(`${account}/`))
  if (open !== undefined)
    refuse('USER_PENDING_ORDERS', `mode: an order in ${open} is open; cancel such orders before switching`)
  if (debtOf(state, userId, UNIFIED_CONTRACTS) < 0n)
    refuse(
      'USER_LIAB',
      'mode: losses in contracts settled in usdt are still owed; add money to pay them first',
    )
}
/** What contracts in USDT had of their own is the unified account's from now on. */
function moveContractCash(ctx: Ctx, userId: number): void {
  const { state } = ctx
  const from = { owner: userId, name: contractName(UNIFIED_CONTRACTS.group, UNIFIED_CONTRACTS.settle) }
  for (const currency of [CASH, POINTS]) {
    const amount = state.ledger.balance(userId, from.name, currency)
    if (amount <= 0n) continue
    state.ledger.post(ctx, {
      kind: 'perp_out',
      ref: 'unified_mode',
      lines: move(from, spotOf(userId), currency, amount),
    })
    noteTransfer(ctx, UNIFIED_CONTRACTS, userId, currency, negate(amount))
  }
}

const changeCovered = (ctx: Ctx, account: MarginAccount, what: string): void =>
  keepCovered(ctx.state, account.user_id, UNIFIED.scope, what, () =>
    ctx.tx.put(ctx.state.margin.table, account),
  )

export interface CollateralChange {
  readonly user_id: number
  readonly collateral_type: 0 | 1
  readonly enable_list: readonly string[]
  readonly disable_list: readonly string[]
}
/** Which currencies count; it acts at once. The lists mean nothing when all of them do. */
export function setCollateral(ctx: Ctx, input: CollateralChange): null {
  const { state } = ctx
  const account = requireShared(state, input.user_id)
  const names = (list: readonly string[]): string[] => list.map((name) => state.world.currency(name).currency)
  if (input.collateral_type === 0) {
    changeCovered(ctx, { ...account, collateral_type: 0, not_collateral: [] }, 'collateral_type')
    return null
  }
  const enabled = names(input.enable_list)
  const disabled = names(input.disable_list)
  const both = enabled.find((name) => disabled.includes(name))
  if (both !== undefined)
    refuse('INVALID_PARAM_VALUE', `enable_list, disable_list: ${both} is in both; name it once`)
  const not_collateral = [
    ...new Set([...account.not_collateral.filter((name) => !enabled.includes(name)), ...disabled]),
  ].sort()
  changeCovered(ctx, { ...account, collateral_type: 1, not_collateral }, 'disable_list')
  return null
}

export const minLeverage = ONE_RATE
/** Undefined when it is fine, else why not. */
function wrongLeverage(
  terms: LoanTerms,
  leverage: Rate,
): 'LEVERAGE_TOO_LOW' | 'LEVERAGE_TOO_HIGH' | undefined {
  if (leverage < minLeverage) return 'LEVERAGE_TOO_LOW'
  return leverage > terms.maxLeverage ? 'LEVERAGE_TOO_HIGH' : undefined
}
export function readLeverage(text: string): Rate {
  const leverage = parseRate(text)
  if (leverage === undefined)
    refuse('INVALID_PARAM_VALUE', `leverage: "${text}" is not a decimal such as "3"`)
  return leverage
}
/** Own leverage of one currency: what is owed in it needs 1 / leverage, or the tier's where that is more. */
export function setLeverage(ctx: Ctx, input: { user_id: number; currency: string; leverage: string }): null {
  const { state } = ctx
  const account = requireShared(state, input.user_id)
  const { currency } = state.world.currency(input.currency)
  const terms = lentCurrency(state, currency)
  const leverage = readLeverage(input.leverage)
  const wrong = wrongLeverage(terms, leverage)
  if (wrong !== undefined)
    refuse(
      wrong,
      `leverage: ${input.leverage} is not from ${format(minLeverage)} to ${format(terms.maxLeverage)}, the range of ${currency}`,
    )
  const changed = { ...account, leverage: { ...account.leverage, [currency]: format(leverage) } }
  changeCovered(ctx, changed, 'leverage')
  return null
}
export function lentCurrency(state: State, currency: string): LoanTerms {
  return (
    state.world.loanTerms(currency) ??
    refuse(
      'INVALID_CURRENCY',
      `currency: ${currency} is not lent here; GET /unified/currencies lists what is`,
    )
  )
}
/** The same for every currency; those it does not fit keep theirs and are told why. */
export function setAllLeverage(
  ctx: Ctx,
  input: { user_id: number; leverage: string },
): { currency: string; reason: string }[] {
  const { state } = ctx
  const account = requireShared(state, input.user_id)
  const leverage = readLeverage(input.leverage)
  const failed: { currency: string; reason: string }[] = []
  const own: Record<string, string> = { ...account.leverage }
  for (const currency of state.world.loanCurrencyNames) {
    const reason = wrongLeverage(state.world.loanTerms(currency)!, leverage)
    if (reason === undefined) own[currency] = format(leverage)
    else failed.push({ currency, reason })
  }
  changeCovered(ctx, { ...account, leverage: own }, 'leverage')
  return failed
}

/** Delta-neutral trading is for accounts of a high tier in multi_currency mode. */
const DELTA_NEUTRAL_VIP = 4
export function setDeltaNeutral(ctx: Ctx, input: { user_id: number; enabled: boolean }): null {
  const { state, tx } = ctx
  const account = requireUnified(state, input.user_id)
  const { vip } = state.users.must(mainIdOf(state.users.must(input.user_id)))
  if (input.enabled && (vip < DELTA_NEUTRAL_VIP || account.mode !== 'multi_currency'))
    refuse(
      'FORBIDDEN',
      `enabled: needs VIP ${DELTA_NEUTRAL_VIP} or above and multi_currency mode; this account has VIP ${vip} and ${account.mode}`,
    )
  tx.put(state.margin.table, { ...account, delta_neutral: input.enabled })
  return null
}

/** Leverage of an isolated account, and whether its orders repay by themselves. */
export function setPairLeverage(
  ctx: Ctx,
  input: { user_id: number; currency_pair: string; leverage: string },
): null {
  const { state, tx } = ctx
  const market = state.world.market(input.currency_pair)
  const config = requireIsolated(state, market.id)
  const leverage = readLeverage(input.leverage)
  const most = rateOf(config.tiers[0]!.leverage)
  if (leverage < PAIR_LEVERAGE_MIN)
    refuse('LEVERAGE_TOO_LOW', `leverage: ${input.leverage} is below ${format(PAIR_LEVERAGE_MIN)}`)
  if (leverage > most)
    refuse('LEVERAGE_TOO_HIGH', `leverage: ${input.leverage} is above the ${format(most)} of ${market.id}`)
  const account = state.margin.of(input.user_id)
  const pair_leverage = { ...account.pair_leverage, [market.id]: format(leverage) }
  keepCovered(state, input.user_id, market.id, `leverage: ${input.leverage}`, () =>
    tx.put(state.margin.table, { ...account, pair_leverage }),
  )
  return null
}
const PAIR_LEVERAGE_MIN = rateOf('2')
export function setAutoRepay(ctx: Ctx, input: { user_id: number; on: boolean }): null {
  const { state, tx } = ctx
  tx.put(state.margin.table, { ...state.margin.of(input.user_id), auto_repay: input.on })
  return null
}
