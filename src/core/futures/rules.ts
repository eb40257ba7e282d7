import { notFound, refuse } from '../../labels.ts'
import {
  ONE,
  format,
  parseAmount,
  parsePrice,
  parseRate,
  type Amount,
  type Price,
} from '../../money/amount.ts'
import { bankruptcyPrice } from '../contracts/liquidation.ts'
import { isDoubtful } from '../contract-margin/believed.ts'
import { abs, valueUp } from '../contracts/terms.ts'
import type { Ctx, State } from '../state.ts'
import type { OrderRow, Side, TimeInForce } from '../tables/exchange/order.ts'
import { OrderSide, type NewAmong } from '../tables/futures/order-sides.ts'
import type { Position, PositionMode } from '../tables/futures/positions.ts'
import { UNIFIED } from '../tables/unified/loan-accounts.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import { equityOf, isCross, limitOf, nearIndex, type Prices } from './figures.ts'
import type { AccountPath, NewContractOrder } from './inputs.ts'
import { hasAccount, isSharedFor, isUnifiedFor, type Settled } from './money.ts'
import { holdingOf } from './positions.ts'
import { refuseUnpriced } from './prices.ts'
import { closable } from './venue.ts'

/** The rules that every order's figures meet, each refused with a message that says how to mend it. */

export function contractNamed(
  state: State,
  { group, settle }: Pick<AccountPath, 'group' | 'settle'>,
  name: string,
  contract = state.world.contractNamed(group, settle, name),
): Contract {
  if (contract === undefined || contract.config.status === 'delisted')
    refuse(
      'CONTRACT_NOT_FOUND',
      `contract: "${name}" is not a contract of /${group}/${settle}; GET /${group}/${settle}/contracts lists them`,
    )
  return contract
}

/** As many digits as a plain number holds exactly. */
const WHOLE_DIGITS = 15
/** Undefined where it is no plain whole number: looked at digit by digit, which is several times sooner than a pattern. */
function plainWhole(text: string): number | undefined {
  const { length } = text
  const first = text.charCodeAt(0) === MINUS ? 1 : 0
  if (length === first || length > first + WHOLE_DIGITS) return undefined
  let value = 0
  for (let i = first; i < length; i++) {
    const digit = text.charCodeAt(i) - DIGIT_0
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return first === 1 ? -value : value
}
const MINUS = 45
const DIGIT_0 = 48
/** A signed number of contracts; what is not whole is for whoever asked to refuse. */
export function parseSize(text: string, name = 'size'): { contracts: bigint; fraction: boolean } {
  const plain = plainWhole(text)
  if (plain !== undefined) return { contracts: BigInt(plain), fraction: false }
  const digits = /^([+-]?)(\d{1,18})(?:\.(\d{1,18}))?$/.exec(text)
  if (digits === null)
    refuse('INVALID_PARAM_VALUE', `${name}: "${text}" must be a whole number of contracts, such as "10"`)
  const value = BigInt(digits[2]!)
  return { contracts: digits[1] === '-' ? -value : value, fraction: /[1-9]/.test(digits[3] ?? '') }
}
export const refuseFraction = (text: string, name: string): never =>
  refuse('INVALID_PRECISION', `${name}: "${text}" has a fraction; sizes are whole contracts`)
/** Whole contracts, signed. */
export function readSize(text: string, name = 'size'): bigint {
  const { contracts, fraction } = parseSize(text, name)
  return fraction ? refuseFraction(text, name) : contracts
}
/** 0 is a market price. */
export const parseOrderPrice = (text: string, name = 'price'): Price =>
  parsePrice(text) ??
  refuse(
    'INVALID_PARAM_VALUE',
    `${name}: "${text}" must be a decimal such as "1.5", or "0" for a market order`,
  )
/** The same, of a contract. */
export const readPrice = (contract: Contract, text: string, name = 'price'): Price =>
  priceWithin(contract, parseOrderPrice(text, name), text, name)
export function priceWithin(contract: Contract, price: Price, text: string, name = 'price'): Price {
  if (price > contract.priceMax)
    refuse('INVALID_PARAM_VALUE', `${name}: "${text}" is beyond any price of ${contract.name}`)
  return price
}
export function checkTick({ tick, name: contract, shown }: Contract, price: Price, name = 'price'): void {
  if (price % tick !== 0n)
    refuse(
      'INVALID_PRECISION',
      `${name}: ${format(price)} is not a multiple of ${shown.order_price_round}, the step of prices of ${contract}`,
    )
}
const TEXT = /^t-[0-9A-Za-z_.-]{1,28}$/
export const DEFAULT_TEXT = 'api'
/** Where an order came from, when its client did not name it. */
const RESERVED: ReadonlySet<string> = new Set([DEFAULT_TEXT, 'apiv4-ws', 'web', 'app'])
export function readText(text: string | null): string {
  if (text === null || text === '' || text === '-') return DEFAULT_TEXT
  if (TEXT.test(text) || RESERVED.has(text)) return text
  return refuse(
    'INVALID_PARAM_VALUE',
    `text: "${text}" must begin with t- and go on with 1 to 28 of 0-9 A-Z a-z _ - .`,
  )
}
export function readTif(given: TimeInForce | null, price: Price | undefined): TimeInForce {
  const tif = given ?? 'gtc'
  if (price === 0n && tif !== 'ioc' && tif !== 'fok')
    refuse('INVALID_PARAM_VALUE', `tif: a market order (price 0) is ioc or fok, not ${tif}`)
  return tif
}
/** A ratio of the order's own may only be smaller than the contract's. */
export function readSlip({ slip, shown }: Contract, text: string | null): bigint {
  if (text === null) return slip
  const own = parseRate(text)
  if (own === undefined || own === 0n || own > slip)
    refuse(
      'INVALID_PARAM_VALUE',
      `market_order_slip_ratio: "${text}" must be a ratio above 0 and at most ${shown.market_order_slip_ratio}`,
    )
  return own
}
/** `size` is undefined where the position says it. */
export function readIceberg(text: string | null, size: bigint | undefined, tif: TimeInForce): bigint {
  if (text === null) return 0n
  const iceberg = abs(readSize(text, 'iceberg'))
  if (size !== undefined) {
    if (iceberg > abs(size)) refuseIceberg(text, size)
    checkIcebergSign(text, size)
  }
  if (iceberg > 0n && tif !== 'gtc' && tif !== 'poc')
    refuse('INVALID_PARAM_VALUE', `iceberg: an order of tif ${tif} never rests; leave it out`)
  return iceberg
}
/** What is shown is positive, or has the sign of the size. */
export function checkIcebergSign(text: string, size: bigint): void {
  if (size > 0n && readSize(text, 'iceberg') < 0n)
    refuse('INVALID_PARAM_VALUE', `iceberg: "${text}" is below 0, and the size ${size} is not`)
}
export const refuseIceberg = (text: string, size: bigint): never =>
  refuse('INVALID_PARAM_VALUE', `iceberg: "${text}" is more than the size ${size}`)

/** Whether it takes orders at all, by its status and its prices. */
export function checkTrading(ctx: Ctx, contract: Contract): void {
  const { state } = ctx
  const { status } = contract.config
  if (status === 'prelaunch' || status === 'circuit_breaker' || state.world.halt !== undefined)
    refuse(
      'TRADE_RESTRICTED',
      `contract: ${contract.name} takes no orders now (${state.world.halt === undefined ? status : 'all markets are halted'}); cancelling is possible`,
    )
  if (contract.endAt !== 0 && contract.endAt <= ctx.at)
    refuse('CONTRACT_IN_DELISTING', `contract: ${contract.name} has come to its end`)
  if (state.futures.markOf(contract.id) === 0n)
    refuse(
      'TRADE_RESTRICTED',
      `contract: ${contract.name} has no trusted price yet; try again when it has one`,
    )
}
/** What would open a position needs a contract that stays, with an index that can be relied on. */
export function checkOpening(ctx: Ctx, contract: Contract): void {
  if (contract.config.status === 'delisting')
    refuse('CONTRACT_IN_DELISTING', `contract: ${contract.name} is being delisted; only reducing orders pass`)
  refuseUnpriced(ctx.state, contract)
}
/** The account exists from its first money or setting on. */
export function checkAccount(state: State, userId: number, contract: Settled): void {
  refuseLocked(state, userId, contract)
  if (!hasAccount(state, userId, contract))
    refuse(
      'USER_NOT_FOUND',
      `this account has never had money in ${contract.group} ${contract.settle}; POST /wallet/transfers moves some there`,
    )
}
/** A unified account that is being liquidated does nothing by itself. */
export function refuseLocked(
  state: State,
  userId: number,
  contract: Pick<Settled, 'group' | 'settle'>,
): void {
  if (isSharedFor(state, userId, contract) && state.margin.isLocked(userId, UNIFIED.scope))
    refuse('TRADE_RESTRICTED', 'this account is being liquidated; it can not trade until that is over')
}
/** A portfolio is one risk: positions in it are cross, and one for each contract. */
export function refusePortfolio(
  state: State,
  userId: number,
  contract: Pick<Settled, 'group' | 'settle'>,
  wanted: { readonly dual?: boolean; readonly isolated?: boolean },
): void {
  if (!isUnifiedFor(state, userId, contract) || state.margin.modeOf(userId) !== 'portfolio') return
  if (wanted.isolated === true)
    refuse('USER_PORTFOLIO_MARGIN', 'isolated not supported in portfolio mode; set leverage 0 (cross)')
  if (wanted.dual === true)
    refuse('USER_PORTFOLIO_MARGIN', 'dual mode not supported in portfolio mode; set dual_mode false')
}

export function refuseLiquidating(state: State, userId: number, contract: Contract): void {
  const { accounts, positions } = state.futures
  const account = accounts.get(userId, contract.account)
  const isLiquidating = (mode: PositionMode): boolean =>
    (positions.get(userId, contract.id, mode)?.liquidating ?? 0) !== 0
  const closed =
    account?.dual === true
      ? isLiquidating('dual_long') || isLiquidating('dual_short')
      : isLiquidating('single')
  if (closed || (account !== undefined && account.liquidating !== 0))
    refuse(
      'POSITION_IN_LIQUIDATION',
      `the position in ${contract.name} is being liquidated; wait until that has ended`,
    )
}
export function checkLeast(contract: Contract, size: bigint): void {
  if (abs(size) < contract.sizeMin)
    refuse('SIZE_TOO_SMALL', `size: ${size} is below order_size_min of ${contract.name}, ${contract.sizeMin}`)
}
export function checkSize(contract: Contract, size: bigint, market: boolean): void {
  const contracts = abs(size)
  checkLeast(contract, size)
  const most = market ? contract.marketSizeMax : contract.sizeMax
  if (contracts > most)
    refuse(
      'SIZE_TOO_LARGE',
      `size: ${size} is above ${market ? 'market_order_size_max' : 'order_size_max'} of ${contract.name}, ${most}`,
    )
}
export function checkDeviation(state: State, contract: Contract, price: Price): void {
  const mark = state.futures.markOf(contract.id)
  if (abs(price - mark) * ONE > mark * contract.deviate)
    refuse(
      'PRICE_TOO_DEVIATED',
      `price: ${format(price)} is too far from the mark price ${format(mark)} of ${contract.name}; at most ${contract.shown.order_price_deviate} of it`,
    )
}
export function checkRoom(state: State, userId: number, contract: Contract): void {
  const most = contract.config.orders_limit
  if (state.futures.openCount(userId, contract.id) >= most)
    refuse('TOO_MANY_ORDERS', `at most ${most} orders may be open in ${contract.name}; cancel some first`)
}
export function checkUnused(state: State, userId: number, contract: Contract, text: string): void {
  if (!text.startsWith('t-')) return
  const open = state.futures.openWithText(userId, text, contract.account)
  if (open !== undefined)
    refuse(
      'DUPLICATE_REQUEST',
      `text: "${text}" is the text of the open order ${open.id}; nothing was placed`,
    )
}

/** The worst price at which a position may be reduced: beyond it others would pay. */
export function bankruptcyOf(
  state: State,
  contract: Contract,
  position: Position,
  prices: Prices = (id) => state.futures.markOf(id),
): Price | undefined {
  if (position.size === 0n) return undefined
  const equity = equityOf(state, position, prices)
  return bankruptcyPrice(contract.terms, holdingOf(position), prices(contract.id), equity)
}
/**
 * The same for whoever chooses the price himself: near the indices too, because a profit that he has painted on one
 * contract's mark would else pay for what he gives away in another.
 */
export function worstClose(state: State, contract: Contract, position: Position): Price | undefined {
  const one = bankruptcyOf(state, contract, position)
  // Where all marks are believed it is the same question again.
  if (!isDoubtful(state, position.user_id, contract.account)) return one
  const other = bankruptcyOf(state, contract, position, nearIndex(state))
  if (one === undefined || other === undefined) return one ?? other
  return one > other === position.size > 0n ? one : other
}
export function checkBankruptcy(
  state: State,
  contract: Contract,
  position: Position,
  side: Side,
  price: Price,
): void {
  const worst = worstClose(state, contract, position)
  if (worst === undefined || (side === 'buy' ? price <= worst : price >= worst)) return
  refuse(
    'PRICE_OVER_BANKRUPT',
    `price: ${format(price)} is beyond the bankruptcy price of the position, ${format(worst)}`,
  )
}

/** Contracts of an order that would open: what it has beyond the position that it closes first. */
export function openingPart(position: Position, side: Side, contracts: bigint, reduceOnly: boolean): bigint {
  if (reduceOnly) return 0n
  // In dual mode nothing is closed without a flag.
  const closes = position.mode === 'single' ? closable(position, side) : 0n
  return contracts > closes ? contracts - closes : 0n
}
/**
 * Contracts that an order would open if it comes to rest: those of its side that rest already close the position first.
 * Each of many may be smaller than the position, and together they would open what nobody has looked at.
 */
export function openingBeside(
  state: State,
  contract: Contract,
  position: Position,
  side: Side,
  contracts: bigint,
  replaces?: OrderRow,
): bigint {
  let beside = openingOrders(state, contract, position, side)?.contracts ?? 0n
  if (replaces !== undefined) beside -= contractsIn(replaces.left)
  const closes = (position.mode === 'single' ? closable(position, side) : 0n) - beside
  return closes <= 0n ? contracts : contracts > closes ? contracts - closes : 0n
}
/**
 * Position and opening orders of a side, this one included, within the limit of the leverage. What closes a position on
 * the other side opens nothing, whichever order does it.
 */
export function checkRiskLimit(
  state: State,
  contract: Contract,
  position: Position,
  side: Side,
  one: NewAmong,
): void {
  const { terms } = contract
  const mark = state.futures.markOf(contract.id)
  const own = side === 'buy' ? position.size > 0n : position.size < 0n
  let value: bigint = own ? valueUp(terms, abs(contractsIn(position.size)), mark) : 0n
  const among = one.price === 0n ? { ...one, price: mark } : one
  const reduces = position.mode === 'single' ? closable(position, side) : 0n
  const orders = openingOrders(state, contract, position, side) ?? new OrderSide(side)
  value += orders.openingValue(contract, reduces, among)
  // The first tier is for every leverage.
  if (value <= terms.tiers[0]!.limit && (position.risk_limit === 0n || value <= position.risk_limit)) return
  const limit = limitOf(contract, position)
  if (value > limit)
    refuse(
      'RISK_LIMIT_EXCEEDED',
      `position and orders would be worth ${format(value as Amount)}, above the risk limit ${format(limit)} of this leverage; a lower leverage has a higher limit`,
    )
}
/** Of what is held and ordered on the larger side. */
export function committedValue(state: State, contract: Contract, position: Position): Amount {
  const { terms } = contract
  const mark = state.futures.markOf(contract.id)
  const of = (side: Side): bigint => {
    const own = side === 'buy' ? position.size > 0n : position.size < 0n
    const value: bigint = own ? valueUp(terms, abs(contractsIn(position.size)), mark) : 0n
    return value + (openingOrders(state, contract, position, side)?.valueOf(contract) ?? 0n)
  }
  const [buy, sell] = [of('buy'), of('sell')]
  return (buy > sell ? buy : sell) as Amount
}
/** Those that would add to this position: in dual mode each side has its own. */
function openingOrders(
  { futures }: State,
  { id }: Contract,
  { user_id, mode }: Position,
  side: Side,
): OrderSide | undefined {
  const own = mode === 'single' || (side === 'buy') === (mode === 'dual_long')
  return own ? futures.sides.of(user_id, id, side) : undefined
}

export function checkMarginMode(position: Position, asked: NewContractOrder['pos_margin_mode']): void {
  const mode = isCross(position) ? 'cross' : 'isolated'
  if (asked !== null && asked !== mode)
    refuse('INVALID_PARAM_VALUE', `pos_margin_mode: the position is ${mode}, not ${asked}; change it first`)
}

/** An order of an account that can still change, by id or text. */
export function openOrderOf(state: State, path: AccountPath, name: number | string): OrderRow {
  const { futures } = state
  const id = typeof name === 'number' ? name : /^\d+$/.test(name) ? Number(name) : undefined
  const account = `${path.group}/${path.settle}`
  const order =
    id === undefined ? futures.openWithText(path.user_id, String(name), account) : futures.orders.get(id)
  if (order?.user_id !== path.user_id || !order.pair.startsWith(`${account}/`))
    return notFound('ORDER_NOT_FOUND', `this account has no order ${name} in ${path.group} ${path.settle}`)
  if (order.status !== 'open')
    refuse('ORDER_FINISHED', `order ${order.id} has ended already (${order.finish_as})`)
  return order
}
export const readAmount = (text: string, name: string): Amount =>
  parseAmount(text) ?? refuse('INVALID_PARAM_VALUE', `${name}: "${text}" is not a decimal such as "1.5"`)
