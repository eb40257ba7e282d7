import { writeFileSync } from 'node:fs'
import type { JsonSchema } from '../src/api/fields.ts'
import { openapi, surfacesOf } from '../src/docs/openapi.ts'
import { consoleEndpoints, operatorEndpoints, tradingEndpoints } from '../src/endpoints.ts'

/**
 * The types of every endpoint for the console's pages, from the OpenAPI document that the platform serves. Checked in; a
 * test compares it, so that a page that asks for what no endpoint has does not compile.
 */
export const TYPES_PATH = 'console/src/api/schema.d.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly schema: JsonSchema
}
type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>
interface Operation {
  readonly summary: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export function consoleTypes(): string {
  const surfaces = surfacesOf({
    trading: tradingEndpoints,
    operator: operatorEndpoints(undefined as never),
    console: consoleEndpoints({ surface: 'all' } as never),
  })
  const { paths } = openapi(surfaces, '0') as Document
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      endpointText(`${method.toUpperCase()} ${path}`, operation),
    ),
  )
  return `// Made by \`npm run console-types\` from the endpoints' declarations.
export interface Endpoints {
${lines.join('\n')}
}
`
}

function endpointText(name: string, operation: Operation): string {
  const { parameters, requestBody, responses, summary } = operation
  const of = (place: Parameter['in']): string => {
    const mine = parameters.filter((one) => one.in === place)
    return mine.length === 0
      ? 'undefined'
      : objectText(
          mine.map(({ name, required, schema }) => [name, schema, required] as const),
          4,
        )
  }
  const [, success] = Object.entries(responses).find(([status]) => /^20[0-4]$/.test(status))!
  const schemaOf = (content: Content | undefined): JsonSchema | undefined =>
    content?.['application/json']?.schema
  const body = schemaOf(requestBody?.content)
  const reply = schemaOf(success.content)
  return `  /** ${summary.replaceAll('*/', '* /')} */
  '${name}': {
    path: ${of('path')}
    query: ${of('query')}
    body: ${body === undefined ? 'undefined' : typeText(body, 4)}
    reply: ${reply === undefined ? 'undefined' : typeText(reply, 4)}
  }`
}

type Member = readonly [name: string, schema: JsonSchema, required: boolean]
function objectText(members: readonly Member[], indent: number): string {
  const space = ' '.repeat(indent + 2)
  const lines = members.map(([name, schema, required]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${space}${key}${required ? '' : '?'}: ${typeText(schema, indent + 2)}`
  })
  return `{\n${lines.join('\n')}\n${' '.repeat(indent)}}`
}
function typeText(schema: JsonSchema, indent: number): string {
  const { type } = schema
  const one = (member: unknown): string => typeText(member as JsonSchema, indent)
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  for (const many of ['anyOf', 'oneOf'])
    if (Array.isArray(schema[many])) return [...new Set(schema[many].map(one))].join(' | ')
  if (Array.isArray(type)) return [...new Set(type.map((name) => one({ ...schema, type: name })))].join(' | ')
  if (type === 'array') {
    const items = schema['items'] === undefined ? 'unknown' : one(schema['items'])
    return / \| /.test(items) && !items.startsWith('{') ? `(${items})[]` : `${items}[]`
  }
  if (type === 'object') {
    const properties = schema['properties'] as Readonly<Record<string, JsonSchema>> | undefined
    const required = (schema['required'] ?? []) as readonly string[]
    if (properties !== undefined && Object.keys(properties).length > 0)
      return objectText(
        Object.entries(properties).map(([name, member]) => [name, member, required.includes(name)] as const),
        indent,
      )
    const values = schema['additionalProperties']
    return `Record<string, ${typeof values === 'object' ? one(values) : 'unknown'}>`
  }
  switch (type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    default:
      return 'unknown'
  }
}

if (process.argv[1]?.endsWith('console-types.js') === true)
  writeFileSync(new URL(`../../${TYPES_PATH}`, import.meta.url), consoleTypes())
