import * as z from 'zod'
import { InvalidRequestError } from '../errors.ts'
import { asText, isJsonObject, type JsonObject, objectsOf } from '../json/parse-json-text.ts'
import {
  type AgentRequest,
  boundAgentCall,
  COMPACTION,
  mediaOf,
  modelOfRoute,
  refuseCompaction,
} from './agent-request.ts'
import { boolean, MESSAGES_MAX, number, outputTokens, outputTokensMax, string } from './chat-request.ts'
import { type Gated, gatedFields, type OfferedTool, type ToolKind } from './gated-fields.ts'
import { type Offered, parseBody } from './request-issues.ts'

/** Most tools of one request. */
export const AGENT_TOOLS_MAX = 1_024

const STATELESS = 'is not supported, because the gateway keeps no responses: send the whole conversation as `input`'

const absent = (name: string) => z.null(`\`${name}\` ${STATELESS}`).optional()

/** The fields of `POST /v1/responses` that the gateway reads. All others pass to an upstream with this API. */
export const responsesBodySchema = z.looseObject(
  {
    model: z.string('`model` must be a string: the id of a chat model'),
    // Before `input`, which may be left out where OpenAI keeps them.
    previous_response_id: absent('previous_response_id'),
    conversation: absent('conversation'),
    prompt: absent('prompt'),
    input: z.union(
      [
        z.string(),
        z
          .array(
            z.looseObject({}, 'each of `input` must be an object'),
            '`input` must be a string or an array of items',
          )
          .max(MESSAGES_MAX, `\`input\` must hold at most ${MESSAGES_MAX} items`),
      ],
      '`input` must be a string or an array of items',
    ),
    instructions: string('instructions').nullish(),
    stream: boolean('stream').nullish(),
    store: boolean('store').nullish(),
    background: z.literal(false, '`background` must be false: the gateway keeps no responses').nullish(),
    max_output_tokens: outputTokens('max_output_tokens').nullish(),
    temperature: number('temperature', 0, 2).nullish(),
    top_p: number('top_p', 0, 1).nullish(),
    tools: z
      .array(
        z.looseObject({ type: string('type') }, 'each of `tools` must be an object with `type`'),
        '`tools` must be an array',
      )
      .max(AGENT_TOOLS_MAX, `\`tools\` must hold at most ${AGENT_TOOLS_MAX} tools`)
      .nullish(),
    tool_choice: z.union([z.string(), z.looseObject({})], '`tool_choice` must be a string or an object').nullish(),
    prompt_cache_key: string('prompt_cache_key').nullish(),
  },
  'the body must be a JSON object',
)

/**
 * Checks a request for a response and bounds its cost.
 * @throws InvalidRequestError naming the field to correct; ModelNotFoundError. Both come before any reservation.
 */
export function parseResponsesRequest(
  json: unknown,
  { bodyBytes, ...offered }: Offered & { readonly bodyBytes: number },
) {
  const body = parseBody(responsesBodySchema, json)
  const model = modelOfRoute(body.model, 'responses', offered)
  const { input, max_output_tokens: asked } = body
  refuseItems(input)
  refuseCompaction(body.context_management, 'context_management')
  const tools = offeredTools(body)
  const gated: Gated = {
    fields: gatedFields(body, ['model', 'stream', 'max_output_tokens']),
    tools,
    chosenType: chosenTypeOf(body.tool_choice),
  }
  const request: AgentRequest = {
    model,
    body,
    stream: body.stream === true,
    gated,
    askedTokens: asked ?? undefined,
    bounds: boundAgentCall(model, {
      bodyBytes,
      media: mediaOf({ input }, model),
      outputTokensMax: outputTokensMax({ max_output_tokens: asked }, model),
      hasTools: tools.length > 0,
      mayGrow: tools.some(({ kind }) => kind !== 'client'),
    }),
  }
  return request
}

/** Items that ask for more than the conversation in them. */
const REFUSED_ITEMS: ReadonlyMap<unknown, string> = new Map([
  ['item_reference', `a reference to an item ${STATELESS}, which the AI SDK does with its option \`store: false\``],
  ['compaction_trigger', COMPACTION],
])

function refuseItems(input: string | readonly JsonObject[]): void {
  for (const [index, { type }] of (typeof input === 'string' ? [] : input).entries()) {
    const message = REFUSED_ITEMS.get(type)
    if (message !== undefined) {
      throw new InvalidRequestError([{ path: `input.${index}`, message }])
    }
  }
}

/** The tools of a request, those that any item of its input brings included. @throws InvalidRequestError for too many. */
function offeredTools({ tools, input }: z.infer<typeof responsesBodySchema>): readonly OfferedTool[] {
  const inInput = (typeof input === 'string' ? [] : input).flatMap((item, index) =>
    toolsIn(item.tools, `input.${index}.tools`),
  )
  const offered = [...toolsIn(tools, 'tools'), ...inInput]
  if (offered.length > AGENT_TOOLS_MAX) {
    const message = `the tools, those of namespaces and of \`input\` included, must be at most ${AGENT_TOOLS_MAX}`
    throw new InvalidRequestError([{ path: 'tools', message }])
  }
  return offered
}

function toolsIn(tools: unknown, path: string): readonly OfferedTool[] {
  return objectsOf(tools).flatMap((tool, index) => {
    const type = asText(tool.type)
    const here = `${path}.${index}`
    const offered = { type, kind: kindOf(tool), path: here }
    return type === 'namespace' ? [offered, ...toolsIn(tool.tools, `${here}.tools`)] : [offered]
  })
}

/** Tools that the client runs. Upstreams have others of their own, which they bill by the call, so any other counts as theirs. */
const OF_CLIENT = /^(?:function|custom|namespace|local_shell|shell|apply_patch|tool_search)$/

function kindOf({ type, environment }: JsonObject): ToolKind {
  const name = asText(type)
  if (name.startsWith('web_search')) {
    return 'web_search'
  }
  const isContainer = name === 'shell' && isJsonObject(environment) && asText(environment.type).startsWith('container')
  return isContainer || !OF_CLIENT.test(name) ? 'hosted' : 'client'
}

/** Choices that are strings here, and objects in another API. */
const CHOICES_OF_OTHERS = /^(?:auto|any|none|required|tool)$/

/** @throws InvalidRequestError for a choice in the form of another API. */
function chosenTypeOf(choice: unknown): string | undefined {
  if (!isJsonObject(choice)) {
    return undefined
  }
  if (CHOICES_OF_OTHERS.test(asText(choice.type))) {
    const message =
      '`tool_choice` must be "auto", "none" or "required", or an object such as {"type":"function","name":"..."}'
    throw new InvalidRequestError([{ path: 'tool_choice', message }])
  }
  const chosen = choice.type === 'allowed_tools' && Array.isArray(choice.tools) ? choice.tools : [choice]
  const hosted = chosen.filter(isJsonObject).find((each) => kindOf(each) !== 'client')?.type
  return hosted === undefined ? undefined : asText(hosted)
}
