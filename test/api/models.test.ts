import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CHAT, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'

let rig: RelayRig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
})

describe('models', () => {
  it('list-models 200: exactly the members of the interface, in the order of the configuration', async () => {
    const { statusCode, headers, body } = await rig.sendBuffered('', { operation: 'list-models' })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'openai-processing-ms': expect.any(String) })
    const { object, data } = JSON.parse(body)
    expect(object).toBe('list')
    expect(data[0]).toStrictEqual({ id: CHAT, object: 'model', created: 1_767_225_600, owned_by: 'reelgate' })
  })

  it.each(['list-models 401', 'get-model 401'])('%s: a key that nobody has', async (name) => {
    const operation = name.startsWith('list') ? 'list-models' : 'get-model'
    const { statusCode, body } = await rig.sendBuffered('', { operation, key: 'nobody' })
    expect({ statusCode, error: JSON.parse(body).error.code }).toStrictEqual({
      statusCode: 401,
      error: 'invalid_api_key',
    })
  })

  it('get-model 404: unknown ids and members of every object alike', async () => {
    for (const model of ['nothing', 'toString', '__proto__', '', 'chat-a ']) {
      const { statusCode, body } = await rig.sendBuffered('', { operation: 'get-model', pathParameters: { model } })
      expect({ statusCode, code: JSON.parse(body).error.code }).toStrictEqual({
        statusCode: 404,
        code: 'model_not_found',
      })
    }
  })
})
