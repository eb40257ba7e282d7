import type { AnyEndpoint } from '../api/endpoint.ts'
import type { Fields, JsonSchema } from '../api/fields.ts'
import { proposalShape } from '../api/guarded.ts'
import { exampleOf } from './example.ts'

/** Endpoints that are described together. */
export interface Described {
  readonly prefix: string
  readonly list: readonly AnyEndpoint[]
}
export const surfacesOf = (parts: {
  readonly trading: readonly AnyEndpoint[]
  readonly operator: readonly AnyEndpoint[]
  readonly console: readonly AnyEndpoint[]
}): readonly Described[] => [
  { prefix: '/api/v4', list: parts.trading },
  { prefix: '/operator/v1', list: parts.operator },
  { prefix: '/console/v1', list: parts.console },
]

/** The reference as OpenAPI 3.1, made from the declarations that serve the requests. */
export function openapi(surfaces: readonly Described[], version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const { prefix, list } of surfaces)
    for (const endpoint of list)
      (paths[prefix + endpoint.path] ??= {})[endpoint.method.toLowerCase()] = operation(prefix, endpoint)
  return {
    openapi: '3.1.0',
    info: { title: 'Kontor', version, description: 'Trading platform: REST API v4 and operator API.' },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        key: {
          type: 'apiKey',
          in: 'header',
          name: 'KEY',
          description: 'With Timestamp and SIGN: a signed request.',
        },
        operator: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'kontor_session',
          description: 'Of a browser, or kontor_operator; changes carry X-Kontor-CSRF.',
        },
      },
      schemas: { Error: ERROR },
    },
  }
}
const ERROR: JsonSchema = {
  type: 'object',
  required: ['label', 'message'],
  properties: { label: { type: 'string' }, message: { type: 'string' } },
}

function operation(prefix: string, endpoint: AnyEndpoint): object {
  const { access, limit } = endpoint
  const example = exampleOf(`${endpoint.method} ${prefix}${endpoint.path}`)
  const succeeded = example?.status === endpoint.status
  const security = access.kind === 'public' ? [] : [{ [access.kind]: [] }]
  return {
    summary: endpoint.summary,
    tags: [endpoint.path.split('/')[1]],
    security,
    'x-access': access,
    ...(limit !== null && { 'x-rate-limit': limit }),
    'x-labels': endpoint.refuses,
    ...(endpoint.sandboxOnly === true && { 'x-sandbox-only': true }),
    ...(endpoint.guarded !== undefined && { 'x-two-people-in-live-mode': endpoint.guarded.role }),
    parameters: [
      ...parameters('path', endpoint.params as Fields | undefined),
      ...parameters('query', endpoint.query as Fields | undefined),
    ],
    ...(endpoint.body !== undefined && {
      requestBody: {
        content: {
          'application/json': {
            schema: endpoint.body.schema,
            ...(example?.body !== undefined && { example: example.body }),
          },
        },
      },
    }),
    responses: {
      [endpoint.status]: {
        description: 'Success',
        ...(endpoint.reply !== null && {
          content: {
            'application/json': {
              schema: endpoint.reply,
              ...(succeeded && { example: example.reply }),
            },
          },
        }),
      },
      ...(endpoint.guarded !== undefined && {
        202: {
          description: 'Live mode: waits for a second operator (POST /operator/v1/proposals/{id}/confirm)',
          content: {
            'application/json': {
              schema: { type: 'object', required: ['proposal'], properties: { proposal: proposalShape } },
            },
          },
        },
      }),
      default: {
        description: 'Refused',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}
function parameters(place: 'path' | 'query', fields: Fields | undefined): object[] {
  return Object.entries(fields ?? {}).map(([name, { schema, required }]) => ({
    name,
    in: place,
    required: place === 'path' || required,
    schema,
  }))
}
