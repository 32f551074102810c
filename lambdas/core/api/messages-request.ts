import * as z from 'zod'
import { InvalidRequestError } from '../errors.ts'
import { asText, isJsonObject, type JsonObject } from '../json/parse-json-text.ts'
import {
  type AgentRequest,
  boundAgentCall,
  COMPACTION,
  mediaOf,
  modelOfRoute,
  refuseCompaction,
} from './agent-request.ts'
import { boolean, MESSAGES_MAX, number, outputTokens, string } from './chat-request.ts'
import { THREAD_UNSUPPORTED } from './error-form.ts'
import { type Gated, gatedFields, type OfferedTool, type ToolKind } from './gated-fields.ts'
import { type Offered, parseBody } from './request-issues.ts'
import { AGENT_TOOLS_MAX } from './responses-request.ts'

const CONTENT = '`content` must be a string or an array of blocks with `type`'

const content = z.union([z.string(), z.array(z.looseObject({ type: z.string(CONTENT) }, CONTENT))], CONTENT)

const SYSTEM = '`system` must be a string or an array of text blocks'

const ROLES = ['user', 'assistant', 'system'] as const

const shared = {
  thread: z.null().optional(),
  model: z.string('`model` must be a string: the id of a chat model'),
  messages: z
    .array(
      z.looseObject(
        { role: z.enum(ROLES, `\`role\` must be one of ${ROLES.join(', ')}`), content },
        'each of `messages` must be an object with `role` and `content`',
      ),
      '`messages` must be an array of messages',
    )
    .min(1, '`messages` must hold at least one message')
    .max(MESSAGES_MAX, `\`messages\` must hold at most ${MESSAGES_MAX} messages`),
  system: z.union([z.string(), z.array(z.looseObject({ type: z.string(SYSTEM) }, SYSTEM))], SYSTEM).nullish(),
  tools: z
    .array(
      z.looseObject({
        name: string('name').optional(),
        type: string('type').nullish(),
        input_schema: z.looseObject({}, '`input_schema` must be an object: the JSON Schema of the input').optional(),
      }),
      '`tools` must be an array',
    )
    .max(AGENT_TOOLS_MAX, `\`tools\` must hold at most ${AGENT_TOOLS_MAX} tools`)
    .nullish(),
  tool_choice: z.looseObject({ type: string('type') }, '`tool_choice` must be an object with `type`').nullish(),
}

/** The fields of `POST /v1/messages` that the gateway reads. All others pass to an upstream with this API. */
export const messagesBodySchema = z.looseObject(
  {
    ...shared,
    max_tokens: outputTokens('max_tokens'),
    compaction: z.null(`\`compaction\`: ${COMPACTION}`).optional(),
    stream: boolean('stream').nullish(),
    temperature: number('temperature', 0, 2).nullish(),
    top_p: number('top_p', 0, 1).nullish(),
    stop_sequences: z.array(string('stop_sequences'), '`stop_sequences` must be an array of strings').nullish(),
  },
  'the body must be a JSON object',
)

/** The fields of `POST /v1/messages/count_tokens` that the gateway reads. */
export const countTokensBodySchema = z.looseObject(shared, 'the body must be a JSON object')

/**
 * A thread is a conversation that the upstream keeps: its length would have no bound, and whoever knows the id of a message could go on with
 * the conversation of another tenant. The code makes the tool runner of Anthropic's SDK send the whole conversation instead.
 */
class ThreadUnsupportedError extends InvalidRequestError {
  override readonly kind = { type: 'invalid_request_error', code: THREAD_UNSUPPORTED }

  constructor() {
    const message =
      '`thread` is not supported, because the gateway keeps no conversations: send the whole conversation as `messages`'
    super([{ path: 'thread', message }])
  }
}

function refuseThread(json: unknown): void {
  if (isJsonObject(json) && json.thread != null) {
    throw new ThreadUnsupportedError()
  }
}

type Context = Offered & { readonly bodyBytes: number }

/**
 * Checks a request for a message and bounds its cost.
 * @throws InvalidRequestError naming the field to correct; ModelNotFoundError. Both come before any reservation.
 */
export function parseMessagesRequest(json: unknown, context: Context): AgentRequest {
  refuseThread(json)
  const body = parseBody(messagesBodySchema, json)
  return readMessages(body, context, body.max_tokens)
}

/** The same for a request that only asks for the tokens of its prompt. */
export function parseCountTokensRequest(json: unknown, context: Context): AgentRequest {
  refuseThread(json)
  return readMessages(parseBody(countTokensBodySchema, json), context, undefined)
}

type Body = z.infer<typeof countTokensBodySchema>

function readMessages(body: Body, { bodyBytes, ...offered }: Context, limit: number | undefined): AgentRequest {
  const model = modelOfRoute(body.model, 'messages', offered)
  const { context_management: management } = body
  refuseCompaction(isJsonObject(management) ? management.edits : undefined, 'context_management.edits')
  const tools = (body.tools ?? []).map((tool, index) => offeredTool(tool, `tools.${index}`))
  const gated: Gated = {
    fields: gatedFields(body, ['model', 'stream', 'max_tokens']),
    tools,
    chosenType: chosenTypeOf(body),
  }
  const outputTokensMax = Math.min(limit ?? 1, model.max_output_tokens)
  return {
    model,
    body,
    stream: body.stream === true,
    gated,
    askedTokens: limit === undefined ? undefined : outputTokensMax,
    bounds: boundAgentCall(model, {
      bodyBytes,
      media: mediaOf({ messages: body.messages, system: body.system }, model),
      outputTokensMax,
      hasTools: tools.length > 0,
      mayGrow: tools.some(({ kind }) => kind !== 'client'),
    }),
  }
}

/** Tools of the Anthropic API that the client runs; a function has no type, or `custom`. */
const OF_CLIENT = /^(?:custom$|bash_|text_editor_|memory_)/

function offeredTool({ type }: JsonObject, path: string): OfferedTool {
  const name = type == null ? '' : asText(type)
  return { type: name, kind: kindOf(name), path }
}

function kindOf(type: string): ToolKind {
  return type === '' || OF_CLIENT.test(type) ? 'client' : type.startsWith('web_search') ? 'web_search' : 'hosted'
}

/** The type of the tool of the upstream that the client chose by its name. */
function chosenTypeOf({ tool_choice: choice, tools }: Body): string | undefined {
  const chosen = isJsonObject(choice) && choice.type === 'tool' ? choice.name : undefined
  const tool = (tools ?? []).find(({ name }) => name !== undefined && name === chosen)
  const { type, kind } = offeredTool(tool ?? {}, '')
  return kind === 'client' ? undefined : type
}
