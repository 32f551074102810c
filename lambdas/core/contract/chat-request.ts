import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ChatModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError, type RequestIssue } from '../errors.ts'
import type { AskedLimits } from '../parameters/output-limit.ts'
import { addedPartFields } from '../parameters/passing-fields.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import { type ChatBody, chatBodySchema } from './chat-body.ts'
import { imageUrlOf } from './content-parts.ts'
import { mediaTokensMax, partsOf, refusedPartIssue } from './relayed-parts.ts'
import { parseBody } from './request-issues.ts'

/** What the gateway reads from a chat request. The fields that pass go upstream as the client wrote them. */
export type ChatRequest = {
  readonly model: ChatModel
  readonly stream: boolean
  /** Whether the client asked for the usage chunk at the end of a stream. */
  readonly includeUsage: boolean
  /** Number of completions. */
  readonly choices: number
  /** Upper bound of the tokens of one completion. */
  readonly outputTokensMax: number
  /** The client's own limits of one completion. */
  readonly askedLimits: AskedLimits
  /** Upper bound of the tokens of the messages, the tools and all other input. */
  readonly promptTokensMax: number
  /** The part of {@link promptTokensMax} that is for images and may come on top of the model's context. */
  readonly imageTokensMax: number
  /** Likely tokens of the same input, which bill a stream without usage; never above {@link promptTokensMax}. */
  readonly promptTokensEstimate: number
  /** The client's `stream_options`; the gateway adds its own request for usage. */
  readonly streamOptions: Readonly<Record<string, unknown>>
}

type Context = {
  readonly catalogue: Catalogue
  /** Models that the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
  /** Bytes of the body in UTF-8. */
  readonly bodyBytes: number
}

/**
 * Checks a chat body and bounds its cost.
 * @throws InvalidRequestError naming the field to correct; ModelNotFoundError. Both come before any reservation.
 */
export function parseChatRequest(body: unknown, { catalogue, allowedModels, bodyBytes }: Context): ChatRequest {
  const chat = parseBody(chatBodySchema, body)
  const model = catalogue.findRelayModel(chat.model, { kind: 'chat', allowed: allowedModels })
  if (model === undefined) {
    throw new ModelNotFoundError(chat.model)
  }
  const channels = catalogue.configuredRelayChannels(model.id)
  const added = addedPartFields(channels.map((channel) => channel.pass_members.chat))
  const refused = refusedPartIssue(chat.messages, { model, added })
  if (refused !== undefined) {
    throw new InvalidRequestError([refused])
  }
  return {
    model,
    stream: chat.stream === true,
    includeUsage: chat.stream_options?.include_usage === true,
    choices: chat.n ?? 1,
    outputTokensMax: outputTokensMax(chat, model),
    askedLimits: { max_tokens: chat.max_tokens, max_completion_tokens: chat.max_completion_tokens },
    ...promptTokens(chat, model, { bodyBytes, added }),
    streamOptions: chat.stream_options ?? {},
  }
}

/** The larger of two limits counts, because the upstream decides which one it obeys. */
function outputTokensMax(chat: ChatBody, model: ChatModel): number {
  const asked = (['max_tokens', 'max_completion_tokens'] as const).flatMap((path) => {
    const tokens = chat[path]
    return typeof tokens === 'number' ? [{ path, tokens }] : []
  })
  const excessive = asked.filter(({ tokens }) => tokens > model.max_output_tokens)
  if (excessive.length > 0) {
    throw new InvalidRequestError(excessive.map(({ path }) => outputLimitIssue(path, model)))
  }
  const defaultLimit = model.default_max_output_tokens ?? model.max_output_tokens
  return asked.length === 0 ? defaultLimit : Math.max(...asked.map(({ tokens }) => tokens))
}

/** The error for a limit of one completion that is above the model's. */
export function outputLimitIssue(path: string, { id, max_output_tokens }: ChatModel): RequestIssue {
  return { path, message: `\`${path}\` must be at most ${max_output_tokens} for ${id}` }
}

type PromptFacts = {
  readonly bodyBytes: number
  /** Fields of content parts that the channels of the model add to the list. */
  readonly added: ReadonlySet<string>
}

/**
 * No common tokenizer makes more tokens than the text has bytes. The body holds the whole prompt, and its JSON syntax is
 * longer than what a chat template adds. An image counts as the number of its detail instead of the length of its url, and on top of the
 * context, because some upstreams bill more tokens for an image than it takes of the context. Parts without a number fill the context,
 * all of them together.
 */
function promptTokens(
  chat: ChatBody,
  model: ChatModel,
  { bodyBytes, added }: PromptFacts,
): Pick<ChatRequest, 'promptTokensMax' | 'imageTokensMax' | 'promptTokensEstimate'> {
  const parts = partsOf(chat.messages)
  const media = parts.map((part) => mediaTokensMax(part, { added, model }))
  const imageTokensMax = media.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0)
  const withImages = (textTokens: number) =>
    imageTokensMax + (media.includes(undefined) ? model.context_tokens : Math.min(model.context_tokens, textTokens))
  const urls = parts.filter(({ type }) => type === 'image_url').map(imageUrlOf)
  // A url has at least as many bytes as characters, so subtracting its characters keeps the bound.
  const textBytes = bodyBytes - urls.reduce((sum, url) => sum + (url?.length ?? 0), 0)
  return {
    promptTokensMax: withImages(textBytes),
    imageTokensMax,
    promptTokensEstimate: withImages(tokensByLength(textBytes)),
  }
}
