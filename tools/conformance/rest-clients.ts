import ccxt from 'ccxt'
import * as gate from 'gate-api'
import { RestClient } from 'gateio-api'
import type { Credential } from '../../test/support/client.ts'
import type { Arguments } from './arguments.ts'

/** One way that a client has to call an endpoint. */
export interface Way {
  /** As its users write it. */
  readonly name: string
  readonly call: (args: Arguments) => Promise<unknown>
}
/** A client from the registry, with a way to each endpoint that it knows, by `GET /spot/orders/{order_id}`. */
export interface Driven {
  readonly client: string
  readonly ways: ReadonlyMap<string, Way>
}
/* eslint-disable @typescript-eslint/no-explicit-any -- clients are looked at from outside, whatever their types are */
type Anything = any

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
/** The vendor's SDK names members its own way. */
function camelized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelized)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), camelized(member)]))
}

/** gate-api has a method for each path: its source says which, and where its arguments go. */
export function gateApi(url: string, { key, secret }: Credential): Driven {
  const client = new gate.ApiClient(`${url}/api/v4`)
  client.setApiKeySecret(key, secret)
  const ways = new Map<string, Way>()
  for (const [group, Api] of Object.entries(gate as Record<string, Anything>)) {
    if (!group.endsWith('Api') || typeof Api !== 'function') continue
    const api = new Api(client)
    for (const method of Object.getOwnPropertyNames(Api.prototype as object)) {
      const source = String(Api.prototype[method])
      const path = /basePath\s*\+\s*'([^']+)'/.exec(source)?.[1]
      const verb = /method: '(\w+)'/.exec(source)?.[1]
      if (path === undefined || verb === undefined) continue
      const names = /^async \w+\(([^)]*)\)/.exec(source)?.[1]?.split(', ').filter(Boolean) ?? []
      const body = /data: [\w.]*ObjectSerializer\.serialize\((\w+(?:\.\w+)?),/.exec(source)?.[1]
      ways.set(`${verb} ${path}`, {
        name: `${group}.${method}`,
        call: (args) => {
          const named = { ...camelizedNames(args.params), ...camelizedNames(args.query) } as Record<
            string,
            unknown
          >
          const options = {
            ...named,
            ...(body?.startsWith('opts.') === true && { [body.slice(5)]: camelized(args.body) }),
          }
          return api[method](
            ...names.map((name) =>
              name === 'opts' ? options : name === body ? camelized(args.body ?? {}) : named[name],
            ),
          )
        },
      })
    }
  }
  return { client: 'gate-api', ways }
}
const camelizedNames = (values: object): object =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [camel(name), value]))

/** gateio-api's methods take one object, or the list that is the body. */
export function gateioApi(url: string, { key, secret }: Credential): Driven {
  const client: Anything = new RestClient({ apiKey: key, apiSecret: secret, baseUrl: `${url}/api/v4` })
  const ways = new Map<string, Way>()
  for (const method of Object.getOwnPropertyNames(RestClient.prototype)) {
    const source = String((RestClient.prototype as Anything)[method])
    const found = /this\.(get|post|put|patch|delete)(?:Private)?\(\s*[`']([^`']+)[`']/.exec(source)
    if (found === null) continue
    const path = found[2]!.replace(/\$\{(?:params\.)?(\w+)\}/g, '{$1}')
    ways.set(`${found[1]!.toUpperCase()} ${path}`, {
      name: method,
      call: ({ params, query, body }) => {
        if (!Array.isArray(body)) {
          const asked = Object.entries(query).map(([name, value]) => [
            name,
            Array.isArray(value) && !source.includes(`${name}.join`) ? value.join(',') : value,
          ])
          return client[method]({ ...params, ...Object.fromEntries(asked), ...(body as object | undefined) })
        }
        // What a list is called there: `orders`, or nothing where the body is all there is.
        const list = /body: (?:params\.)?(\w+)/.exec(source)?.[1] ?? 'body'
        return client[method](
          list === 'params' || list === 'body'
            ? Object.keys(params).length === 0
              ? body
              : { ...params, body }
            : { ...params, ...query, [list]: body },
        )
      },
    })
  }
  return { client: 'gateio-api', ways }
}

/** ccxt has an implicit method for each path that it lists. */
export function ccxtRest(url: string, { key, secret }: Credential): Driven {
  const exchange: Anything = new ccxt.gate({ apiKey: key, secret, enableRateLimit: false })
  const ways = new Map<string, Way>()
  for (const access of ['public', 'private'])
    for (const [group, methods] of Object.entries(exchange.api[access] as Record<string, Anything>)) {
      exchange.urls.api[access][group] = `${url}/api/v4`
      for (const [verb, paths] of Object.entries(methods as Record<string, object>))
        for (const path of Object.keys(paths)) {
          const plain = group === 'subAccounts' || group === 'withdrawals'
          const words = path.split(/[^a-zA-Z0-9]/).filter(Boolean)
          const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
          const method =
            access +
            capital(group.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())) +
            capital(verb) +
            words.map(capital).join('')
          const name = `${verb.toUpperCase()} ${plain ? '' : `/${group}`}${path === '' ? '' : `/${path}`}`
          ways.set(name.replace(/^(\w+) $/, `$1 /${group}`), {
            name: typeof exchange[method] === 'function' ? method : `request ${path}`,
            call: ({ params, query, body }) => {
              const asked = Object.fromEntries(
                Object.entries(query).map(([one, value]) => [
                  one,
                  Array.isArray(value) ? value.join(',') : value,
                ]),
              )
              const given = Array.isArray(body)
                ? listed(body, params)
                : { ...params, ...asked, ...(body as object | undefined) }
              return typeof exchange[method] === 'function'
                ? exchange[method](given)
                : exchange.request(path, [access, group], verb.toUpperCase(), given)
            },
          })
        }
    }
  return { client: 'ccxt', ways }
}
/** Where the body is a list, ccxt takes what the path needs from its first element. */
function listed(body: readonly unknown[], params: Readonly<Record<string, string>>): unknown {
  if (Object.keys(params).length === 0) return body
  if (body.every((item) => item === null || typeof item !== 'object')) return [params, ...body]
  return body.map((item, i) => (i === 0 ? { ...params, ...(item as object) } : item))
}
