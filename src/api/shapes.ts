import type { JsonSchema } from './fields.ts'

/** Shapes of replies, as JSON Schema. Tests hold every reply against its shape, both ways. */
export const str: JsonSchema = { type: 'string' }
export const decimalText: JsonSchema = { type: 'string', format: 'decimal' }
export const int: JsonSchema = { type: 'integer' }
export const int64: JsonSchema = { type: 'integer', format: 'int64' }
export const num: JsonSchema = { type: 'number' }
export const bool: JsonSchema = { type: 'boolean' }
export const anything: JsonSchema = {}
export const array = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
export const map = (values: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: values })
export const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })
export const described = (schema: JsonSchema, description: string): JsonSchema => ({ ...schema, description })

/** All members are there, and no others; names that end in ? may be missing. */
export function shape(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const names = Object.keys(members)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name]!])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  }
}

/** An object's shape with more members, or with others of the same name. */
export function extended(schema: JsonSchema, members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const more = shape(members)
  const names = Object.keys(more['properties'] as object)
  const kept = (schema['required'] as readonly string[]).filter((name) => !names.includes(name))
  return {
    ...schema,
    properties: { ...(schema['properties'] as object), ...(more['properties'] as object) },
    required: [...kept, ...(more['required'] as readonly string[])],
  }
}
