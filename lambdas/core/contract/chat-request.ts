import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ChatModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError } from '../errors.ts'
import type { AskedLimits } from '../parameters/output-limit.ts'
import { addedPartFields } from '../parameters/passing-fields.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import { type ChatBody, chatBodySchema } from './chat-body.ts'
import { imageUrlOf } from './content-parts.ts'
import { hollowPartIssue, mayFillContext, partsOf } from './relayed-parts.ts'
import { parseBody } from './request-issues.ts'

/** What the gateway itself needs to know of a chat request; what passes of the body goes upstream as the client wrote it. */
export type ChatRequest = {
  readonly model: ChatModel
  readonly stream: boolean
  /** Whether the client wants the chunk with the usage at the end of its stream. */
  readonly includeUsage: boolean
  /** Completions asked for. */
  readonly choices: number
  /** Tokens that one completion can have. */
  readonly outputTokensMax: number
  /** The client's own limits of one completion. */
  readonly askedLimits: AskedLimits
  /** Tokens that the messages, tools and everything else in the body can come to. */
  readonly promptTokensMax: number
  /** What they probably come to, for a stream without a usage; never above {@link promptTokensMax}. */
  readonly promptTokensEstimate: number
  /** The client's own, in which the gateway asks for the usage. */
  readonly streamOptions: Readonly<Record<string, unknown>>
}

type Context = {
  readonly catalogue: Catalogue
  /** Models the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
  /** Length of the body in UTF-8. */
  readonly bodyBytes: number
}

/**
 * Checks a chat body and bounds what it can cost.
 * @throws InvalidRequestError naming each member that needs mending; ModelNotFoundError. Nothing was reserved yet.
 */
export function parseChatRequest(body: unknown, { catalogue, allowedModels, bodyBytes }: Context): ChatRequest {
  const chat = parseBody(chatBodySchema, body)
  const model = catalogue.findRelayModel(chat.model, { kind: 'chat', allowed: allowedModels })
  if (model === undefined) {
    throw new ModelNotFoundError(chat.model)
  }
  const added = addedPartFields(catalogue.relayChannels(model.id).map((channel) => channel.pass_members.chat))
  const hollow = hollowPartIssue(chat.messages, added)
  if (hollow !== undefined) {
    throw new InvalidRequestError([hollow])
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

/** Which of two bounds an upstream obeys is its own affair: the larger one counts. */
function outputTokensMax(chat: ChatBody, model: ChatModel): number {
  const asked = (['max_tokens', 'max_completion_tokens'] as const).flatMap((path) => {
    const tokens = chat[path]
    return typeof tokens === 'number' ? [{ path, tokens }] : []
  })
  const excessive = asked.filter(({ tokens }) => tokens > model.max_output_tokens)
  if (excessive.length > 0) {
    const message = `${model.id} makes at most ${model.max_output_tokens} tokens`
    throw new InvalidRequestError(excessive.map(({ path }) => ({ path, message })))
  }
  const limitUnsaid = model.default_max_output_tokens ?? model.max_output_tokens
  return asked.length === 0 ? limitUnsaid : Math.max(...asked.map(({ tokens }) => tokens))
}

type PromptFacts = {
  readonly bodyBytes: number
  /** Fields of content parts that some channel of the model lets pass. */
  readonly added: ReadonlySet<string>
}

/**
 * No tokenizer of this field makes more tokens than there are bytes, and whatever reaches the prompt stands in the body,
 * whose own syntax is longer than what a chat template adds. An image counts a fixed number in place of its url.
 */
function promptTokens(
  chat: ChatBody,
  model: ChatModel,
  { bodyBytes, added }: PromptFacts,
): Pick<ChatRequest, 'promptTokensMax' | 'promptTokensEstimate'> {
  const parts = partsOf(chat.messages)
  if (parts.some((part) => mayFillContext(part, added))) {
    return { promptTokensMax: model.context_tokens, promptTokensEstimate: model.context_tokens }
  }
  const images = parts.filter(({ type }) => type === 'image_url').map(imageUrlOf)
  // The url of an image is all ASCII, or longer in bytes than in characters: the bound stays one.
  const imageCharacters = images.reduce((sum, url) => sum + (url?.length ?? 0), 0)
  const textBytes = bodyBytes - imageCharacters
  const imageTokens = images.length * model.image_tokens
  return {
    promptTokensMax: Math.min(model.context_tokens, textBytes + imageTokens),
    promptTokensEstimate: Math.min(model.context_tokens, tokensByLength(textBytes) + imageTokens),
  }
}
