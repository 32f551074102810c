import { hiddenFields } from '#core/catalogue/hidden-fields.ts'
import { imageRequestBody, parseImageRequest } from '#core/contract/image-request.ts'
import type { Microcredits } from '#core/money/money.ts'
import { affordableCount } from '#core/money/shortfall.ts'
import { passingFields } from '#core/parameters/passing-fields.ts'
import { imageCharge, imageChargeMax } from '#core/quota/image-cost.ts'
import { readImageReply } from '#core/relay/image-reply.ts'
import { billRequest, shownCost } from '../../relay/bill-request.ts'
import { costHeaders } from '../../relay/cost-headers.ts'
import { callUpstream, replyDeadline } from '../../relay/failover.ts'
import { readBilledReply } from '../../relay/read-billed-reply.ts'
import { refuseReply, relayRefusal } from '../../relay/read-reply.ts'
import { refuseIgnoredFields } from '../../relay/refuse-ignored-fields.ts'
import type { RelayContext } from '../../relay/relay-context.ts'
import type { RelayExchange } from '../../relay/relay-exchange.ts'
import { reportUsageAboveBound } from '../../relay/report-usage.ts'
import { sendPieces } from '../../relay/send-response.ts'
import { isSuccess } from '../../relay/upstream-reply.ts'

/** POST /v1/images/generations: validates, reserves, relays, and settles by the images in the reply. */
export async function createImage(exchange: RelayExchange, context: RelayContext): Promise<void> {
  const { body, caller, response } = exchange
  const image = parseImageRequest(body.json, { catalogue: context.catalogue, allowedModels: caller.models })
  const { model } = image
  refuseIgnoredFields(exchange, { list: 'images', channels: context.catalogue.relayChannels(model.id) })
  exchange.note({ model: model.id, images: image.count })
  const adviseFor = (available: Microcredits) => {
    const costOf = (count: number) => imageChargeMax({ ...image, count }).amount
    const count = affordableCount(available, { most: image.count, costOf })
    return count > 0 ? `set n to at most ${count}` : undefined
  }
  const deadline = replyDeadline(context, exchange.receivedAt)
  await billRequest(context, { exchange, model, estimate: imageChargeMax(image), adviseFor }, async (bill) => {
    const reply = await callUpstream(context, {
      exchange,
      signal: response.gone,
      givenUp: response.ending,
      modelId: model.id,
      path: '/images/generations',
      deadline,
      body: (upstreamModel, channel) => {
        const passing = passingFields('images', channel.pass_members.images)
        const { text, ignored } = imageRequestBody(body.text, { upstreamModel, image, passing })
        exchange.tellIgnored(ignored)
        return text
      },
    })
    exchange.noteReply(reply)
    const hidden = hiddenFields(context.catalogue.config)
    if (!isSuccess(reply)) {
      return await relayRefusal(reply, response, { deadline, hidden })
    }
    const rules = { publicModel: model.id, hidden }
    const settle = (images: number) => {
      if (images > image.count) {
        const call = { requestId: exchange.requestId, channelId: reply.channel.id, modelId: model.id }
        reportUsageAboveBound(call, { images })
      }
      bill.settle(imageCharge(image, images))
    }
    const bytes = await readBilledReply(reply, {
      response,
      bill,
      deadline,
      form: {
        ...rules,
        list: 'data',
        costOf: ({ entries }) => (entries === 0 ? undefined : shownCost(bill, imageCharge(image, entries))),
      },
      passes: true,
      settleLarge: ({ entries }) => settle(entries),
    })
    if (bytes === undefined) {
      return
    }
    const read = readImageReply(bytes, rules)
    if (read.kind === 'unusable') {
      refuseReply(reply, read.reason)
    }
    settle(read.images)
    const { pieces } = read.relayed(bill.cost)
    await sendPieces(response, { statusCode: reply.status, pieces, headers: costHeaders(bill.cost) })
  })
}
