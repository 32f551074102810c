import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { OPENAI_ERRORS } from '#core/api/error-form.ts'
import { UpstreamFailedError } from '#core/errors.ts'
import type { RelayExchange } from '#lambdas/relay/relay-exchange.ts'
import { relayHandlers } from '#lambdas/relay/relay-handler.ts'
import { sendJson } from '#lambdas/relay/send-response.ts'
import { type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { runStreamHandler } from '../engines/stream-handler.ts'
import { apiEvent, context } from '../middleware/api-exchange.ts'

let rig: RelayRig
beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(() => rig.close())

const OK = Buffer.from('{"ok":true}')

/** Runs an operation as both of its forms, and shows what they responded and which exchanges reached it. */
async function serve(
  body: string,
  { key, relay = respond }: { readonly key: string; readonly relay?: typeof respond },
) {
  const relayed: RelayExchange[] = []
  const { handler, streamHandler } = relayHandlers({
    operation: 'create-image',
    errors: OPENAI_ERRORS,
    takesBody: true,
    relay: async (exchange) => {
      relayed.push(exchange)
      await relay(exchange)
    },
  })
  const event = () => apiEvent({ path: '/v1/images/generations', headers: { authorization: `Bearer ${key}` }, body })
  const whole = await handler(event(), context)
  const invocation = { awsRequestId: context.awsRequestId, getRemainingTimeInMillis: () => 900_000 }
  const streamed = await runStreamHandler({ streamHandler, event: event(), context: invocation, client: {} })
  expect([streamed.statusCode, streamed.text]).toEqual([whole.statusCode, whole.body])
  return { ...whole, relayed }
}

async function respond({ response }: RelayExchange): Promise<void> {
  await sendJson(response, { statusCode: 200, pieces: [OK] })
}

describe('relayHandlers', () => {
  it('give the operation the caller and the body of the request, and respond with its id', async () => {
    const { id, key } = await rig.tenant()
    const { statusCode, headers, body, relayed } = await serve('{"model":"image-v3"}', { key })
    expect([statusCode, body]).toEqual([200, String(OK)])
    expect(headers).toMatchObject({ 'x-request-id': context.awsRequestId })
    for (const { caller, body: parsed } of relayed) {
      expect([caller.tenantId, parsed.json]).toEqual([id, { model: 'image-v3' }])
    }
  })

  it('respond to a failure of the operation once, and never reject', async () => {
    const { key } = await rig.tenant()
    const relay = async () => {
      throw new UpstreamFailedError()
    }
    const { statusCode, body } = await serve('{}', { key, relay })
    expect([statusCode, JSON.parse(body).error.code]).toEqual([502, 'upstream_error'])
  })

  it('give a stream up 95 seconds before the end of the function, which then has time to settle', async () => {
    const { key } = await rig.tenant()
    const { streamHandler } = relayHandlers({
      operation: 'create-image',
      errors: OPENAI_ERRORS,
      takesBody: true,
      relay: async ({ response }) => {
        response.open({
          statusCode: 200,
          headers: { 'content-type': 'text/event-stream' },
          outOfTime: () => 'data: "late"\n\n',
        })
        await new Promise<void>((resolve) => response.gone.addEventListener('abort', resolve))
        response.end()
      },
    })
    const event = apiEvent({ path: '/v1/images/generations', headers: { authorization: `Bearer ${key}` }, body: '{}' })
    const invocation = { awsRequestId: context.awsRequestId, getRemainingTimeInMillis: () => 97_000 }
    const { text } = await runStreamHandler({ streamHandler, event, context: invocation, client: {} })
    expect(text).toBe('data: "late"\n\n')
  })
})
