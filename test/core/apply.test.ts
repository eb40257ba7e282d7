import assert from 'node:assert/strict'
import { test } from 'node:test'
import { State } from '../../src/core/state.ts'
import { DEFAULT_SETTINGS, type User } from '../../src/core/tables/users.ts'
import { OrderRow, type Order } from '../../src/core/tables/exchange/order.ts'
import { BUILT_IN_WORLD } from '../../src/core/world/built-in.ts'
import { applyEntry } from '../../src/machine/apply.ts'
import { Batch } from '../../src/machine/batch.ts'
import { JournalChain } from '../../src/machine/journal.ts'
import { Tx } from '../../src/machine/table.ts'
import { amountOf, priceOf } from '../../src/money/amount.ts'
import { pictureOf } from '../support/pictures.ts'
import { packed } from '../support/packed.ts'

const user = (user_id: number, login_name: string): User => ({
  user_id,
  parent_id: 0,
  login_name,
  email: '',
  password_hash: '',
  remark: '',
  state: 1,
  type: 1,
  vip: 0,
  create_time: 1,
  settings: DEFAULT_SETTINGS,
})
const order = (id: number, pair: string, status: Order['status'] = 'open'): OrderRow =>
  OrderRow.of({
    id,
    user_id: 1,
    pair,
    side: 'buy',
    type: 'limit',
    account: 'spot',
    time_in_force: 'gtc',
    text: `t-${id}`,
    amend_text: '-',
    price: priceOf('100'),
    amount: amountOf('1'),
    left: amountOf('1'),
    filled: amountOf('0'),
    filled_total: amountOf('0'),
    held: amountOf('0'),
    fee: amountOf('0'),
    gt_fee: amountOf('0'),
    point_fee: amountOf('0'),
    iceberg: amountOf('0'),
    shown: amountOf('1'),
    refreshed: false,
    rank: id,
    stp_id: 0,
    stp_act: '-',
    status,
    finish_as: 'open',
    create_at: 1,
    update_at: 1,
    more: null,
  })

/** One who writes and one who follows, batch by batch. */
class Two {
  readonly writes = new State()
  readonly follows = new State()
  private readonly tables = new Map(this.follows.tables.map((table) => [table.spec.name, table]))
  private readonly chain = new JournalChain('', '')
  private sequence = 0
  /** Each is a command of one batch. */
  batch(...commands: ((tx: Tx, state: State) => void)[]): void {
    const batch = new Batch()
    for (const act of commands) {
      const tx = new Tx()
      act(tx, this.writes)
      batch.add(tx, 1, 'test.act', '{}')
    }
    applyEntry(this.tables, this.chain.seal(packed(batch, ++this.sequence, 1)))
    assert.deepEqual(pictureOf(this.follows), pictureOf(this.writes))
  }
}

test('who takes a name over in a batch may stand in it before who gave it up', () => {
  const two = new Two()
  two.batch((tx, { users }) => {
    tx.put(users.table, user(1, 'first'))
    tx.put(users.table, user(2, 'second'))
  })
  two.batch(
    (tx, { users }) => tx.put(users.table, user(2, 'meanwhile')),
    (tx, { users }) => tx.put(users.table, user(1, 'second')),
    (tx, { users }) => tx.put(users.table, user(2, 'first')),
  )
  assert.equal(two.follows.users.byLogin.get('first')?.user_id, 2)
  assert.equal(two.follows.users.byLogin.get('second')?.user_id, 1)
  two.batch((tx, { users }) => tx.remove(users.table, 2))
  assert.equal(two.follows.users.byLogin.get('first'), undefined)
})

test('an order finds a market that came in the same batch, and one that ended leaves a market that changed', () => {
  const two = new Two()
  const { markets } = BUILT_IN_WORLD
  const [old, fresh] = markets
  const world = (list: typeof markets) => ({ name: 'world', value: { ...BUILT_IN_WORLD, markets: list } })
  two.batch((tx, state) => tx.put(state.world.settings, world([old!])))
  two.batch((tx, { spot }) => tx.put(spot.orders, order(1, old!.id)))
  two.batch(
    (tx, { spot }) => tx.put(spot.orders, order(2, old!.id)),
    (tx, { spot }) => tx.put(spot.orders, order(1, old!.id, 'cancelled')),
    (tx, state) => tx.put(state.world.settings, world([{ ...old!, precision: 0 }, fresh!])),
    (tx, { spot }) => tx.put(spot.orders, order(3, fresh!.id)),
  )
  assert.deepEqual(
    [old!, fresh!].map(({ id }) => [...two.follows.spot.book(id).queue('buy')].map((one) => one.id)),
    [[2], [3]],
  )
  assert.equal(two.follows.spot.openWithText(1, 't-1'), undefined)
  assert.throws(
    () =>
      applyEntry(new Map(), {
        sequence: 9,
        at: 1,
        count: 1,
        commands: '[]',
        body: '[["unheard","never",2,4,1]]\n1\n[1]\n\n',
        hash: '',
        mac: '',
      }),
    /batch 9 changes unheard/,
  )
})
