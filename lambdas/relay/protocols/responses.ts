import { type AgentRequest, servedBy } from '#core/api/agent-request.ts'
import { RESPONSES_ERRORS } from '#core/api/error-form.ts'
import { refuseHostedTools } from '#core/api/gated-fields.ts'
import { parseResponsesRequest } from '#core/api/responses-request.ts'
import { tokenBilling } from '#core/pricing/relay-cost.ts'
import type { TokenCounts } from '#core/pricing/token-usage.ts'
import { defineRelayRoute } from '../run-request.ts'
import { nativeBody, passedByChannels, rankChannels, sessionOf } from './agent-calls.ts'
import { ResponsesReplyReader, ResponsesStream } from './responses-stream.ts'

/** The largest response that is held whole; images in it included. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024

const ROUTE = 'responses'

/** The longest field `max_output_tokens` that a client adds to a body. No tokenizer makes more tokens than bytes. */
const ADDED_LIMIT_BYTES = 40

/** POST /v1/responses: relayed as it is to an upstream that speaks it. */
export const responses = defineRelayRoute<TokenCounts>({
  operation: 'create-response',
  errors: RESPONSES_ERRORS,
  read: (asked) => {
    const request = parseResponsesRequest(asked.json, asked)
    const { model, body, stream, gated, bounds, askedTokens } = request
    refuseHostedTools(gated, passedByChannels(ROUTE, model, asked))
    const addedTokens = askedTokens === undefined ? ADDED_LIMIT_BYTES : 0
    return {
      model,
      facts: { stream },
      calls: 1,
      sessionId: sessionOf(body, asked),
      rankOf: rankChannels(ROUTE, request),
      billing: tokenBilling(model, [bounds], { name: 'max_output_tokens', addedTokens }),
      write: (_, { channel, upstreamModel }) => {
        const { place, passed } = servedBy(ROUTE, channel, model.id)
        const written = ownFields(request, upstreamModel)
        return {
          path: place.path,
          baseUrl: place.base_url,
          ...nativeBody(asked.text, request, { passed, written }),
        }
      },
      reader: (_, rules) => new ResponsesReplyReader(rules),
      large: { list: 'output', bytesMax: REPLY_BYTES_MAX, areRelayed: true },
      streaming: stream ? { open: (_, rules) => new ResponsesStream(rules) } : undefined,
    }
  },
})

/** Nothing is kept at the upstream, whatever the client wants. */
function ownFields({ model, askedTokens }: AgentRequest, upstreamModel: string): Map<string, string> {
  const written = new Map([
    ['model', JSON.stringify(upstreamModel)],
    ['store', 'false'],
  ])
  const fallback = model.default_max_output_tokens
  if (askedTokens === undefined && fallback !== undefined) {
    written.set('max_output_tokens', String(fallback))
  }
  return written
}
