import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ChatModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError } from '../errors.ts'
import { type CompletionBody, completionBodySchema } from './completion-body.ts'
import { parseBody } from './request-issues.ts'

/** The interface, "POST /v1/completions (legacy)". */
const MAX_TOKENS_DEFAULT = 16

/** What a legacy completion asks for, every default filled in. What else passes is relayed as it came. */
export type CompletionRequest = {
  readonly model: ChatModel
  /** One chat call each. An empty text is an empty message, which an upstream may refuse. */
  readonly prompts: readonly string[]
  /** Completions for each prompt. */
  readonly n: number
  /** The most tokens of one completion. */
  readonly maxTokens: number
  /** The member of a chat call that says so: the newer one where the client wrote that alone. Never both. */
  readonly maxTokensMember: 'max_tokens' | 'max_completion_tokens'
  readonly stream: boolean
  /** Whether a stream ends with a chunk of usage. */
  readonly includeUsage: boolean
  /** The prompt stands before each completion. */
  readonly echo: boolean
  /** Stands after each completion; empty for none. */
  readonly suffix: string
}

type Context = {
  readonly catalogue: Catalogue
  /** Models the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

/**
 * Reads a parsed body into a request with every default filled in.
 * @throws InvalidRequestError naming each member that needs mending; ModelNotFoundError for a model that is unknown, no
 *   chat model, or not on the key's list. Nothing was reserved yet.
 */
export function parseCompletionRequest(json: unknown, { catalogue, allowedModels }: Context): CompletionRequest {
  const body = parseBody(completionBodySchema, json)
  const model = catalogue.findRelayModel(body.model, { kind: 'chat', allowed: allowedModels })
  if (model === undefined) {
    throw new ModelNotFoundError(body.model)
  }
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
): Pick<CompletionRequest, 'maxTokens' | 'maxTokensMember'> {
  const maxTokensMember = older == null && newer != null ? 'max_completion_tokens' : 'max_tokens'
  const asked = older ?? newer
  if (asked != null && asked > model.max_output_tokens) {
    const message = `${model.id} makes at most ${model.max_output_tokens} tokens`
    throw new InvalidRequestError([{ path: maxTokensMember, message }])
  }
  return { maxTokens: asked ?? Math.min(MAX_TOKENS_DEFAULT, model.max_output_tokens), maxTokensMember }
}
