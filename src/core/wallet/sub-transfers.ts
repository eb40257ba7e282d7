import { refuse } from '../../labels.ts'
import { nextId } from '../counters.ts'
import type { Ctx, State } from '../state.ts'
import { isMain, mainIdOf, refuseLocked, subAccountNamed, type User } from '../tables/users.ts'
import { accountRef, type AccountRef } from './accounts.ts'
import type { AccountKind, Transfer } from '../tables/transfers.ts'
import { bookTransfer, transferAmount } from './transfers.ts'

/** The settle currency of a contract account follows from the currency that is moved. */
function refOf({ world }: State, kind: AccountKind, currency: string, parameter: string): AccountRef {
  if (kind !== 'futures' && kind !== 'delivery')
    return accountRef(world, kind, currency, { currency_pair: null, settle: null })
  const settle = currency === 'POINT' ? 'usdt' : currency.toLowerCase()
  const known = world.settles(kind)
  if (!known.includes(settle))
    refuse(
      'INVALID_PARAM_VALUE',
      `currency: no ${kind} account (${parameter}) settles in ${currency}; send ${[...known, 'point'].join(', ').toUpperCase()}, or name spot`,
    )
  return accountRef(world, kind, currency, { currency_pair: null, settle })
}

export interface NewSubTransfer {
  readonly main: number
  readonly sub_account: number
  readonly sub_account_type: AccountKind
  readonly currency: string
  readonly amount: string
  readonly direction: 'to' | 'from'
  readonly client_order_id: string | null
  /** The transfer with this client_order_id that has left memory: the endpoint looked it up. */
  readonly known_tx: number | null
}
/** main's spot ↔ an account of its sub-account. */
export function createSubTransfer(ctx: Ctx, input: NewSubTransfer): Transfer {
  const { state, tx, at } = ctx
  const main = state.users.must(input.main)
  const { currency } = state.world.currency(input.currency)
  const amount = transferAmount(input.amount)
  const sub = subAccountNamed(state.users, main.user_id, input.sub_account, 'sub_account')
  refuseLocked(sub)
  const { client_order_id: clientId } = input
  if (clientId !== null) {
    const known =
      input.known_tx ?? state.wallet.subTransfers.byClientId.get(`${main.user_id}/${clientId}`)?.tx_id
    if (known !== undefined)
      refuse(
        'DUPLICATE_REQUEST',
        `client_order_id: "${clientId}" was used before, for transfer ${known}; nothing was moved now`,
      )
  }
  const spot = refOf(state, 'spot', currency, '')
  const own = refOf(state, input.sub_account_type, currency, 'sub_account_type')
  const mine = { user: main, ref: spot }
  const theirs = { user: sub, ref: own }
  const transfer = bookTransfer(ctx, {
    kind: 'main_sub',
    by: main,
    from: input.direction === 'to' ? mine : theirs,
    to: input.direction === 'to' ? theirs : mine,
    currency,
    amount,
    client_order_id: clientId,
  })
  tx.put(state.wallet.subTransfers.table, {
    tx_id: transfer.tx_id,
    main_user: main.user_id,
    sub_user: sub.user_id,
    sub_account_type: input.sub_account_type,
    direction: input.direction,
    currency,
    amount,
    source: 'api',
    client_order_id: clientId,
    at,
    ordinal: nextId(tx, state.counters, `s:${main.user_id}`),
    sub_ordinal: nextId(tx, state.counters, `s:${main.user_id}:${sub.user_id}`),
  })
  return transfer
}

export interface SubToSub {
  readonly caller: number
  readonly currency: string
  readonly sub_account_from: number
  readonly sub_account_from_type: AccountKind
  readonly sub_account_to: number
  readonly sub_account_to_type: AccountKind
  readonly amount: string
}
/** Between two sub-accounts of one main account, by its key or by the source's own. */
export function subToSub(ctx: Ctx, input: SubToSub): Transfer {
  const { state } = ctx
  const caller = state.users.must(input.caller)
  const main = mainIdOf(caller)
  const { currency } = state.world.currency(input.currency)
  const amount = transferAmount(input.amount)
  if (!isMain(caller) && caller.user_id !== input.sub_account_from)
    refuse(
      'FORBIDDEN',
      `sub_account_from: a sub-account's key moves its own money (${caller.user_id}) only, not that of ${input.sub_account_from}`,
    )
  const party = (parameter: 'sub_account_from' | 'sub_account_to'): User => {
    const user = subAccountNamed(state.users, main, input[parameter], parameter)
    refuseLocked(user)
    return user
  }
  const from = party('sub_account_from')
  const to = party('sub_account_to')
  const fromRef = refOf(state, input.sub_account_from_type, currency, 'sub_account_from_type')
  const toRef = refOf(state, input.sub_account_to_type, currency, 'sub_account_to_type')
  if (from.user_id === to.user_id && fromRef.name === toRef.name)
    refuse(
      'INVALID_PARAM_VALUE',
      `sub_account_to, sub_account_to_type: ${to.user_id}, ${input.sub_account_to_type} is where the money comes from; name another`,
    )
  return bookTransfer(ctx, {
    kind: 'sub_sub',
    by: caller,
    from: { user: from, ref: fromRef },
    to: { user: to, ref: toRef },
    currency,
    amount,
  })
}
