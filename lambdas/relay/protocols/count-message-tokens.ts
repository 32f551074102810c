import { type AgentRequest, servedBy, servingOf } from '#core/api/agent-request.ts'
import { MESSAGES_ERRORS } from '#core/api/error-form.ts'
import { leftOutOf } from '#core/api/gated-fields.ts'
import { parseCountTokensRequest } from '#core/api/messages-request.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { HttpError } from '#core/errors.ts'
import { type JsonObject, parseJsonObject } from '#core/json/parse-json-text.ts'
import { AdmittedCall } from '../breakers.ts'
import { isSuccess, NothingRelayedError, type UpstreamReply } from '../call-channel.ts'
import { callUpstream } from '../failover.ts'
import { readRefusal, readReply } from '../read-reply.ts'
import type { RelayContext } from '../relay-context.ts'
import type { RelayExchange } from '../relay-exchange.ts'
import type { ClientRequest } from '../relay-protocol.ts'
import { clientRequestOf } from '../run-request.ts'
import { sendJson } from '../send-response.ts'
import type { RelayRoute } from '../serve-relay.ts'
import { nativeBody, refusalIn } from './agent-calls.ts'
import { MESSAGES_QUERY } from './messages.ts'
import { messagesTarget } from './messages-target.ts'

const ROUTE = 'messages'

/** A count that comes later is of no use: the gateway's own estimate takes its place. */
const COUNT_MILLISECONDS_MAX = 10_000

/** The largest count, with whatever an upstream says beside it. */
const COUNT_BYTES_MAX = 64 * 1024

/**
 * POST /v1/messages/count_tokens: free, and counted against the rate of the key. An upstream that speaks the API counts; without one, or if
 * none of them can, the gateway estimates.
 */
export const countMessageTokens: RelayRoute = {
  operation: 'count-message-tokens',
  errors: MESSAGES_ERRORS,
  query: MESSAGES_QUERY,
  takesBody: true,
  relay: async (exchange, context) => {
    const asked = clientRequestOf(exchange, context)
    const request = parseCountTokensRequest(asked.json, asked)
    exchange.note({ model: request.model.id })
    const ignored = leftOutOf(request.gated, []).names
    exchange.refuseIgnored(() => ignored)
    exchange.tellIgnored(ignored)
    await exchange.confirmCaller()
    const counted = await countUpstream({ exchange, context, asked, request })
    const { statusCode, body } = counted ?? {
      statusCode: 200,
      body: Buffer.from(JSON.stringify({ input_tokens: request.bounds.promptTokensEstimate })),
    }
    await sendJson(exchange.response, { statusCode, pieces: [body] })
  },
}

type Counting = {
  readonly exchange: RelayExchange
  readonly context: RelayContext
  readonly asked: ClientRequest
  readonly request: AgentRequest
}

type Counted = { readonly statusCode: number; readonly body: Buffer }

/** What the first upstream says that can count; undefined if none can. A count never opens a breaker: not every upstream has the path. */
async function countUpstream({ exchange, context, asked, request }: Counting): Promise<Counted | undefined> {
  const { model } = request
  const deadline = performance.now() + COUNT_MILLISECONDS_MAX
  const call = {
    exchange,
    modelId: model.id,
    deadline,
    signal: exchange.response.gone,
    rankOf: (channel: UpstreamReply['channel']) => (servingOf(ROUTE, channel, model.id)?.api === ROUTE ? 0 : undefined),
    write: ({ channel, upstreamModel }: { channel: UpstreamReply['channel']; upstreamModel: string }) => {
      const { place, passed } = servedBy(ROUTE, channel, model.id)
      const { path, ...target } = messagesTarget(place, asked, request)
      const written = new Map([['model', JSON.stringify(upstreamModel)]])
      return { ...target, path: `${path}/count_tokens`, ...nativeBody(asked.text, request, { passed, written }) }
    },
  }
  const breakers = { admit: () => new AdmittedCall(() => undefined), restMilliseconds: () => 0 }
  try {
    return await callUpstream({ ...context, breakers }, call, (reply) =>
      readCount(reply, { deadline, rules: { hidden: hiddenFields(context.catalogue.config), publicModel: model.id } }),
    )
  } catch (error) {
    if (error instanceof HttpError) {
      return undefined
    }
    throw error
  }
}

/** Statuses that say that a path is unknown. */
const NO_PATH: ReadonlySet<number> = new Set([404, 405, 410])

async function readCount(
  reply: UpstreamReply,
  bounds: Pick<Parameters<typeof readRefusal>[1], 'deadline' | 'rules'>,
): Promise<Counted> {
  if (NO_PATH.has(reply.status)) {
    reply.body.destroy()
    throw new NothingRelayedError('the upstream counts no tokens')
  }
  const translate = (refusal: JsonObject) => refusalIn(MESSAGES_ERRORS)(refusal, reply)
  if (!isSuccess(reply)) {
    return {
      statusCode: reply.status,
      body: await readRefusal(reply, { ...bounds, errors: MESSAGES_ERRORS, translate }),
    }
  }
  const bytes = await readReply(reply, { bytesMax: COUNT_BYTES_MAX, deadline: bounds.deadline })
  const tokens = parseJsonObject(bytes.toString('utf8'))?.input_tokens
  if (!(Number.isSafeInteger(tokens) && Number(tokens) >= 0)) {
    throw new NothingRelayedError('the upstream did not count')
  }
  return { statusCode: 200, body: Buffer.from(JSON.stringify({ input_tokens: tokens })) }
}
