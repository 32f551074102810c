import { allowedModelView, modelListView } from '#core/contract/model-view.ts'
import { matchPath } from '#core/contract/routes.ts'
import type { RelayExchange } from '../relay/relay-exchange.ts'
import { sendWhole } from '../relay/send-response.ts'
import type { Relay } from '../relay/serve-relay.ts'

/** GET /v1/models */
export const listModels: Relay = async (exchange, { catalogue }) => {
  await exchange.confirmCaller()
  sendJson(exchange, modelListView(catalogue, exchange.caller.models))
}

/** GET /v1/models/{model} */
export const getModel: Relay = async (exchange, { catalogue }) => {
  await exchange.confirmCaller()
  const id = matchPath('/v1/models/{model}', exchange.request.path)?.model ?? ''
  sendJson(exchange, allowedModelView(id, catalogue, exchange.caller.models))
}

function sendJson({ response }: RelayExchange, body: object): void {
  sendWhole(response, { statusCode: 200, body: Buffer.from(JSON.stringify(body)) })
}
