import { Authenticator } from '../../../src/api/authenticate.ts'
import { commands } from '../../../src/core/commands.ts'
import { Ledger, OpenEntry } from '../../../src/core/ledger/ledger.ts'
import { Ladder } from '../../../src/core/risk/risk.ts'
import { Book } from '../../../src/core/tables/exchange/book.ts'
import { Chases } from '../../../src/core/tables/futures/chases.ts'
import { ContractPriceOrders } from '../../../src/core/tables/futures/price-orders.ts'
import { Batch } from '../../../src/machine/batch.ts'
import { GroupIndex, Tx } from '../../../src/machine/table.ts'
import { Commits } from '../../../src/machine/stream.ts'
import { SqliteJournal } from '../../../src/store/sqlite-journal.ts'
import { SqliteStore } from '../../../src/store/sqlite.ts'
import { plant } from '../../support/plant.ts'

/** Bugs of different kinds, each put in and taken out again. docs/simulation.md tells what catches each. */
export const BUGS: Readonly<Record<string, () => () => void>> = {
  'a refusal undoes nothing': () => plant(Tx.prototype, 'rollback', () => function () {}),
  'a posting makes money': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          const lines = entry.lines.map((line, i) =>
            i === 1 && line.currency === 'ETH' ? { ...line, amount: (line.amount + 1n) as never } : line,
          )
          return original.call(this, context, { ...entry, lines })
        },
    ),
  'a balance is read wrong': () =>
    plant(
      Ledger.prototype,
      'balance',
      (original) =>
        function (this: Ledger, owner, name, currency) {
          const sum = original.call(this, owner, name, currency)
          return name === 'futures:usdt' && sum > 0n ? ((sum - 1n) as never) : sum
        },
    ),
  'money goes to the next account': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          const lines = entry.lines.map((line) =>
            line.name === 'spot' && line.amount > 0n && line.owner > 10_010
              ? { ...line, owner: line.owner - 1 }
              : line,
          )
          return original.call(this, context, { ...entry, lines })
        },
    ),
  'a fill books one line in a hundred to somebody else': () =>
    plant(
      OpenEntry.prototype,
      'line',
      (original) =>
        function (this: OpenEntry, owner, purpose, amount, kind) {
          const wrong = owner > 10_010 && amount > 0n && amount % 97n === 0n
          original.call(this, wrong ? owner - 1 : owner, purpose, amount, kind)
        },
    ),
  'a changed row is not written': () =>
    plant(
      Batch.prototype,
      'add',
      (original) =>
        function (this: Batch, tx, at, type, input) {
          const found = tx.touched.findIndex(({ table }) => table.spec.name === 'spot_order')
          if (found !== -1) tx.touched.splice(found, 1)
          original.call(this, tx, at, type, input)
        },
    ),
  'a line of the ledger is not written': () =>
    plant(
      Batch.prototype,
      'add',
      (original) =>
        function (this: Batch, tx, at, type, input) {
          if (type === 'spot.place' && tx.appended.length > 0) {
            tx.appended.pop()
            tx.logs.pop()
          }
          original.call(this, tx, at, type, input)
        },
    ),
  'an append is acknowledged that never was': () => {
    let count = 0
    return plant(
      SqliteStore.prototype,
      'commit',
      (original) =>
        function (this: SqliteStore, batch) {
          if (++count % 40 === 0) return Promise.resolve('0'.repeat(64))
          return original.call(this, batch)
        },
    )
  },
  'a command reads the wall clock': () =>
    plant(commands, 'transfer.create', (original) => (ctx, input) => {
      const made = original(ctx, input)
      const user = ctx.state.users.must(input.user_id)
      ctx.tx.put(ctx.state.users.table, { ...user, remark: String(performance.now()) })
      return made
    }),
  'a command draws lots': () =>
    plant(commands, 'spot.cancel', (original) => (ctx, input) => {
      const made = original(ctx, input)
      const user = ctx.state.users.must(input.user_id)
      ctx.tx.put(ctx.state.users.table, { ...user, remark: String(Math.random()) })
      return made
    }),
  'an index loses rows': () =>
    plant(
      GroupIndex.prototype,
      'get',
      (original) =>
        function (this: GroupIndex<object, unknown>, group) {
          const rows = [...original.call(this, group)]
          return rows.slice(0, 3)[Symbol.iterator]() as never
        },
    ),
  'a removed row comes back after a restart': () =>
    plant(
      Tx.prototype,
      'remove',
      () =>
        function (this: Tx, table, key) {
          table.swap(key, undefined, 'undo')
        },
    ),
  'an id passes twice': () =>
    plant(
      commands,
      'sub_transfer.create',
      (original) => (ctx, input) =>
        original(ctx, {
          ...input,
          client_order_id: `${input.client_order_id ?? ''}-${ctx.at}`,
        }),
    ),
  'a withdrawal is booked twice': () =>
    plant(commands, 'withdrawal.request', (original) => (ctx, input) => {
      const made = original(ctx, input)
      original(ctx, { ...input, withdraw_order_id: null })
      return made
    }),
  'a cancelled order keeps its money': () =>
    plant(commands, 'spot.cancel', (original) => (ctx, input) => {
      const made = original(ctx, input)
      const line = { owner: input.user_id, currency: 'USDT' }
      const sum = (10n ** 16n) as never
      if (ctx.state.ledger.balance(input.user_id, 'spot', 'USDT') > sum)
        ctx.state.ledger.post(ctx, {
          kind: 'fee',
          ref: 'bug',
          lines: [
            { ...line, name: 'spot', amount: -sum as never },
            { owner: 0, currency: 'USDT', name: 'fees', amount: sum },
          ],
        } as never)
      return made
    }),
  'orders of one price wait in the wrong order': () =>
    plant(
      Book.prototype,
      'insert',
      (original) =>
        function (this: Book, order) {
          original.call(this, order.rank % 3 === 0 ? Object.assign(order, { rank: -order.rank }) : order)
        },
    ),
  'a signature never expires': () =>
    plant(
      Authenticator.prototype,
      'recognize',
      (original) =>
        function (this: Authenticator, claim) {
          const now = String(Math.floor(Number(claim.timestamp ?? 0) / 600) * 600 + 600)
          return original.call(this, {
            ...claim,
            timestamp: claim.timestamp === undefined ? undefined : now,
          } as never)
        },
    ),
  'an order is carried out twice': () =>
    plant(commands, 'spot.place', (original) => (ctx, input) => {
      const made = original(ctx, input)
      if (ctx.at % 5 === 0) original(ctx, input)
      return made
    }),
  'an amendment takes what it frees': () =>
    plant(commands, 'spot.amend', (original) => (ctx, input) => {
      const made = original(ctx, input)
      const { user_id } = input
      const sum = 10n ** 16n
      if (ctx.state.ledger.balance(user_id, 'spot', 'BTC') > sum)
        ctx.state.ledger.post(ctx, {
          kind: 'fee',
          ref: 'bug',
          lines: [
            { owner: user_id, currency: 'BTC', name: 'spot', amount: -sum as never },
            { owner: 0, currency: 'BTC', name: 'fees', amount: sum as never },
          ],
        })
      return made
    }),
  'a transfer leaves a crumb behind': () =>
    plant(commands, 'transfer.create', (original) => (ctx, input) => {
      const { amount } = input as { amount: string }
      return original(ctx, {
        ...input,
        amount: amount.length > 4 ? amount.slice(0, -1) + '0' : amount,
      })
    }),
  'a deposit is worth more than was paid': () =>
    plant(
      commands,
      'chain.observe',
      (original) => (ctx, input) =>
        original(ctx, {
          ...input,
          payments: input.payments.map((one) => ({ ...one, amount: `9${one.amount}` })),
        }),
    ),
  'interest is booked twice': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          if (entry.kind === 'interest') original.call(this, context, entry)
          return original.call(this, context, entry)
        },
    ),
  'a fee of contracts is counted wrong now and then': () =>
    plant(commands, 'futures.place', (original) => (ctx, input) => {
      const made = original(ctx, input)
      const row = ctx.state.futures.positions.get(input.user_id, made.pair, 'single')
      if (row !== undefined && row.size !== 0n && made.id % 5 === 0)
        ctx.tx.put(ctx.state.futures.positions.table, { ...row, fee: (row.fee + 1n) as never })
      return made
    }),
  'of two stops of an order one is forgotten': () =>
    plant(
      ContractPriceOrders.prototype,
      'ofOrder',
      (original) =>
        function (this: ContractPriceOrders, orderId) {
          return original.call(this, orderId).slice(0, 1)
        },
    ),
  'one who chases is not looked at': () =>
    plant(
      Chases.prototype,
      'after',
      (original) =>
        function (this: Chases, contract, id, most) {
          return original.call(this, contract, id, most).slice(1)
        },
    ),
  'a unified account pays fees of contracts twice': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          if (entry.lines.some(({ kind, amount }) => kind === 'futures_fee' && amount < 0n))
            original.call(this, context, entry)
          return original.call(this, context, entry)
        },
    ),
  'an isolated margin of a unified account is a little more than was taken': () =>
    plant(commands, 'futures.place', (original) => (ctx, input) => {
      const made = original(ctx, input)
      const { positions } = ctx.state.futures
      const row = positions.get(input.user_id, made.pair, 'single')
      if (row !== undefined && row.margin > 0n && ctx.state.margin.isUnified(input.user_id))
        ctx.tx.put(positions.table, { ...row, margin: (row.margin + 10n ** 10n) as never })
      return made
    }),
  'an order that should repay does not': () =>
    plant(commands, 'spot.place', (original) => (ctx, input) => {
      const order = { ...input.order, auto_repay: null }
      return original(ctx, { ...input, order })
    }),
  'open orders of a unified account lose nothing': () => plant(Ladder.prototype, 'loss', () => () => 0n),
  'one in three looks at accounts in debt is left out': () =>
    plant(
      commands,
      'margin.check',
      (original) => (ctx, input) => (ctx.at % 3 === 0 ? 0 : original(ctx, input)),
    ),
  'the fund takes over a little less than it says': () =>
    plant(
      Ledger.prototype,
      'post',
      (original) =>
        function (this: Ledger, context, entry) {
          const [from, to] = entry.lines
          if (entry.kind !== 'liquidation' || from?.name !== 'spot')
            return original.call(this, context, entry)
          const by = 10n ** 10n
          const lines = [
            { ...from, amount: (from.amount + by) as never },
            { ...to!, amount: (to!.amount - by) as never },
            ...entry.lines.slice(2),
          ]
          return original.call(this, context, { ...entry, lines })
        },
    ),
  'a liquidation that should go on at once waits for a second': () =>
    plant(commands, 'due.run', (original) => (ctx, input) => {
      const { due } = ctx.state
      const liquidates = due.table.get(input.id)?.command === 'margin.liquidate'
      const made = original(ctx, input)
      for (const row of liquidates ? [...due.table.values()] : [])
        if (row.command === 'margin.liquidate' && row.at === ctx.at)
          ctx.tx.put(due.table, { ...row, at: row.at + 1e6 })
      return made
    }),
  'a position that a liquidation reduces has cost too little': () =>
    plant(commands, 'due.run', (original) => (ctx, input) => {
      const { due, futures } = ctx.state
      const item = due.table.get(input.id)
      if (item?.command !== 'margin.liquidate') return original(ctx, input)
      const { user_id } = item.input as { user_id: number }
      const sizes = new Map(
        [...futures.positions.heldBy(user_id, 'futures/usdt')].map((row) => [row.id, row.size]),
      )
      const made = original(ctx, input)
      for (const [id, size] of sizes) {
        const row = futures.positions.table.get(id)
        if (row !== undefined && row.size !== size)
          ctx.tx.put(futures.positions.table, { ...row, fee: (row.fee + 1n) as never })
      }
      return made
    }),
  'one who was taken over goes on': () => plant(SqliteJournal.prototype, 'checkFence', () => function () {}),
  'a batch is not told to those who listen': () =>
    plant(
      Commits.prototype,
      'publish',
      (original) =>
        function (this: Commits, batch) {
          if (batch.sequence % 40 !== 0) original.call(this, batch)
        },
    ),
}
