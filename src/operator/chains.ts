import type { State } from '../core/state.ts'
import { finishPortions } from './portions.ts'
import { depositAddress } from '../api/deposits.ts'
import { endpoint, operatorOf, type AnyEndpoint, type Desk } from '../api/endpoint.ts'
import {
  flag,
  id,
  integer,
  listOf,
  object,
  oneOf,
  optional,
  positiveDecimal,
  text,
  withDefault,
} from '../api/fields.ts'
import { array, bool, decimalText, int, int64, map, nullable, shape, str } from '../api/shapes.ts'
import { currencyField } from '../api/wallet.ts'
import { readAddress, readTag, sharedAddress } from '../core/chains/addresses.ts'
import { heightAt } from '../core/sim/blocks.ts'
import type { SimTx } from '../core/tables/sim.ts'
import { SWEEP, type Sweep } from '../core/tables/sweeps.ts'
import {
  SENDER_STOPS,
  type ChainChange,
  type ChainConfig,
  type CurrencyChain,
} from '../core/tables/world/chains.ts'
import { notFound, refuse } from '../labels.ts'
import { decimalsOf, format, parseAmount } from '../money/amount.ts'

const CHAIN = { chain: text({ max: 32 }) }
const chainIn = ({ world }: State, name: string): ChainConfig =>
  world.findChain(name) ??
  notFound(
    'NOT_FOUND',
    `chain: there is no chain "${name}"; there are ${world.allChains.map(({ chain }) => chain).join(', ')}`,
  )
const chainAt = (desk: Desk, name: string): Promise<ChainConfig> =>
  desk.core.read((state) => chainIn(state, name))
const simulatedAt = (desk: Desk, name: string): Promise<ChainConfig> =>
  desk.core.read((state) => simulatedIn(state, name))
function simulatedIn(state: State, name: string): ChainConfig {
  const config = chainIn(state, name)
  if (config.kind !== 'simulated')
    notFound('NOT_FOUND', `chain: ${config.chain} is a real chain and can't be driven from here`)
  return config
}

const chainShape = shape({
  chain: str,
  name_en: str,
  name_cn: str,
  kind: str,
  address_format: str,
  tagged: bool,
  native: str,
  network_fee: decimalText,
  min_confirms: int,
  unlock_confirms: int,
  auto_mine_seconds: int,
  send_delay_seconds: int,
  paused: bool,
  sender_stops_at: nullable(str),
  height: int64,
  /** Empty where the chain did not answer. */
  hot_wallet: map(decimalText),
  hot_wallet_error: str,
  displaced: array(shape({ id: str, txid: str, dead: bool })),
})
async function chainView(desk: Desk, config: ChainConfig) {
  const { node: _node, ...shown } = config
  let held: Readonly<Record<string, string>> = {}
  let error = ''
  try {
    held = await desk.chains.port(config.chain).hotWallet()
  } catch (cause) {
    error = `the chain did not answer: ${(cause as Error).message.split('\n', 1)[0]!}`
  }
  return desk.core.read(({ sim, wallet }) => {
    const row = sim.chains.get(config.chain)
    return {
      ...shown,
      height:
        row === undefined ? (wallet.tips.get(config.chain)?.height ?? 0) : heightAt(row, desk.clock.peek()),
      hot_wallet: Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1))),
      hot_wallet_error: error,
      displaced: desk.chains.displaced(config.chain),
    }
  })
}

const sweepShape = shape({
  id: int64,
  kind: str,
  chain: str,
  currency: str,
  amount: decimalText,
  address: str,
  user_id: int64,
  status: str,
  txid: str,
  block_number: str,
  network_fee: decimalText,
  timestamp: str,
})
const sweepView = (sweep: Sweep) => ({
  id: sweep.id,
  kind: sweep.kind,
  chain: sweep.chain,
  currency: sweep.currency,
  amount: format(sweep.amount),
  address: sweep.address,
  user_id: sweep.user_id,
  status: sweep.status,
  txid: sweep.txid,
  block_number: String(sweep.block_number),
  network_fee: format(sweep.network_fee),
  timestamp: String(Math.floor(sweep.at / 1e6)),
})

const txShape = shape({
  txid: str,
  kind: str,
  address: str,
  memo: str,
  currency: str,
  amount: decimalText,
  network_fee: decimalText,
  state: str,
  ok: bool,
  block_number: str,
})
const txView = (tx: SimTx) => ({
  txid: tx.txid,
  kind: tx.kind,
  address: tx.address,
  memo: tx.memo,
  currency: tx.currency,
  amount: format(tx.amount),
  network_fee: format(tx.network_fee),
  state: tx.state,
  ok: tx.ok,
  block_number: String(tx.height ?? 0),
})

interface PaymentBody {
  readonly user_id: number | null
  readonly address: string | null
  readonly currency: string
  readonly amount: string
  readonly memo: string | null
}
/** Where a simulated payment goes: a user's address, made if need be, or a named one of ours. */
async function destination(
  desk: Desk,
  chain: ChainConfig,
  body: PaymentBody,
): Promise<{ address: string; memo: string }> {
  if (body.user_id !== null) {
    const userId = body.user_id
    await desk.core.read(
      ({ users }) => users.get(userId) ?? refuse('USER_NOT_FOUND', `user_id: no user ${userId}`),
    )
    const { address, tag } = await depositAddress(desk, userId, chain.chain)
    // Whoever names both means one payment: of two that differ nobody knows which was meant.
    if (body.address !== null && readAddress(chain, body.address) !== address)
      refuse(
        'INVALID_PARAM_VALUE',
        `address: ${body.address} is not the deposit address of user ${userId} on ${chain.chain}, which is ${address}; name user_id or address`,
      )
    return { address, memo: body.memo === null ? tag : readTag(chain, body.memo, 'memo') }
  }
  if (body.address === null)
    refuse('MISSING_REQUIRED_PARAM', 'Missing required parameter: user_id or address')
  const address = readAddress(chain, body.address)
  const owned = ({ wallet }: State) => wallet.addresses.owner(chain.chain, address, '') !== undefined
  const ours = chain.tagged ? address === sharedAddress(chain) : await desk.core.read(owned)
  if (!ours)
    refuse(
      'INVALID_PARAM_VALUE',
      `address: ${address} is nobody's deposit address here; GET /wallet/deposit_address makes one`,
    )
  return { address, memo: body.memo === null ? '' : readTag(chain, body.memo, 'memo') }
}

/** A chain has no coins that are smaller. */
function checkDecimals(amount: string, currency: string, { chain, decimal }: CurrencyChain): void {
  if (decimalsOf(parseAmount(amount)!) > decimal)
    refuse(
      'INVALID_PARAM_VALUE',
      `amount: "${amount}" has more than the ${decimal} decimals of ${currency} on ${chain}`,
    )
}

/** Within the amounts that the ledger holds: 20 digits and 18 decimals. */
const signedDecimal = text({
  max: 40,
  pattern: /^-?\d{1,20}(\.\d{1,18})?$/,
  mend: 'must be a decimal string such as "1.5" or "-1.5"',
})

export const operatorChainEndpoints: readonly AnyEndpoint[] = [
  endpoint({
    method: 'GET',
    path: '/chains',
    summary: 'Lists the chains with their settings, height and hot wallet',
    access: operatorOf('viewer'),
    limit: null,
    status: 200,
    reply: array(chainShape),
    refuses: [],
    handle: async ({ desk }) => {
      const chains = await desk.core.read(({ world }) => world.allChains)
      return Promise.all(chains.map((config) => chainView(desk, config)))
    },
  }),
  endpoint({
    method: 'GET',
    path: '/chains/{chain}',
    summary: 'Shows one chain',
    access: operatorOf('viewer'),
    limit: null,
    params: CHAIN,
    status: 200,
    reply: chainShape,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, path }) => chainView(desk, await chainAt(desk, path.chain)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/chains/{chain}',
    summary: 'Changes the settings of a chain; they outlive restarts and new configuration files',
    access: operatorOf('operator'),
    // Whoever is on duty can pause a chain; how deep a payment must be is not one person's to say.
    guarded: {
      role: 'admin',
      when: ({ body }) => body.min_confirms !== null || body.unlock_confirms !== null,
    },
    limit: null,
    params: CHAIN,
    body: object({
      paused: optional(flag()),
      auto_mine_seconds: optional(integer(0, 1_000_000)),
      min_confirms: optional(integer(1, 900)),
      unlock_confirms: optional(integer(1, 900)),
      send_delay_seconds: optional(integer(0, 86_400)),
      sender_stops_at: optional(oneOf(...SENDER_STOPS, 'never')),
    }),
    status: 200,
    reply: chainShape,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const { sender_stops_at: stop, ...rest } = body
      const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
      const change: ChainChange = {
        ...given,
        ...(stop !== null && { sender_stops_at: stop === 'never' ? null : stop }),
      }
      const config = await chainAt(desk, path.chain)
      await desk.core.submit('chain.configure', { chain: config.chain, change, actor: operator })
      await finishPortions(desk, 'chain.pause', ({ chain }) => chain === config.chain)
      await desk.chains.step(config.chain)
      return chainView(desk, await chainAt(desk, path.chain))
    },
  }),
  endpoint({
    method: 'POST',
    path: '/chains/{chain}/deposits',
    summary: 'A payment to a user (or one of our addresses) arrives on a simulated chain',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    params: CHAIN,
    body: object({
      user_id: optional(id()),
      address: optional(text({ max: 128 })),
      currency: currencyField,
      amount: positiveDecimal(),
      memo: optional(text({ max: 128 })),
    }),
    status: 200,
    reply: shape({ txid: str, address: str, memo: str }),
    refuses: ['NOT_FOUND', 'INVALID_CURRENCY', 'USER_NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const { chain, currency, on } = await desk.core.read((state) => {
        const chain = simulatedIn(state, path.chain)
        const currency = state.world.transported(body.currency)
        return { chain, currency, on: state.world.currencyChain(currency, chain.chain) }
      })
      checkDecimals(body.amount, currency.currency, on)
      const to = await destination(desk, chain, body)
      const { txid } = await desk.core.submit('sim.pay', {
        chain: chain.chain,
        user_id: body.user_id,
        ...to,
        currency: currency.currency,
        amount: body.amount,
        actor: operator,
      })
      await desk.chains.step(chain.chain)
      return { txid, ...to }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/chains/{chain}/mine',
    summary: 'Mines blocks by hand; withdrawals that wait for the sender are sent first',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    params: CHAIN,
    body: object({ blocks: withDefault(integer(1, 100_000), 1) }),
    status: 200,
    reply: shape({ height: int64 }),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const { chain } = await simulatedAt(desk, path.chain)
      await desk.chains.step(chain, { hurry: true })
      const { height } = await desk.core.submit('sim.mine', { chain, blocks: body.blocks, actor: operator })
      await desk.chains.step(chain)
      return { height }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/chains/{chain}/reorg',
    summary:
      'Replaces the top blocks; transactions named in drop vanish, the others are in the new blocks too',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    params: CHAIN,
    body: object({ depth: integer(1, 100_000), drop: withDefault(listOf(text({ max: 128 }), 1000), []) }),
    status: 200,
    reply: shape({ height: int64 }),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const { chain } = await simulatedAt(desk, path.chain)
      const { height } = await desk.core.submit('sim.reorg', { chain, ...body, actor: operator })
      await desk.chains.step(chain)
      return { height }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/chains/{chain}/fund',
    summary: "Puts coins of the operator into a simulated chain's hot wallet",
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    params: CHAIN,
    body: object({ currency: currencyField, amount: positiveDecimal() }),
    status: 200,
    reply: shape({ currency: str, amount: decimalText }),
    refuses: ['NOT_FOUND', 'INVALID_CURRENCY'],
    handle: async ({ desk, operator, path, body }) => {
      const { chain, currency } = await desk.core.read((state) => {
        const { chain } = simulatedIn(state, path.chain)
        const { currency } = state.world.currency(body.currency)
        checkDecimals(
          body.amount,
          currency,
          state.world.currencyChain(state.world.transported(currency), chain),
        )
        return { chain, currency }
      })
      const amount = await desk.core.submit('sim.fund', { chain, ...body, actor: operator })
      await desk.chains.step(chain)
      return { currency, amount: format(amount) }
    },
  }),
  endpoint({
    method: 'POST',
    path: '/chains/{chain}/book',
    summary:
      "Books the operator's own coins that were put into the wallets of a real chain, or (below zero) taken out",
    access: operatorOf('admin'),
    guarded: { role: 'admin' },
    limit: null,
    params: CHAIN,
    body: object({ currency: currencyField, amount: signedDecimal, reason: text({ max: 200 }) }),
    status: 200,
    reply: shape({ chain: str, currency: str, custody: decimalText }),
    refuses: ['NOT_FOUND', 'INVALID_CURRENCY'],
    handle: async ({ desk, operator, path, body }) => {
      const { chain, currency } = await desk.core.read((state) => ({
        chain: chainIn(state, path.chain).chain,
        currency: state.world.currency(body.currency).currency,
      }))
      const custody = await desk.core.submit('chain.book', { chain, ...body, actor: operator })
      return { chain, currency, custody: format(custody) }
    },
  }),
  endpoint({
    method: 'GET',
    path: '/chains/{chain}/sweeps',
    summary: 'Lists what was gathered from deposit addresses in the hot wallet, newest first',
    access: operatorOf('viewer'),
    limit: null,
    params: CHAIN,
    query: { limit: withDefault(integer(1, 1000), 100), offset: withDefault(integer(0, 1_000_000), 0) },
    status: 200,
    reply: array(sweepShape),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, path, query }) => {
      const { chain } = await chainAt(desk, path.chain)
      const where = 'where "chain" = ? order by "id" desc limit ? offset ?'
      return (await desk.store.select(SWEEP, where, [chain, query.limit, query.offset])).map(sweepView)
    },
  }),
  endpoint({
    method: 'POST',
    path: '/chains/{chain}/sweep',
    summary: 'Looks at every deposit address of a real chain now, and sweeps what is above its threshold',
    access: operatorOf('operator'),
    limit: null,
    params: CHAIN,
    status: 200,
    reply: shape({ chain: str, addresses: int64 }),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path }) => {
      const { chain } = await chainAt(desk, path.chain)
      const { sweeper } = desk.chains.port(chain)
      if (sweeper === undefined)
        refuse('INVALID_PARAM_VALUE', `chain: ${chain} has no sweeper; docs/evm.md tells how to give it one`)
      await desk.core.submit('audit.note', { actor: operator, action: 'chain.sweep', detail: { chain } })
      sweeper.lookAtAll()
      await desk.chains.step(chain)
      return desk.core.read(({ wallet }) => {
        let addresses = 0
        for (const one of wallet.addresses.deposit.values()) if (one.chain === chain) addresses++
        return { chain, addresses }
      })
    },
  }),
  endpoint({
    method: 'GET',
    path: '/chains/{chain}/transactions',
    summary: 'Lists the transactions of a simulated chain that are not final yet, newest first',
    access: operatorOf('viewer'),
    limit: null,
    sandboxOnly: true,
    params: CHAIN,
    query: { limit: withDefault(integer(1, 1000), 100) },
    status: 200,
    reply: array(txShape),
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, path, query }) =>
      desk.core.read((state) =>
        state.sim.txsOf(simulatedIn(state, path.chain).chain).reverse().slice(0, query.limit).map(txView),
      ),
  }),
  endpoint({
    method: 'PATCH',
    path: '/chains/{chain}/transactions/{txid}',
    summary: 'Lets a transaction be stuck, lost (the sender sends it again), failed, or free again (pending)',
    access: operatorOf('operator'),
    limit: null,
    sandboxOnly: true,
    params: { ...CHAIN, txid: text({ max: 128 }) },
    body: object({ state: oneOf('pending', 'stuck', 'lost', 'failed') }),
    status: 200,
    reply: txShape,
    refuses: ['NOT_FOUND'],
    handle: async ({ desk, operator, path, body }) => {
      const { chain } = await simulatedAt(desk, path.chain)
      const input = { chain, txid: path.txid, ...body, actor: operator }
      const tx = await desk.core.submit('sim.transaction', input)
      await desk.chains.step(chain)
      return txView(tx)
    },
  }),
]
