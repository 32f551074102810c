import { imageRequestBody, parseImageRequest } from '#core/contract/image-request.ts'
import type { Microcredits } from '#core/money/money.ts'
import { affordableCount } from '#core/money/shortfall.ts'
import { passingFields } from '#core/parameters/passing-fields.ts'
import { imageCostMax, settledImageCost } from '#core/quota/image-cost.ts'
import { readImageAnswer } from '#core/relay/image-reply.ts'
import { billRequest } from '../../relay/bill-request.ts'
import { callChannel } from '../../relay/call-channel.ts'
import { replyDeadline } from '../../relay/call-upstream.ts'
import { isSuccess, refuseAnswer, relayRefusal, sendPieces } from '../../relay/read-answer.ts'
import { readBilledAnswer } from '../../relay/read-billed-answer.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { AnswerWriter, RelayRequest } from '../../relay/relay-request.ts'
import { reportUsageAboveBound } from '../../relay/report-usage.ts'

const OPERATION = 'create-image'

/** POST /v1/images/generations: validates, reserves, relays, and settles by the images in the answer. */
export async function createImage(request: RelayRequest, answer: AnswerWriter, context: RelayContext): Promise<void> {
  const { catalogue } = context
  const image = parseImageRequest(request.json, { catalogue, allowedModels: request.caller.models })
  const { model } = image
  request.note({ model: model.id, images: image.count })
  const adviseFor = (available: Microcredits) => {
    const costOf = (count: number) => imageCostMax({ ...image, count })
    const count = affordableCount(available, { most: image.count, costOf })
    return count > 0 ? `set n to at most ${count}` : undefined
  }
  const billed = { request, operation: OPERATION, model, estimate: imageCostMax(image), adviseFor }
  const deadline = replyDeadline(context, request.receivedAt)
  await billRequest(context, billed, async (bill) => {
    const reply = await callChannel(context, {
      request,
      gone: answer.gone,
      modelId: model.id,
      path: '/images/generations',
      deadline,
      body: (upstreamModel, channel) => {
        const passing = passingFields('images', channel.pass_members.images)
        const { text, ignored } = imageRequestBody(request.bodyText, { upstreamModel, image, passing })
        request.tellIgnored(ignored)
        return text
      },
    })
    if (!isSuccess(reply)) {
      return await relayRefusal(reply, answer, deadline)
    }
    const settle = (images: number) => {
      if (images > image.count) {
        const call = { requestId: request.requestId, channelId: reply.channel.id, modelId: model.id }
        reportUsageAboveBound(call, { images })
      }
      bill.settle(settledImageCost(image, images))
    }
    const bytes = await readBilledAnswer(reply, {
      answer,
      bill,
      deadline,
      form: { publicModel: model.id, list: 'data' },
      passes: true,
      settleLarge: ({ entries }) => settle(entries),
    })
    if (bytes === undefined) {
      return
    }
    const read = readImageAnswer(bytes, { publicModel: model.id })
    if (read.kind === 'unusable') {
      refuseAnswer(reply, read.reason)
    }
    settle(read.images)
    await sendPieces(answer, { statusCode: reply.status, pieces: read.pieces })
  })
}
