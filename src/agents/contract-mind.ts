import { agentsSetting } from '../core/agents/commands.ts'
import { isTraded, type ContractLook } from '../core/agents/contract-look.ts'
import { LOGIN_OF, MAKER, type AgentContract, type AgentName, type Scenario } from '../core/tables/agents.ts'
import type { State } from '../core/state.ts'
import { contractsIn, type Contract } from '../core/tables/world/contracts.ts'
import { format, type Price } from '../money/amount.ts'
import { Dice, hashText, opinionText } from './dice.ts'
import { number, tend, trade, SPREAD, type Looking, type Moment, type Place } from './ladder.ts'
import { Sketch } from './sketch.ts'

/** How far above its base a contract is as a rule, how far it strays, and in how many seconds it comes back. */
const BASIS = 0.0001
const STRAYS = 0.0003
const BACK_SECONDS = 7_200
/** What dated contracts are dearer by, for each year that is left. */
const YEARLY = 0.04
const YEAR_MICROS = 365 * 86_400e6
/** The maker leans its quotes by so much for each so many dollars that it holds. */
const LEAN = 0.0005
const LEAN_DOLLARS = 2_000_000
/** Above this the others close a half. */
const HOLD_DOLLARS = 200_000

/** Before the first look at it. */
function firstRow(id: string, seed: number, fair: number): AgentContract {
  return {
    id,
    seed: (hashText(id) ^ seed) >>> 0,
    basis: opinionText(BASIS),
    fair: opinionText(fair),
    trend: '0',
    scenario: null,
  }
}
/** What the agents of the spot market take for the price of what it follows. */
export function baseOpinion(
  { agents, world }: Pick<State, 'agents' | 'world'>,
  { base, config }: Contract,
): number | undefined {
  const opinion = agents.markets.get(`${base}_USDT`)?.fair
  const dollars = config.underlying.endsWith('_USD') ? Number(world.exchangeRates['USD'] ?? 1) : 1
  return opinion === undefined ? undefined : Number(opinion) * dollars
}
/** So much more than its base a dated contract is worth. */
export const carry = ({ expireAt }: Contract, at: number): number =>
  expireAt === 0 ? 0 : (YEARLY * Math.max(0, expireAt - at)) / YEAR_MICROS

/**
 * One look at one contract: its distance from the base moves, the maker follows it, the others trade. As a look at a
 * market it is a function of the seed, the book, and its own time. Null: nothing to look at.
 */
export function lookAtContract(
  state: State,
  id: string,
  moment: Moment,
  begun?: Scenario,
): ContractLook | null {
  const contract = state.world.findContract(id)
  const setting = agentsSetting({ state })
  if (contract === undefined || setting === undefined || !isTraded(contract, moment.at)) return null
  const base = baseOpinion(state, contract)
  if (base === undefined) return null
  const { at, elapsed } = moment
  const row = state.agents.contracts.get(id) ?? firstRow(id, setting.seed, base * (1 + BASIS))
  const dice = new Dice(row.seed)
  const kept = Math.exp(-elapsed / BACK_SECONDS)
  const basis = BASIS + (Number(row.basis) - BASIS) * kept + STRAYS * Math.sqrt(1 - kept * kept) * dice.bell()
  const scenario = begun ?? row.scenario
  const running = scenario !== null && at < scenario.until ? scenario : null
  const fair = base * (1 + basis + carry(contract, at) + strayed(running, at))
  const trend = Number(row.trend) * 0.8 + (fair / Number(row.fair) - 1) * 0.2

  const agent = (name: AgentName): number => state.users.byLogin.get(LOGIN_OF[name])!.user_id
  const held = (name: AgentName): number => heldDollars(state, agent(name), contract, fair)
  const open = state.futures.openOrders(state.users.byLogin.get(MAKER)!.user_id, id)
  const sketch = new Sketch(state.futures.book(id))
  const looking: Looking = { ...moment, place: placeOf(contract), open, dice, sketch }
  tend(looking, fair * (1 - (LEAN * held('maker')) / LEAN_DOLLARS), running?.name === 'thin_book')
  trade(looking, fair, trend)
  for (const name of ['noise', 'momentum'] as const) closeHalf(looking, name, held(name), fair)
  return {
    contract: id,
    seed: dice.state,
    basis: opinionText(basis),
    fair: opinionText(fair),
    trend: opinionText(trend),
    over: running === null,
    cancel: sketch.cancelled,
    orders: sketch.placed,
  }
}
/** Away within a quarter of its time, back within the last. */
function strayed(scenario: Scenario | null, at: number): number {
  if (scenario?.name !== 'basis') return 0
  const part = (at - scenario.from) / Math.max(1, scenario.until - scenario.from)
  return scenario.change * Math.max(0, Math.min(1, part * 4, (1 - part) * 4))
}
/** Below zero when it is short. */
function heldDollars(state: State, userId: number, { id, terms }: Contract, price: number): number {
  const size = state.futures.positions.get(userId, id, 'single')?.size
  if (size === undefined || size === 0n) return 0
  return Number(contractsIn(size)) * (terms.kind === 'linear' ? number(terms.q) * price : 1)
}
/** Who has gathered too much takes what there is to get rid of a half. */
function closeHalf({ place, sketch }: Looking, name: 'noise' | 'momentum', held: number, fair: number): void {
  if (Math.abs(held) <= HOLD_DOLLARS) return
  const amount = place.amount(Math.abs(held) / 2, fair)
  const far = held > 0 ? -20 * SPREAD : 20 * SPREAD
  if (amount !== undefined)
    sketch.take(name, held > 0 ? 'sell' : 'buy', amount, place.price(fair * (1 + far)))
}

/** What prices and sizes of a contract look like. */
function placeOf({ terms, tick, sizeMin, sizeMax }: Contract): Place {
  const [unit, q] = [number(tick), number(terms.q)]
  return {
    tick: unit,
    price: (value) => format((BigInt(Math.round(value / unit)) * tick) as Price),
    amount: (dollars, price) => {
      const contracts = Math.round(terms.kind === 'linear' ? dollars / (q * price) : dollars)
      if (contracts < 1 || contracts < Number(sizeMin)) return undefined
      return String(Math.min(contracts, Number(sizeMax)))
    },
  }
}
