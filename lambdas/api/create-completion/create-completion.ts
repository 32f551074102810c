import { type CompletionRequest, parseCompletionRequest } from '#core/contract/completion-request.ts'
import { InvalidRequestError } from '#core/errors.ts'
import type { Microcredits } from '#core/money/money.ts'
import type { ChatChannel } from '#core/relay/chat-call.ts'
import {
  type CompletionCallBytes,
  measureCompletionCalls,
  prepareCompletionCalls,
} from '#core/relay/completion-calls.ts'
import { DO_NOT_RETRY } from '#core/should-retry.ts'
import { billRequest } from '../../relay/bill-request.ts'
import { answerStream } from '../../relay/completions/answer-stream.ts'
import { answerWhole } from '../../relay/completions/answer-whole.ts'
import { adviseOnCompletion, completionEstimate } from '../../relay/completions/bill-prompts.ts'
import { tellingCalls } from '../../relay/completions/completion-exchange.ts'
import { UpstreamRefusalError } from '../../relay/completions/upstream-calls.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { sendWhole } from '../../relay/send-response.ts'

/**
 * What the calls of one request may repeat of its body, all of them together: 64 KiB for each of 128 prompts. Above it a
 * body of 5 MiB would become 640 MiB on their way upstream.
 */
const REPEATED_BYTES_MAX = 8 * 1024 * 1024

const REPEATED_MESSAGE = `\`prompt\` holds too many strings: each repeats all other fields upstream, which may take at most ${REPEATED_BYTES_MAX / 1024 / 1024} MiB in total; send fewer strings or shorter fields`

/**
 * POST /v1/completions: validates, reserves once for all prompts, asks a chat model for each of them, and settles by the
 * sum of what the upstreams report. What fails before the client has seen a byte is an error with a status of its own,
 * which SDKs do not try again by themselves if it was billed.
 */
export async function createCompletion(request: RelayExchange, context: RelayContext): Promise<void> {
  const { body, caller, requestId, response } = request
  const completion = parseCompletionRequest(body.json, { catalogue: context.catalogue, allowedModels: caller.models })
  const { model, stream, prompts } = completion
  request.note({ model: model.id, stream, prompts: prompts.length })
  const fallback = { id: `cmpl-${requestId}`, created: Math.trunc(context.nowMilliseconds() / 1000) }
  const longestCall = channelOfAll(context.catalogue.relayChannels(model.id))
  const callBytes = boundedCalls(completion, measureCompletionCalls(body.text, completion, longestCall))
  const sendCall = tellingCalls(prepareCompletionCalls(body.text, completion), request)
  const exchange = { request, completion, answer: response, context, sendCall, callBytes, fallback }
  const estimate = completionEstimate(exchange)
  const adviseFor = (available: Microcredits) => adviseOnCompletion(exchange, available)
  const billed = { exchange: request, model, estimate, adviseFor }
  await billRequest(context, billed, async (bill) => {
    try {
      await (stream ? answerStream(exchange, bill) : answerWhole(exchange, bill))
    } catch (error) {
      if (!(error instanceof UpstreamRefusalError)) {
        throw error
      }
      const { status, contentType, text } = error
      const headers = bill.isBilled ? DO_NOT_RETRY : {}
      sendWhole(response, { statusCode: status, contentType, body: Buffer.from(text), headers })
    }
  })
}

/** @throws InvalidRequestError where the prompts together would repeat the other fields above {@link REPEATED_BYTES_MAX}. */
function boundedCalls({ prompts }: CompletionRequest, { common, calls }: CompletionCallBytes): readonly number[] {
  if (prompts.length > 1 && prompts.length * common > REPEATED_BYTES_MAX) {
    throw new InvalidRequestError([{ path: 'prompt', message: REPEATED_MESSAGE }])
  }
  return calls
}

/** A channel whose calls are as long as the longest of these. */
function channelOfAll(channels: readonly ChatChannel[]): ChatChannel {
  const chat = channels.flatMap((channel) => channel.pass_members.chat)
  const longer = channels.find((channel) => channel.output_limit_member === 'max_completion_tokens')
  return { pass_members: { chat, embeddings: [], images: [] }, output_limit_member: longer?.output_limit_member }
}
