import { DECLARED, State } from '../core/state.ts'
import { isLocked, lockedName, type AccountName } from '../core/ledger/accounts.ts'
import { GENESIS_HASH, auditHash, type AuditRecord } from '../core/tables/audit.ts'
import { amountOf, format, type Amount } from '../money/amount.ts'
import { freeName } from '../core/spot/accounts.ts'
import type { OrderAccount } from '../core/tables/exchange/order.ts'
import { heldBy, type Withdrawal } from '../core/tables/withdrawals.ts'
import { proveContracts } from '../proof/contracts.ts'
import { behindKept, type KeptHead } from '../store/kept-head.ts'
import { JournalChain } from '../machine/journal.ts'
import { compareSeals } from '../store/seals.ts'
import { READ_HEAD, storeHead } from '../store/head.ts'
import { loading } from '../store/statements.ts'
import type { Snapshot } from '../store/store.ts'

/** What `kontor verify` found. `wrong` holds one line for each fault, with the place where it is. */
export interface Verification {
  readonly wrong: string[]
  accounts: number
  lines: number
  entries: number
  audits: number
  batches: number
  currencies: number
  contracts: number
}

/**
 * Adds everything up again from what the store holds, trusting no running total. Lines are streamed in order,
 * so that memory is bounded however long the history is.
 */
export async function verifyStore(
  snapshot: Snapshot,
  { key, kept }: { readonly key?: string | undefined; readonly kept?: KeptHead | undefined },
): Promise<Verification> {
  const found: Verification = {
    wrong: [],
    accounts: 0,
    lines: 0,
    entries: 0,
    audits: 0,
    batches: 0,
    currencies: 0,
    contracts: 0,
  }
  /** A page that can't be read, or a row that makes no sense, is one more fault: the other parts are looked at all the same. */
  const part = async (name: string, check: () => Promise<void>): Promise<void> => {
    try {
      await check()
    } catch (error) {
      found.wrong.push(`${name}: can't be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  await part('file', async () => {
    for (const fault of await snapshot.integrity()) found.wrong.push(`file: ${fault}`)
  })
  await part('ledger lines', () => checkBalances(snapshot, found))
  await part('entries', () => checkEntries(snapshot, found))
  await part('audit log', () => checkAudit(snapshot, found))
  await part('recorded commands', () => checkBatches(snapshot, found))
  await part('holds', () => checkHolds(snapshot, found))
  await part('contracts', () => checkContracts(snapshot, found))
  if (key !== undefined)
    await part('sums', async () => {
      const [row] = await snapshot.query(READ_HEAD)
      if (row === undefined) found.wrong.push('head: it is gone')
      else
        found.wrong.push(
          ...(await compareSeals((sql, each) => snapshot.each(sql, each), storeHead(row), key, DECLARED)),
        )
    })
  await part('journal', () => checkJournal(snapshot, key, found))
  if (kept !== undefined)
    await part('kept head', async () => {
      const behind = await behindKept(snapshot, kept)
      if (behind !== undefined) found.wrong.push(behind)
    })
  return found
}

/** Each line's balance follows from the one before it, and the last one is the account's. */
async function checkBalances(snapshot: Snapshot, found: Verification): Promise<void> {
  const totals = new Map<string, bigint>()
  let account = 0
  let after = 0n
  let count = 0
  let stored: { amount: Amount; version: number; text: string } | undefined
  const finish = (): void => {
    if (stored === undefined) return
    if (stored.amount !== after)
      found.wrong.push(
        `${stored.text}: holds ${format(stored.amount)}, but its last line ends at ${format(after as Amount)}`,
      )
    if (stored.version !== count)
      found.wrong.push(`${stored.text}: says it changed ${stored.version} times, but has ${count} lines`)
  }
  const sql = `select l."account", l."id", l."amount", l."after",
    a."amount", a."version", a."owner", a."name", a."currency"
    from ledger_line l left join account a on a."id" = l."account" order by l."account", l."at", l."id"`
  await snapshot.each(sql, (row) => {
    const [id, line, amount, lineAfter, held, version, owner, name, currency] = row
    if (Number(id) !== account) {
      finish()
      account = Number(id)
      after = 0n
      count = 0
      const text = `account ${account} (${String(owner)} ${String(name)} ${String(currency)})`
      stored =
        held === null ? undefined : { amount: amountOf(held as string), version: Number(version), text }
      if (stored === undefined) found.wrong.push(`${text}: has lines, but there is no such account`)
    }
    count++
    after += amountOf(String(amount))
    if (amountOf(String(lineAfter)) !== after) {
      found.wrong.push(
        `line ${String(line)} of account ${account}: says ${String(lineAfter)} after it, but the lines add up to ${format(after as Amount)}`,
      )
      // Go on from what is written, so that one fault is told once.
      after = amountOf(String(lineAfter))
    }
  })
  finish()
  const orphans = `select a."id", a."amount" from account a where not exists (select 1 from ledger_line l where l."account" = a."id")`
  await snapshot.each(orphans, ([id, amount]) =>
    found.wrong.push(`account ${String(id)}: holds ${String(amount)}, but has no lines`),
  )
  await snapshot.each('select "currency", "amount" from account', ([currency, amount]) => {
    found.accounts++
    totals.set(String(currency), (totals.get(String(currency)) ?? 0n) + amountOf(String(amount)))
  })
  found.currencies = totals.size
  for (const [currency, total] of totals)
    if (total !== 0n)
      found.wrong.push(`${currency}: all accounts add up to ${format(total as Amount)}, not to zero`)
}

/**
 * Every entry closes at zero in each of its currencies. It bears the number of its first line; numbers may be
 * left out (an item of a batch that was taken back), but they only grow. A line that is gone shows in its account.
 */
async function checkEntries(snapshot: Snapshot, found: Verification): Promise<void> {
  const sums = new Map<string, bigint>()
  let entry = 0
  let line = 0
  const finish = (): void => {
    for (const [currency, sum] of sums)
      if (sum !== 0n)
        found.wrong.push(`entry ${entry}: its lines in ${currency} add up to ${format(sum as Amount)}`)
    sums.clear()
  }
  const sql = `select l."id", l."entry", a."currency", l."amount"
    from ledger_line l left join account a on a."id" = l."account" order by l."id"`
  await snapshot.each(sql, ([id, of, currency, amount]) => {
    if (Number(of) === entry && Number(id) !== line + 1)
      found.wrong.push(`line ${line + 1}: is missing in entry ${entry} (the next is ${String(id)})`)
    line = Number(id)
    if (Number(of) !== entry) {
      finish()
      if (Number(of) !== line)
        found.wrong.push(`line ${line}: is of entry ${String(of)}, whose first line is missing`)
      entry = Number(of)
      found.entries++
    }
    found.lines++
    sums.set(String(currency), (sums.get(String(currency)) ?? 0n) + amountOf(String(amount)))
  })
  finish()
  const [row] = await snapshot.query('select "value" from counter where "name" = ?', ['line'])
  const given = Number(row?.[0] ?? 0)
  if (given < line) found.wrong.push(`line ${line}: is the last one, but only ${given} have been numbered`)
}

/** Each record carries the hash of the one before it; the head knows the last. */
async function checkAudit(snapshot: Snapshot, found: Verification): Promise<void> {
  let previous = GENESIS_HASH
  let last = 0
  const sql =
    'select "id", "at", "operator", "action", "detail", "previous_hash", "hash" from audit order by "id"'
  await snapshot.each(sql, (row) => {
    const [id, at, operator, action, detail, previous_hash, hash] = row as [
      number,
      number,
      string,
      string,
      string,
      string,
      string,
    ]
    const record = { id, at, operator, action, previous_hash, detail: parsed(detail) } as Omit<
      AuditRecord,
      'hash'
    >
    if (id !== last + 1) found.wrong.push(`audit ${last + 1}: is missing (the next is ${id})`)
    if (previous_hash !== previous) found.wrong.push(`audit ${id}: does not follow from the one before it`)
    if (auditHash(record) !== hash) found.wrong.push(`audit ${id}: has been changed (its hash does not fit)`)
    previous = hash
    last = id
    found.audits++
  })
  const [head] = await snapshot.query(`select "hash" from audit_head where "chain" = 'operator'`)
  if ((head?.[0] ?? GENESIS_HASH) !== previous)
    found.wrong.push(`audit ${last}: is the last one here, but not the last one written`)
}
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

/** The recorded commands are whole and without gaps, up to the head. */
async function checkBatches(snapshot: Snapshot, found: Verification): Promise<void> {
  let last = 0
  let lastHash = ''
  const sql = 'select "sequence", "count", "hash", "commands" from command_batch order by "sequence"'
  await snapshot.each(sql, ([sequence, count, hash, commands]) => {
    if (Number(sequence) !== last + 1)
      found.wrong.push(`batch ${last + 1}: is missing (the next is ${String(sequence)})`)
    const list = parsed(String(commands))
    if (!Array.isArray(list) || list.length !== Number(count))
      found.wrong.push(`batch ${String(sequence)}: does not hold its ${String(count)} commands`)
    last = Number(sequence)
    lastHash = String(hash)
    found.batches++
  })
  const [[sequence, hash]] = (await snapshot.query('select sequence, hash from head')) as [[number, string]]
  if (sequence !== last || hash !== lastHash)
    found.wrong.push(`batch ${last}: is the last one here, but the head is at ${sequence}`)
}

/** What a killed platform left in the journal goes on from the tables, and is what it wrote. */
async function checkJournal(snapshot: Snapshot, key: string | undefined, found: Verification): Promise<void> {
  const tail = await snapshot.tail()
  const [row] = await snapshot.query('select sequence, hash from head')
  if (row === undefined) return
  const [sequence, hash] = row as [number, string]
  const chain = new JournalChain(hash, key ?? '')
  for (const [i, entry] of tail.entries()) {
    const fits = key === undefined ? chain.follows(entry) : chain.admits(entry)
    if (entry.sequence !== sequence + 1 + i || !fits) {
      found.wrong.push(
        `journal ${entry.sequence}: is not what the platform wrote behind batch ${sequence + i}`,
      )
      return
    }
    found.batches++
  }
}

/** What each account has locked is what its open orders and waiting withdrawals hold. */
async function checkHolds(snapshot: Snapshot, found: Verification): Promise<void> {
  const differences = new Map<string, bigint>()
  const count = (owner: unknown, name: string, currency: string, amount: bigint): void => {
    const account = `${String(owner)} ${name} ${currency}`
    differences.set(account, (differences.get(account) ?? 0n) + amount)
  }
  await snapshot.each('select "owner", "name", "currency", "amount" from account', (row) => {
    const [owner, name, currency, amount] = row as [number, AccountName, string, string]
    if (isLocked(name)) count(owner, name, currency, amountOf(amount))
  })
  const orders = `select "user_id", "account", "pair", "side", "held" from spot_order where "status" = 'open' and "live"
    union all select "user_id", 'spot', "pair", "side", "held" from spot_pov_order where "live"`
  await snapshot.each(orders, (row) => {
    const [owner, account, pair, side, held] = row as [number, OrderAccount, string, string, string]
    const [base, quote] = pair.split('_') as [string, string]
    const name = lockedName(freeName(account, pair))
    count(owner, name, side === 'buy' ? quote : base, -amountOf(held))
  })
  const waiting = 'select "user_id", "currency", "amount", "status", "refund_of" from withdrawal where "live"'
  await snapshot.each(waiting, ([user_id, currency, amount, status, refund_of]) => {
    const withdrawal = { amount: amountOf(String(amount)), status, refund_of: Number(refund_of) }
    count(user_id, lockedName('spot'), String(currency), -heldBy(withdrawal as Withdrawal))
  })
  for (const [account, difference] of differences)
    if (difference !== 0n)
      found.wrong.push(
        `account ${account}: holds ${format(difference as Amount)} more than its orders and withdrawals say`,
      )
}

/** As much of each contract is long as is short, and its clearing account holds what the positions cost. */
async function checkContracts(snapshot: Snapshot, found: Verification): Promise<void> {
  const state = new State()
  const { world, futures, ledger } = state
  for (const table of [world.settings, world.contracts.listed, futures.positions.table, ledger.accounts]) {
    const { sql, row } = loading(table as unknown as Parameters<typeof loading>[0])
    await snapshot.each(sql, row)
  }
  for (const { group, settle, contract, long, short, cost, clearing, ok } of proveContracts(state)) {
    found.contracts++
    if (ok) continue
    const id = `${group}/${settle}/${contract}`
    found.wrong.push(
      long === short
        ? `contract ${id}: its positions cost ${format(cost)}, but its clearing account holds ${format(clearing)}`
        : `contract ${id}: ${format(long)} contracts are long and ${format(short)} short`,
    )
  }
}
