import type { Catalogue } from '../catalogue/catalogue.ts'
import type { ChatModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError } from '../errors.ts'
import type { OutputLimitField } from '../parameters/output-limit.ts'
import { outputLimitIssue } from './chat-request.ts'
import { type CompletionBody, completionBodySchema } from './completion-body.ts'
import { parseBody } from './request-issues.ts'

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

type Context = {
  readonly catalogue: Catalogue
  /** Models that the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

/**
 * Checks a completion body and fills in the defaults.
 * @throws InvalidRequestError naming the field to correct; ModelNotFoundError for a model that is unknown, no chat model,
 *   or not on the key's list. Both come before any reservation.
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
): Pick<CompletionRequest, 'maxTokens' | 'maxTokensField'> {
  const maxTokensField = older == null && newer != null ? 'max_completion_tokens' : 'max_tokens'
  const asked = older ?? newer
  if (asked != null && asked > model.max_output_tokens) {
    throw new InvalidRequestError([outputLimitIssue(maxTokensField, model)])
  }
  return { maxTokens: asked ?? Math.min(MAX_TOKENS_DEFAULT, model.max_output_tokens), maxTokensField }
}
