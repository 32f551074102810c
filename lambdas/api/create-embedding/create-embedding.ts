import { boundInputTokens } from '#adapters/tokens/bound-input-tokens.ts'
import type { EmbeddingModel } from '#core/catalogue/model.ts'
import { type EmbeddingInputs, parseEmbeddingRequest } from '#core/contract/embedding-request.ts'
import { replaceMembers } from '#core/json/json-members.ts'
import { keepPassingFields } from '#core/parameters/keep-passing-fields.ts'
import { passingFields } from '#core/parameters/passing-fields.ts'
import { embeddingCostMax, settleEmbeddingCost } from '#core/quota/embedding-cost.ts'
import { embeddingTokensMax } from '#core/quota/usage-bounds.ts'
import { readEmbeddingAnswer, readPromptTokens } from '#core/relay/embedding-reply.ts'
import { type Bill, billRequest } from '../../relay/bill-request.ts'
import { callChannel } from '../../relay/call-channel.ts'
import { replyDeadline, type UpstreamReply } from '../../relay/call-upstream.ts'
import { isSuccess, refuseAnswer, relayRefusal, sendPieces } from '../../relay/read-answer.ts'
import { readBilledAnswer } from '../../relay/read-billed-answer.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { AnswerWriter, RelayRequest } from '../../relay/relay-request.ts'
import { reportUsageAboveBound } from '../../relay/report-usage.ts'

const OPERATION = 'create-embedding'

/** Of too little quota: no single number would do. */
const adviseFor = () => 'send fewer or shorter inputs'

/** POST /v1/embeddings: validates, reserves, relays, and settles by the tokens that the upstream reports. */
export async function createEmbedding(
  request: RelayRequest,
  answer: AnswerWriter,
  context: RelayContext,
): Promise<void> {
  const { catalogue } = context
  const embedding = parseEmbeddingRequest(request.json, { catalogue, allowedModels: request.caller.models })
  const { model, inputs, encodingFormat } = embedding
  const tokenBounds = await boundInputTokens(inputs, { model })
  request.note({ model: model.id, inputs: tokenBounds.length })
  const billed = { request, operation: OPERATION, model, estimate: embeddingCostMax(model, tokenBounds), adviseFor }
  const deadline = replyDeadline(context, request.receivedAt)
  await billRequest(context, billed, async (bill) => {
    const reply = await callChannel(context, {
      request,
      gone: answer.gone,
      modelId: model.id,
      path: '/embeddings',
      deadline,
      body: (upstreamModel, channel) => {
        const passing = passingFields('embeddings', channel.pass_members.embeddings)
        const { text, ignored } = keepPassingFields(request.bodyText, passing)
        request.tellIgnored(ignored)
        return replaceMembers(text, new Map([['model', JSON.stringify(upstreamModel)]]))
      },
    })
    if (!isSuccess(reply)) {
      return await relayRefusal(reply, answer, deadline)
    }
    const asked = { publicModel: model.id, inputs: countInputs(inputs), encodingFormat }
    const settling = { request, reply, bill, model, inputs: asked.inputs }
    const bytes = await readBilledAnswer(reply, {
      answer,
      bill,
      deadline,
      form: { publicModel: model.id, list: 'data' },
      // What comes as numbers may have to be made base64, which takes the whole of it.
      passes: encodingFormat === 'float',
      settleLarge: ({ usage }) => settle(readPromptTokens(usage), settling),
    })
    if (bytes === undefined) {
      return
    }
    const read = readEmbeddingAnswer(bytes, asked)
    if (read.kind === 'unusable') {
      refuseAnswer(reply, read.reason)
    }
    settle(read.promptTokens, settling)
    await sendPieces(answer, { statusCode: reply.status, pieces: read.pieces })
  })
}

type Settling = {
  readonly request: RelayRequest
  readonly reply: UpstreamReply
  readonly bill: Bill
  readonly model: EmbeddingModel
  readonly inputs: number
}

/** Bills what the upstream reports, as far as its model can have used it. */
function settle(reported: number | undefined, { request, reply, bill, model, inputs }: Settling): void {
  const tokensMax = embeddingTokensMax(model, inputs)
  if (reported !== undefined && reported > tokensMax) {
    const call = { requestId: request.requestId, channelId: reply.channel.id, modelId: model.id }
    reportUsageAboveBound(call, { promptTokens: reported })
  }
  const promptTokens = reported === undefined ? undefined : Math.min(reported, tokensMax)
  request.note({ inputTokens: promptTokens })
  const { amount, billedAtEstimate } = settleEmbeddingCost(model, { locked: bill.locked, promptTokens })
  if (billedAtEstimate) {
    bill.settleByEstimate(amount)
  } else {
    bill.settle(amount)
  }
}

function countInputs(inputs: EmbeddingInputs): number {
  return inputs.kind === 'texts' ? inputs.texts.length : inputs.counts.length
}
