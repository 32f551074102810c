import * as z from 'zod'
import type { ChatModel } from '../catalogue/model.ts'
import type { OutputLimitField } from '../catalogue/parameters.ts'
import { modelOfRoute } from './agent-request.ts'
import { CHOICES_MAX, outputTokensMax, samplingParameters } from './chat-request.ts'
import { type Offered, parseBody, requiredMessage } from './request-issues.ts'

/** Most prompts of one request. Each is one chat call, and prompts times `n` may not exceed the completions of a chat. */
const PROMPTS_MAX = CHOICES_MAX

/** Most characters that `echo` and `suffix` may add to a response, which repeats them for each completion. */
const ADDED_CHARACTERS_MAX = 8 * 1024 * 1024

const MESSAGES = {
  prompt: '`prompt` must be a string or an array of strings',
  promptTokens: '`prompt` must hold strings: token ids are not supported, because chat models take messages',
  promptNone: '`prompt` must hold at least one string',
  promptMany: `\`prompt\` must hold at most ${PROMPTS_MAX} strings`,
  maxCompletionTokens: '`max_completion_tokens` must be an integer of 1 or more',
  bestOf: '`best_of` must be equal to `n` or left out',
  added: '`echo` and `suffix` would add more text than a response can hold: send fewer prompts or a smaller `n`',
  logprobs: '`logprobs` must be 0 or left out: use /v1/chat/completions for log probabilities',
} as const

/** Checks the length first: a body has room for a million elements, and each could be an issue. */
const prompt = z.unknown().transform((value, context): readonly string[] => {
  const texts = typeof value === 'string' ? [value] : value
  if (isPromptList(texts)) {
    return texts
  }
  context.addIssue({ code: 'custom', message: promptMessage(value) })
  return z.NEVER
})

function isPromptList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= PROMPTS_MAX &&
    value.every((element) => typeof element === 'string')
  )
}

function promptMessage(value: unknown): string {
  if (!Array.isArray(value)) {
    return value === undefined ? requiredMessage(MESSAGES.prompt) : MESSAGES.prompt
  }
  if (value.length === 0) {
    return MESSAGES.promptNone
  }
  if (value.some((element) => typeof element === 'number' || Array.isArray(element))) {
    return MESSAGES.promptTokens
  }
  return value.length > PROMPTS_MAX ? MESSAGES.promptMany : MESSAGES.prompt
}

/**
 * The fields of `POST /v1/completions` in openapi.json, and fields of the legacy API that chat lacks. `allowed-fields.ts`
 * lists all that pass upstream.
 *
 * Responses hold null for log probabilities, so a request for them is refused; 0 requests none. `best_of` above `n` is
 * refused too, because choosing the best completions needs log probabilities.
 */
export const completionBodySchema = z
  .looseObject(
    {
      model: z.string('`model` must be a string: the id of a chat model'),
      prompt,
      echo: z.boolean('`echo` must be true or false').nullish(),
      suffix: z.string('`suffix` must be a string').nullish(),
      logprobs: z.literal(0, MESSAGES.logprobs).nullish(),
      best_of: z.number(MESSAGES.bestOf).nullish(),
      max_completion_tokens: z
        .number(MESSAGES.maxCompletionTokens)
        .int(MESSAGES.maxCompletionTokens)
        .min(1, MESSAGES.maxCompletionTokens)
        .nullish(),
      ...samplingParameters,
    },
    'the body must be a JSON object',
  )
  .superRefine((body, context) => {
    const n = body.n ?? 1
    const count = body.prompt.length * n
    if (count > CHOICES_MAX && n <= CHOICES_MAX) {
      const message = `\`n\` times the number of prompts must be at most ${CHOICES_MAX}: the request asks for ${count}`
      context.addIssue({ code: 'custom', path: ['n'], message })
    }
    if (body.best_of != null && body.best_of !== n) {
      context.addIssue({ code: 'custom', path: ['best_of'], message: MESSAGES.bestOf })
    }
    if (addedCharacters(body) > ADDED_CHARACTERS_MAX) {
      context.addIssue({ code: 'custom', path: [body.echo ? 'echo' : 'suffix'], message: MESSAGES.added })
    }
  })

type Added = {
  readonly prompt: readonly string[]
  readonly n?: number | null | undefined
  readonly echo?: boolean | null | undefined
  readonly suffix?: string | null | undefined
}

function addedCharacters({ prompt: prompts, n, echo, suffix }: Added): number {
  const echoed = echo ? prompts.reduce((sum, text) => sum + text.length, 0) : 0
  return (n ?? 1) * (echoed + prompts.length * (suffix?.length ?? 0))
}

type CompletionBody = z.infer<typeof completionBodySchema>

/** Legacy text completions (docs/api.md, "Completions"). */
const MAX_TOKENS_DEFAULT = 16

/** What the gateway reads from a legacy completion, with defaults. The fields that pass go upstream as the client wrote them. */
export type CompletionRequest = {
  readonly model: ChatModel
  /** One chat call each. An empty string becomes an empty message, which an upstream may refuse. */
  readonly prompts: readonly string[]
  /** Completions per prompt. */
  readonly n: number
  /** Most tokens of one completion. */
  readonly maxTokens: number
  /** The field of the chat call for {@link maxTokens}: the newer one if the client sent only that. */
  readonly maxTokensField: OutputLimitField
  readonly stream: boolean
  /** Whether a stream ends with a usage chunk. */
  readonly includeUsage: boolean
  /** Whether the prompt precedes each completion. */
  readonly echo: boolean
  /** Text after each completion; empty for none. */
  readonly suffix: string
}

/**
 * Checks a completion body and fills in the defaults.
 * @throws InvalidRequestError naming the field to correct; ModelNotFoundError for a model that is unknown, no chat model,
 *   or not on the key's list. Both come before any reservation.
 */
export function parseCompletionRequest(json: unknown, offered: Offered): CompletionRequest {
  const body = parseBody(completionBodySchema, json)
  const model = modelOfRoute(body.model, 'chat', offered)
  return {
    model,
    prompts: body.prompt,
    n: body.n ?? 1,
    ...tokensOf(body, model),
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    echo: body.echo ?? false,
    suffix: body.suffix ?? '',
  }
}

function tokensOf(
  { max_tokens: older, max_completion_tokens: newer }: CompletionBody,
  model: ChatModel,
): Pick<CompletionRequest, 'maxTokens' | 'maxTokensField'> {
  const maxTokensField = older == null && newer != null ? 'max_completion_tokens' : 'max_tokens'
  const fallback = Math.min(MAX_TOKENS_DEFAULT, model.max_output_tokens)
  return { maxTokens: outputTokensMax({ [maxTokensField]: older ?? newer }, model, fallback), maxTokensField }
}
