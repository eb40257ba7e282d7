import { contractRates } from '../../core/futures/fees.ts'
import type { Settled } from '../../core/futures/money.ts'
import { feeSetting } from '../../core/spot/fees.ts'
import { CONTRACT_BOOK, type ContractBookLine } from '../../core/tables/futures/records.ts'
import { format } from '../../money/amount.ts'
import { endpoint, type AnyEndpoint, type Caller, type Desk } from '../endpoint.ts'
import { flag, oneOf, optional } from '../fields.ts'
import { windowFields } from '../history.ts'
import { array, decimalText, int64, map, shape, str } from '../shapes.ts'
import { accountShape, accountView } from './account-views.ts'
import { Filter, listFields, storedPage } from './lists.ts'
import { wholeSeconds } from './order-views.ts'
import {
  SETTLE,
  anywhere,
  contractField,
  contractOf,
  historyContract,
  mustHaveAccount,
  settledOf,
  shownContract,
  type Group,
} from './paths.ts'

const BOOK_TYPES = [
  'dnw',
  'pnl',
  'fee',
  'refr',
  'fund',
  'point_dnw',
  'point_fee',
  'point_refr',
  'bonus_offset',
] as const
/** Whole seconds: a client takes anything longer than ten characters for milliseconds. */
export const bookView = (line: ContractBookLine) => ({
  time: wholeSeconds(line.at),
  change: format(line.change),
  balance: format(line.balance),
  type: line.type,
  text: line.text,
  contract: shownContract(line.contract),
  trade_id: line.trade_id === 0 ? '' : String(line.trade_id),
  id: String(line.id),
})

export const accountEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: `${group.base}/accounts`,
    summary: "The account's money and margin in a settle currency",
    access: group.access,
    limit: group.other,
    params: SETTLE,
    status: 200,
    reply: accountShape,
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, caller, path }) =>
      desk.core.read((state) => {
        const settled = settledOf(group, path.settle)
        mustHaveAccount(state, caller.user.user_id, settled)
        return accountView(state, caller.user.user_id, settled)
      }),
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/account_book`,
    summary: "Every change of the account's money, newest first",
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: {
      contract: optional(contractField),
      ...listFields,
      ...windowFields,
      type: optional(oneOf(...BOOK_TYPES)),
    },
    status: 200,
    reply: array(
      shape({
        time: int64,
        change: decimalText,
        balance: decimalText,
        type: str,
        text: str,
        contract: str,
        trade_id: str,
        id: str,
      }),
    ),
    refuses: ['USER_NOT_FOUND', 'CONTRACT_NOT_FOUND'],
    handle: async ({ desk, caller, path, query, set }) => {
      const settled = settledOf(group, path.settle)
      const userId = caller.user.user_id
      const contract = await desk.core.read((state) => {
        mustHaveAccount(state, userId, settled)
        return query.contract === null ? null : historyContract(state, settled, query.contract)
      })
      const filter = new Filter()
        .and('"user_id" = ?', userId)
        .and('"account" = ?', settled.account)
        .and('"contract" = ?', contract)
        .and('"type" = ?', query.type)
        .between('at', query)
      const lines = await storedPage(desk, set, CONTRACT_BOOK, filter, '"at" desc, "id" desc', query)
      return lines.map(bookView)
    },
  }),
]

const DUAL = anywhere({ dual_mode: flag() })
/** Split positions, the third mode that there is elsewhere, are not offered. */
const POSITION_MODE = anywhere({ position_mode: oneOf('single', 'dual') })

async function switchMode(desk: Desk, { user }: Caller, settled: Settled, dual: boolean): Promise<unknown> {
  const { user_id } = user
  const { group, settle } = settled
  return desk.core.submit('futures.dual_mode', { user_id, group, settle, dual }, (state) =>
    accountView(state, user_id, settled),
  )
}
/** Of perpetual contracts alone: dated ones are always in single mode. */
export const modeEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'POST',
    path: `${group.base}/dual_mode`,
    summary:
      'Switches between one position a contract and two, long and short, for the whole settle currency',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: DUAL.query,
    body: DUAL.body,
    status: 200,
    reply: accountShape,
    refuses: ['POSITION_HOLDING', 'ORDER_PENDING', 'USER_PORTFOLIO_MARGIN', 'TRADE_RESTRICTED'],
    handle: async ({ desk, caller, path, query, body }) => {
      const { dual_mode: dual } = DUAL.read(query, body)
      return switchMode(desk, caller, settledOf(group, path.settle), dual)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/set_position_mode`,
    summary: 'The same as dual_mode, by the name of the mode',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: POSITION_MODE.query,
    body: POSITION_MODE.body,
    status: 200,
    reply: accountShape,
    refuses: ['POSITION_HOLDING', 'ORDER_PENDING', 'USER_PORTFOLIO_MARGIN', 'TRADE_RESTRICTED'],
    handle: async ({ desk, caller, path, query, body }) => {
      const { position_mode } = POSITION_MODE.read(query, body)
      return switchMode(desk, caller, settledOf(group, path.settle), position_mode === 'dual')
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/fee`,
    summary: "The account's own rates, by contract",
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { contract: optional(contractField) },
    status: 200,
    reply: map(shape({ taker_fee: decimalText, maker_fee: decimalText })),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async ({ desk, caller, path, query }) =>
      desk.core.read((state) => {
        const settled = settledOf(group, path.settle)
        const { vip } = feeSetting(state, caller.user)
        const contracts =
          query.contract === null
            ? state.world.allContracts.filter(({ account }) => account === settled.account)
            : [contractOf(state, settled, query.contract, 'parameter')]
        return Object.fromEntries(
          contracts.map((contract) => {
            const { taker, maker } = contractRates(vip, contract)
            return [contract.name, { taker_fee: format(taker), maker_fee: format(maker) }]
          }),
        )
      }),
  }),
]
