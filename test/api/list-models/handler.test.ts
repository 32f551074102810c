import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CHAT, type RelayRig, startRelayRig } from '../../engines/relay-rig.ts'

let rig: RelayRig

beforeAll(async () => {
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
})

describe('list-models', () => {
  it('list-models 200: exactly the documented fields, in the order of the configuration', async () => {
    const { statusCode, headers, body } = await rig.sendBuffered('', { operation: 'list-models' })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'openai-processing-ms': expect.any(String) })
    const { object, data } = JSON.parse(body)
    expect(object).toBe('list')
    expect(data[0]).toStrictEqual({ id: CHAT, object: 'model', created: 1_767_225_600, owned_by: 'reelgate' })
  })

  it('list-models 401: an unknown key', async () => {
    const { statusCode, body } = await rig.sendBuffered('', { operation: 'list-models', key: 'nobody' })
    expect([statusCode, JSON.parse(body).error.code]).toEqual([401, 'invalid_api_key'])
  })
})
