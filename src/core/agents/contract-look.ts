import { Refusal } from '../../labels.ts'
import { amountOf, type Amount } from '../../money/amount.ts'
import { unrealised } from '../contracts/position.ts'
import { cashName, noteTransfer, totalOf } from '../futures/money.ts'
import { fireWaiting } from '../futures/fire.ts'
import { PLAIN, placeOrder } from '../futures/place.ts'
import { followPrices, isRunning } from '../futures/prices.ts'
import { takeOff } from '../futures/venue.ts'
import { EQUITY } from '../ledger/accounts.ts'
import { move } from '../ledger/ledger.ts'
import type { Ctx, State } from '../state.ts'
import { AGENT_LOGINS, LOGIN_OF, opinionPrice } from '../tables/agents.ts'
import type { Order } from '../tables/exchange/order.ts'
import { contractsIn, type Contract } from '../tables/world/contracts.ts'
import { agentId, fundsOf, type AgentOrder } from './look.ts'

/** Of one look; what is beyond is left out. */
const CHANGES_MAX = 200

/** One look at one contract, as it was decided outside. */
export interface ContractLook {
  /** Its id. */
  readonly contract: string
  readonly seed: number
  /** Decimal texts: what the next look goes on from. */
  readonly basis: string
  readonly fair: string
  readonly trend: string
  readonly over: boolean
  readonly cancel: readonly number[]
  /** Amounts are contracts. */
  readonly orders: readonly AgentOrder[]
}

/** Whether agents trade in it. */
export const isTraded = (contract: Contract, at: number): boolean =>
  contract.config.status === 'trading' && isRunning(contract, at) && contract.endAt !== at

/** Carries out a look at a contract with the ordinary rules of orders, as `applyLook` does for a market. */
export function applyContractLook(ctx: Ctx, look: ContractLook): void {
  const { state, tx } = ctx
  const contract = state.world.findContract(look.contract)
  if (contract === undefined || !isTraded(contract, ctx.at)) return
  if ((opinionPrice(look.fair) ?? 0n) <= 0n)
    throw new TypeError(`"${look.fair}" is not a price to believe in`)
  const { seed, basis, fair, trend } = look
  for (const opinion of [basis, trend])
    if (!/^-?\d+(\.\d+)?$/.test(opinion)) throw new TypeError(`"${opinion}" is not a share of a price`)
  const agents = new Set(AGENT_LOGINS.map((login) => agentId(ctx, login)))
  for (const id of new Set(look.cancel.slice(0, CHANGES_MAX))) {
    const order = state.futures.orders.get(id)
    if (order?.status === 'open' && order.pair === contract.id && agents.has(order.user_id))
      forget(ctx, takeOff(ctx, order, 'cancelled'))
  }
  for (const order of look.orders.slice(0, CHANGES_MAX)) placeAgents(ctx, contract, order)
  const scenario = look.over ? null : (state.agents.contracts.get(contract.id)?.scenario ?? null)
  tx.put(state.agents.contracts, { id: contract.id, seed, basis, fair, trend, scenario })
  followPrices(ctx, [contract.id])
}
/** Ended quotes that never traded are no history: they leave the store too. */
function forget(ctx: Ctx, order: Order): void {
  if (order.status !== 'open' && order.filled === 0n) ctx.tx.remove(ctx.state.futures.orders, order.id)
}

/** An ordinary order of an ordinary account; what the market refuses is simply not placed. */
function placeAgents(ctx: Ctx, contract: Contract, [agent, side, amount, price]: AgentOrder): void {
  const user_id = agentId(ctx, LOGIN_OF[agent])
  provide(ctx, user_id, contract)
  const { group, settle, name } = contract
  const size = side === 'buy' ? amount : `-${amount}`
  const order = { ...PLAIN, contract: name, size, price, tif: agent === 'maker' ? 'poc' : 'ioc' } as const
  const mark = ctx.tx.mark()
  try {
    forget(ctx, placeOrder(ctx, { user_id, group, settle }, order))
    // A price that the next order of this look moves again was a price all the same.
    fireWaiting(ctx)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    ctx.tx.rollback(mark)
  }
}

/** What an agent's account begins with, and is given again when a tenth is left. */
const FUNDS: Readonly<Record<string, string>> = {
  'futures/usdt': '10000000',
  'futures/btc': '100',
  'delivery/usdt': '5000000',
}
/** Cash, debt and what the positions are worth. */
function balanceOf(state: State, userId: number, contract: Contract): Amount {
  let balance: bigint = totalOf(state, userId, contract)
  for (const { contract: id, size, cost } of state.futures.positions.heldBy(userId, contract.account))
    balance += unrealised(
      state.world.mustContract(id).terms,
      { size: contractsIn(size), cost },
      state.futures.markOf(id),
    )
  return balance as Amount
}
/** operator equity → an agent that has run out. */
function provide(ctx: Ctx, owner: number, contract: Contract): void {
  const { currency, account } = contract
  const text = FUNDS[account]
  const funds = text === undefined ? fundsOf(currency) : amountOf(text)
  if (balanceOf(ctx.state, owner, contract) * 10n > funds) return
  const lines = move(EQUITY, { owner, name: cashName(ctx.state, owner, contract) }, currency, funds)
  ctx.state.ledger.post(ctx, { kind: 'credit', ref: 'agents', lines })
  noteTransfer(ctx, contract, owner, currency, funds)
}

/** Where the agents rest, their orders leave the books. */
export function withdrawContractOrders(ctx: Ctx): void {
  const { users, futures } = ctx.state
  const touched = new Set<string>()
  for (const login of AGENT_LOGINS) {
    const agent = users.byLogin.get(login)
    if (agent === undefined) continue
    for (const order of futures.openOrders(agent.user_id)) {
      touched.add(order.pair)
      takeOff(ctx, order, 'cancelled')
    }
  }
  followPrices(ctx, touched)
}
