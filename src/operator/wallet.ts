import { orElse } from '../api/missing.ts'
import type { State } from '../core/state.ts'
import { operatorDeposit, operatorDepositShape, operatorSavedShape, savedView } from '../api/deposits.ts'
import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import { flag, id, integer, object, oneOf, optional, text, time, withDefault } from '../api/fields.ts'
import { array } from '../api/shapes.ts'
import { currencyField } from '../api/wallet.ts'
import {
  WITHDRAW_LABELS,
  operatorPushShape,
  operatorWithdrawal,
  operatorWithdrawalShape,
  parseRecordId,
  pushView,
  withdraw,
  withdrawalBody,
} from '../api/withdrawals.ts'
import { DEPOSIT_STATUSES } from '../core/tables/deposit.flow.ts'
import { DEPOSIT } from '../core/tables/deposits.ts'
import { PUSH } from '../core/tables/push.ts'
import type { PushAnswer } from '../core/push/push.ts'
import type { TableSpec } from '../machine/table.ts'
import { WITHDRAWAL_STATUSES } from '../core/tables/withdrawal.flow.ts'
import { WITHDRAWAL, depositId, withdrawalId } from '../core/tables/withdrawals.ts'
import { notFound, refuse } from '../labels.ts'
import type { Value } from '../store/store.ts'

/** Records are counted by kind: the letter, where it is given, must be that of the kind. */
const recordId = (pattern: RegExp, kind: string) => ({
  id: text({ max: 32, pattern, mend: `must be the id of a ${kind}` }),
})
const WITHDRAWAL_ID = recordId(/^w?\d{1,15}$/, 'withdrawal such as "w17"')
const DEPOSIT_ID = recordId(/^d?\d{1,15}$/, 'deposit such as "d17"')
const UID = { uid: id() }
const reasonField = withDefault(text({ max: 256 }), '')
const listQuery = {
  /** 0: nobody's. */
  user_id: optional(integer(0, 999_999_999_999_999)),
  limit: withDefault(integer(1, 1000), 100),
  offset: withDefault(integer(0, 1_000_000), 0),
}
function userMust({ users }: State, userId: number): void {
  if (users.get(userId) === undefined) notFound('USER_NOT_FOUND', `no user ${userId}`)
}
/** Newest first, by the index of what was asked for. */
function list<Row extends object>(
  desk: Desk,
  spec: TableSpec<Row>,
  filters: { readonly [Column in keyof Row & string]?: Value },
  /** A user's records are in the order of their places, which is that of their ids. */
  order: keyof Row & string,
  page: { readonly limit: number; readonly offset: number },
): Promise<Row[]> {
  const given = Object.entries(filters as Record<string, Value>).filter(([, value]) => value !== null)
  const where = given.length === 0 ? '' : `where ${given.map(([name]) => `"${name}" = ?`).join(' and ')} `
  const values = [...given.map(([, value]) => value), page.limit, page.offset]
  const sql: string = `${where}order by "${order}" desc limit ? offset ?`
  return desk.store.select(spec, sql, values)
}

const placeOf = (userId: number | null) => (userId === null ? 'id' : 'ordinal')

/** What is over has left memory: the store tells whether there ever was such a record. */
const refuseOver = (name: string, over: { readonly status: string } | undefined): void => {
  if (over !== undefined)
    refuse(
      'INVALID_PARAM_VALUE',
      `${name} is ${over.status}: it is over, and nothing can be decided about it`,
    )
}
const ofWithdrawal = <R>(desk: Desk, id: number, run: Promise<R>): Promise<R> =>
  orElse(run, 'INVALID_WITHDRAW_ID', async () => {
    const [over] = await desk.store.select(WITHDRAWAL, 'where "id" = ?', [id])
    refuseOver(`withdrawal ${withdrawalId(id)}`, over)
  })
const ofDeposit = <R>(desk: Desk, id: number, run: Promise<R>): Promise<R> =>
  orElse(run, 'NOT_FOUND', async () => {
    const [over] = await desk.store.select(DEPOSIT, 'where "id" = ?', [id])
    refuseOver(`deposit ${depositId(id)}`, over)
  })

/** Whoever names a user means that user's deposit: another's is not decided about in that name. */
const refuseOther = (desk: Desk, id: number, userId: number | null): Promise<void> =>
  desk.core.read(({ wallet }) => {
    const owner = wallet.deposits.table.get(id)?.user_id ?? 0
    if (userId !== null && owner !== 0 && owner !== userId)
      refuse(
        'INVALID_PARAM_VALUE',
        `user_id: deposit ${depositId(id)} is that of user ${owner}, not of ${userId}; leave user_id out`,
      )
  })

type Verb = 'approve' | 'reject' | 'fail' | 'retry' | 'divert'
const decisionBody = object({
  reason: reasonField,
  status: optional(text({ max: 32 })),
  amount: optional(text({ max: 64 })),
  currency: optional(text({ max: 32 })),
  chain: optional(text({ max: 32 })),
  address: optional(text({ max: 128 })),
})
type DecisionBody = ReturnType<typeof decisionBody.read>
const SUMMARIES: Readonly<Record<Verb, string>> = {
  approve: 'Approves the present hold; members of the statement that are given must match the record',
  reject: 'Rejects a held withdrawal (REJECT) or ends a failed one (CANCEL); the money goes back',
  fail: 'Marks a withdrawal on its way as FAIL, after the chain was made to forget it',
  retry: 'Sends a failed withdrawal again, as a new transaction',
  divert:
    'Puts a withdrawal that was not sent yet into REVIEW, MANUAL, VERIFY, FVERIFY, DMOVE, LOCKED or INVALID',
}

/**
 * Nothing is failed, sent again or given back that the chain could still pay: it would be paid twice. Answers which
 * attempt the chain was asked about: the command refuses if there is another one by then.
 */
async function abandon(desk: Desk, recordId: number): Promise<{ attempt?: number }> {
  const found = await desk.core.read(({ wallet, world }) => {
    const withdrawal = wallet.withdrawals.table.get(recordId)
    return withdrawal && { withdrawal, config: world.mustChain(withdrawal.chain) }
  })
  if (found === undefined) return {}
  const { withdrawal, config } = found
  const { attempt } = withdrawal
  if (!['PROCES', 'PEND', 'EXTPEND', 'FAIL'].includes(withdrawal.status)) return { attempt }
  if (withdrawal.intent === null) return { attempt }
  const { chain, unlock_confirms } = config
  if (!(await desk.chains.port(withdrawal.chain).abandon(withdrawal.intent)))
    refuse(
      'INVALID_PARAM_VALUE',
      `withdrawal ${withdrawalId(recordId)}: ${chain} may still pay ${withdrawal.txid}; ask again when its failure, or the payment that took its nonce, is ${unlock_confirms} blocks deep`,
    )
  return { attempt }
}
async function decide(desk: Desk, verb: Verb, recordId: number, operator: string, body: DecisionBody) {
  const input = { id: recordId, reason: body.reason, actor: operator }
  switch (verb) {
    case 'approve': {
      const { amount, currency, chain, address } = body
      const statement = {
        ...(amount !== null && { amount }),
        ...(currency !== null && { currency: currency.toUpperCase() }),
        ...(chain !== null && { chain: chain.toUpperCase() }),
        ...(address !== null && { address }),
      }
      return desk.core.submit('withdrawal.approve', { ...input, statement })
    }
    case 'reject':
      return desk.core.submit('withdrawal.reject', { ...input, ...(await abandon(desk, recordId)) })
    case 'fail':
      return desk.core.submit('withdrawal.fail', { ...input, ...(await abandon(desk, recordId)) })
    case 'retry':
      return desk.core.submit('withdrawal.retry', { ...input, ...(await abandon(desk, recordId)) })
    case 'divert':
      if (body.status === null) refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: status')
      return desk.core.submit('withdrawal.divert', { ...input, status: body.status.toUpperCase() })
  }
}
/** What lets money out looks at its owner once more. */
const APPROVAL_LABELS = ['RISK_ERROR', 'NEGATIVE_ASSETS'] as const
const decision = (verb: Verb): AnyEndpoint =>
  endpoint({
    method: 'POST',
    path: `/withdrawals/{id}/${verb}`,
    dear: true,
    summary: SUMMARIES[verb],
    access: operatorOf('operator'),
    limit: null,
    params: WITHDRAWAL_ID,
    body: decisionBody,
    status: 200,
    reply: operatorWithdrawalShape,
    refuses: ['INVALID_WITHDRAW_ID', 'FORBIDDEN', ...(verb === 'approve' ? APPROVAL_LABELS : [])],
    handle: async ({ desk, operator, path, body }) => {
      const id = parseRecordId(path.id)
      const withdrawal = await ofWithdrawal(desk, id, decide(desk, verb, id, operator, body))
      // The sender goes on by itself; the answer is the record as this decision left it.
      void desk.chains.step(withdrawal.chain)
      return operatorWithdrawal(withdrawal)
    },
  })

type DepositVerb = 'hold' | 'release' | 'block'
const depositDecision = (verb: DepositVerb, summary: string): AnyEndpoint =>
  endpoint({
    method: 'POST',
    path: `/deposits/{id}/${verb}`,
    summary,
    access: operatorOf('operator'),
    ...(verb === 'release' && { guarded: { role: 'operator' } }),
    limit: null,
    params: DEPOSIT_ID,
    body: object({ reason: reasonField, user_id: optional(id()) }),
    status: 200,
    reply: operatorDepositShape,
    refuses: verb === 'release' ? ['NOT_FOUND', 'USER_NOT_FOUND'] : ['NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const input = { id: parseRecordId(path.id), reason: body.reason, actor: operator }
      await refuseOther(desk, input.id, body.user_id)
      const decided =
        verb === 'release'
          ? desk.core.submit('deposit.release', { ...input, user_id: body.user_id })
          : desk.core.submit(`deposit.${verb}`, input)
      return operatorDeposit(await ofDeposit(desk, input.id, decided))
    },
  })
const pushAnswer = (answer: PushAnswer, summary: string): AnyEndpoint =>
  endpoint({
    method: 'POST',
    path: `/push/{id}/${answer}`,
    summary,
    access: operatorOf('operator'),
    limit: null,
    params: { id: id() },
    status: 200,
    reply: operatorPushShape,
    refuses: ['NOT_FOUND', ...(answer === 'accept' ? APPROVAL_LABELS : [])],
    handle: async ({ desk, operator, path }) => {
      const run = desk.core.submit('push.answer', { id: path.id, answer, by: null, actor: operator })
      // One that is over may have left memory: the store tells whether there was one.
      const push = await orElse(run, 'NOT_FOUND', async () => {
        const [over] = await desk.store.select(PUSH, 'where "id" = ?', [path.id])
        if (over !== undefined)
          refuse('INVALID_PARAM_VALUE', `push ${path.id} is ${over.status}: "${answer}" is not possible now`)
      })
      return { ...pushView(push, 'withdraw'), user_id: push.push_uid }
    },
  })

export const operatorWalletEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/withdrawals',
    summary: 'Lists withdrawals of all accounts, newest first',
    access: operatorOf('viewer'),
    limit: null,
    query: { status: optional(oneOf(...WITHDRAWAL_STATUSES)), ...listQuery },
    status: 200,
    reply: array(operatorWithdrawalShape),
    refuses: [],
    handle: async ({ desk, query }) => {
      const { status, user_id } = query
      return (await list(desk, WITHDRAWAL, { status, user_id }, placeOf(user_id), query)).map(
        operatorWithdrawal,
      )
    },
  }),
  ...(['approve', 'reject', 'fail', 'retry', 'divert'] as const).map(decision),
  endpoint({
    method: 'POST',
    path: '/users/{uid}/withdrawals',
    dear: true,
    summary: "Asks for a withdrawal on a user's behalf; whoever asks can't approve it",
    access: operatorOf('operator'),
    limit: null,
    params: UID,
    body: withdrawalBody,
    status: 201,
    reply: operatorWithdrawalShape,
    refuses: ['USER_NOT_FOUND', ...WITHDRAW_LABELS],
    handle: async ({ desk, operator, path, body }) =>
      operatorWithdrawal(await withdraw(desk, path.uid, body, operator)),
  }),
  endpoint({
    method: 'GET',
    path: '/deposits',
    summary: 'Lists deposits of all accounts, newest first; user_id 0 is nobody yet',
    access: operatorOf('viewer'),
    limit: null,
    query: { status: optional(oneOf(...DEPOSIT_STATUSES)), ...listQuery },
    status: 200,
    reply: array(operatorDepositShape),
    refuses: [],
    handle: async ({ desk, query }) => {
      const { status, user_id } = query
      return (await list(desk, DEPOSIT, { status, user_id }, placeOf(user_id), query)).map(operatorDeposit)
    },
  }),
  depositDecision('hold', 'Holds a deposit that was not credited yet: REVIEW'),
  depositDecision('release', 'Lets a held deposit go on; user_id says whose one without a memo is'),
  depositDecision('block', 'Blocks a deposit: its coins stay with the platform'),
  endpoint({
    method: 'POST',
    path: '/deposits/{id}/refund',
    summary: 'Sends the coins of a blocked deposit back, less the withdrawal fee, as a withdrawal of user 0',
    access: operatorOf('operator'),
    limit: null,
    params: DEPOSIT_ID,
    body: object({ address: text({ max: 128 }), memo: optional(text({ max: 128 })), reason: reasonField }),
    status: 200,
    reply: operatorDepositShape,
    refuses: ['NOT_FOUND', 'AMOUNT_TOO_LITTLE'],
    handle: async ({ desk, operator, path, body }) => {
      const input = { id: parseRecordId(path.id), ...body, actor: operator }
      const deposit = await ofDeposit(desk, input.id, desk.core.submit('deposit.refund', input))
      void desk.chains.step(deposit.chain)
      return operatorDeposit(deposit)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/deposits/{id}/reject_refund',
    summary: 'Turns the refund of a blocked deposit down: refund_status REJECTED',
    access: operatorOf('operator'),
    limit: null,
    params: DEPOSIT_ID,
    body: object({ reason: reasonField }),
    status: 200,
    reply: operatorDepositShape,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const input = { id: parseRecordId(path.id), reason: body.reason, actor: operator }
      const decided = desk.core.submit('deposit.reject_refund', input)
      return operatorDeposit(await ofDeposit(desk, input.id, decided))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/push',
    summary: 'Lists transfers by user id, newest first',
    access: operatorOf('viewer'),
    limit: null,
    query: listQuery,
    status: 200,
    reply: array(operatorPushShape),
    refuses: [],
    handle: async ({ desk, query }) => {
      const order = query.user_id === null ? 'id' : 'sent_ordinal'
      const rows = await list(desk, PUSH, { push_uid: query.user_id }, order, query)
      return rows.map((push) => ({ ...pushView(push, 'withdraw'), user_id: push.push_uid }))
    },
  }),
  pushAnswer('accept', "Accepts a waiting transfer in the receiver's name"),
  pushAnswer('refuse', "Refuses a waiting transfer in the receiver's name; the sender has the money back"),
  pushAnswer('cancel', "Cancels a waiting transfer in the sender's name"),
  endpoint({
    method: 'POST',
    path: '/users/{uid}/saved_addresses',
    summary: "Adds an address to a user's book, or changes the one that is there",
    access: operatorOf('operator'),
    guarded: { role: 'operator', when: ({ body }) => body.verified },
    limit: null,
    params: UID,
    body: object({
      currency: currencyField,
      chain: optional(text({ max: 32 })),
      address: text({ max: 128 }),
      name: withDefault(text({ max: 64 }), ''),
      tag: withDefault(text({ max: 64 }), ''),
      verified: withDefault(flag(), true),
      verified_at: optional(time()),
    }),
    status: 201,
    reply: operatorSavedShape,
    refuses: ['USER_NOT_FOUND', 'INVALID_CURRENCY'],
    handle: async ({ desk, operator, path, body }) => {
      await desk.core.read((state) => userMust(state, path.uid))
      if (desk.mode === 'live' && body.verified_at !== null && body.verified_at * 1e6 < desk.clock.peek())
        refuse(
          'INVALID_PARAM_VALUE',
          `verified_at: ${body.verified_at} lies in the past; leave it out, and the address is new from its confirmation on`,
        )
      const input = { user_id: path.uid, ...body, actor: operator }
      const saved = await desk.core.submit('saved_address.save', input)
      return { ...savedView(saved), user_id: saved.user_id }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/users/{uid}/saved_addresses',
    summary: "Lists a user's saved addresses",
    access: operatorOf('viewer'),
    limit: null,
    params: UID,
    status: 200,
    reply: array(operatorSavedShape),
    refuses: ['USER_NOT_FOUND'],
    handle: async ({ desk, path }) =>
      desk.core.read((state) => {
        userMust(state, path.uid)
        return state.wallet.addresses
          .savedBy(path.uid)
          .map((saved) => ({ ...savedView(saved), user_id: saved.user_id }))
      }),
  }),
]
