import type { JsonSchema } from '../openapi/json-schema.ts'

/** One field of a body as a row of a table, such as `choices[].message.role`. */
export type FieldRow = { readonly name: string; readonly type: string; readonly description: string }

const REFERENCE_PREFIX = '#/components/schemas/'

/** The tables omit deeper fields. */
const DEPTH_MAX = 4

/** The fields of an object, each followed by its inner fields. */
export function fieldRows(schema: JsonSchema): FieldRow[] {
  return rowsOf(schema, '', 1)
}

function rowsOf(schema: JsonSchema, prefix: string, depth: number): FieldRow[] {
  const required = new Set(listOf(schema.required))
  return Object.entries(objectOf(schema.properties)).flatMap(([name, member]) => {
    const inner = objectOf(member)
    const path = prefix + name
    const type = `${typeText(inner)}${required.has(name) ? ', required' : ''}`
    const description = [inner.description, defaultText(inner)].filter((text) => typeof text === 'string').join(' ')
    const row = { name: path, type, description }
    return depth === DEPTH_MAX ? [row] : [row, ...innerRows(inner, path, depth)]
  })
}

function innerRows(schema: JsonSchema, path: string, depth: number): FieldRow[] {
  return [...rowsOf(schema, `${path}.`, depth + 1), ...rowsOf(objectOf(schema.items), `${path}[].`, depth + 1)]
}

function defaultText(schema: JsonSchema): string | undefined {
  return schema.default === undefined ? undefined : `Default: \`${JSON.stringify(schema.default)}\`.`
}

/** The type of a value in words: `integer, 3 to 15`, `string or null`, or a link to a named schema. */
export function typeText(schema: JsonSchema): string {
  const named = schema.$ref ?? schema.title
  if (typeof named === 'string') {
    const name = named.replace(REFERENCE_PREFIX, '')
    return `[${name}](#${name.toLowerCase()})`
  }
  if (Array.isArray(schema.anyOf)) {
    return [...new Set(schema.anyOf.map((branch) => typeText(objectOf(branch))))].join(' or ')
  }
  const values = schema.const === undefined ? listOf(schema.enum) : [schema.const]
  if (values.length > 0) {
    return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  }
  const types = typeof schema.type === 'string' ? [schema.type] : listOf(schema.type)
  const words = types.map((type) => (type === 'array' ? arrayText(schema) : String(type)))
  return [words.join(' or ') || 'any', ...limitTexts(schema)].join(', ')
}

function arrayText(schema: JsonSchema): string {
  const items = typeText(objectOf(schema.items))
  const limit = typeof schema.maxItems === 'number' ? ` (${count(schema.minItems)} to ${count(schema.maxItems)})` : ''
  return `list${limit} of ${items}`
}

function limitTexts({ minimum, maximum, maxLength, format }: JsonSchema): string[] {
  const range =
    minimum !== undefined && maximum !== undefined
      ? [`${count(minimum)} to ${count(maximum)}`]
      : [
          minimum === undefined ? [] : [`from ${count(minimum)}`],
          maximum === undefined ? [] : [`to ${count(maximum)}`],
        ].flat()
  const length = maxLength === 0 ? ['empty'] : maxLength === undefined ? [] : [`at most ${count(maxLength)} characters`]
  return [...(format === undefined ? [] : [String(format)]), ...range, ...length]
}

/** `100,000,000`; 0 for an absent value. */
function count(value: unknown): string {
  return Number(value ?? 0).toLocaleString('en-US')
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function objectOf(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}
}
