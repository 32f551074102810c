import { boundInputTokens } from '#adapters/tokens/bound-input-tokens.ts'
import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import type { EmbeddingModel } from '#core/catalogue/model.ts'
import { type EmbeddingInputs, parseEmbeddingRequest } from '#core/contract/embedding-request.ts'
import { replaceFields } from '#core/json/json-fields.ts'
import { keepPassingFields } from '#core/parameters/keep-passing-fields.ts'
import { passingFields } from '#core/parameters/passing-fields.ts'
import { embeddingChargeMax, settleEmbeddingCost } from '#core/quota/embedding-cost.ts'
import { embeddingTokensMax } from '#core/quota/usage-bounds.ts'
import { readEmbeddingReply, readPromptTokens } from '#core/relay/embedding-reply.ts'
import { type Bill, billRequest, shownCost } from '../../relay/bill-request.ts'
import { costHeaders } from '../../relay/cost-headers.ts'
import { callUpstream, replyDeadline } from '../../relay/failover.ts'
import { readBilledReply } from '../../relay/read-billed-reply.ts'
import { refuseReply, relayRefusal } from '../../relay/read-reply.ts'
import { refuseIgnoredFields } from '../../relay/refuse-ignored-fields.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { reportUsageAboveBound } from '../../relay/report-usage.ts'
import { sendPieces } from '../../relay/send-response.ts'
import { isSuccess, type UpstreamReply } from '../../relay/upstream-reply.ts'

/** Advice for a balance that is too low: no single number would help. */
const adviseFor = () => 'send fewer or shorter inputs'

/** POST /v1/embeddings: validates, reserves, relays, and settles by the tokens that the upstream reports. */
export async function createEmbedding(exchange: RelayExchange, context: RelayContext): Promise<void> {
  const { body, caller, response } = exchange
  const { catalogue } = context
  const embedding = parseEmbeddingRequest(body.json, { catalogue, allowedModels: caller.models })
  const { model, inputs, encodingFormat } = embedding
  refuseIgnoredFields(exchange, { list: 'embeddings', channels: catalogue.relayChannels(model.id) })
  const tokenBounds = await boundInputTokens(inputs, { model })
  exchange.note({ model: model.id, inputs: tokenBounds.length })
  const estimate = embeddingChargeMax(model, tokenBounds)
  const deadline = replyDeadline(context, exchange.receivedAt)
  await billRequest(context, { exchange, model, estimate, adviseFor }, async (bill) => {
    const reply = await callUpstream(context, {
      exchange,
      signal: response.gone,
      givenUp: response.ending,
      modelId: model.id,
      path: '/embeddings',
      deadline,
      body: (upstreamModel, channel) => {
        const passing = passingFields('embeddings', channel.pass_members.embeddings)
        const { text, ignored } = keepPassingFields(body.text, passing)
        exchange.tellIgnored(ignored)
        return replaceFields(text, new Map([['model', JSON.stringify(upstreamModel)]]))
      },
    })
    exchange.noteReply(reply)
    const hidden = hiddenFields(catalogue.config)
    if (!isSuccess(reply)) {
      return await relayRefusal(reply, response, { deadline, hidden })
    }
    const rules = { publicModel: model.id, hidden }
    const asked = { ...rules, inputs: countInputs(inputs), encodingFormat }
    const settling = { exchange, reply, bill, model, inputs: asked.inputs }
    const bytes = await readBilledReply(reply, {
      response,
      bill,
      deadline,
      form: {
        ...rules,
        list: 'data',
        costOf: ({ usage, entries }) =>
          entries === 0 ? undefined : shownCost(bill, chargeOf(readPromptTokens(usage), settling).charge),
      },
      // Numbers may have to become base64, which takes the whole reply.
      passes: encodingFormat === 'float',
      settleLarge: ({ usage }) => settle(readPromptTokens(usage), settling),
    })
    if (bytes === undefined) {
      return
    }
    const read = readEmbeddingReply(bytes, asked)
    if (read.kind === 'unusable') {
      refuseReply(reply, read.reason)
    }
    settle(read.promptTokens, settling)
    const { pieces } = read.relayed(bill.cost)
    await sendPieces(response, { statusCode: reply.status, pieces, headers: costHeaders(bill.cost) })
  })
}

type Settling = {
  readonly exchange: RelayExchange
  readonly reply: UpstreamReply
  readonly bill: Bill
  readonly model: EmbeddingModel
  readonly inputs: number
}

/** What the reported tokens cost, within the bounds of the model. */
function chargeOf(reported: number | undefined, { bill, model, inputs }: Settling) {
  const promptTokens = reported === undefined ? undefined : Math.min(reported, embeddingTokensMax(model, inputs))
  return { promptTokens, ...settleEmbeddingCost(model, { estimate: bill.estimate, promptTokens }) }
}

/** Bills what the upstream reports, within the bounds of the model. */
function settle(reported: number | undefined, settling: Settling): void {
  const { exchange, reply, bill, model } = settling
  const { promptTokens, charge, billedAtEstimate } = chargeOf(reported, settling)
  if (reported !== undefined && reported !== promptTokens) {
    const call = { requestId: exchange.requestId, channelId: reply.channel.id, modelId: model.id }
    reportUsageAboveBound(call, { promptTokens: reported })
  }
  exchange.note({ inputTokens: promptTokens })
  if (billedAtEstimate) {
    bill.settleByEstimate(charge)
  } else {
    bill.settle(charge)
  }
}

function countInputs(inputs: EmbeddingInputs): number {
  return inputs.kind === 'texts' ? inputs.texts.length : inputs.counts.length
}
