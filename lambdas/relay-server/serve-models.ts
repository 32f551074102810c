import { allowedModelView, modelListView } from '#core/api/model-view.ts'
import { matchPath } from '#core/api/routes.ts'
import type { RelayExchange } from '../relay/relay-exchange.ts'
import { sendJson } from '../relay/send-response.ts'
import type { Relay } from '../relay/serve-relay.ts'

/** GET /v1/models */
export const listModels: Relay = async (exchange, { catalogue }) => {
  await exchange.confirmCaller()
  await send(exchange, modelListView(catalogue, exchange.caller.models))
}

/** GET /v1/models/{model} */
export const getModel: Relay = async (exchange, { catalogue }) => {
  await exchange.confirmCaller()
  const id = matchPath('/v1/models/{model}', exchange.request.path)?.model ?? ''
  await send(exchange, allowedModelView(id, catalogue, exchange.caller.models))
}

async function send({ response }: RelayExchange, body: object): Promise<void> {
  await sendJson(response, { statusCode: 200, pieces: [Buffer.from(JSON.stringify(body))] })
}
