import { describe, expect, it } from '@jest/globals'
import { CHAT, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { CHAT_VIEW } from '../chat-view.ts'

const rig = useOpened(startRelayRig)

function getModel(model: string, key?: string) {
  return rig.sendBuffered('', { operation: 'get-model', pathParameters: { model }, ...(key && { key }) })
}

describe('get-model', () => {
  it('get-model 200: the model with exactly the documented fields', async () => {
    const { statusCode, body } = await getModel(CHAT)
    expect(statusCode).toBe(200)
    expect(JSON.parse(body)).toStrictEqual(CHAT_VIEW)
  })

  it('get-model 401: an unknown key', async () => {
    const { statusCode, body } = await getModel(CHAT, 'nobody')
    expect([statusCode, JSON.parse(body).error.code]).toEqual([401, 'invalid_api_key'])
  })

  it.each(['nothing', 'toString', '__proto__', '', 'chat-a '])('get-model 404: %j', async (model) => {
    const { statusCode, body } = await getModel(model)
    expect([statusCode, JSON.parse(body).error.code]).toEqual([404, 'model_not_found'])
  })
})
