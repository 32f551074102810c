import type { Example } from './examples.ts'
import type { JsonSchema } from './json-schema.ts'

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
