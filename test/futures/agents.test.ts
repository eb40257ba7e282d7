import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lookAtContract } from '../../src/agents/contract-mind.ts'
import { hashText } from '../../src/agents/dice.ts'
import { lookAt } from '../../src/agents/mind.ts'
import { CONTRACTS as CONTRACT_TURN, MARKETS, nextLook } from '../../src/core/agents/pace.ts'
import { LOGIN_OF, type AgentName, type Scenario } from '../../src/core/tables/agents.ts'
import type { DueItem } from '../../src/core/tables/due.ts'
import { amountOfContracts, contractsIn } from '../../src/core/tables/world/contracts.ts'
import { amountOf, format, type Amount } from '../../src/money/amount.ts'
import { Desk } from './desk.ts'
import { BTC_USD, BTC_USDT, DATED, ETH_USDT } from './world.ts'

const SEED = 7
const ALL = [DATED, BTC_USD, BTC_USDT, ETH_USDT]
const number = (value: bigint): number => Number(value) / 1e18

/** What the driver does, without a process around it. */
class AgentDesk extends Desk {
  constructor(seed = SEED) {
    super()
    this.index({ BTC: null, ETH: null })
    const seeds = Object.fromEntries(
      this.state.world.allMarkets.map(({ id }) => [id, (hashText(id) ^ seed) >>> 0]),
    )
    this.must('agents.begin', { seed, seeds })
    this.must('agents.pace', { every: 1e6 })
    for (const pair of this.state.agents.pairs)
      this.must('agents.act', { due_id: null, look: lookAt(this.state, pair, this.moment) })
    for (const id of CONTRACT_TURN.names(this.state, this.at)) this.look(id)
  }
  private get moment() {
    return { at: this.at, elapsed: 10 }
  }
  look(id: string, begun?: Scenario): void {
    const look = lookAtContract(this.state, id, this.moment, begun)
    this.must('agents.contract_act', { due_id: null, look })
  }
  scenario(name: 'thin_book' | 'basis', contract: string, change: number | null, seconds: number): void {
    const given = { name, from: this.at, until: this.at + seconds * 1e6, start: '0' }
    const begun = { ...given, change: change ?? 0.01 }
    const look = lookAtContract(this.state, contract, this.moment, begun)
    this.must('agents.contract_scenario', { name, contract, change, seconds, actor: null, look })
  }
  protected override runItem(item: DueItem): void {
    const turn = [MARKETS, CONTRACT_TURN].find(({ command }) => command === item.command)
    if (turn === undefined) {
      super.runItem(item)
      return
    }
    const next = nextLook(this.state, turn)!
    const moment = { at: next.at, elapsed: (next.wait * next.count) / 1e6 }
    const due_id = item.id
    if (turn === MARKETS) this.must('agents.act', { due_id, look: lookAt(this.state, next.name, moment) })
    else this.must('agents.contract_act', { due_id, look: lookAtContract(this.state, next.name, moment) })
  }
  agent(name: AgentName): number {
    return this.state.users.byLogin.get(LOGIN_OF[name])!.user_id
  }
  mid(id: string): number {
    const { buy, sell } = this.state.futures.book(id)
    return (number(buy.best!.price) + number(sell.best!.price)) / 2
  }
  opinion(base: string): number {
    return Number(this.state.agents.markets.get(`${base}_USDT`)!.fair)
  }
  /** All that came of it. */
  get outcome(): unknown {
    const { futures, agents } = this.state
    return {
      figures: [...futures.figures.values()].map(({ pair, sequence, last, volume }) => [
        pair,
        sequence,
        last,
        volume,
      ]),
      prices: [...futures.prices.values()],
      agents: [...agents.contracts.values()],
      positions: [...futures.positions.table.values()],
      fundings: this.fundings,
    }
  }
}

describe('agents in contracts', () => {
  test('every book is alive from the first look, out of operator equity; sizes add up to nothing', () => {
    const desk = new AgentDesk()
    for (const id of ALL) {
      const book = desk.state.futures.book(id)
      assert.ok(book.depth('buy', 50).length >= 8 && book.depth('sell', 50).length >= 8, id)
      const base = id === ETH_USDT ? 'ETH' : 'BTC'
      const carry = id === DATED ? 0.04 * (44.4 / 365) : 0
      assert.ok(Math.abs(desk.mid(id) / desk.opinion(base) - 1 - carry) < 0.002, id)
    }
    assert.equal(desk.cash(desk.agent('maker'), BTC_USDT).slice(0, 4), '1000')
    desk.advance(600)
    for (const id of ALL) {
      const { long, short, longs } = desk.state.futures.positions.sumsOf(id)
      assert.equal(long, short)
      assert.ok(longs > 0, `${id} was traded`)
      assert.ok(desk.price(id).mark > 0n)
    }
  })
  test('the same seed and moves give the same trades, marks and fundings; another seed others', () => {
    const outcomes = [SEED, SEED, SEED + 1].map((seed) => {
      const desk = new AgentDesk(seed)
      desk.advance(1_800)
      return desk.outcome
    })
    assert.deepEqual(outcomes[0], outcomes[1])
    assert.notDeepEqual(outcomes[0], outcomes[2])
  })
  test('its seed is that of its name', () => {
    const desk = new AgentDesk()
    const row = { ...desk.state.agents.contracts.get(BTC_USDT)! }
    desk.apply(({ state, tx }) => tx.remove(state.agents.contracts, BTC_USDT))
    const look = lookAtContract(desk.state, BTC_USDT, { at: desk.at, elapsed: 10 })!
    const first = {
      ...row,
      seed: (hashText('futures/usdt/BTC_USDT') ^ SEED) >>> 0,
      basis: '0.0001',
      trend: '0',
    }
    desk.apply(({ state, tx }) => tx.put(state.agents.contracts, { ...first, fair: look.fair }))
    assert.equal(lookAtContract(desk.state, BTC_USDT, { at: desk.at, elapsed: 10 })!.basis, look.basis)
  })
  test('a gap of the spot market moves the index, and every contract on it', () => {
    const desk = new AgentDesk()
    const [before, mark] = [desk.opinion('BTC'), number(desk.price().mark)]
    const begun: Scenario = {
      name: 'gap',
      change: -0.2,
      from: desk.at,
      until: desk.at + 600e6,
      start: String(before),
    }
    const look = lookAt(desk.state, 'BTC_USDT', { at: desk.at, elapsed: 10 }, begun)
    const gap = { name: 'gap', currency_pair: 'BTC_USDT', change: -0.2, seconds: 600, actor: null } as const
    desk.must('agents.scenario', { ...gap, look })
    // In the same command: the index, and the mark as far as it may be from it.
    assert.ok(Math.abs(number(desk.price().index) / (before * 0.8) - 1) < 0.001)
    assert.ok(number(desk.price().mark) < mark * 0.85)
    desk.advance(60)
    for (const id of [BTC_USDT, BTC_USD]) assert.ok(Math.abs(desk.mid(id) / (before * 0.8) - 1) < 0.01, id)
  })
  test('a basis drives the contract away from the index, and funding with it; then it comes back', () => {
    const desk = new AgentDesk()
    desk.scenario('basis', BTC_USDT, null, 1_200)
    desk.advance(600)
    assert.ok(Math.abs(desk.mid(BTC_USDT) / desk.opinion('BTC') - 1.01) < 0.003, String(desk.mid(BTC_USDT)))
    assert.ok(Math.abs(desk.mid(BTC_USD) / desk.opinion('BTC') - 1) < 0.003)
    assert.ok(number(desk.price().mark) > number(desk.price().index) * 1.005)
    assert.ok(number(desk.price().funding_rate) > 0.0005, format(desk.price().funding_rate))
    assert.equal(desk.state.agents.contracts.get(BTC_USDT)!.scenario!.name, 'basis')
    desk.advance(700)
    assert.ok(Math.abs(desk.mid(BTC_USDT) / desk.opinion('BTC') - 1) < 0.003)
    assert.equal(desk.state.agents.contracts.get(BTC_USDT)!.scenario, null)
  })
  test('a thin book is thin', () => {
    const desk = new AgentDesk()
    desk.scenario('thin_book', ETH_USDT, null, 600)
    const depth = (id: string): bigint =>
      desk.state.futures
        .book(id)
        .depth('sell', 50)
        .reduce((sum, { amount }) => sum + amount, 0n)
    assert.ok(desk.state.futures.book(ETH_USDT).depth('sell', 50).length <= 2)
    desk.advance(700)
    assert.ok(desk.state.futures.book(ETH_USDT).depth('sell', 50).length >= 8)
    assert.ok(contractsIn(depth(ETH_USDT) as Amount) > 0n)
  })
  test('what nobody drives is refused, and a contract that is not there', () => {
    const desk = new AgentDesk()
    const input = { name: 'basis', change: null, seconds: 60, actor: null, look: null } as const
    const run = (contract: string) => desk.run('agents.contract_scenario', { ...input, contract })
    assert.deepEqual(run(BTC_USDT), { label: 'REQUEST_FORBIDDEN' })
    assert.deepEqual(run('futures/usdt/NO_USDT'), { label: 'CONTRACT_NOT_FOUND' })
  })

  /** Two agents get a position by hand, one against the other. */
  function give(desk: AgentDesk, long: AgentName, short: AgentName, contracts: number): void {
    desk.trade(BTC_USDT, desk.agent(long), desk.agent(short), contracts, '60000')
  }
  test('the maker leans against what it holds; the others close a half of too much', () => {
    const desk = new AgentDesk()
    const plain = lookAtContract(desk.state, BTC_USDT, { at: desk.at, elapsed: 60 })!
    // 1000000 contracts of 0.0001 are 6 million dollars: 0.0015 of the price.
    give(desk, 'maker', 'momentum', 1_000_000)
    const leaning = lookAtContract(desk.state, BTC_USDT, { at: desk.at, elapsed: 60 })!
    const best = (look: typeof plain): number =>
      Math.max(
        ...look.orders
          .filter(([agent, side]) => agent === 'maker' && side === 'buy')
          .map((one) => Number(one[3])),
      )
    assert.equal(leaning.fair, plain.fair)
    assert.ok(best(leaning) < Number(plain.fair) * 0.9991, `${best(leaning)} at ${plain.fair}`)
    assert.ok(
      !plain.orders.some(
        ([agent, side, size]) => agent === 'momentum' && side === 'buy' && Number(size) > 100_000,
      ),
    )
    const closing = leaning.orders.find(([agent, , size]) => agent === 'momentum' && Number(size) > 400_000)!
    assert.equal(closing[1], 'buy')
    assert.ok(Math.abs(Number(closing[2]) / 500_000 - 1) < 0.01)
  })
  test('an agent that has run out is given its money again', () => {
    const desk = new AgentDesk()
    const maker = desk.agent('maker')
    const rest = amountOf('999999')
    desk.apply((ctx) => {
      const { ledger } = ctx.state
      const amount = (ledger.balance(maker, 'futures:usdt', 'USDT') - rest) as Amount
      ledger.post(ctx, {
        kind: 'test',
        ref: 'test',
        lines: [
          { owner: maker, name: 'futures:usdt', currency: 'USDT', amount: -amount as Amount },
          { owner: 0, name: 'equity', currency: 'USDT', amount },
        ],
      })
    })
    desk.advance(30)
    assert.ok(Number(desk.cash(maker)) > 10_900_000, desk.cash(maker))
    assert.equal(desk.state.futures.accounts.get(maker, 'futures/usdt')!.dnw, amountOf('20000000'))
  })
  test('at rest they leave no order, and the index is the configured one', () => {
    const desk = new AgentDesk()
    desk.advance(60)
    desk.must('agents.pace', { every: null })
    for (const id of ALL) assert.deepEqual(desk.state.futures.book(id).depth('buy', 5), [], id)
    const { index } = desk.price()
    assert.equal(format(index), format(desk.state.prices.of('BTC')))
    assert.equal(desk.state.prices.quote('BTC').source, 'configured')
    const { sequence } = desk.state.futures.figuresOf(BTC_USDT)
    desk.advance(600)
    assert.equal(desk.state.futures.figuresOf(BTC_USDT).sequence, sequence)
  })
  test('contracts have a turn of their own: a look a second, ten thousand a day, then one in ten seconds', () => {
    const desk = new AgentDesk()
    const pace = (): { turn: number } =>
      desk.state.world.settings.get(CONTRACT_TURN.setting)!.value as { turn: number }
    const first = pace().turn
    desk.advance(40)
    assert.ok(Math.abs(pace().turn - first - 40) <= 1, String(pace().turn - first))
    desk.apply(({ state, tx }) => {
      const day = Math.floor(desk.at / 86_400e6)
      tx.put(state.world.settings, {
        name: CONTRACT_TURN.setting,
        value: { ...pace(), day, looks: 10_001 },
      })
    })
    const slow = pace().turn
    desk.advance(100)
    assert.ok(Math.abs(pace().turn - slow - 11) <= 1, String(pace().turn - slow))
  })
  test('a look is words: what is no price, or no order of theirs, moves nothing', () => {
    const desk = new AgentDesk()
    const user = desk.holder('1000')
    const order = desk.rest(BTC_USDT, 'buy', 5, '50000')
    const look = lookAtContract(desk.state, BTC_USDT, { at: desk.at, elapsed: 10 })!
    assert.throws(
      () => desk.run('agents.contract_act', { due_id: null, look: { ...look, fair: '-1' } }),
      /not a price/,
    )
    assert.throws(
      () => desk.run('agents.contract_act', { due_id: null, look: { ...look, basis: '1e9' } }),
      /not a share/,
    )
    desk.must('agents.contract_act', { due_id: null, look: { ...look, cancel: [order] } })
    assert.equal(desk.state.futures.orders.get(order)!.status, 'open')
    assert.equal(desk.cash(user), '1000')
    assert.equal(desk.state.futures.orders.get(order)!.left, amountOfContracts(5n))
  })
})
