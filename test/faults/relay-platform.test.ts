import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { generateApiKey } from '#store/keys/key-changes.ts'
import { captureTelemetry } from '../engines/emitted-metrics.ts'
import { type RelayOperation, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const NAMES = [
  ['create-chat-completion 500', 'create-chat-completion 503'],
  ['create-completion 500', 'create-completion 503'],
  ['create-embedding 500', 'create-embedding 503'],
  ['create-image 500', 'create-image 503'],
  ['list-models 500', 'list-models 503'],
  ['get-model 500', 'get-model 503'],
] as const

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

async function send(name: string) {
  const operation = name.split(' ')[0]
  const call = { operation: operation as RelayOperation, key: generateApiKey() }
  const isRead = operation === 'list-models' || operation === 'get-model'
  if (!isRead) {
    const { statusCode, text } = await rig.send({}, call)
    return { statusCode, body: JSON.parse(text) }
  }
  const { statusCode, body } = await rig.sendBuffered('', call)
  return { statusCode, body: JSON.parse(body) }
}

describe('relayed requests while the table fails', () => {
  it.each(NAMES.map(([refused]) => refused))('%s: an internal fault shows no details', async (name) => {
    refusal = { status: 400, body: '{"__type":"com.amazon.coral.service#AccessDeniedException","message":"secret"}' }
    expect(await send(name)).toStrictEqual({
      statusCode: 500,
      body: { error: { message: 'internal error', type: 'server_error', param: null, code: null } },
    })
  })

  it(`are 503 if a later attempt can succeed: ${NAMES.map(([, unavailable]) => unavailable).join(', ')}`, async () => {
    refusal = { status: 500, body: '{"__type":"com.amazonaws.dynamodb#InternalServerError"}' }
    const answers = await Promise.all(NAMES.map(([, name]) => send(name)))
    for (const answer of answers) {
      expect(answer).toMatchObject({ statusCode: 503, body: { error: { message: 'service unavailable' } } })
    }
  })
})
