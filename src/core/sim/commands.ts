import { EQUITY, custodyOf } from '../ledger/accounts.ts'
import { notFound, refuse } from '../../labels.ts'
import { add, amountOf, format, type Amount } from '../../money/amount.ts'
import { FINAL_DEPTH } from '../tables/tips.ts'
import { nextId } from '../counters.ts'
import { schedule, unschedule } from '../due.ts'
import { move } from '../ledger/ledger.ts'
import { audit } from '../audit.ts'
import type { Actor } from '../tables/audit.ts'
import type { Ctx, State } from '../state.ts'
import type { ChainConfig } from '../tables/world/chains.ts'
import { blockHash, heightAt, simTxid, timeOf } from './blocks.ts'
import { coinsOf, type SimChain, type SimTx } from '../tables/sim.ts'

const FIRST_HEIGHT = 10_000
/** A reorganisation reaches as far as a payment is followed. */
const REORG_MAX = FINAL_DEPTH - 1

export interface SimHead {
  readonly height: number
  readonly hash: string
}
const headOf = (row: SimChain, at: number): SimHead => {
  const height = heightAt(row, at)
  return { height, hash: blockHash(row, height) }
}

/** The chain's row, made at first use and brought in line with the setting of its block time. */
export function simChain(ctx: Ctx, name: string): { config: ChainConfig; row: SimChain } {
  const { state, tx, at } = ctx
  const config = state.world.findChain(name)
  if (config?.kind !== 'simulated') notFound('NOT_FOUND', `chain: there is no simulated chain "${name}"`)
  const known = state.sim.chains.get(config.chain)
  const seconds = config.auto_mine_seconds
  if (known?.seconds === seconds) return { config, row: known }
  const row: SimChain =
    known === undefined
      ? { chain: config.chain, base: FIRST_HEIGHT, since: at, seconds, forks: [], wake: 0 }
      : { ...known, base: heightAt(known, at), since: at, seconds }
  tx.put(state.sim.chains, row)
  return { config, row }
}

function keep(ctx: Ctx, tx: SimTx, to: Partial<SimTx>): SimTx {
  const changed = { ...tx, ...to }
  ctx.tx.put(ctx.state.sim.txs, changed)
  return changed
}
/** The hot wallet's coins follow what is in blocks; sign -1 takes a block's effect back. */
function moveCoins(ctx: Ctx, { chain, native }: ChainConfig, sim: SimTx, sign: 1n | -1n): void {
  for (const [currency, amount] of coinsOf(sim, native)) {
    const held = ctx.state.sim.held(chain, currency)
    ctx.tx.put(ctx.state.sim.wallets, { chain, currency, amount: add(held, (amount * sign) as Amount) })
  }
}
/** Puts what is ready into the blocks that have come since. */
function include(ctx: Ctx, config: ChainConfig, row: SimChain): void {
  const tip = heightAt(row, ctx.at)
  for (const tx of ctx.state.sim.txsOf(config.chain)) {
    if (tx.state === 'mined' && tip - tx.height! >= FINAL_DEPTH) keep(ctx, tx, { final: true })
    if (tx.state !== 'pending') continue
    const height = heightAt(row, tx.ready_at) + 1
    if (height > tip) continue
    moveCoins(ctx, config, keep(ctx, tx, { state: 'mined', height }), 1n)
  }
}

/** Lets the clock's blocks take effect. Whoever follows the chain asks this before looking. */
export function advanceSim(ctx: Ctx, input: { chain: string }): SimHead {
  const { config, row } = simChain(ctx, input.chain)
  include(ctx, config, row)
  return headOf(row, ctx.at)
}
/** Blocks by hand; what is waiting goes into the first of them. */
export function mineSim(ctx: Ctx, input: { chain: string; blocks: number; actor: Actor }): SimHead {
  const { config, row } = simChain(ctx, input.chain)
  include(ctx, config, row)
  const height = heightAt(row, ctx.at) + 1
  for (const tx of ctx.state.sim.txsOf(config.chain))
    if (tx.state === 'pending') moveCoins(ctx, config, keep(ctx, tx, { state: 'mined', height }), 1n)
  const grown = { ...row, base: row.base + input.blocks }
  ctx.tx.put(ctx.state.sim.chains, grown)
  planWake(ctx, config.chain)
  audit(ctx, input.actor, 'chain.mine', { chain: config.chain, blocks: input.blocks })
  return headOf(grown, ctx.at)
}

export interface SimPayment {
  readonly chain: string
  readonly user_id: number | null
  readonly address: string
  readonly memo: string
  readonly currency: string
  readonly amount: string
  readonly actor: Actor
}
/** Somebody outside pays one of our addresses. */
export function paySim(ctx: Ctx, input: SimPayment): SimTx {
  const { config } = simChain(ctx, input.chain)
  const id = nextId(ctx.tx, ctx.state.counters, 'sim_payment')
  const tx: SimTx = {
    chain: config.chain,
    txid: simTxid(config.address_format, `kontor payment ${config.chain} ${id}`),
    kind: 'in',
    address: input.address,
    memo: input.memo,
    currency: input.currency,
    amount: amountOf(input.amount),
    network_fee: amountOf('0'),
    state: 'pending',
    ok: true,
    height: null,
    ready_at: ctx.at,
    at: ctx.at,
    final: false,
  }
  ctx.tx.put(ctx.state.sim.txs, tx)
  planWake(ctx, config.chain)
  audit(ctx, input.actor, 'chain.deposit', {
    chain: config.chain,
    txid: tx.txid,
    currency: tx.currency,
    amount: format(tx.amount),
    address: tx.address,
  })
  return tx
}
/** Our own payment reaches the network. The same one again changes nothing, unless the network had lost it. */
export function broadcastSim(
  ctx: Ctx,
  input: {
    chain: string
    txid: string
    address: string
    memo: string
    currency: string
    amount: string
    network_fee: string
  },
): null {
  const { config } = simChain(ctx, input.chain)
  const known = ctx.state.sim.tx(config.chain, input.txid)
  if (known !== undefined && known.state !== 'lost') return null
  const tx: SimTx = {
    chain: config.chain,
    txid: input.txid,
    kind: 'out',
    address: input.address,
    memo: input.memo,
    currency: input.currency,
    amount: amountOf(input.amount),
    network_fee: amountOf(input.network_fee),
    state: 'pending',
    ok: known?.ok ?? true,
    height: null,
    ready_at: ctx.at,
    at: known?.at ?? ctx.at,
    final: false,
  }
  ctx.tx.put(ctx.state.sim.txs, tx)
  planWake(ctx, config.chain)
  return null
}

/** Replaces the top blocks by as many others. What is named vanishes, all else is in the new blocks too. */
export function reorganiseSim(
  ctx: Ctx,
  input: { chain: string; depth: number; drop: readonly string[]; actor: Actor },
): SimHead {
  const { config, row } = simChain(ctx, input.chain)
  include(ctx, config, row)
  const height = heightAt(row, ctx.at)
  if (input.depth > REORG_MAX)
    refuse(
      'INVALID_PARAM_VALUE',
      `depth: ${input.depth} is deeper than ${REORG_MAX}, beyond which payments are final`,
    )
  const from = height - input.depth + 1
  for (const txid of input.drop) {
    const tx = ctx.state.sim.tx(config.chain, txid)
    if (tx === undefined) refuse('INVALID_PARAM_VALUE', `drop: ${config.chain} has no transaction ${txid}`)
    if (tx.state === 'mined' && tx.height! < from)
      refuse(
        'INVALID_PARAM_VALUE',
        `drop: ${txid} is in block ${tx.height!}, ${height - tx.height! + 1} blocks deep; depth ${input.depth} does not reach it`,
      )
    if (tx.state === 'mined') moveCoins(ctx, config, tx, -1n)
    keep(ctx, tx, { state: 'lost', height: null })
  }
  const salt = nextId(ctx.tx, ctx.state.counters, 'sim_fork')
  const forks = [
    ...row.forks.filter(([start]) => start < from && start > height - 2 * FINAL_DEPTH),
    [from, salt] as const,
  ]
  const changed = { ...row, forks }
  ctx.tx.put(ctx.state.sim.chains, changed)
  planWake(ctx, config.chain)
  audit(ctx, input.actor, 'chain.reorg', { chain: config.chain, depth: input.depth, drop: input.drop })
  return headOf(changed, ctx.at)
}

/**
 * Whether a payment of ours in a block may still turn out to have failed. What was done has been booked, and so is what came
 * in, sooner or later: such a block can be taken out, but not be told otherwise, or books and coins would part for ever.
 */
function isUndecided(state: State, { chain, txid, kind }: SimTx): boolean {
  if (kind === 'in') return false
  for (const one of state.wallet.withdrawals.unsettled(chain))
    if (one.txid === txid && one.status !== 'DONE') return true
  return false
}
function refuseMined(chain: string, { txid, height }: SimTx): never {
  refuse(
    'INVALID_PARAM_VALUE',
    `state: ${txid} is in block ${height!} already; POST /chains/${chain}/reorg takes it out`,
  )
}
/** pending, stuck, lost; `fail` lets it be mined without effect. */
export function changeSimTx(
  ctx: Ctx,
  input: { chain: string; txid: string; state: 'pending' | 'stuck' | 'lost' | 'failed'; actor: Actor },
): SimTx {
  const { config, row } = simChain(ctx, input.chain)
  include(ctx, config, row)
  const tx =
    ctx.state.sim.tx(config.chain, input.txid) ??
    notFound('NOT_FOUND', `${config.chain} has no transaction ${input.txid}, or it was final long ago`)
  audit(ctx, input.actor, 'chain.transaction', { chain: config.chain, txid: tx.txid, state: input.state })
  if (input.state === 'failed') {
    if (tx.state === 'mined' && tx.ok && !isUndecided(ctx.state, tx)) refuseMined(config.chain, tx)
    if (tx.state === 'mined') moveCoins(ctx, config, tx, -1n)
    const failed = keep(ctx, tx, { ok: false })
    if (failed.state === 'mined') moveCoins(ctx, config, failed, 1n)
    planWake(ctx, config.chain)
    return failed
  }
  if (tx.state === 'mined') refuseMined(config.chain, tx)
  const changed = keep(ctx, tx, { state: input.state, ready_at: ctx.at })
  planWake(ctx, config.chain)
  return changed
}

/** operator equity → custody: coins for the hot wallet. */
export function fundSim(
  ctx: Ctx,
  input: { chain: string; currency: string; amount: string; actor: Actor },
): Amount {
  const { state, tx, at } = ctx
  const { config } = simChain(ctx, input.chain)
  const { currency } = state.world.currency(input.currency)
  const amount = amountOf(input.amount)
  const held = add(state.sim.held(config.chain, currency), amount)
  tx.put(state.sim.wallets, { chain: config.chain, currency, amount: held })
  state.ledger.post(ctx, {
    kind: 'hot_wallet',
    ref: `chain:${config.chain}`,
    lines: move(custodyOf(config.chain), EQUITY, currency, amount),
  })
  schedule(ctx, at, 'chain.wake', { chain: config.chain })
  audit(ctx, input.actor, 'chain.fund', { chain: config.chain, currency, amount: format(amount) })
  return held
}

/** The next height at which something that we follow changes; undefined when nothing will. */
function nextHeight(state: State, config: ChainConfig, tip: number): number | undefined {
  let next: number | undefined
  const at = (height: number): void => {
    if (height > tip && (next === undefined || height < next)) next = height
  }
  for (const { state: phase } of state.sim.txsOf(config.chain)) if (phase === 'pending') return tip + 1
  for (const { height, status } of state.wallet.deposits.tracked(config.chain))
    if (height !== null) {
      if (status !== 'DEP_CREDITED') at(height + config.min_confirms - 1)
      at(height + config.unlock_confirms - 1)
    }
  for (const { status, block_number } of state.wallet.withdrawals.unsettled(config.chain))
    if (status === 'EXTPEND' && block_number > 0) at(block_number + config.min_confirms - 1)
  return next
}
/** One due item at the next block that matters; an idle chain has none. */
export function planWake(ctx: Ctx, chain: string): void {
  const { state, tx } = ctx
  const row = state.sim.chains.get(chain)
  if (row === undefined) return
  const height = nextHeight(state, state.world.mustChain(chain), heightAt(row, ctx.at))
  const at = height === undefined ? undefined : timeOf(row, height)
  if (state.due.table.get(row.wake)?.at === at && at !== undefined) return
  unschedule(ctx, row.wake)
  const wake = at === undefined ? 0 : schedule(ctx, at, 'chain.wake', { chain })
  if (wake !== row.wake) tx.put(state.sim.chains, { ...row, wake })
}
