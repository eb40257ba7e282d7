import { endpoint, operatorOf, type AnyEndpoint } from '../api/endpoint.ts'
import {
  decimal,
  integer,
  listOf,
  object,
  oneName,
  oneOf,
  optional,
  positiveDecimal,
  text,
} from '../api/fields.ts'
import { array, bool, decimalText, int, int64, shape, str } from '../api/shapes.ts'
import { entryPrice, unrealised } from '../core/contracts/position.ts'
import { withDeductions } from '../core/contracts/terms.ts'
import { PLATFORM, contractInsurance } from '../core/ledger/accounts.ts'
import type { State } from '../core/state.ts'
import { contractId, contractsIn, type Contract } from '../core/tables/world/contracts.ts'
import type { ContractChange } from '../core/tables/world/contract-rules.ts'
import { notFound, refuse } from '../labels.ts'
import { amountOf, format, rateOf, type Amount } from '../money/amount.ts'
import { proveContracts, type ContractProof } from '../proof/contracts.ts'

const tierShape = shape({ risk_limit: decimalText, maintenance_rate: decimalText, leverage_max: decimalText })
/** What clients are shown of a tier besides, and what follows from the rest: a row may be sent as it was read. */
const DERIVED = {
  tier: optional(integer(1, 100)),
  initial_rate: optional(decimal()),
  deduction: optional(decimal()),
  contract: optional(text({ max: 64 })),
}
interface GivenTier {
  readonly risk_limit: string
  readonly maintenance_rate: string
  readonly leverage_max: string
  readonly deduction: string | null
}
function givenTiers(rows: readonly GivenTier[]): ContractChange['tiers'] {
  const follows = withDeductions(
    rows.map(({ risk_limit, maintenance_rate, leverage_max }) => ({
      limit: amountOf(risk_limit),
      maintenance: rateOf(maintenance_rate),
      leverageMax: rateOf(leverage_max),
    })),
  )
  return rows.map(({ risk_limit, maintenance_rate, leverage_max, deduction }, i) => {
    const due = follows[i]!.deduction
    if (deduction !== null && amountOf(deduction) !== due)
      refuse(
        'INVALID_PARAM_VALUE',
        `tiers[${i}].deduction: "${deduction}" is not what limits and rates make it, ${format(due)}; leave it out`,
      )
    return { risk_limit, maintenance_rate, leverage_max }
  })
}
const contractShape = shape({
  group: str,
  settle: str,
  name: str,
  underlying: str,
  type: str,
  quanto_multiplier: decimalText,
  order_price_round: decimalText,
  mark_price_round: decimalText,
  order_size_min: int64,
  order_size_max: int64,
  market_order_size_max: decimalText,
  leverage_min: decimalText,
  leverage_max: decimalText,
  cross_leverage_default: decimalText,
  maker_fee_rate: decimalText,
  taker_fee_rate: decimalText,
  order_price_deviate: decimalText,
  market_order_slip_ratio: decimalText,
  funding_interval: int,
  interest_rate: decimalText,
  funding_rate_limit: decimalText,
  funding_impact_value: decimalText,
  orders_limit: int,
  risk_limit_table: str,
  tiers: array(tierShape),
  mark_bound: decimalText,
  mark_bound_year: decimalText,
  status: str,
  create_time: int64,
  launch_time: int64,
  delisting_time: int64,
  delisted_time: int64,
  config_change_time: int64,
  cycle: str,
  expire_time: int64,
  settle_fee_rate: decimalText,
  basis_impact_value: decimalText,
})
const NAMED = {
  group: oneName('futures', 'delivery'),
  settle: text({ max: 20 }),
  contract: text({ max: 64 }),
}
interface Named {
  readonly group: 'futures' | 'delivery'
  readonly settle: string
  readonly contract: string
}
const idOf = ({ group, settle, contract }: Named): string =>
  contractId(group, settle.toLowerCase(), contract.toUpperCase())
function contractAt({ world }: State, named: Named): Contract {
  const id = idOf(named)
  return (
    world.findContract(id) ??
    notFound('CONTRACT_NOT_FOUND', `contract: there is no ${id}; GET /operator/v1/contracts lists them`)
  )
}
const SECOND_MAX = 9_999_999_999

const fundMembers = {
  balance: decimalText,
  positions: array(
    shape({
      group: str,
      contract: str,
      size: decimalText,
      cost: decimalText,
      entry_price: decimalText,
      mark_price: decimalText,
      unrealised_pnl: decimalText,
    }),
  ),
}
/** The insurance fund of a settle currency: its money, and the positions that it has taken over. */
function fundView({ futures, ledger, world }: State, settle: string) {
  const { owner, name } = contractInsurance(settle)
  const positions = (['futures', 'delivery'] as const).flatMap((group) =>
    [...futures.positions.heldBy(PLATFORM, `${group}/${settle}`)].map((position) => {
      const { terms, name } = world.mustContract(position.contract)
      const holding = { size: contractsIn(position.size), cost: position.cost }
      const mark = futures.markOf(position.contract)
      return {
        group,
        contract: name,
        size: format(position.size),
        cost: format(position.cost),
        entry_price: format(entryPrice(terms, holding)),
        mark_price: format(mark),
        unrealised_pnl: format(mark === 0n ? (0n as Amount) : unrealised(terms, holding, mark)),
      }
    }),
  )
  return { balance: format(ledger.balance(owner, name, settle.toUpperCase())), positions }
}

export const contractProofShape = array(
  shape({
    group: str,
    settle: str,
    contract: str,
    long: decimalText,
    short: decimalText,
    sum: decimalText,
    cost: decimalText,
    clearing: decimalText,
    ok: bool,
  }),
)
export const contractProofView = (proofs: readonly ContractProof[]) =>
  proofs.map(({ long, short, sum, cost, clearing, ...rest }) => ({
    ...rest,
    long: format(long),
    short: format(short),
    sum: format(sum),
    cost: format(cost),
    clearing: format(clearing),
  }))

export const operatorContractEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/contracts',
    summary: 'Lists the contracts, perpetual and dated, with all their rules',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(contractShape),
    refuses: [],
    handle: async ({ desk }) => desk.core.read(({ world }) => world.allContracts.map(({ shown }) => shown)),
  }),
  endpoint({
    method: 'GET',
    path: '/contracts/{group}/{settle}/{contract}',
    summary: 'Shows the rules of a contract, also of one that has ended',
    access: operatorOf('viewer'),
    limit: null,
    params: NAMED,
    status: 200,
    reply: contractShape,
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async ({ desk, path }) => desk.core.read((state) => contractAt(state, path).shown),
  }),
  endpoint({
    method: 'PATCH',
    path: '/contracts/{group}/{settle}/{contract}',
    summary:
      'Changes rules of a contract: bounds, leverage, tiers, status, when it is delisted; at once. New tiers liquidate nobody in this call, the next check may',
    access: operatorOf('operator'),
    // Whoever is on duty can stop a contract.
    guarded: {
      role: 'admin',
      when: ({ body }) =>
        Object.entries(body).some(
          ([name, value]) => value !== null && !(name === 'status' && value === 'circuit_breaker'),
        ),
    },
    limit: null,
    params: NAMED,
    body: object({
      order_price_deviate: optional(decimal()),
      order_size_max: optional(integer(1, 1_000_000_000)),
      market_order_slip_ratio: optional(decimal()),
      orders_limit: optional(integer(1, 10_000)),
      funding_rate_limit: optional(decimal()),
      leverage_max: optional(decimal()),
      tiers: optional(
        listOf(
          object({
            risk_limit: positiveDecimal(),
            maintenance_rate: positiveDecimal(),
            leverage_max: positiveDecimal(),
            ...DERIVED,
          }),
          100,
        ),
      ),
      status: optional(oneOf('trading', 'circuit_breaker')),
      delisting_time: optional(integer(0, SECOND_MAX)),
      delisted_time: optional(integer(0, SECOND_MAX)),
    }),
    status: 200,
    reply: contractShape,
    refuses: ['CONTRACT_NOT_FOUND', 'CONTRACT_IN_DELISTING', 'INVALID_PARAM_VALUE'],
    handle: async ({ desk, operator, path, body }) => {
      const told = { ...body, tiers: body.tiers && givenTiers(body.tiers) }
      const change = Object.fromEntries(
        Object.entries(told).filter(([, value]) => value !== null),
      ) as ContractChange
      const contract = idOf(path)
      return desk.core.submit(
        'contract.change',
        { contract, change, actor: operator },
        ({ world }) => world.mustContract(contract).shown,
      )
    },
  }),
  endpoint({
    method: 'GET',
    path: '/insurance',
    summary:
      'Shows the insurance funds of contracts: what they hold, and the positions that they have taken over',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(shape({ settle: str, ...fundMembers })),
    refuses: [],
    handle: async ({ desk }) =>
      desk.core.read((state) => {
        const settles = new Set([...state.world.settles('futures'), ...state.world.settles('delivery')])
        return [...settles].map((settle) => ({ settle, ...fundView(state, settle) }))
      }),
  }),
  endpoint({
    method: 'POST',
    path: '/insurance/{settle}/fund',
    summary: 'Puts operator equity into the insurance fund of contracts of a settle currency',
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    params: { settle: NAMED.settle },
    body: object({ amount: positiveDecimal() }),
    status: 200,
    reply: shape(fundMembers),
    refuses: ['INVALID_PARAM_VALUE'],
    handle: async ({ desk, operator, path, body }) =>
      desk.core.submit(
        'insurance.fund',
        { settle: path.settle, amount: body.amount, actor: operator },
        (state) => fundView(state, path.settle.toLowerCase()),
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/futures/proof',
    summary:
      'Adds up all positions of each contract: as much is long as is short, and clearing is what they cost',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: contractProofShape,
    refuses: [],
    handle: async ({ desk }) => desk.core.read((state) => contractProofView(proveContracts(state))),
  }),
]
