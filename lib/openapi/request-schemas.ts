import { chatBodySchema, chatMessageSchema, chatToolSchema } from '#core/api/chat-request.ts'
import { completionBodySchema } from '#core/api/completion-request.ts'
import { embeddingBodySchema } from '#core/api/embedding-request.ts'
import { imageBodySchema } from '#core/api/image-request.ts'
import { videoJobBodySchema } from '#core/api/video-job-request.ts'
import { listedFields, type PassingList } from '#core/passing-fields.ts'
import { type DescribedFields, type JsonSchema, toJsonSchemas } from './json-schema.ts'
import {
  CHAT_FIELDS,
  CHAT_MESSAGE_FIELDS,
  CHAT_TOOL_FIELDS,
  COMPLETION_FIELDS,
  EMBEDDING_FIELDS,
  IMAGE_FIELDS,
} from './relay-request-fields.ts'
import { VIDEO_JOB_FIELDS } from './video-request-fields.ts'

/** Parts of bodies, which are named schemas of the document. The bodies themselves are inline in their operations. */
const PARTS = ['ChatMessage', 'ChatTool'] as const satisfies readonly RequestName[]

/** Fields that a handler reads without a zod schema. */
const READ_BY_HAND: Readonly<Record<string, readonly string[]>> = { CreateEmbeddingRequest: ['input'] }

/** Lists the other relayed fields of the OpenAI API, and says what happens to the rest. */
function relayed(list: PassingList, schema: { readonly shape: object }, byHand: readonly string[] = []): string {
  const described = new Set([...Object.keys(schema.shape), ...byHand])
  const more = [...listedFields(list).fields.keys()].filter((name) => !described.has(name))
  const passing = more.length === 0 ? '' : `Also relayed: ${more.map((name) => `\`${name}\``).join(', ')}. `
  return `${passing}All other fields are ignored unless the operator allows them. A duplicate field is a 400.`
}

const REQUESTS = {
  CreateVideoJobRequest: {
    schema: videoJobBodySchema,
    fields: VIDEO_JOB_FIELDS,
    description: 'Unknown fields are ignored.',
  },
  CreateChatCompletionRequest: {
    schema: chatBodySchema,
    fields: CHAT_FIELDS,
    description: relayed('chat', chatBodySchema),
  },
  ChatMessage: { schema: chatMessageSchema, fields: CHAT_MESSAGE_FIELDS, description: 'One message.' },
  ChatTool: { schema: chatToolSchema, fields: CHAT_TOOL_FIELDS, description: 'A function that the model may call.' },
  CreateCompletionRequest: {
    schema: completionBodySchema,
    fields: COMPLETION_FIELDS,
    description: relayed('completions', completionBodySchema),
  },
  CreateEmbeddingRequest: {
    schema: embeddingBodySchema,
    fields: EMBEDDING_FIELDS,
    description: relayed('embeddings', embeddingBodySchema, READ_BY_HAND.CreateEmbeddingRequest),
  },
  CreateImageRequest: {
    schema: imageBodySchema,
    fields: IMAGE_FIELDS,
    description: relayed('images', imageBodySchema),
  },
} as const

export type RequestName = keyof typeof REQUESTS

/** The named parts of request bodies. @throws TypeError like `requestBodySchema`. */
export function requestPartSchemas(): Record<string, JsonSchema> {
  const schemas = requestSchemas()
  return Object.fromEntries(PARTS.map((name) => [name, schemas[name] ?? {}]))
}

/**
 * The schema of a request body, as its validator accepts it. It is inline in its operation, with its name as title: in a named
 * schema, client generators would require fields that have a default.
 * @throws TypeError for a field without a description, or a description without a field.
 */
export function requestBodySchema(name: RequestName): JsonSchema {
  return { title: name, ...requestSchemas()[name] }
}

function requestSchemas(): Record<string, JsonSchema> {
  const named = Object.fromEntries(Object.entries(REQUESTS).map(([name, { schema }]) => [name, schema]))
  const schemas = toJsonSchemas(named, 'input')
  return Object.fromEntries(
    Object.entries(REQUESTS).map(([name, { description, fields }]) => {
      const { properties, required, ...schema } = schemas[name] ?? {}
      const byHand = READ_BY_HAND[name] ?? []
      const all = { ...Object(properties), ...Object.fromEntries(byHand.map((field) => [field, {}])) }
      const known = Array.isArray(required) ? required : []
      return [
        name,
        { description, ...schema, properties: describe(name, all, fields), required: [...known, ...byHand] },
      ]
    }),
  )
}

function describe(
  name: string,
  properties: Readonly<Record<string, JsonSchema>>,
  fields: DescribedFields,
): Record<string, JsonSchema> {
  const unknown = Object.keys(fields).filter((field) => properties[field] === undefined)
  if (unknown.length > 0) {
    throw new TypeError(`${name} has no ${unknown.join(', ')}`)
  }
  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => {
      const { description, ...more } = fields[field] ?? {}
      if (description === undefined) {
        throw new TypeError(`${name}.${field} has no description`)
      }
      return [field, { description, ...schema, ...more }]
    }),
  )
}
