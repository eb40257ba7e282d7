import { refuse } from '../../labels.ts'
import { format, type Price } from '../../money/amount.ts'
import type { Ctx, State } from '../state.ts'
import type { PriceType } from '../tables/futures/triggers.ts'
import type { Contract } from '../tables/world/contracts.ts'
import { isDual } from './positions.ts'
import { readPrice } from './rules.ts'

/** What all orders that wait for a price have in common. */

/** Of all kinds together, in one settle account. */
export const WAITING_MAX = 200
export function checkWaitingRoom(state: State, userId: number, { account }: Contract, count = 1): void {
  if (state.futures.waiting.count(userId, account) + count > WAITING_MAX)
    refuse(
      'TOO_MANY_ORDERS',
      `at most ${WAITING_MAX} orders of an account may wait for a price; cancel some first`,
    )
}

const TEXT = /^[0-9A-Za-z_.-]{1,30}$/
/** Clients name them with and without the prefix of orders. '': nothing. */
export function readWaitingText(text: string | null, name: string): string {
  if (text === null || text === '' || text === '-') return ''
  if (TEXT.test(text)) return text
  return refuse('INVALID_PARAM_VALUE', `${name}: "${text}" must be 1 to 30 of 0-9 A-Z a-z _ - .`)
}
/** A mode of positions that is named must be the account's. */
export function checkModes(
  state: State,
  userId: number,
  { account }: Contract,
  asked: 'single' | 'dual' | null,
): void {
  const mode = isDual(state, userId, account) ? 'dual' : 'single'
  if (asked !== null && asked !== mode)
    refuse('INVALID_PARAM_VALUE', `position_mode: the account is in ${mode} mode, not ${asked}`)
}

/** A price as it is now; undefined: there is none yet. */
export function priceNow({ futures }: State, contract: string, type: PriceType): Price | undefined {
  if (type === 'last') return futures.lastPrice(contract)
  const price = type === 'mark' ? futures.markOf(contract) : futures.indexOf(contract)
  return price === 0n ? undefined : price
}
/** A price that may be waited for: of orders or of the mark, whose steps are finer. */
export function readTrigger(contract: Contract, text: string, name: string): Price {
  const price = readPrice(contract, text, name)
  if (price === 0n) refuse('INVALID_PARAM_VALUE', `${name}: "${text}" must be above 0`)
  if (price % contract.tick !== 0n && price % contract.terms.markTick !== 0n)
    refuse(
      'INVALID_PRECISION',
      `${name}: ${format(price)} is not a multiple of ${contract.shown.order_price_round} or ${contract.shown.mark_price_round}, the steps of prices of ${contract.name}`,
    )
  return price
}
/** What has been reached already would fire at once: place an order instead. */
export function checkAhead(
  trigger: Price,
  above: boolean,
  now: Price | undefined,
  name: string,
  of: string,
): void {
  if (now === undefined) return
  if (above && trigger <= now)
    refuse(
      'AUTO_TRIGGER_PRICE_GREATE_LAST',
      `${name}: ${format(trigger)} must be above ${of}, ${format(now)}; place an order at once instead`,
    )
  if (!above && trigger >= now)
    refuse(
      'AUTO_TRIGGER_PRICE_LESS_LAST',
      `${name}: ${format(trigger)} must be below ${of}, ${format(now)}; place an order at once instead`,
    )
}
export const priceWords = (type: PriceType): string => `the ${type} price`

/** Whether what is fired now could be placed at all; if not it goes on waiting, until trading does. */
export function isTrading({ state, at }: Ctx, contract: Contract): boolean {
  const { status } = contract.config
  return (
    (status === 'trading' || status === 'delisting') &&
    state.world.halt === undefined &&
    (contract.endAt === 0 || contract.endAt > at) &&
    state.futures.markOf(contract.id) !== 0n
  )
}
