import { tradingEndpoints } from '../../src/endpoints.ts'
import type { Credential } from '../../test/support/client.ts'
import { ok } from '../../test/support/client.ts'
import { FuzzWorld, type Actor } from '../../test/fuzz/world.ts'
import type { Clients } from '../../test/coverage/data.ts'
import { argumentsOf, type Scene } from './arguments.ts'
import { Recording } from './recording.ts'
import { ccxtRest, gateApi, gateioApi, type Driven } from './rest-clients.ts'

const DRIVES: readonly ((url: string, credential: Credential) => Driven)[] = [gateApi, gateioApi, ccxtRest]

export async function sceneOf(world: FuzzWorld): Promise<Omit<Scene, 'actor'>> {
  const { platform } = world
  const [classic] = world.actors as [Actor]
  const contracts = ok(await classic.client.get('/delivery/usdt/contracts')) as { name: string }[]
  const dated = contracts.find(({ name }) => name.startsWith('BTC_USDT'))!.name
  const trader = async (kind: string): Promise<Actor> => {
    const made = await platform.user()
    for (const account of ['futures', 'delivery'])
      await platform.credit(made.user_id, 'USDT', '100000', { account, settle: 'usdt' })
    return { ...made, kind }
  }
  const isolated = await trader('isolated')
  const { client } = isolated
  ok(await client.request('POST', '/futures/usdt/positions/BTC_USDT/leverage', { query: { leverage: 10 } }))
  ok(await client.request('POST', `/delivery/usdt/positions/${dated}/leverage`, { query: { leverage: 10 } }))
  ok(await client.post('/futures/usdt/orders', { contract: 'BTC_USDT', size: 5, price: '61000' }), 201)
  ok(await classic.client.post('/delivery/usdt/orders', { contract: dated, size: -5, price: '60000' }), 201)
  ok(await client.post('/delivery/usdt/orders', { contract: dated, size: 5, price: '60000' }), 201)
  const dual = await trader('dual')
  ok(await dual.client.request('POST', '/futures/usdt/dual_mode', { query: { dual_mode: true } }))
  ok(
    await dual.client.request('POST', '/futures/usdt/dual_comp/positions/BTC_USDT/leverage', {
      query: { leverage: 10 },
    }),
  )
  ok(await dual.client.post('/futures/usdt/orders', { contract: 'BTC_USDT', size: 5, price: '61000' }), 201)
  const otherSub = (await platform.user({ parent: classic.user_id })).user_id
  return {
    world,
    sub: world.actors[4]!.user_id,
    otherSub,
    maker: world.actors.at(-1)!.user_id,
    dated,
    isolated,
    dual,
  }
}

/** Every endpoint by every client that knows it: what was called, and what of the answers is not as declared. */
export async function driveClients(world: FuzzWorld): Promise<{ clients: Clients; faults: string[] }> {
  const recording = await Recording.before(world.url)
  const clients: Clients = {}
  const faults: string[] = []
  const common = await sceneOf(world)
  const [classic, , unified] = world.actors as [Actor, Actor, Actor]
  for (const drive of DRIVES)
    for (const endpoint of tradingEndpoints) {
      const name = `${endpoint.method} /api/v4${endpoint.path}`
      const way = `${endpoint.method} ${endpoint.path}`
      const args = await argumentsOf(endpoint, {
        ...common,
        actor: endpoint.path.startsWith('/unified') ? unified : classic,
      })
      const { client, ways } = drive(recording.url, args.actor.credential)
      const method = ways.get(way)
      if (method === undefined) continue
      recording.take()
      // What a client makes of an answer is its own affair; what went over the wire counts.
      const failed = await method.call(args).then(
        () => '',
        (error: unknown) => (error instanceof Error ? error.message : JSON.stringify(error)).slice(0, 200),
      )
      const passed = recording.take()
      for (const { endpoint: asked, fault } of passed)
        if (fault !== undefined) faults.push(`${client} ${method.name}: ${asked}: ${fault}`)
      const own = passed.find((one) => one.endpoint === name)
      if (own === undefined) faults.push(`${client} ${method.name} did not call ${name}: ${failed}`)
      else (clients[name] ??= {})[client] = { method: method.name, status: own.status, label: own.label }
    }
  await recording.close()
  return { clients, faults }
}
