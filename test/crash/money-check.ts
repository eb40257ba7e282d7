import assert from 'node:assert/strict'
import { verifyStore } from '../../src/checks/ledger-check.ts'
import { replayStore } from '../../src/checks/replay-store.ts'
import { amountOf, format } from '../../src/money/amount.ts'
import type { Snapshot } from '../../src/store/store.ts'
import { rowsKey } from '../support/rows-key.ts'
import { wholeSnapshot } from '../support/whole-snapshot.ts'
import { KINDS, type Claim, type Kind, type Money } from './money.ts'

export interface Place {
  readonly data: string
  readonly databaseUrl: string | undefined
}
interface Found {
  readonly id: number
  readonly user_id: number
  readonly filled: string
  readonly over: boolean
}
const ORDER = `select id, user_id, text, filled, status from`
/** Where each kind is kept: id, owner, mark, and of orders what became of them. */
const ROWS: Readonly<Record<Kind, string>> = {
  transfer: `select tx_id, user_id, amount, '0', '' from transfer where kind = 'own'`,
  push: `select id, push_uid, amount, '0', '' from push`,
  withdrawal: `select id, user_id, withdraw_order_id, '0', '' from withdrawal`,
  'spot order': `${ORDER} spot_order`,
  'contract order': `${ORDER} contract_order`,
}
/** What the store holds of each kind, by mark. */
async function rowsOf(snapshot: Snapshot): Promise<Map<string, Found[]>> {
  const rows = new Map<string, Found[]>()
  for (const kind of KINDS)
    await snapshot.each(ROWS[kind], ([id, user, mark, filled, status]) => {
      const key = `${kind} ${String(mark)}`
      const found = {
        id: Number(id),
        user_id: Number(user),
        filled: String(filled),
        over: status !== '' && status !== 'open',
      }
      rows.set(key, [...(rows.get(key) ?? []), found])
    })
  return rows
}

/**
 * What the store holds against what customers were told: whatever was acknowledged, once; what nobody answered once or
 * not at all; what nobody asked for, not; nothing half; and a ledger in order. Answers how many unanswered requests had
 * been committed; from then on they count as acknowledged.
 */
export async function checkMoney(
  money: Money,
  place: Place,
  { replay = false }: { readonly replay?: boolean } = {},
): Promise<number> {
  const snapshot = await wholeSnapshot(place, true)
  try {
    assert.deepEqual((await verifyStore(snapshot, { key: rowsKey(place.data) })).wrong, [])
    const rows = await rowsOf(snapshot)
    let survivors = 0
    for (const [key, claim] of money.claims) {
      const found = rows.get(key) ?? []
      rows.delete(key)
      if (claim.id === undefined && found.length === 1) survivors++
      checkClaim(key, claim, found)
      // What did not happen never will.
      if (found.length === 0) money.claims.delete(key)
      else claim.id = found[0]!.id
    }
    assert.deepEqual([...rows.keys()], [], 'nothing happened that nobody asked for')
    await checkBookings(snapshot)
    await checkFills(snapshot)
    await checkChain(snapshot)
    if (replay) await replayStore(snapshot)
    return survivors
  } finally {
    await snapshot.close()
  }
}
function checkClaim(key: string, claim: Claim, found: readonly Found[]): void {
  const { id, user_id, filled, over } = claim
  assert.ok(found.length <= 1, `${key} happened ${found.length} times`)
  if (id === undefined && found.length === 0) return
  const [row] = found
  assert.ok(row !== undefined, `${key} was acknowledged and is gone`)
  assert.equal(row.user_id, user_id, key)
  if (id !== undefined) assert.equal(row.id, id, key)
  assert.ok(amountOf(row.filled) >= amountOf(filled), `${key} lost a fill`)
  if (over) assert.ok(row.over, `${key} was over and is open again`)
}
/** One entry for each transfer, two for each push (out of one account, into the other), one that takes a withdrawal's money. */
async function checkBookings(snapshot: Snapshot): Promise<void> {
  const wrong: string[] = []
  for (const [table, id, noun, entries, kind] of [
    ['transfer', 'tx_id', 'transfer', 1, ''],
    ['push', 'id', 'push', 2, ''],
    ['withdrawal', 'id', 'withdrawal', 1, ` and l.kind = 'withdraw'`],
  ] as const)
    await snapshot.each(
      `select t.${id}, count(distinct l.entry) from ${table} t
       left join ledger_line l on l.ref = '${noun}:' || t.${id}${kind} group by t.${id}`,
      ([one, booked]) => {
        if (Number(booked) !== entries)
          wrong.push(`${noun} ${String(one)} is booked ${String(booked)} times, not ${entries}`)
      },
    )
  assert.deepEqual(wrong, [])
}
/** Each order is filled by as much as its fills say, and each trade has both of its sides. */
async function checkFills(snapshot: Snapshot): Promise<void> {
  for (const [orders, fills, amount] of [
    ['spot_order', 'spot_fill', 'amount'],
    ['contract_order', 'contract_fill', 'size'],
  ] as const) {
    const sums = new Map<string, bigint>()
    const sides = new Map<string, number>()
    await snapshot.each(`select order_id, trade_id, ${amount} from ${fills}`, ([order, trade, size]) => {
      const filled = amountOf(String(size).replace(/^-/, ''))
      sums.set(String(order), (sums.get(String(order)) ?? 0n) + filled)
      sides.set(String(trade), (sides.get(String(trade)) ?? 0) + 1)
    })
    await snapshot.each(`select id, filled from ${orders}`, ([id, filled]) => {
      const sum = sums.get(String(id)) ?? 0n
      assert.equal(amountOf(String(filled)), sum, `${orders} ${String(id)} and its fills`)
    })
    const half = [...sides].filter(([, count]) => count !== 2)
    assert.deepEqual(half, [], `${fills}: trades with one side`)
  }
}
/** Nothing goes out over the chain but for a withdrawal, and for each once. */
async function checkChain(snapshot: Snapshot): Promise<void> {
  const asked = new Map<string, { amount: bigint; status: string }>()
  await snapshot.each(
    `select txid, amount, fee, status from withdrawal where txid <> ''`,
    ([txid, amount, fee, status]) => {
      assert.ok(!asked.has(String(txid)), `${String(txid)} pays two withdrawals`)
      const net = amountOf(String(amount)) - amountOf(String(fee))
      asked.set(String(txid), { amount: net, status: String(status) })
    },
  )
  const sent = new Set<string>()
  await snapshot.each(`select txid, amount from sim_tx where kind = 'out'`, ([txid, amount]) => {
    const withdrawal = asked.get(String(txid))
    assert.equal(
      format(amountOf(String(amount))),
      withdrawal && format(withdrawal.amount as never),
      String(txid),
    )
    sent.add(String(txid))
  })
  for (const [txid, { status }] of asked)
    if (status === 'DONE') assert.ok(sent.has(txid), `${txid} is done and was never sent`)
}
