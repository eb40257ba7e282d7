import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { seeded } from '../crash/rounds.ts'
import {
  ledgerModel,
  settled,
  type LedgerInput,
  type LedgerOperation,
  type LedgerOutput,
} from '../support/linear-ledger.ts'
import {
  marketModel,
  settledMarket,
  type MarketInput,
  type MarketOperation,
  type MarketOutput,
} from '../support/linear-market.ts'
import { checkLinearizable, type Model, type Operation } from '../support/linear.ts'

/** The checker that judges the fail-over tests: it accepts what a right service can say, and catches what one can't. */

const register: Model<number, { write?: number }, { value: number }> = {
  init: () => 0,
  step: (state, { write }, output) => {
    if (write !== undefined) return write
    return output === undefined || output.value === state ? state : undefined
  },
  key: String,
}
type RegisterOperation = Operation<{ write?: number }, { value: number }>
const write = (value: number, call: number, ret: number): RegisterOperation => ({
  client: 0,
  input: { write: value },
  call,
  ret,
  output: ret === Infinity ? undefined : { value },
})
const read = (value: number, call: number, ret: number): RegisterOperation => ({
  client: 1,
  input: {},
  call,
  ret,
  output: { value },
})
const kind = (history: readonly RegisterOperation[]): string => checkLinearizable(register, history).kind

describe('a register', () => {
  test('reads beside a write may see either value; afterwards only the new one', () => {
    assert.equal(kind([write(1, 0, 10), read(0, 1, 2), read(1, 3, 4), read(1, 11, 12)]), 'linearizable')
    assert.equal(kind([write(1, 0, 10), read(1, 1, 2), read(0, 3, 4)]), 'violation', 'new, then old')
    assert.equal(kind([write(1, 0, 10), read(0, 11, 12)]), 'violation', 'a stale read')
  })
  test('what nobody answered may happen at any later time, once, or never', () => {
    assert.equal(kind([write(1, 0, Infinity), read(0, 5, 6), read(1, 7, 8)]), 'linearizable')
    assert.equal(kind([write(1, 0, Infinity), read(0, 5, 6), read(0, 7, 8)]), 'linearizable')
    assert.equal(kind([write(1, 0, Infinity), read(1, 5, 6), read(0, 7, 8)]), 'violation')
    assert.equal(kind([write(1, 4, Infinity), read(1, 1, 2)]), 'violation', 'before it was called')
  })
  test('the bound is told, and is no yes', () => {
    const tangle = Array.from({ length: 14 }, (_, i) => write(i, i, 100 + i))
    const verdict = checkLinearizable(register, [...tangle, read(99, 200, 201)], { steps: 1000 })
    assert.equal(verdict.kind, 'unknown')
    assert.equal(checkLinearizable(register, [...tangle, read(99, 200, 201)]).kind, 'violation')
  })
  test('it agrees with trying every order, on small histories of right and wrong answers', () => {
    const random = seeded(7)
    const counts = { linearizable: 0, violation: 0, unknown: 0 }
    for (let round = 0; round < 4000; round++) {
      const history = Array.from({ length: 2 + Math.floor(random() * 4) }, (_, i): RegisterOperation => {
        const call = Math.floor(random() * 12)
        const ret = random() < 0.15 ? Infinity : call + 1 + Math.floor(random() * 6)
        if (random() < 0.5) return write(i + 1, call, ret)
        const value = Math.floor(random() * 4)
        return ret === Infinity ? { ...read(0, call, ret), output: undefined } : read(value, call, ret)
      })
      const verdict = checkLinearizable(register, history).kind
      assert.equal(verdict, everyOrder(history, 0) ? 'linearizable' : 'violation', JSON.stringify(history))
      counts[verdict]++
    }
    assert.ok(counts.linearizable > 300 && counts.violation > 300, JSON.stringify(counts))
  })
})
/** The definition itself, tried out. */
function everyOrder(left: readonly RegisterOperation[], state: number): boolean {
  if (left.every(({ ret }) => ret === Infinity)) return true
  return left.some((operation) => {
    const rest = left.filter((one) => one !== operation)
    if (rest.some(({ ret }) => ret < operation.call)) return false
    const after = register.step(state, operation.input, operation.output)
    return after !== undefined && everyOrder(rest, after)
  })
}

/** A plain service, and clients whose calls overlap: what it answers is right by its making. */
class Service {
  readonly amounts: Record<string, bigint> = { main: 1000n, one: 500n, two: 500n }
  readonly done = new Map<string, LedgerInput & { kind: 'move' }>()
  readonly cancelled = new Set<string>()
  answer(input: LedgerInput): LedgerOutput {
    if (input.kind === 'read') return { is: 'amount', amount: this.amounts[input.account]! }
    const known = this.done.get(input.id)
    if (input.kind === 'find')
      return { is: known === undefined ? 'none' : this.cancelled.has(input.id) ? 'cancelled' : 'there' }
    if (input.kind === 'cancel') {
      if (known === undefined || this.cancelled.has(input.id)) return { is: 'gone' }
      this.cancelled.add(input.id)
      this.amounts[known.from]! += known.amount
      return { is: 'ok' }
    }
    if (known !== undefined) return { is: 'duplicate' }
    if (this.amounts[input.from]! < input.amount) return { is: 'short' }
    this.amounts[input.from]! -= input.amount
    if (input.to !== undefined) this.amounts[input.to]! += input.amount
    this.done.set(input.id, input)
    return { is: 'ok' }
  }
}
const ACCOUNTS = ['main', 'one', 'two'] as const
/** Each client calls, the service does it at some moment, the client hears of it, or never does and asks again. */
function ledgerHistory(
  random: () => number,
  clients: number,
  operations: number,
  lost: number,
): LedgerOperation[] {
  const service = new Service()
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const ids: string[] = []
  const agenda: { readonly at: number; readonly act: () => void }[] = []
  const history: LedgerOperation[] = []
  let made = 0
  const next = (client: number, at: number, again?: LedgerInput): void => {
    if (again === undefined && made >= operations) return
    made++
    const input = again ?? drawn()
    const call = at + random() * 5
    const moment = call + random() * 20
    const ret = moment + random() * 20
    agenda.push({
      at: moment,
      act: () => {
        const unheard = random() < lost
        // An unheard one may have been done, or not, or be done much later.
        const fate = unheard ? random() : 0
        const late = fate > 0.7
        const output = fate > 0.4 ? undefined : service.answer(input)
        if (late) agenda.push({ at: moment + random() * 300, act: () => void service.answer(input) })
        if (unheard) {
          history.push({ client, input, call, ret: Infinity, output: undefined })
          next(client, ret, input.kind === 'move' && random() < 0.8 ? input : undefined)
        } else {
          history.push({ client, input, call, ret, output })
          next(client, ret)
        }
      },
    })
  }
  const drawn = (): LedgerInput => {
    const roll = random()
    if (roll < 0.3) return { kind: 'read', account: pick(ACCOUNTS) }
    if (roll < 0.4 && ids.length > 0) return { kind: 'find', id: pick(ids) }
    if (roll < 0.5 && ids.length > 0) return { kind: 'cancel', id: pick(ids) }
    const id = `i${ids.length}`
    ids.push(id)
    const from = pick(ACCOUNTS)
    const to = pick([...ACCOUNTS.filter((account) => account !== from), undefined])
    return { kind: 'move', id, from, to, amount: BigInt(1 + Math.floor(random() * 400)) }
  }
  for (let client = 0; client < clients; client++) next(client, 0)
  while (agenda.length > 0) {
    agenda.sort((a, b) => a.at - b.at)
    agenda.shift()!.act()
  }
  const end = Math.max(...history.map(({ call, ret }) => (ret === Infinity ? call : ret))) + 1000
  for (const [place, account] of ACCOUNTS.entries())
    history.push({
      client: 'end',
      input: { kind: 'read', account },
      call: end + place,
      ret: end + place + 0.5,
      output: service.answer({ kind: 'read', account }),
    })
  return history
}
const judge = (history: readonly LedgerOperation[]): string => {
  const known = settled(history)
  return checkLinearizable(ledgerModel({ main: 1000n, one: 500n, two: 500n }, known), known, { ms: 20_000 })
    .kind
}

describe('a family of accounts', () => {
  test('histories of a right service pass, whatever was lost on the way', () => {
    for (let seed = 1; seed <= 150; seed++)
      assert.equal(
        judge(ledgerHistory(seeded(seed), 2 + (seed % 6), 120, 0.06)),
        'linearizable',
        `seed ${seed}`,
      )
  })
  test('a long one of eight clients passes in bounded time', () => {
    const begun = performance.now()
    assert.equal(judge(ledgerHistory(seeded(99), 8, 2000, 0.01)), 'linearizable')
    assert.ok(performance.now() - begun < 20_000)
  })
  const plants: Record<string, (history: LedgerOperation[], random: () => number) => boolean> = {
    'a write that was acknowledged and lost': (history) => {
      // All that was done after it stays as it was: the money simply is still there at the end.
      const victim = history.findLast(({ input, output }) => input.kind === 'move' && output?.is === 'ok')
      if (victim?.input.kind !== 'move') return false
      const { from, to, amount } = victim.input
      const cancelled = history.some(
        ({ input }) => input.kind === 'cancel' && input.id === (victim.input as { id: string }).id,
      )
      if (cancelled) return false
      shift(history, victim.ret, from, amount)
      if (to !== undefined) shift(history, victim.ret, to, -amount)
      return true
    },
    'a write that was done twice': (history) => {
      const victim = history.findLast(({ input, output }) => input.kind === 'move' && output?.is === 'ok')
      if (victim?.input.kind !== 'move' || victim.input.to === undefined) return false
      shift(history, victim.ret, victim.input.from, -victim.input.amount)
      shift(history, victim.ret, victim.input.to, victim.input.amount)
      return true
    },
    'a read of what was before': (history) => {
      const end = 1e6
      const { amount } = history.at(-3)!.output as { amount: bigint }
      history.push(
        {
          client: 'x',
          input: { kind: 'move', id: 'last', from: 'one', to: 'main', amount: 1n },
          call: end,
          ret: end + 1,
          output: { is: 'ok' },
        },
        {
          client: 'y',
          input: { kind: 'read', account: 'main' },
          call: end + 2,
          ret: end + 3,
          output: { is: 'amount', amount },
        },
      )
      return (history.at(-4)!.output as { amount: bigint }).amount > 0n
    },
    'two of one id, both told that it is theirs': (history) => {
      const victim = history.find(({ input, output }) => input.kind === 'move' && output?.is === 'ok')
      if (victim === undefined) return false
      history.push({ ...victim, call: victim.ret + 1, ret: victim.ret + 2 })
      return true
    },
    'an id that is known before anybody used it': (history) => {
      const victim = history.findLast(({ input, output }) => input.kind === 'move' && output?.is === 'ok')
      if (victim?.input.kind !== 'move') return false
      const input = { kind: 'find', id: victim.input.id } as const
      if (history.some((one) => one !== victim && one.input.kind === 'move' && one.input.id === input.id))
        return false
      history.push({
        client: 'x',
        input,
        call: victim.call - 2,
        ret: victim.call - 1,
        output: { is: 'there' },
      })
      return true
    },
    'one that was there and is not any more': (history) => {
      const victim = history.find(({ input, output }) => input.kind === 'move' && output?.is === 'ok')
      if (victim?.input.kind !== 'move') return false
      const input = { kind: 'find', id: victim.input.id } as const
      history.push({ client: 'x', input, call: victim.ret + 5, ret: victim.ret + 6, output: { is: 'none' } })
      return true
    },
    'two writes in the wrong order': (history) => {
      // The second needs the first one's money: seen the other way round it could not have been done.
      const end = 1e6
      const poor = { client: 'x', output: { is: 'ok' } } as const
      const all = history.at(-3)!.output as { amount: bigint }
      const needs = all.amount + 1n
      history.push(
        {
          ...poor,
          input: { kind: 'move', id: 'late', from: 'main', to: undefined, amount: needs },
          call: end,
          ret: end + 1,
        },
        {
          ...poor,
          input: { kind: 'move', id: 'first', from: 'one', to: 'main', amount: 1n },
          call: end + 2,
          ret: end + 3,
        },
      )
      return true
    },
  }
  for (const [name, plant] of Object.entries(plants))
    test(`caught: ${name}`, () => {
      let planted = 0
      for (let seed = 1; seed <= 60; seed++) {
        const random = seeded(seed)
        const history = ledgerHistory(random, 4, 60, /before|order/.test(name) ? 0 : 0.02)
        if (!plant(history, random)) continue
        planted++
        assert.equal(judge(history), 'violation', `seed ${seed}`)
      }
      assert.ok(planted >= 10, `planted in ${planted} histories only`)
    })
})
const amountIn = ({ output }: LedgerOperation): bigint => (output as { amount: bigint }).amount
/** Every later read of an account sees so much more. */
function shift(history: LedgerOperation[], after: number, account: string, amount: bigint): void {
  for (const [place, one] of history.entries())
    if (
      one.input.kind === 'read' &&
      one.input.account === account &&
      one.call > after &&
      one.output !== undefined
    )
      history[place] = { ...one, output: { is: 'amount', amount: amountIn(one) + amount } }
}

/** One book, driven by clients whose calls overlap. */
function marketHistory(
  random: () => number,
  clients: number,
  operations: number,
  lost: number,
): MarketOperation[] {
  let state = marketModel.init()
  const answer = (input: MarketInput): MarketOutput => {
    const candidates: MarketOutput[] = [{ is: 'none' }]
    for (let left = 0; left <= 5; left++)
      for (const is of ['open', 'closed', 'cancelled'] as const) candidates.push({ is, left })
    for (const output of candidates) {
      const after = marketModel.step(state, input, output)
      if (after === undefined) continue
      state = after
      return output
    }
    throw new Error('the model answers everything')
  }
  const texts: string[] = []
  const moments = Array.from({ length: operations }, (_, i) => i * 10)
  const free = Array.from({ length: clients }, () => 0)
  return moments.flatMap((moment, i): MarketOperation[] => {
    const client = i % clients
    const call = Math.max(free[client]!, moment - random() * 25)
    const ret = moment + random() * 25
    free[client] = ret + 0.001
    if (call > moment) return []
    const roll = random()
    const text = roll < 0.7 || texts.length === 0 ? `t${i}` : texts[Math.floor(random() * texts.length)]!
    if (roll < 0.7 || texts.length === 0) texts.push(text)
    const input: MarketInput =
      text === `t${i}`
        ? {
            kind: 'place',
            text,
            side: client % 2 === 0 ? 'buy' : 'sell',
            price: 10 + Math.floor(random() * 3),
            amount: 1 + Math.floor(random() * 5),
          }
        : { kind: roll < 0.85 ? 'cancel' : 'find', text }
    if (random() < lost) {
      if (random() < 0.5) answer(input)
      return [{ client, input, call, ret: Infinity, output: undefined }]
    }
    return [{ client, input, call, ret, output: answer(input) }]
  })
}
const judgeMarket = (history: readonly MarketOperation[]): string =>
  checkLinearizable(marketModel, settledMarket(history), { ms: 20_000 }).kind

describe('a market', () => {
  test('histories of a right book pass', () => {
    for (let seed = 1; seed <= 30; seed++)
      assert.equal(judgeMarket(marketHistory(seeded(seed), 5, 150, 0.02)), 'linearizable', `seed ${seed}`)
  })
  test('by hand: price, then time', () => {
    const place = (
      text: string,
      side: 'buy' | 'sell',
      price: number,
      amount: number,
      left: number,
      at: number,
    ): MarketOperation => ({
      client: text,
      input: { kind: 'place', text, side, price, amount },
      call: at,
      ret: at + 1,
      output: { is: left === 0 ? 'closed' : 'open', left },
    })
    const find = (text: string, is: 'open' | 'closed', left: number, at: number): MarketOperation => ({
      client: text,
      input: { kind: 'find', text },
      call: at,
      ret: at + 1,
      output: { is, left },
    })
    const book = [
      place('a', 'sell', 10, 2, 2, 0),
      place('b', 'sell', 10, 2, 2, 10),
      place('c', 'buy', 11, 3, 0, 20),
    ]
    assert.equal(judgeMarket([...book, find('a', 'closed', 0, 30), find('b', 'open', 1, 40)]), 'linearizable')
    assert.equal(
      judgeMarket([...book, find('b', 'closed', 0, 30), find('a', 'open', 1, 40)]),
      'violation',
      'b came later',
    )
    assert.equal(
      judgeMarket([...book, place('d', 'buy', 10, 1, 1, 50)]),
      'violation',
      'there was one to sell',
    )
    const beside = book.map((one, i) => (i < 2 ? { ...one, call: 0, ret: 5 } : one))
    assert.equal(
      judgeMarket([...beside, find('b', 'closed', 0, 30), find('a', 'open', 1, 40)]),
      'linearizable',
      'nobody can tell',
    )
  })
  test('caught: a fill that was told and is gone', () => {
    let planted = 0
    for (let seed = 1; seed <= 20; seed++) {
      const history = marketHistory(seeded(seed), 3, 60, 0)
      const filled = history.find(({ input, output }) => input.kind === 'place' && output!.is === 'closed')
      if (filled?.input.kind !== 'place') continue
      const { text, amount } = filled.input
      history.push({
        client: 'x',
        input: { kind: 'find', text },
        call: 1e6,
        ret: 1e6 + 1,
        output: { is: 'open', left: amount },
      })
      planted++
      assert.equal(judgeMarket(history), 'violation', `seed ${seed}`)
    }
    assert.ok(planted > 10)
  })
})
