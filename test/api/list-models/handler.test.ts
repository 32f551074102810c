import { describe, expect, it } from '@jest/globals'
import { relayConfig, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'
import { CHAT_VIEW } from '../chat-view.ts'

const rig = useOpened(startRelayRig)

describe('list-models', () => {
  it('list-models 200: exactly the documented fields, in the order of the configuration', async () => {
    const { statusCode, headers, body } = await rig.sendBuffered('', { operation: 'list-models' })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ 'x-request-id': expect.any(String), 'openai-processing-ms': expect.any(String) })
    const { object, data } = JSON.parse(body)
    expect(object).toBe('list')
    expect(data[0]).toStrictEqual(CHAT_VIEW)
    expect(data.map(({ id }: { id: string }) => id)).toStrictEqual(
      relayConfig(rig.upstreams).models.map(({ id }) => id),
    )
  })

  it('list-models 401: an unknown key', async () => {
    const { statusCode, body } = await rig.sendBuffered('', { operation: 'list-models', key: 'nobody' })
    expect([statusCode, JSON.parse(body).error.code]).toEqual([401, 'invalid_api_key'])
  })
})
