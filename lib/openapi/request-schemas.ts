import { chatBodySchema, chatMessageSchema, chatToolSchema } from '#core/contract/chat-body.ts'
import { completionBodySchema } from '#core/contract/completion-body.ts'
import { embeddingBodySchema } from '#core/contract/embedding-request.ts'
import { imageBodySchema } from '#core/contract/image-request.ts'
import { videoJobBodySchema } from '#core/contract/video-job-body.ts'
import { listedFields, type PassingList } from '#core/parameters/passing-fields.ts'
import { type DescribedMembers, type JsonSchema, toJsonSchemas } from './json-schema.ts'
import {
  CHAT_MEMBERS,
  CHAT_MESSAGE_MEMBERS,
  CHAT_TOOL_MEMBERS,
  COMPLETION_MEMBERS,
  EMBEDDING_MEMBERS,
  IMAGE_MEMBERS,
} from './relay-request-members.ts'
import { VIDEO_JOB_MEMBERS } from './video-request-members.ts'

/** What bodies are made of. They are named schemas of the document; the bodies themselves stand where they are sent. */
const PARTS = ['ChatMessage', 'ChatTool'] as const satisfies readonly RequestName[]

/** Members that a handler reads by hand, without a zod schema. */
const READ_BY_HAND: Readonly<Record<string, readonly string[]>> = { CreateEmbeddingRequest: ['input'] }

/** What else of the OpenAI API an upstream gets, and what becomes of the rest. */
function relayed(list: PassingList, schema: { readonly shape: object }, byHand: readonly string[] = []): string {
  const described = new Set([...Object.keys(schema.shape), ...byHand])
  const more = [...listedFields(list).fields.keys()].filter((name) => !described.has(name))
  const passing = more.length === 0 ? '' : `Relayed besides: ${more.map((name) => `\`${name}\``).join(', ')}. `
  return `${passing}Any other field is ignored, unless the operator lets it pass. A field written twice is refused.`
}

const REQUESTS = {
  CreateVideoJobRequest: {
    schema: videoJobBodySchema,
    members: VIDEO_JOB_MEMBERS,
    description: 'Unknown fields are ignored.',
  },
  CreateChatCompletionRequest: {
    schema: chatBodySchema,
    members: CHAT_MEMBERS,
    description: relayed('chat', chatBodySchema),
  },
  ChatMessage: { schema: chatMessageSchema, members: CHAT_MESSAGE_MEMBERS, description: 'One message.' },
  ChatTool: { schema: chatToolSchema, members: CHAT_TOOL_MEMBERS, description: 'A function that the model may call.' },
  CreateCompletionRequest: {
    schema: completionBodySchema,
    members: COMPLETION_MEMBERS,
    description: relayed('completions', completionBodySchema),
  },
  CreateEmbeddingRequest: {
    schema: embeddingBodySchema,
    members: EMBEDDING_MEMBERS,
    description: relayed('embeddings', embeddingBodySchema, READ_BY_HAND.CreateEmbeddingRequest),
  },
  CreateImageRequest: {
    schema: imageBodySchema,
    members: IMAGE_MEMBERS,
    description: relayed('images', imageBodySchema),
  },
} as const

export type RequestName = keyof typeof REQUESTS

/** What request bodies refer to, by name. @throws TypeError as `requestBodySchema`. */
export function requestPartSchemas(): Record<string, JsonSchema> {
  const schemas = requestSchemas()
  return Object.fromEntries(PARTS.map((name) => [name, schemas[name] ?? {}]))
}

/**
 * The schema of a request body: what its validator accepts. It stands in its operation and has its name as a title, apart
 * from the named schemas: generators of clients take a member with a default for one that is always there, which is so in an
 * answer, and in a request would demand what a client may leave out.
 * @throws TypeError when a member has no description, or a description no member.
 */
export function requestBodySchema(name: RequestName): JsonSchema {
  return { title: name, ...requestSchemas()[name] }
}

function requestSchemas(): Record<string, JsonSchema> {
  const named = Object.fromEntries(Object.entries(REQUESTS).map(([name, { schema }]) => [name, schema]))
  const schemas = toJsonSchemas(named, 'input')
  return Object.fromEntries(
    Object.entries(REQUESTS).map(([name, { description, members }]) => {
      const { properties, required, ...schema } = schemas[name] ?? {}
      const byHand = READ_BY_HAND[name] ?? []
      const all = { ...Object(properties), ...Object.fromEntries(byHand.map((member) => [member, {}])) }
      const known = Array.isArray(required) ? required : []
      return [
        name,
        { description, ...schema, properties: describe(name, all, members), required: [...known, ...byHand] },
      ]
    }),
  )
}

function describe(
  name: string,
  properties: Readonly<Record<string, JsonSchema>>,
  members: DescribedMembers,
): Record<string, JsonSchema> {
  const unknown = Object.keys(members).filter((member) => properties[member] === undefined)
  if (unknown.length > 0) {
    throw new TypeError(`${name} has no ${unknown.join(', ')}`)
  }
  return Object.fromEntries(
    Object.entries(properties).map(([member, schema]) => {
      const { description, ...more } = members[member] ?? {}
      if (description === undefined) {
        throw new TypeError(`${name}.${member} has no description`)
      }
      return [member, { description, ...schema, ...more }]
    }),
  )
}
