import { allowedLeverage, isCross } from '../../core/futures/figures.ts'
import { positionsIn } from '../../core/futures/positions.ts'
import type { PositionPath } from '../../core/futures/inputs.ts'
import type { State } from '../../core/state.ts'
import type { Position } from '../../core/tables/futures/positions.ts'
import type { Contract } from '../../core/tables/world/contracts.ts'
import { refuse, type Label } from '../../labels.ts'
import { format } from '../../money/amount.ts'
import type { HeaderName } from '../../http/exchange.ts'
import { endpoint, type AnyEndpoint, type Caller } from '../endpoint.ts'
import { flag, oneName, oneOf, optional, withDefault, type Field } from '../fields.ts'
import { array, decimalText, shape } from '../shapes.ts'
import { orderDecimal } from '../spot/order-fields.ts'
import { positionShape, positionView } from './account-views.ts'
import { listFields, listedPage } from './lists.ts'
import { lookOf, type Look } from './order-views.ts'
import {
  CONTRACT_PATH,
  SETTLE,
  anywhere,
  contractField,
  contractOf,
  inPath,
  isListed,
  settledOf,
  type Group,
} from './paths.ts'

/** A switch needs an empty contract: what positions need is nothing then. */
const MODE_LABELS = [
  'CONTRACT_NOT_FOUND',
  'TRADE_RESTRICTED',
  'USER_PORTFOLIO_MARGIN',
  'POSITION_IN_LIQUIDATION',
  'POSITION_HOLDING',
  'ORDER_PENDING',
] as const
const SETTING_LABELS = [
  ...MODE_LABELS,
  'INVALID_PRECISION',
  'LEVERAGE_TOO_HIGH',
  'LEVERAGE_TOO_LOW',
  'INSUFFICIENT_AVAILABLE',
  'LIQUIDATE_IMMEDIATELY',
] as const
const RISK_LABELS = [
  'CONTRACT_NOT_FOUND',
  'INVALID_PRECISION',
  'TRADE_RESTRICTED',
  'POSITION_IN_LIQUIDATION',
  'RISK_LIMIT_NOT_MULTIPLE',
  'RISK_LIMIT_TOO_HIGH',
  'RISK_LIMIT_TOO_LOW',
  'LEVERAGE_TOO_HIGH',
] as const
const MARGIN_LABELS = [
  'CONTRACT_NOT_FOUND',
  'INVALID_PRECISION',
  'TRADE_RESTRICTED',
  'POSITION_IN_LIQUIDATION',
  'POSITION_CROSS_MARGIN',
  'POSITION_EMPTY',
  'INSUFFICIENT_AVAILABLE',
  'REMOVE_TOO_MUCH',
  'NO_CHANGE',
] as const

/** Dated contracts are of no unified account, and always in single mode. */
const ofGroup = (group: Group, labels: readonly Label[]): readonly Label[] =>
  group.name === 'futures'
    ? labels
    : labels.filter(
        (label) => !['TRADE_RESTRICTED', 'USER_PORTFOLIO_MARGIN', 'POSITION_DUAL_MODE'].includes(label),
      )

const sideField = oneOf('dual_long', 'dual_short')
/** An amount with a sign. */
const changeField: Field<string> = (() => {
  const inner = orderDecimal()
  return {
    ...inner,
    read: (value, name) => {
      const sign = typeof value === 'string' ? value.charAt(0) : ''
      if (sign !== '-' && sign !== '+') return inner.read(value, name)
      const amount = inner.read((value as string).slice(1), name)
      return sign === '-' ? `-${amount}` : amount
    },
  }
})()
const limitField = orderDecimal()
/** Of a leverage other than 0 the limit is ignored, whatever it is. */
const LEVERAGE = anywhere({
  leverage: orderDecimal(),
  cross_leverage_limit: { ...optional(limitField), read: (value: unknown) => value },
})
type LeverageAsked = Parameters<typeof LEVERAGE.read>
function readLeverage(...asked: LeverageAsked): { leverage: string; cross_leverage_limit: string | null } {
  const { leverage, cross_leverage_limit: limit } = LEVERAGE.read(...asked)
  const read = limit !== null && isNothing(leverage)
  return { leverage, cross_leverage_limit: read ? limitField.read(limit, 'cross_leverage_limit') : null }
}
const isNothing = (text: string): boolean => /^[0.]*$/.test(text)
const SET_LEVERAGE = anywhere({
  leverage: orderDecimal(),
  margin_mode: oneName('isolated', 'cross'),
  dual_side: withDefault(sideField, 'dual_long'),
})
const MARGIN = anywhere({ change: changeField })
const DUAL_MARGIN = anywhere({ change: changeField, dual_side: sideField })
const RISK = anywhere({ risk_limit: orderDecimal() })
const MODE = anywhere({ mode: oneName('isolated', 'cross'), contract: contractField })

/** Both sides in dual mode, else the one. */
const views = (state: State, userId: number, contract: Contract, look: Look) =>
  positionsIn(state, userId, contract).map((position) => positionView(state, position, look))
/** One object in single mode, an array of both sides in dual mode: as the real wire has it. */
const oneOrBothShape = { anyOf: [positionShape, array(positionShape)] }
interface Asked {
  readonly caller: Caller
  readonly path: { readonly settle: string; readonly contract: string }
  header(name: HeaderName): string | undefined
}
/** What a call about one contract needs: where it is, and how its positions are shown then. */
function about(group: Group, call: Asked) {
  const settled = settledOf(group, call.path.settle)
  const { user_id } = call.caller.user
  const look = lookOf(group, call)
  const contractIn = (state: State): Contract => contractOf(state, settled, call.path.contract, 'path')
  const at: PositionPath = {
    user_id,
    group: settled.group,
    settle: settled.settle,
    contract: call.path.contract,
  }
  return {
    at,
    settled,
    contractIn,
    rows: (state: State): Position[] => positionsIn(state, user_id, contractIn(state)),
    all: (state: State) => views(state, user_id, contractIn(state), look),
    oneOrBoth: (state: State): unknown => {
      const all = views(state, user_id, contractIn(state), look)
      return all.length === 1 ? all[0] : all
    },
    view: (state: State, position: Position) => positionView(state, position, look),
  }
}
/** The side that is named, or the one that there is. */
const sideOf = (rows: readonly Position[], mode: 'dual_long' | 'dual_short' | null): Position =>
  rows.find((row) => row.mode === mode) ?? rows[0]!

/** Of both groups. */
export const positionEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: `${group.base}/positions`,
    summary: 'The positions of every contract, of size 0 too unless holding is true',
    access: group.access,
    limit: group.other,
    params: SETTLE,
    query: { holding: withDefault(flag(), false), ...listFields },
    status: 200,
    reply: array(positionShape),
    refuses: [],
    handle: async (call) => {
      const { desk, caller, path, query, set } = call
      const { account } = settledOf(group, path.settle)
      const userId = caller.user.user_id
      const look = lookOf(group, call)
      return desk.core.read((state) => {
        const rows = state.world.allContracts
          .filter((contract) => contract.account === account && isListed(contract))
          .sort((a, b) => (a.name < b.name ? -1 : 1))
          .flatMap((contract) => positionsIn(state, userId, contract))
          .filter(({ size }) => !query.holding || size !== 0n)
        return listedPage(set, rows, query).map((position) => positionView(state, position, look))
      })
    },
  }),
  endpoint({
    method: 'GET',
    path: `${group.base}/positions/{contract}`,
    summary: 'The position of one contract; in dual mode the array of both sides',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    status: 200,
    reply: oneOrBothShape,
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { oneOrBoth } = about(group, call)
      return call.desk.core.read((state) => oneOrBoth(state))
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/positions/{contract}/margin`,
    summary: 'Adds margin to an isolated position, or takes some away',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: MARGIN.query,
    body: MARGIN.body,
    status: 200,
    reply: positionShape,
    refuses: ofGroup(group, [...MARGIN_LABELS, 'POSITION_DUAL_MODE']),
    handle: async (call) => {
      const { at, rows, view } = about(group, call)
      const { change } = MARGIN.read(call.query, call.body)
      return inPath(
        call.desk.core.submit('futures.margin', { ...at, change, dual_side: null }, (state) =>
          view(state, rows(state)[0]!),
        ),
      )
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/positions/{contract}/leverage`,
    summary: 'Sets the leverage of an isolated position, or with leverage 0 cross margin and its limit',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: LEVERAGE.query,
    body: LEVERAGE.body,
    status: 200,
    reply: oneOrBothShape,
    refuses: ofGroup(group, SETTING_LABELS),
    handle: async (call) => {
      const { at, oneOrBoth } = about(group, call)
      const leverage = readLeverage(call.query, call.body)
      return inPath(call.desk.core.submit('futures.leverage', { ...at, ...leverage }, oneOrBoth))
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/positions/{contract}/risk_limit`,
    summary: "Sets a lower risk limit of one's own: one of the table's values",
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: RISK.query,
    body: RISK.body,
    status: 200,
    reply: positionShape,
    refuses: ofGroup(group, [...RISK_LABELS, 'POSITION_DUAL_MODE']),
    handle: async (call) => {
      const { at, rows, view } = about(group, call)
      const { risk_limit } = RISK.read(call.query, call.body)
      return inPath(
        call.desk.core.submit('futures.risk_limit', { ...at, risk_limit, dual: false }, (state) =>
          view(state, rows(state)[0]!),
        ),
      )
    },
  }),
]

/** Of perpetual contracts alone. */
export const perpetualPositionEndpoints = (group: Group): readonly AnyEndpoint[] => [
  endpoint({
    method: 'GET',
    path: `${group.base}/get_leverage/{contract}`,
    summary: 'Tells the leverage that a margin mode has, or that of the present one',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: { pos_margin_mode: optional(oneName('isolated', 'cross')), dual_side: optional(sideField) },
    status: 200,
    reply: shape({ lever: decimalText, Lever: decimalText }),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { rows, contractIn } = about(group, call)
      const { pos_margin_mode: asked, dual_side } = call.query
      return call.desk.core.read((state) => {
        const position = sideOf(rows(state), dual_side)
        const mode = asked ?? (isCross(position) ? 'cross' : 'isolated')
        const isolated = isCross(position) ? position.isolated_leverage : position.leverage
        const set = mode === 'cross' ? position.cross_limit : isolated
        const lever = format(allowedLeverage(set, contractIn(state)))
        return { lever, Lever: lever }
      })
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/positions/{contract}/set_leverage`,
    summary: 'Sets margin mode and leverage at once',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: SET_LEVERAGE.query,
    body: SET_LEVERAGE.body,
    status: 200,
    reply: positionShape,
    refuses: SETTING_LABELS,
    handle: async (call) => {
      const { at, rows, view } = about(group, call)
      const { leverage, margin_mode, dual_side } = SET_LEVERAGE.read(call.query, call.body)
      if (isNothing(leverage))
        refuse('LEVERAGE_TOO_LOW', `leverage: "${leverage}" must be above 0; margin_mode says what it is for`)
      const setting =
        margin_mode === 'cross'
          ? { leverage: '0', cross_leverage_limit: leverage }
          : { leverage, cross_leverage_limit: null }
      return inPath(
        call.desk.core.submit('futures.leverage', { ...at, ...setting }, (state) =>
          view(state, sideOf(rows(state), dual_side)),
        ),
      )
    },
  }),
  ...[false, true].map((dual) =>
    endpoint({
      method: 'POST',
      path: `${group.base}/${dual ? 'dual_comp/' : ''}positions/cross_mode`,
      summary: dual
        ? 'Switches both sides of a contract between isolated and cross margin'
        : 'Switches a contract between isolated and cross margin',
      access: group.access,
      limit: group.other,
      params: SETTLE,
      query: MODE.query,
      body: MODE.body,
      status: 200,
      reply: dual ? array(positionShape) : positionShape,
      refuses: [...MODE_LABELS, ...(dual ? [] : (['POSITION_DUAL_MODE'] as const))],
      handle: async (call) => {
        const { desk, caller, path } = call
        const { user_id } = caller.user
        const settled = settledOf(group, path.settle)
        const look = lookOf(group, call)
        const { mode, contract } = MODE.read(call.query, call.body)
        const at = { user_id, group: settled.group, settle: settled.settle, contract }
        return desk.core.submit('futures.margin_mode', { ...at, mode, single: !dual }, (state) => {
          const all = views(state, user_id, contractOf(state, settled, contract, 'parameter'), look)
          return dual ? all : all[0]
        })
      },
    }),
  ),
  endpoint({
    method: 'GET',
    path: `${group.base}/dual_comp/positions/{contract}`,
    summary: 'Both sides of a contract in dual mode; in single mode an array of the one position',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    status: 200,
    reply: array(positionShape),
    refuses: ['CONTRACT_NOT_FOUND'],
    handle: async (call) => {
      const { all } = about(group, call)
      return call.desk.core.read(all)
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/dual_comp/positions/{contract}/margin`,
    summary: 'Adds margin to one side of a contract, or takes some away',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: DUAL_MARGIN.query,
    body: DUAL_MARGIN.body,
    status: 200,
    reply: array(positionShape),
    refuses: [...MARGIN_LABELS, 'POSITION_NOT_FOUND'],
    handle: async (call) => {
      const { at, all } = about(group, call)
      const change = DUAL_MARGIN.read(call.query, call.body)
      return inPath(call.desk.core.submit('futures.margin', { ...at, ...change }, all))
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/dual_comp/positions/{contract}/leverage`,
    summary: 'Sets the leverage of both sides of a contract',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: LEVERAGE.query,
    body: LEVERAGE.body,
    status: 200,
    reply: array(positionShape),
    refuses: SETTING_LABELS,
    handle: async (call) => {
      const { at, all } = about(group, call)
      const leverage = readLeverage(call.query, call.body)
      return inPath(call.desk.core.submit('futures.leverage', { ...at, ...leverage }, all))
    },
  }),
  endpoint({
    method: 'POST',
    path: `${group.base}/dual_comp/positions/{contract}/risk_limit`,
    summary: 'Sets a lower risk limit of both sides of a contract',
    access: group.access,
    limit: group.other,
    params: CONTRACT_PATH,
    query: RISK.query,
    body: RISK.body,
    status: 200,
    reply: array(positionShape),
    refuses: [...RISK_LABELS, 'POSITION_NOT_FOUND'],
    handle: async (call) => {
      const { at, all } = about(group, call)
      const { risk_limit } = RISK.read(call.query, call.body)
      return inPath(call.desk.core.submit('futures.risk_limit', { ...at, risk_limit, dual: true }, all))
    },
  }),
]
