import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

/** The parts of OpenAPI 3.1 that this document has. */
export type OpenapiDocument = {
  readonly openapi: string
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly security: readonly object[]
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly headers: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>
    readonly responses: Readonly<Record<string, ResponseObject>>
  }
}

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

export type Reference = { readonly $ref: string }

export type OperationObject = {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  /** Empty for an operation without a key. */
  readonly security?: readonly object[]
  readonly parameters?: readonly (Parameter & { readonly required?: boolean })[]
  readonly requestBody?: { readonly required: true; readonly content: Content }
  /** By status, and `default`. */
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>
  /** By name, then by the expression for the url, then by method. */
  readonly callbacks?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, OperationObject>>>>>>
}

export type ResponseObject = {
  readonly description: string
  readonly headers?: Readonly<Record<string, Reference>>
  readonly content?: Content
}

/** By media type. */
type Content = Readonly<Record<string, MediaType>>

type MediaType = {
  readonly schema: JsonSchema
  readonly examples?: Readonly<Record<string, Example>> | undefined
}

/** A JSON schema of draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/**
 * Descriptions of the fields of a body, and keywords for checks outside its zod schema. They are kept out of the schema because
 * every cold start of a handler would load them.
 */
export type DescribedFields = Readonly<Record<string, JsonSchema & { readonly description: string }>>

/** The schema of a body, or of a part of one, as the document shows it. */
export type RequestDocument = {
  readonly schema: z.core.$ZodType
  readonly fields: DescribedFields
  readonly description: string
  /** Fields that a handler reads without the schema. */
  readonly byHand?: readonly string[]
}

/** Schemas by their names in the document. */
export type NamedSchemas = Readonly<Record<string, z.core.$ZodType>>

/** A reference to a named schema of the document. */
export function schemaReference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` }
}

/**
 * The JSON schemas of zod schemas, by name. A schema inside another becomes a reference. `input` describes what a client may
 * send, `output` what it receives.
 */
export function toJsonSchemas(named: NamedSchemas, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) {
    registry.add(schema, { id })
  }
  const { schemas } = z.toJSONSchema(registry, { io, target: 'draft-2020-12', uri: (id) => schemaReference(id).$ref })
  return Object.fromEntries(Object.keys(named).map((name) => [name, tidyObject(schemas[name])]))
}

/** Removes keywords without meaning, and writes null as one of several types. */
function tidy(node: unknown): unknown {
  if (Array.isArray(node)) {
    return node.map(tidy)
  }
  return isObject(node) ? tidyObject(node) : node
}

function tidyObject(node: unknown): JsonSchema {
  if (!isObject(node)) {
    throw new TypeError('no schema')
  }
  const fields = Object.entries(node)
    .filter(([keyword, value]) => !saysNothing(node, keyword, value))
    .map(([keyword, value]) => [keyword, isAnything(keyword, value) ? true : tidy(value)] as const)
  return withNullAsType(Object.fromEntries(fields))
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Internal names, the limits of safe integers, and patterns that repeat a format. */
function saysNothing(node: JsonSchema, keyword: string, value: unknown): boolean {
  return (
    keyword === '$schema' ||
    (keyword === 'properties' && isObject(value) && Object.keys(value).length === 0) ||
    keyword === '$id' ||
    (keyword === 'id' && typeof value === 'string') ||
    (keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
    (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
    (keyword === 'pattern' && typeof node.format === 'string')
  )
}

function isAnything(keyword: string, value: unknown): boolean {
  return keyword === 'additionalProperties' && isObject(value) && Object.keys(value).length === 0
}

/** Turns `anyOf: [T, null]` into T with null among its types, if T has one type. */
function withNullAsType(node: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = node
  if (!Array.isArray(anyOf)) {
    return node
  }
  const branches: readonly unknown[] = anyOf.flatMap((branch) => innerBranches(branch))
  const [first, second, ...more] = branches
  const isNullable = more.length === 0 && isObject(first) && isObject(second) && second.type === 'null'
  if (!isNullable || typeof first.type !== 'string') {
    return { anyOf: branches, ...rest }
  }
  return { ...first, ...nullable(first), ...rest }
}

/** Flattens a union inside a union. */
function innerBranches(branch: unknown): readonly unknown[] {
  return isObject(branch) && Object.keys(branch).length === 1 && Array.isArray(branch.anyOf) ? branch.anyOf : [branch]
}

function nullable({ type, enum: values, const: value }: JsonSchema): JsonSchema {
  const types = { type: [type, 'null'] }
  if (Array.isArray(values)) {
    return { ...types, enum: [...values, null] }
  }
  return value === undefined ? types : { ...types, const: undefined, enum: [value, null] }
}

/** One example: what it shows, and the body as JSON or as the string of an event stream. */
export type Example = { readonly summary: string; readonly value: unknown }

type NamedExamples = Readonly<Record<string, Example>>

/** Examples of one operation: request bodies, responses of the local host, and event streams. */
export type OperationExamples = {
  readonly requests?: NamedExamples
  readonly responses?: NamedExamples
  readonly events?: NamedExamples
}

/** The examples of an operation or callback, by its name; none without a file. A test parses each with its schema. */
export function readExamples(name: string): OperationExamples {
  const file = join(import.meta.dirname, 'examples', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}
