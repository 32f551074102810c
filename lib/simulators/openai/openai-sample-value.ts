import * as z from 'zod'

const bound = z.number().optional().catch(undefined)
const schemas = z.array(z.unknown()).min(1).optional().catch(undefined)
const members = z.record(z.string(), z.unknown()).optional().catch(undefined)

/** The supported part of a JSON schema. Invalid keywords are ignored. */
const jsonSchema = z
  .object({
    $ref: z.string().optional().catch(undefined),
    type: z
      .union([z.string(), z.array(z.string())])
      .optional()
      .catch(undefined),
    const: z.unknown().optional(),
    default: z.unknown().optional(),
    enum: schemas,
    examples: schemas,
    anyOf: schemas,
    oneOf: schemas,
    allOf: schemas,
    properties: members,
    items: z.unknown().optional(),
    minItems: bound,
    minimum: bound,
    exclusiveMinimum: bound,
    maxLength: bound,
    format: z.string().optional().catch(undefined),
  })
  .catch({})

type JsonSchema = z.infer<typeof jsonSchema>

/** Bounds recursive schemas. */
const DEPTH_MAX = 8

/** Most items of an array. */
const ITEMS_MAX = 8

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-04-20',
  time: '09:55:17Z',
  'date-time': '2026-04-20T09:55:17Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

/** A value that a JSON schema allows, with strings from the message. */
export function sampleValue(root: unknown, said: string): unknown {
  return new Sampler(root, said).value(root, 0)
}

class Sampler {
  readonly #root: unknown
  readonly #said: string

  constructor(root: unknown, said: string) {
    this.#root = root
    this.#said = said
  }

  value(candidate: unknown, depth: number): unknown {
    if (depth > DEPTH_MAX) {
      return null
    }
    const schema = jsonSchema.parse(candidate)
    const given = [schema.const, schema.enum?.[0], schema.default, schema.examples?.[0]].find(
      (one) => one !== undefined,
    )
    if (given !== undefined) {
      return given
    }
    if (schema.$ref !== undefined) {
      return this.value(resolve(this.#root, schema.$ref), depth + 1)
    }
    const alternative = schema.anyOf?.[0] ?? schema.oneOf?.[0]
    if (alternative !== undefined) {
      return this.value(alternative, depth + 1)
    }
    if (schema.allOf !== undefined) {
      return Object.assign({}, ...schema.allOf.map((part) => this.value(part, depth + 1)))
    }
    return this.#valueOfType(schema, depth)
  }

  #valueOfType(schema: JsonSchema, depth: number): unknown {
    switch (typeOf(schema)) {
      case 'object':
        return Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, member]) => [name, this.value(member, depth + 1)]),
        )
      case 'array': {
        const count = Math.min(Math.max(schema.minItems ?? 1, 1), ITEMS_MAX)
        return Array.from({ length: count }, () => this.value(schema.items, depth + 1))
      }
      case 'number':
        return schema.minimum ?? (schema.exclusiveMinimum ?? 0) + 1
      case 'integer':
        return Math.ceil(schema.minimum ?? Math.floor(schema.exclusiveMinimum ?? 0) + 1)
      case 'boolean':
        return true
      case 'null':
        return null
      default:
        return this.#text(schema)
    }
  }

  #text(schema: JsonSchema): string {
    const text = FORMATS[schema.format ?? ''] ?? subjectOf(this.#said)
    return schema.maxLength === undefined ? text : text.slice(0, schema.maxLength)
  }
}

function typeOf(schema: JsonSchema): string {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  return types.find((type) => type !== 'null') ?? types[0] ?? (schema.properties === undefined ? 'string' : 'object')
}

/** Follows a reference within the document (`#/$defs/place`). */
function resolve(root: unknown, reference: string): unknown {
  const names = reference.replace(/^#\/?/, '').split('/').filter(Boolean)
  return names.reduce<unknown>((inner, name) => members.parse(inner)?.[name], root)
}

/** A name in the message (`What is the weather in Oslo?`), else the beginning of the message. */
function subjectOf(said: string): string {
  const name = /\S\s+(\p{Lu}[\p{L}\p{M}-]+(?:\s\p{Lu}[\p{L}\p{M}-]+)*)/u.exec(said)?.[1]
  return name ?? [...said.slice(0, 120)].slice(0, 60).join('')
}
