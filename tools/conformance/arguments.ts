import type { AnyEndpoint } from '../../src/api/endpoint.ts'
import type { Fields } from '../../src/api/fields.ts'
import { exampleOf } from '../../src/docs/example.ts'
import { ok, type Client } from '../../test/support/client.ts'
import { ETH_OUTSIDE } from '../../test/support/wallet.ts'
import type { Actor, FuzzWorld } from '../../test/fuzz/world.ts'

/** What an endpoint is called with, however a client wants it said. */
export interface Arguments {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  /** Who has what is asked for. */
  readonly actor: Actor
}
/** Whom the calls are about, and where new things come from. */
export interface Scene {
  readonly world: FuzzWorld
  readonly actor: Actor
  readonly sub: number
  readonly otherSub: number
  readonly maker: number
  readonly dated: string
  /** With a position of its own margin in BTC_USDT and in what is dated; and one in dual mode. */
  readonly isolated: Actor
  readonly dual: Actor
}
interface Part {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  actor?: Actor
}
type Fresh = (scene: Scene) => Promise<Part> | Part

const made = (reply: Awaited<ReturnType<Client['post']>>, status: number): string =>
  String(ok(reply, status).id)
const spot = { currency_pair: 'BTC_USDT', side: 'buy', amount: '0.01', price: '50000' }
const spotOrder = ({ actor }: Scene): Promise<string> =>
  actor.client.post('/spot/orders', spot).then((reply) => made(reply, 201))
const contract = { contract: 'BTC_USDT', size: 5, price: '55000' }
const contractOrder = ({ actor }: Scene): Promise<string> =>
  actor.client.post('/futures/usdt/orders', contract).then((reply) => made(reply, 201))
const datedOrder = ({ actor, dated }: Scene): Promise<string> =>
  actor.client
    .post('/delivery/usdt/orders', { contract: dated, size: 5, price: '55000' })
    .then((reply) => made(reply, 201))
const trigger = { price: '50000', rule: '<=', expiration: 3600 }
const spotTrigger = ({ actor }: Scene): Promise<string> =>
  actor.client
    .post('/spot/price_orders', {
      market: 'BTC_USDT',
      trigger,
      put: { side: 'buy', price: '50000', amount: '0.01' },
    })
    .then((reply) => made(reply, 201))
const priceOrder = (name: string) => ({
  initial: { contract: name, size: 5, price: '50000' },
  trigger: { price: '50000', rule: 2 },
})
const contractTrigger = ({ actor }: Scene): Promise<string> =>
  actor.client.post('/futures/usdt/price_orders', priceOrder('BTC_USDT')).then((reply) => made(reply, 201))
const datedTrigger = ({ actor, dated }: Scene): Promise<string> =>
  actor.client.post('/delivery/usdt/price_orders', priceOrder(dated)).then((reply) => made(reply, 201))
const AUTO = '/futures/usdt/autoorder/v1'
const trail = { contract: 'BTC_USDT', amount: '3', price_offset: '2%' }
const chase = { contract: 'BTC_USDT', amount: '1', price_limit: '0' }
const auto = ({ actor }: Scene, kind: 'trail' | 'chase'): Promise<string> =>
  actor.client
    .post(`${AUTO}/${kind}/create`, kind === 'trail' ? trail : chase)
    .then((reply) => String(kind === 'trail' ? ok(reply, 201).data.id : ok(reply).id))
const stpGroup = ({ actor }: Scene): Promise<string> =>
  actor.client.post('/account/stp_groups', { name: `group ${unique()}` }).then((reply) => made(reply, 200))
const subKey = ({ actor, sub }: Scene): Promise<string> =>
  actor.client
    .post(`/sub_accounts/${sub}/keys`, { mode: 1, name: unique(), perms: [{ name: 'spot' }] })
    .then((reply) => String(ok(reply).key))
const pov = {
  currency_pair: 'BTC_USDT',
  side: 'buy',
  amount: '0.01',
  participation_rate: 0.1,
  ttl: '3600',
  limit_price: '51000',
}
let drawn = 0
const unique = (): string => `c${++drawn}_${Date.now()}`
const somebody = async ({ platform }: FuzzWorld, vip = 0): Promise<Actor> => ({
  ...(await platform.user({ vip })),
  kind: 'new',
})
const inPath =
  (name: string, id: (scene: Scene) => Promise<string>, more: (scene: Scene) => Part = () => ({})): Fresh =>
  async (scene) => ({ ...more(scene), params: { [name]: await id(scene) } })

/** Of what a test had long ago: things of now in its place. */
const FRESH: Readonly<Record<string, Fresh>> = {
  'POST /withdrawals': () => ({
    body: { currency: 'ETH', chain: 'ETH', amount: '1', address: ETH_OUTSIDE, withdraw_order_id: unique() },
  }),
  'DELETE /withdrawals/{withdrawal_id}': inPath('withdrawal_id', ({ actor }) =>
    actor.client
      .post('/withdrawals', {
        currency: 'ETH',
        chain: 'ETH',
        amount: '1',
        address: ETH_OUTSIDE,
        withdraw_order_id: unique(),
      })
      .then((reply) => made(reply, 200)),
  ),
  'POST /withdrawals/push': ({ world, actor }) => ({
    actor: world.actors.at(-1)!,
    body: { receive_uid: actor.user_id, currency: 'ETH', amount: '1' },
  }),
  'GET /wallet/push': () => ({ query: {} }),
  'GET /wallet/transfers': async ({ actor }) => ({
    query: {
      tx_id: ok(
        await actor.client.post('/wallet/transfers', {
          currency: 'USDT',
          amount: '1',
          from: 'spot',
          to: 'futures',
          settle: 'usdt',
        }),
      ).tx_id as number,
    },
  }),
  'GET /wallet/order_status': async ({ actor, sub }) => ({
    query: {
      tx_id: String(
        ok(
          await actor.client.post('/wallet/sub_account_transfers', {
            sub_account: String(sub),
            currency: 'USDT',
            amount: '1',
            direction: 'to',
          }),
        ).tx_id,
      ),
    },
  }),
  'POST /wallet/sub_account_transfers': ({ sub }) => ({
    body: { sub_account: String(sub), currency: 'USDT', amount: '1', direction: 'to' },
  }),
  'POST /wallet/sub_account_to_sub_account': ({ sub, otherSub }) => ({
    body: {
      currency: 'USDT',
      sub_account_from: String(sub),
      sub_account_from_type: 'spot',
      sub_account_to: String(otherSub),
      sub_account_to_type: 'spot',
      amount: '1',
    },
  }),
  'POST /wallet/small_balance': async ({ world, actor }) => {
    await world.platform.operator.call('POST', `/users/${actor.user_id}/credit`, {
      account: 'spot',
      currency: 'SOL',
      amount: '0.0001',
    })
    return { body: { is_all: true } }
  },
  'POST /sub_accounts': () => ({ body: { login_name: unique() } }),
  'POST /sub_accounts/{user_id}/keys': ({ sub }) => ({
    params: { user_id: String(sub) },
    body: { mode: 1, name: unique(), perms: [{ name: 'spot', read_only: false }] },
  }),
  'GET /sub_accounts/{user_id}/keys/{key}': async (scene) => ({
    params: { user_id: String(scene.sub), key: await subKey(scene) },
  }),
  'PUT /sub_accounts/{user_id}/keys/{key}': async (scene) => ({
    params: { user_id: String(scene.sub), key: await subKey(scene) },
    body: { mode: 1, name: unique(), perms: [{ name: 'spot', read_only: true }] },
  }),
  'DELETE /sub_accounts/{user_id}/keys/{key}': async (scene) => ({
    params: { user_id: String(scene.sub), key: await subKey(scene) },
  }),
  'POST /account/stp_groups': () => ({ body: { name: unique() } }),
  'GET /account/stp_groups/{stp_id}/users': inPath('stp_id', stpGroup),
  'POST /account/stp_groups/{stp_id}/users': inPath('stp_id', stpGroup, ({ sub }) => ({ body: [sub] })),
  'DELETE /account/stp_groups/{stp_id}/users': async (scene) => {
    const stp_id = await stpGroup(scene)
    ok(await scene.actor.client.post(`/account/stp_groups/${stp_id}/users`, [scene.otherSub]))
    return { params: { stp_id }, query: { user_id: scene.otherSub } }
  },
  'POST /wallet/transfers': () => ({
    body: { currency: 'USDT', amount: '1', from: 'spot', to: 'margin', currency_pair: 'BTC_USDT' },
  }),
  'POST /unified/collateral_currencies': () => ({
    body: { collateral_type: 1, enable_list: ['BTC'], disable_list: ['GT'] },
  }),
  'POST /spot/orders': () => ({ body: { ...spot, text: `t-${unique()}` } }),
  'GET /spot/orders': () => ({ query: { currency_pair: 'BTC_USDT', status: 'open' } }),
  'DELETE /spot/orders': () => ({ query: { currency_pair: 'ETH_USDT' } }),
  'GET /spot/orders/{order_id}': inPath('order_id', spotOrder, () => ({
    query: { currency_pair: 'BTC_USDT' },
  })),
  'DELETE /spot/orders/{order_id}': inPath('order_id', spotOrder, () => ({
    query: { currency_pair: 'BTC_USDT' },
  })),
  'PATCH /spot/orders/{order_id}': inPath('order_id', spotOrder, () => ({
    query: { currency_pair: 'BTC_USDT' },
    body: { price: '50001' },
  })),
  'POST /spot/batch_orders': () => ({ body: [{ ...spot, text: `t-${unique()}` }] }),
  'POST /spot/cancel_batch_orders': async (scene) => ({
    body: [{ currency_pair: 'BTC_USDT', id: await spotOrder(scene) }],
  }),
  'POST /spot/amend_batch_orders': async (scene) => ({
    body: [{ currency_pair: 'BTC_USDT', order_id: await spotOrder(scene), price: '50001' }],
  }),
  'POST /spot/price_orders': () => ({
    body: {
      market: 'BTC_USDT',
      trigger,
      put: {
        type: 'limit',
        side: 'buy',
        price: '50000',
        amount: '0.01',
        account: 'normal',
        time_in_force: 'gtc',
      },
    },
  }),
  'GET /spot/price_orders/{order_id}': inPath('order_id', spotTrigger),
  'DELETE /spot/price_orders/{order_id}': inPath('order_id', spotTrigger),
  'POST /spot/pov_orders': () => ({ body: pov }),
  'GET /spot/pov_orders/{order_id}': inPath('order_id', ({ actor }) =>
    actor.client.post('/spot/pov_orders', pov).then((reply) => made(reply, 201)),
  ),
  'DELETE /spot/pov_orders/{order_id}': inPath('order_id', ({ actor }) =>
    actor.client.post('/spot/pov_orders', pov).then((reply) => made(reply, 201)),
  ),
  'POST /unified/loans': () => ({ body: { currency: 'ETH', type: 'borrow', amount: '1' } }),
  'PUT /unified/unified_mode': async ({ world }) => ({
    actor: await somebody(world),
    body: { mode: 'multi_currency' },
  }),
  'POST /unified/account_mode': async ({ world }) => ({
    actor: await somebody(world),
    body: { mode: 'multi_currency' },
  }),
  'POST /unified/delta_neutral': async ({ world }) => {
    const actor = await somebody(world, 5)
    ok(await actor.client.put('/unified/unified_mode', { mode: 'multi_currency' }), 204)
    return { actor, body: { enabled: true } }
  },
  'GET /spot/insurance_history': ({ world }) => {
    const now = Math.floor(world.platform.now())
    return { query: { business: 'unified', currency: 'USDT', from: now - 3600, to: now } }
  },
  'POST /margin/auto_repay': () => ({ query: { status: 'off' }, body: undefined }),
  'GET /futures/{settle}/get_leverage/{contract}': () => ({
    query: { pos_margin_mode: 'cross', dual_side: 'dual_long' },
  }),
  'POST /futures/{settle}/positions/{contract}/leverage': () => ({ params: { contract: 'ETH_USDT' } }),
  'POST /futures/{settle}/positions/{contract}/set_leverage': () => ({ params: { contract: 'ETH_USDT' } }),
  'POST /futures/{settle}/positions/{contract}/margin': ({ isolated }) => ({ actor: isolated }),
  'POST /futures/{settle}/positions/cross_mode': () => ({ body: { mode: 'CROSS', contract: 'ETH_USDT' } }),
  'GET /futures/{settle}/dual_comp/positions/{contract}': ({ dual }) => ({ actor: dual }),
  'POST /futures/{settle}/dual_comp/positions/{contract}/margin': ({ dual }) => ({ actor: dual }),
  'POST /futures/{settle}/dual_comp/positions/{contract}/leverage': ({ dual }) => ({
    actor: dual,
    params: { contract: 'ETH_USDT' },
  }),
  'POST /futures/{settle}/dual_comp/positions/{contract}/risk_limit': ({ dual }) => ({
    actor: dual,
    params: { contract: 'ETH_USDT' },
  }),
  'POST /futures/{settle}/dual_comp/positions/cross_mode': ({ dual }) => ({
    actor: dual,
    body: { mode: 'CROSS', contract: 'ETH_USDT' },
  }),
  'POST /delivery/{settle}/positions/{contract}/margin': ({ isolated }) => ({ actor: isolated }),
  'POST /delivery/{settle}/positions/{contract}/leverage': async ({ world }) => ({
    actor: await somebody(world),
  }),
  'GET /unified/accounts': () => ({ query: {} }),
  'POST /unified/quick_repayment': () => ({
    body: { debt_currencies: ['ETH'], available_currencies: ['USDT'] },
  }),
  'POST /margin/uni/loans': () => ({
    body: { currency: 'USDT', currency_pair: 'BTC_USDT', type: 'borrow', amount: '100' },
  }),
  'POST /futures/{settle}/orders': () => ({ body: { ...contract, text: `t-${unique()}` } }),
  'DELETE /futures/{settle}/orders': () => ({ query: { contract: 'ETH_USDT' } }),
  'GET /futures/{settle}/orders/{order_id}': inPath('order_id', contractOrder),
  'DELETE /futures/{settle}/orders/{order_id}': inPath('order_id', contractOrder),
  'PUT /futures/{settle}/orders/{order_id}': inPath('order_id', contractOrder, () => ({
    body: { size: 4, price: '55001' },
  })),
  'POST /futures/{settle}/batch_orders': () => ({ body: [contract] }),
  'POST /futures/{settle}/batch_amend_orders': async (scene) => ({
    body: [{ order_id: Number(await contractOrder(scene)), size: 6 }],
  }),
  'POST /futures/{settle}/batch_cancel_orders': async (scene) => ({ body: [await contractOrder(scene)] }),
  'POST /futures/{settle}/bbo_orders': () => ({
    body: { contract: 'BTC_USDT', size: 1, direction: 'buy', level: 1 },
  }),
  'POST /futures/{settle}/price_orders': () => ({ body: priceOrder('BTC_USDT') }),
  'GET /futures/{settle}/price_orders/{order_id}': inPath('order_id', contractTrigger),
  'DELETE /futures/{settle}/price_orders/{order_id}': inPath('order_id', contractTrigger),
  'PUT /futures/{settle}/price_orders/{order_id}': inPath('order_id', contractTrigger, () => ({
    body: { trigger_price: '49000', price: '49500' },
  })),
  'PUT /futures/{settle}/price_orders/amend': async (scene) => ({
    body: { order_id: Number(await contractTrigger(scene)), trigger_price: '49000' },
  }),
  'POST /futures/{settle}/autoorder/v1/trail/create': () => ({ body: trail }),
  'POST /futures/{settle}/autoorder/v1/trail/stop': async (scene) => ({
    body: { id: Number(await auto(scene, 'trail')) },
  }),
  'POST /futures/{settle}/autoorder/v1/trail/update': async (scene) => ({
    body: { id: Number(await auto(scene, 'trail')), amount: '4' },
  }),
  'GET /futures/{settle}/autoorder/v1/trail/detail': async (scene) => ({
    query: { id: Number(await auto(scene, 'trail')) },
  }),
  'GET /futures/{settle}/autoorder/v1/trail/change_log': async (scene) => ({
    query: { id: Number(await auto(scene, 'trail')) },
  }),
  'POST /futures/{settle}/autoorder/v1/chase/create': async ({ actor }) => {
    await actor.client.post(`${AUTO}/chase/stop_all`, { contract: 'BTC_USDT' })
    return { body: chase }
  },
  'POST /futures/{settle}/autoorder/v1/chase/stop': async (scene) => {
    await scene.actor.client.post(`${AUTO}/chase/stop_all`, { contract: 'BTC_USDT' })
    return { body: { id: await auto(scene, 'chase') } }
  },
  'GET /futures/{settle}/autoorder/v1/chase/detail': async (scene) => {
    await scene.actor.client.post(`${AUTO}/chase/stop_all`, { contract: 'BTC_USDT' })
    return { query: { id: await auto(scene, 'chase') } }
  },
  'POST /futures/{settle}/dual_mode': () => ({ params: { settle: 'btc' }, query: { dual_mode: false } }),
  'POST /futures/{settle}/set_position_mode': () => ({
    params: { settle: 'btc' },
    query: { position_mode: 'single' },
  }),
  'POST /delivery/{settle}/orders': ({ dated }) => ({ body: { contract: dated, size: 5, price: '55000' } }),
  'GET /delivery/{settle}/orders/{order_id}': inPath('order_id', datedOrder),
  'DELETE /delivery/{settle}/orders/{order_id}': inPath('order_id', datedOrder),
  'POST /delivery/{settle}/price_orders': ({ dated }) => ({ body: priceOrder(dated) }),
  'GET /delivery/{settle}/price_orders/{order_id}': inPath('order_id', datedTrigger),
  'DELETE /delivery/{settle}/price_orders/{order_id}': inPath('order_id', datedTrigger),
}

/** What a recorded exchange named, with the things of this scene in the place of those that are gone. */
export async function argumentsOf(endpoint: AnyEndpoint, scene: Scene): Promise<Arguments> {
  const name = `${endpoint.method} ${endpoint.path}`
  const example = exampleOf(`${endpoint.method} /api/v4${endpoint.path}`)
  const [path = '', query = ''] = (example?.path ?? '').replace('/api/v4', '').split('?')
  const values = path.split('/')
  const params: Record<string, string> = {}
  for (const [i, part] of endpoint.path.split('/').entries())
    if (part.startsWith('{')) params[part.slice(1, -1)] = decodeURIComponent(values[i] ?? '1')
  const given = Object.fromEntries(new URLSearchParams(query))
  const fresh: Part = (await FRESH[name]?.(scene)) ?? {}
  const { sub, dated } = scene
  const now: Record<string, string> = {
    ...(params['user_id'] !== undefined && { user_id: String(sub) }),
    ...(params['settle'] !== undefined && { settle: 'usdt' }),
    ...(params['contract'] !== undefined && {
      contract: endpoint.path.startsWith('/delivery') ? dated : 'BTC_USDT',
    }),
  }
  const asked = fresh.query ?? withoutTimes(given)
  if (asked['contract'] !== undefined && params['settle'] !== undefined)
    asked['contract'] = endpoint.path.startsWith('/delivery') ? dated : 'BTC_USDT'
  for (const [field, { schema }] of Object.entries((endpoint.query ?? {}) as Fields))
    if (schema['type'] === 'array' && typeof asked[field] === 'string') asked[field] = asked[field].split(',')
  return {
    params: { ...params, ...now, ...fresh.params },
    query: asked,
    body: 'body' in fresh ? fresh.body : example?.body,
    actor: fresh.actor ?? scene.actor,
  }
}
/** Times of a test long ago, and ids of what it had, show nothing now. */
const withoutTimes = (query: Record<string, string>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).filter(([name]) => !/^(from|to|id|last_id|point|sub_uid|uid)$/.test(name)),
  )
