import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import { id, optional, text } from '../api/fields.ts'
import { array, bool, decimalText, int, int64, map, nullable, shape, str } from '../api/shapes.ts'
import { proveLedger } from '../core/ledger/ledger.ts'
import { notFound } from '../labels.ts'
import { format, type Amount } from '../money/amount.ts'
import { proveContracts } from '../proof/contracts.ts'
import { LiabilitySnapshot, netBalances } from '../proof/snapshot.ts'
import { randomHex } from '../runtime/secrets.ts'
import { contractProofShape, contractProofView } from './contracts.ts'
import { reserves } from './reserves.ts'
import { userAt } from './users.ts'

/** Snapshots that proofs can still be drawn from; a million users take some 400 MB each. */
const KEPT = 4

/** The newest snapshots of the liabilities. They live in this process: proofs are drawn when a root is published. */
class Snapshots {
  private readonly kept: LiabilitySnapshot[] = []
  /** The hash of the last batch that was wholly in the newest one: after a reset batches have the same numbers again. */
  private upto = ''
  private taking: Promise<LiabilitySnapshot> | undefined

  async newest(desk: Desk): Promise<LiabilitySnapshot> {
    const last = this.kept.at(-1)
    const { hash } = await desk.core.read(() => desk.core.committed)
    if (last !== undefined && this.upto === hash && desk.core.committed.hash === hash) return last
    this.taking ??= this.take(desk).finally(() => (this.taking = undefined))
    return this.taking
  }
  find(root: string): LiabilitySnapshot {
    return (
      this.kept.find((snapshot) => snapshot.root === root) ??
      notFound(
        'NOT_FOUND',
        `root: no snapshot with the root ${root} is kept (only the newest ${KEPT} since the start); GET /ledger/liabilities takes a new one`,
      )
    )
  }
  private async take(desk: Desk): Promise<LiabilitySnapshot> {
    const { balances, upto } = await desk.core.read(({ ledger }) => ({
      balances: netBalances(ledger.accounts.values()),
      upto: desk.core.committed.hash,
    }))
    const snapshot = await LiabilitySnapshot.of(balances, desk.core.committed.sequence, randomHex(32))
    this.kept.push(snapshot)
    this.upto = upto
    if (this.kept.length > KEPT) this.kept.shift()
    return snapshot
  }
}

const rootMembers = { currency: str, hash: str, sum: decimalText, users: int }

export function operatorLedgerEndpoints(): readonly AnyEndpoint[] {
  const snapshots = new Snapshots()
  return [
    endpoint({
      method: 'GET',
      path: '/ledger/proof',
      summary: 'Adds up the whole ledger, says whether it balances, and compares custody with the chains',
      access: operatorOf('viewer'),
      limit: null,
      status: 200,
      reply: shape({
        balanced: bool,
        currencies: array(
          shape({
            currency: str,
            total: decimalText,
            user_liabilities: decimalText,
            custody: decimalText,
            accounts: map(decimalText),
          }),
        ),
        reserves_match: bool,
        reserves: array(
          shape({
            chain: str,
            currency: str,
            custody: decimalText,
            unbooked: decimalText,
            on_chain: nullable(decimalText),
            difference: nullable(decimalText),
            error: str,
          }),
        ),
        contracts_match: bool,
        contracts: contractProofShape,
        sequence: int64,
        state_hash: str,
      }),
      refuses: [],
      handle: async ({ desk }) => {
        const held = await reserves(desk)
        const { proof, contracts } = await desk.core.read((state) => ({
          proof: proveLedger(state.ledger.accounts.values()),
          contracts: proveContracts(state),
        }))
        const { sequence, hash } = desk.core.committed
        return {
          balanced: proof.every(({ total }) => total === 0n),
          currencies: proof.map(({ currency, total, userLiabilities, platform }) => ({
            currency,
            total: format(total),
            user_liabilities: format(userLiabilities),
            custody: format(
              Object.entries(platform)
                .filter(([name]) => name.startsWith('custody:'))
                .reduce((sum, [, amount]) => sum - amount, 0n) as Amount,
            ),
            accounts: Object.fromEntries(
              Object.entries(platform).map(([name, amount]) => [name, format(amount)]),
            ),
          })),
          reserves_match: held.every(({ difference }) => difference === '0'),
          reserves: held,
          contracts_match: contracts.every(({ ok }) => ok),
          contracts: contractProofView(contracts),
          sequence,
          state_hash: hash,
        }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/ledger/liabilities',
      summary: 'Commits to what every user is owed: Merkle-sum roots by currency under one root to publish',
      access: operatorOf('viewer'),
      limit: null,
      status: 200,
      reply: shape({
        root: str,
        sequence: int64,
        currencies: array(
          shape({ ...rootMembers, owed_by_users: decimalText, user_liabilities: decimalText }),
        ),
      }),
      refuses: [],
      handle: async ({ desk }) => {
        const { root, sequence, currencies } = await snapshots.newest(desk)
        return { root, sequence, currencies }
      },
    }),
    endpoint({
      method: 'GET',
      path: '/ledger/liabilities/{uid}',
      summary: "Proves that a user's balances are under the root; `kontor verify-proof` checks it anywhere",
      access: operatorOf('viewer'),
      limit: null,
      params: { uid: id() },
      query: {
        root: optional(text({ max: 64, pattern: /^[0-9a-f]{64}$/, mend: 'must be 64 hex digits' })),
      },
      status: 200,
      reply: shape({
        version: int,
        user_id: int64,
        root: str,
        currencies: array(shape(rootMembers)),
        balances: array(
          shape({
            currency: str,
            balance: decimalText,
            nonce: str,
            path: array(shape({ side: str, hash: str, sum: decimalText })),
          }),
        ),
      }),
      refuses: ['USER_NOT_FOUND', 'NOT_FOUND'],
      handle: async ({ desk, path, query }) => {
        await desk.core.read((state) => userAt(state, path.uid))
        const snapshot = query.root === null ? await snapshots.newest(desk) : snapshots.find(query.root)
        return snapshot.proof(path.uid)
      },
    }),
  ]
}
