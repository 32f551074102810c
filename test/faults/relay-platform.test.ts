import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Route } from '#routes/define-route.ts'
import type { Operation } from '#routes/index.ts'
import { MODEL_ROUTES } from '#routes/models.ts'
import { RELAYED_ROUTES } from '#routes/relayed.ts'
import { generateApiKey } from '#store/keys/key-changes.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { startRelayRig } from '../engines/relay-rig.ts'
import { errorIn } from '../engines/relayed-samples.ts'
import { useOpened } from '../engines/use-opened.ts'

/** The routes of models, and those that relay. */
const SHARING: readonly Route<Operation>[] = [...MODEL_ROUTES, ...RELAYED_ROUTES]

captureTelemetry()

/** A table that refuses everything in one of two ways. */
let refusal = { status: 400, body: '{"__type":"com.amazon.coral.service#AccessDeniedException","message":"no"}' }
const table = createServer({ keepAliveTimeout: 0 }, (_, response) => {
  response.writeHead(refusal.status, { 'content-type': 'application/x-amz-json-1.0' }).end(refusal.body)
})
const rig = useOpened(startRelayRig)

beforeAll(async () => {
  table.listen(0, '127.0.0.1')
  await once(table, 'listening')
  const address = table.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${port}`
})
afterAll(async () => {
  table.close()
  table.closeAllConnections()
})

async function send({ operation, input }: Route<Operation>) {
  const call = { operation, key: generateApiKey() }
  if (input !== undefined) {
    const { statusCode, text } = await rig.send({}, call)
    return { statusCode, body: JSON.parse(text) }
  }
  const { statusCode, body } = await rig.sendBuffered('', call)
  return { statusCode, body: JSON.parse(body) }
}

describe('while the table fails', () => {
  it.each(SHARING)('$operation is a 500 that shows no details', async (route) => {
    refusal = { status: 400, body: '{"__type":"com.amazon.coral.service#AccessDeniedException","message":"secret"}' }
    expect(await send(route)).toStrictEqual({
      statusCode: 500,
      body: errorIn(route, { message: 'internal error', type: 'server_error', param: null, code: null }),
    })
  })

  it.each(SHARING)('$operation is a 503 if a later attempt can succeed', async (route) => {
    refusal = { status: 500, body: '{"__type":"com.amazonaws.dynamodb#InternalServerError"}' }
    expect(await send(route)).toMatchObject({
      statusCode: 503,
      body: errorIn(route, { message: 'service unavailable' }),
    })
  })
})
