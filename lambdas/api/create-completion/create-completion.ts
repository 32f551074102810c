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
import { adviseOnCompletion, completionEstimate } from '../../relay/completions/bill-prompts.ts'
import { UpstreamRefusalError } from '../../relay/completions/prompt-calls.ts'
import { relayCompletion } from '../../relay/completions/relay-completion.ts'
import { costHeaders } from '../../relay/cost-headers.ts'
import { refuseIgnoredFields } from '../../relay/refuse-ignored-fields.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { sendWhole } from '../../relay/send-response.ts'

/**
 * What all calls of one request together may repeat of its body: 64 KiB for each of 128 prompts. Without a bound, a body of
 * 5 MiB would become 640 MiB on the way upstream.
 */
const REPEATED_BYTES_MAX = 8 * 1024 * 1024

const REPEATED_MESSAGE = `\`prompt\` holds too many strings: each repeats all other fields upstream, which may take at most ${REPEATED_BYTES_MAX / 1024 / 1024} MiB in total; send fewer strings or shorter fields`

/**
 * POST /v1/completions: validates, reserves once for all prompts, asks a chat model for each prompt, and settles by the sum of
 * what the upstreams report. A failure before the first byte has its own status, and tells SDKs not to retry if it was
 * billed.
 */
export async function createCompletion(exchange: RelayExchange, context: RelayContext): Promise<void> {
  const { body, caller, requestId, response } = exchange
  const { catalogue } = context
  const completion = parseCompletionRequest(body.json, { catalogue, allowedModels: caller.models })
  const { model, stream, prompts } = completion
  refuseIgnoredFields(exchange, { list: 'completions', channels: catalogue.relayChannels(model.id) })
  exchange.note({ model: model.id, stream, prompts: prompts.length })
  const longestCall = channelOfAll(catalogue.configuredRelayChannels(model.id))
  const run = {
    exchange,
    completion,
    context,
    writeCall: prepareCompletionCalls(body.text, completion),
    callBytes: boundedCalls(completion, measureCompletionCalls(body.text, completion, longestCall)),
    fallback: { id: `cmpl-${requestId}`, created: Math.trunc(context.nowMilliseconds() / 1000) },
  }
  const adviseFor = (available: Microcredits) => adviseOnCompletion(run, available)
  await billRequest(context, { exchange, model, estimate: completionEstimate(run), adviseFor }, async (bill) => {
    try {
      await relayCompletion(run, bill)
    } catch (error) {
      if (!(error instanceof UpstreamRefusalError)) {
        throw error
      }
      const { status, text } = error
      const headers = bill.isBilled ? { ...DO_NOT_RETRY, ...costHeaders(bill.cost) } : {}
      sendWhole(response, { statusCode: status, body: Buffer.from(text), headers })
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

/** A channel whose calls are as long as the longest calls of these channels. */
function channelOfAll(channels: readonly ChatChannel[]): ChatChannel {
  const chat = channels.flatMap((channel) => channel.pass_members.chat)
  const longer = channels.find((channel) => channel.output_limit_member === 'max_completion_tokens')
  return { pass_members: { chat, embeddings: [], images: [] }, output_limit_member: longer?.output_limit_member }
}
