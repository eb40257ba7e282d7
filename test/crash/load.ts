import assert from 'node:assert/strict'
import { verifyStore } from '../../src/checks/ledger-check.ts'
import { wholeSnapshot } from '../support/whole-snapshot.ts'
import { rowsKey } from '../support/rows-key.ts'
import { amountOf, format, type Amount } from '../../src/money/amount.ts'
import { Client, OperatorClient, type Credential } from '../support/client.ts'
import { allPerms, TOKEN } from '../support/platform.ts'

const FUNDS = '1000000'

/** A customer who writes down what the platform said, to hold it against what it did. */
interface Customer {
  readonly user_id: number
  readonly credential: Credential
  /** By tx_id: what was acknowledged. */
  readonly acknowledged: Map<number, string>
  /** Sent, and never answered: may have happened or not. */
  uncertain: string | undefined
  /** What the futures account must hold if nothing uncertain happened. */
  expected: bigint
}

/** Signed transfers from many customers at once, each of whom waits for the reply before the next one. */
export class Load {
  readonly customers: Customer[] = []
  private running = false
  private workers: Promise<void>[] = []
  private sent = 0

  get acknowledged(): number {
    return this.customers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0)
  }
  async prepare(url: string, count: number): Promise<void> {
    const operator = new OperatorClient(url, TOKEN)
    for (let i = 0; i < count; i++) {
      const { user_id } = await operator.ok('POST', '/users', { login_name: `load_${i}` })
      const credential = await operator.ok('POST', `/users/${user_id}/keys`, {
        name: 'load',
        mode: 1,
        perms: allPerms(),
        ip_whitelist: [],
      })
      await operator.ok('POST', `/users/${user_id}/credit`, {
        account: 'spot',
        currency: 'USDT',
        amount: FUNDS,
      })
      this.customers.push({
        user_id,
        credential,
        acknowledged: new Map(),
        uncertain: undefined,
        expected: 0n,
      })
    }
  }
  start(url: string): void {
    this.running = true
    this.workers = this.customers.map((customer) => this.work(customer, new Client(url, customer.credential)))
  }
  /** Ends when every customer has met the end of the platform, or has been told to stop. */
  async stop(): Promise<void> {
    this.running = false
    await Promise.all(this.workers)
  }
  private async work(customer: Customer, client: Client): Promise<void> {
    while (this.running) {
      const amount = format((10n ** 10n * BigInt(++this.sent)) as Amount)
      try {
        const { status, body, text } = await client.post('/wallet/transfers', {
          currency: 'USDT',
          from: 'spot',
          to: 'futures',
          settle: 'usdt',
          amount,
        })
        if (status === 503) {
          // It says itself that it does not know.
          customer.uncertain = amount
          return
        }
        assert.equal(status, 200, text)
        customer.acknowledged.set(body.tx_id as number, amount)
        customer.expected += amountOf(amount)
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        customer.uncertain = amount
        return
      }
    }
  }
}

/**
 * What the store holds against what the customers were told: every acknowledged transfer, whole, once; at most
 * the one unanswered transfer of each beyond that; and a ledger in order. Answers how many unanswered ones happened.
 */
export async function checkAgainstStore(
  load: Load,
  place: { data: string; databaseUrl: string | undefined },
): Promise<number> {
  const snapshot = await wholeSnapshot(place)
  let survivors = 0
  try {
    assert.deepEqual((await verifyStore(snapshot, { key: rowsKey(place.data) })).wrong, [])
    const transfers = new Map<number, { user: number; amount: string }[]>()
    await snapshot.each(
      `select tx_id, user_id, amount from transfer where kind = 'own'`,
      ([tx_id, user, amount]) => {
        const known = transfers.get(Number(tx_id)) ?? []
        transfers.set(Number(tx_id), [...known, { user: Number(user), amount: amount as string }])
      },
    )
    let told = 0
    for (const customer of load.customers) {
      for (const [tx_id, amount] of customer.acknowledged)
        assert.deepEqual(transfers.get(tx_id), [{ user: customer.user_id, amount }], `tx_id ${tx_id}`)
      told += customer.acknowledged.size
      const [row] = await snapshot.query(
        `select amount from account where owner = ? and name = 'futures:usdt' and currency = 'USDT'`,
        [customer.user_id],
      )
      const held = amountOf((row?.[0] ?? '0') as string)
      if (held !== customer.expected) {
        assert.notEqual(customer.uncertain, undefined, `user ${customer.user_id}: nothing was uncertain`)
        assert.equal(held, customer.expected + amountOf(customer.uncertain!), `user ${customer.user_id}`)
        customer.expected = held
        survivors++
        const [tx_id] = [...transfers].find(
          ([, [only]]) => only!.user === customer.user_id && only!.amount === customer.uncertain,
        )!
        customer.acknowledged.set(tx_id, customer.uncertain!)
      }
      customer.uncertain = undefined
    }
    assert.equal(transfers.size, told + survivors, 'nothing happened that nobody asked for')
  } finally {
    await snapshot.close()
  }
  return survivors
}
