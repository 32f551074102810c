import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { type CompletionRequest, parseCompletionRequest } from '#core/contract/completion-request.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { Microcredits } from '#core/money/money.ts'
import { adviseOnOutput } from '#core/money/shortfall.ts'
import { completionChargeMax, type PromptBounds } from '#core/quota/completion-cost.ts'
import type { ChatChannel } from '#core/relay/chat-call.ts'
import {
  type CompletionCallBytes,
  measureCompletionCalls,
  prepareCompletionCalls,
} from '#core/relay/completion-calls.ts'
import { billRequest } from '../../relay/bill-request.ts'
import { refuseIgnoredFields } from '../../relay/refuse-ignored-fields.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { PromptRelay } from './prompt-relay.ts'

/**
 * What all calls of one request together may repeat of its body: 64 KiB for each of 128 prompts. Without a bound, a body of
 * 5 MiB would become 640 MiB on the way upstream.
 */
const REPEATED_BYTES_MAX = 8 * 1024 * 1024

const REPEATED_MESSAGE = `\`prompt\` holds too many strings: each repeats all other fields upstream, which may take at most ${REPEATED_BYTES_MAX / 1024 / 1024} MiB in total; send fewer strings or shorter fields`

/**
 * POST /v1/completions: validates, reserves once for all prompts, asks a chat model for one prompt after the other, and settles
 * by the sum of what the upstreams report.
 */
export async function createCompletion(exchange: RelayExchange, context: RelayContext): Promise<void> {
  const { body, caller, requestId } = exchange
  const { catalogue } = context
  const completion = parseCompletionRequest(body.json, { catalogue, allowedModels: caller.models })
  const { model, stream, prompts, maxTokens, maxTokensField } = completion
  refuseIgnoredFields(exchange, { list: 'completions', channels: catalogue.relayChannels(model.id) })
  exchange.note({ model: model.id, stream, prompts: prompts.length })
  const longestCall = channelOfAll(catalogue.configuredRelayChannels(model.id))
  const bounds = promptBounds(completion, measureCompletionCalls(body.text, completion, longestCall))
  const estimate = completionChargeMax(model, bounds)
  const adviseFor = (available: Microcredits) => {
    const boundsOf = (outputTokensMax: number) => bounds.map((each) => ({ ...each, outputTokensMax }))
    const costOf = (outputTokensMax: number) => completionChargeMax(model, boundsOf(outputTokensMax)).amount
    return adviseOnOutput(available, { model, name: maxTokensField, most: maxTokens, costOf })
  }
  await billRequest(context, { exchange, model, estimate, adviseFor }, async (bill) => {
    const relay = new PromptRelay({
      exchange,
      context,
      bill,
      completion,
      bounds,
      hidden: hiddenFields(catalogue.config),
      writeCall: prepareCompletionCalls(body.text, completion),
      fallback: { id: `cmpl-${requestId}`, created: Math.trunc(context.nowMilliseconds() / 1000) },
    })
    await relay.run()
  })
}

/**
 * No tokenizer makes more tokens than bytes, and the call's own syntax is longer than what a chat template adds.
 * @throws InvalidRequestError where the prompts together would repeat the other fields above {@link REPEATED_BYTES_MAX}.
 */
function promptBounds(
  { model, prompts, n, maxTokens }: CompletionRequest,
  { common, calls }: CompletionCallBytes,
): readonly PromptBounds[] {
  if (prompts.length > 1 && prompts.length * common > REPEATED_BYTES_MAX) {
    throw new InvalidRequestError([{ path: 'prompt', message: REPEATED_MESSAGE }])
  }
  return calls.map((bodyBytes) => ({
    bodyBytes,
    promptTokensMax: Math.min(model.context_tokens, bodyBytes),
    outputTokensMax: maxTokens,
    choices: n,
  }))
}

/** A channel whose calls are as long as the longest calls of these channels. */
function channelOfAll(channels: readonly ChatChannel[]): ChatChannel {
  const chat = channels.flatMap((channel) => channel.pass_members.chat)
  const longer = channels.find((channel) => channel.output_limit_member === 'max_completion_tokens')
  return { pass_members: { chat, embeddings: [], images: [] }, output_limit_member: longer?.output_limit_member }
}
