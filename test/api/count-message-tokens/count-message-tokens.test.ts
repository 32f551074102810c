import { describe, expect, it } from '@jest/globals'
import { CHAT, sendJson, startRelayRig } from '../../engines/relay-rig.ts'
import { useOpened } from '../../engines/use-opened.ts'

const rig = useOpened(() => startRelayRig({ channels: 2, channel: { apis: { messages: { path: '/messages' } } } }))

const BODY = { model: CHAT, messages: [{ role: 'user', content: 'Say hi' }] }
const count = (body: object, call: object = {}) => rig.send(body, { operation: 'count-message-tokens', ...call })

describe('count-message-tokens', () => {
  it('200: is counted by the upstream, free of charge and without funds', async () => {
    const { id, key } = await rig.tenant('0')
    rig.upstreams[0]?.answerWith((outgoing) => sendJson(outgoing, { input_tokens: 12, other: 1 }))
    const { statusCode, text } = await count(BODY, { key, query: { beta: 'true' } })
    expect({ statusCode, text }).toStrictEqual({ statusCode: 200, text: '{"input_tokens":12}' })
    expect(rig.upstreams[0]?.calls.at(-1)).toMatchObject({
      path: '/v1/messages/count_tokens',
      body: { ...BODY, model: 'upstream-chat' },
      headers: { 'x-api-key': 'none' },
    })
    expect(await rig.rows(id)).toStrictEqual([])
  })

  it('200: the next channel counts where one cannot', async () => {
    rig.upstreams[0]?.answerWith((outgoing) => sendJson(outgoing, { error: { message: 'down' } }, 500))
    rig.upstreams[1]?.answerWith((outgoing) => sendJson(outgoing, { input_tokens: 13 }))
    expect(await count(BODY)).toMatchObject({ statusCode: 200, text: '{"input_tokens":13}' })
  })

  it('200: is estimated where no upstream knows the path', async () => {
    for (const each of rig.upstreams) {
      each.answerWith((outgoing) => sendJson(outgoing, { error: { message: 'not found' } }, 404))
    }
    const { statusCode, text } = await count(BODY)
    expect(statusCode).toBe(200)
    expect(JSON.parse(text).input_tokens).toBe(Math.ceil(JSON.stringify(BODY).length / 4))
  })

  it.each([{ input_tokens: -1 }, { input_tokens: 1.5 }, { input_tokens: '7' }, {}, [], 'x'.repeat(100_000)])(
    '200: is estimated where an upstream counts what cannot be, %j',
    async (reply) => {
      for (const each of rig.upstreams) {
        each.answerWith((outgoing) => sendJson(outgoing, reply))
      }
      expect(await count(BODY)).toMatchObject({
        statusCode: 200,
        text: JSON.stringify({ input_tokens: Math.ceil(JSON.stringify(BODY).length / 4) }),
      })
    },
  )

  it('400: names the field to correct, or has the words of the upstream', async () => {
    expect(await count({ ...BODY, messages: 'hi' })).toMatchObject({ statusCode: 400 })
    const error = { type: 'invalid_request_error', message: 'bad block' }
    rig.upstreams[0]?.answerWith((outgoing) => sendJson(outgoing, { type: 'error', error }, 400))
    const { statusCode, text } = await count(BODY)
    expect({ statusCode, body: JSON.parse(text) }).toStrictEqual({ statusCode: 400, body: { type: 'error', error } })
  })

  it('names the fields that it ignores, which a strict request is refused for', async () => {
    const body = { ...BODY, service_tier: 'auto' }
    expect((await count(body)).headers).toMatchObject({ 'x-reelgate-ignored': 'service_tier' })
    const { statusCode, text } = await count(body, { headers: { Prefer: 'handling=strict' } })
    expect([statusCode, text]).toEqual([400, expect.stringContaining('`service_tier` would be ignored')])
  })

  it('401: without a valid key', async () => {
    expect(await count(BODY, { key: 'wrong' })).toMatchObject({ statusCode: 401 })
  })
})
