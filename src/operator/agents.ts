import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import { integer, object, oneOf, optional, text, withDefault, type Field } from '../api/fields.ts'
import { array, int, int64, num, shape, str } from '../api/shapes.ts'
import { pairField } from '../api/wallet.ts'
import type { NewScenario, ReplayedTrade } from '../core/agents/commands.ts'
import type { NewContractScenario } from '../core/agents/contract-commands.ts'
import {
  CONTRACT_SCENARIOS,
  SCENARIOS,
  type AgentContract,
  type AgentMarket,
  type ContractScenarioName,
  type ScenarioName,
} from '../core/tables/agents.ts'
import { contractId } from '../core/tables/world/contracts.ts'
import { refuse } from '../labels.ts'

const DAY_SECONDS = 86_400
const TRADES_MAX = 10_000

/** A relative change of price: "-0.2" or -0.2. */
function ratio(): Field<number | null> {
  return {
    schema: { type: 'number', minimum: -0.95, maximum: 10 },
    required: false,
    read: (value, name) => {
      const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
      if (typeof number !== 'number' || !(number >= -0.95 && number <= 10))
        refuse('INVALID_PARAM_VALUE', `${name}: must be a ratio from -0.95 to 10, such as -0.2`)
      return number
    },
    absent: () => null,
  }
}
const view = ({ pair, fair, scenario }: AgentMarket) => ({
  currency_pair: pair,
  fair: Math.round(Number(fair) * 1e4) / 1e4,
  scenario: scenario?.name ?? '',
  until: scenario === null ? 0 : Math.floor(scenario.until / 1e6),
})
const marketShape = shape({ currency_pair: str, fair: num, scenario: str, until: int64 })
const contractView = ({ id, fair, scenario }: AgentContract) => ({
  ...view({ pair: '', seed: 0, fair, anchor: fair, trend: '0', scenario }),
  currency_pair: id,
})
const isOf = <N extends string>(names: readonly N[], name: string): name is N =>
  (names as readonly string[]).includes(name)

/** What a scenario is made in: a market, or a contract. */
interface Where {
  readonly currency_pair: string | null
  readonly settle: string | null
  readonly contract: string | null
}
/** The contract's id; null for a market. Dated contracts have names of their own. */
function contractIn({ currency_pair, settle, contract }: Where): string | null {
  if (currency_pair !== null && contract === null && settle === null) return null
  if (contract === null || settle === null || currency_pair !== null)
    refuse(
      'INVALID_PARAM_VALUE',
      'currency_pair: name a market by currency_pair, or a contract by settle and contract, not both',
    )
  const name = contract.toUpperCase()
  return contractId(/_\d{8}$/.test(name) ? 'delivery' : 'futures', settle.toLowerCase(), name)
}
function scenarioOf<N extends string>(names: readonly N[], name: string, what: string): N {
  if (!isOf(names, name))
    refuse('INVALID_PARAM_VALUE', `name: ${what} has the scenarios ${names.join(', ')}, not "${name}"`)
  return name
}

/** time,price,amount,side in each line; a heading is skipped. */
function readTrades(csv: string): ReplayedTrade[] {
  const lines = csv.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length > 0 && !/^\d/.test(lines[0]!)) lines.shift()
  if (lines.length === 0 || lines.length > TRADES_MAX)
    refuse('INVALID_PARAM_VALUE', `csv: ${lines.length} trades; from 1 to ${TRADES_MAX} are taken`)
  return lines.map((line, i) => {
    const [time, price, amount, side] = line.split(',').map((part) => part.trim())
    if (!/^\d+(\.\d+)?$/.test(time ?? '') || (side !== 'buy' && side !== 'sell'))
      refuse('INVALID_PARAM_VALUE', `csv: line ${i + 1} "${line.slice(0, 80)}" is not time,price,amount,side`)
    return { seconds: Number(time), price: price ?? '', amount: amount ?? '', side }
  })
}

/** Who makes scenarios; nobody where the platform runs without agents. */
export interface AgentControls {
  readonly agents:
    | {
        scenario(input: Omit<NewScenario, 'look'>): Promise<AgentMarket>
        contractScenario(input: Omit<NewContractScenario, 'look'>): Promise<AgentContract>
      }
    | undefined
}
export const operatorAgentEndpoints = (controls: AgentControls): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: '/agents',
    summary: 'What the market agents think of each market',
    access: operatorOf('viewer'),
    limit: null,
    sandboxOnly: true,
    status: 200,
    reply: array(marketShape),
    refuses: [],
    handle: async ({ desk }) => desk.core.read(({ agents }) => [...agents.markets.values()].map(view)),
  }),
  endpoint({
    method: 'POST',
    path: '/agents/scenario',
    summary:
      'Makes a crash, a gap, a thin book or a lost peg in a market; a thin book or a basis in a contract',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    body: object({
      name: oneOf(...SCENARIOS, ...CONTRACT_SCENARIOS.filter((name) => !isOf(SCENARIOS, name))),
      currency_pair: optional(pairField),
      settle: optional(text({ max: 10 })),
      contract: optional(text({ max: 40 })),
      change: ratio(),
      seconds: withDefault(integer(1, DAY_SECONDS), 120),
    }),
    status: 200,
    reply: marketShape,
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR', 'CONTRACT_NOT_FOUND', 'REQUEST_FORBIDDEN'],
    handle: async ({ desk, operator, body }) => {
      const contract = contractIn(body)
      const { change, seconds } = body
      const { agents } = controls
      const common = { change, seconds, actor: operator }
      if (contract !== null) {
        const name: ContractScenarioName = scenarioOf(CONTRACT_SCENARIOS, body.name, 'a contract')
        const input = { name, contract, ...common }
        return contractView(
          await (agents?.contractScenario(input) ??
            desk.core.submit('agents.contract_scenario', { ...input, look: null })),
        )
      }
      const name: ScenarioName = scenarioOf(SCENARIOS, body.name, 'a market')
      const input = { name, currency_pair: body.currency_pair!, ...common }
      return view(
        await (agents?.scenario(input) ?? desk.core.submit('agents.scenario', { ...input, look: null })),
      )
    },
  }),
  endpoint({
    method: 'POST',
    path: '/agents/replay',
    summary: 'Plays a list of trades again: csv lines of time (seconds),price,amount,side',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    body: object({ currency_pair: pairField, csv: csvField(), speed: optional(integer(1, 10_000)) }),
    status: 200,
    reply: shape({ trades: int, until: int64 }),
    refuses: ['INVALID_CURRENCY', 'INVALID_CURRENCY_PAIR', 'INVALID_PRECISION', 'REQUEST_FORBIDDEN'],
    handle: async ({ desk, operator, body }) =>
      desk.core.submit('agents.replay', {
        currency_pair: body.currency_pair,
        trades: readTrades(body.csv),
        speed: body.speed ?? 1,
        actor: operator,
      }),
  }),
]
/** Text with line breaks, which other fields refuse. */
function csvField(): Field<string> {
  const inner = text({ max: 1_000_000 })
  return {
    ...inner,
    read: (value, name) => {
      if (typeof value !== 'string') return inner.read(value, name)
      inner.read(value.replace(/[\r\n\t]/g, ' '), name)
      return value
    },
  }
}
