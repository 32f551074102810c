import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  CHAT,
  chatAnswer,
  DONE,
  FINISH,
  type RelayRig,
  sendJson,
  sendStream,
  startRelayRig,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'

const APP = 'https://app.example.com'
const BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 }
const OPEN = { 'access-control-allow-origin': APP, vary: 'Origin' }

let rig: RelayRig
beforeAll(async () => {
  // Handlers read the origins when they are loaded.
  process.env.CORS_ORIGINS = APP
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
})

const headers = { Origin: APP }

describe('a relayed response to a script of an allowed origin', () => {
  it('can be read, whole or streamed, from the streaming and from the buffered handler', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
    expect((await rig.send(BODY, { headers })).headers).toMatchObject(OPEN)
    expect((await rig.sendBuffered(BODY, { headers })).headers).toMatchObject(OPEN)
    rig.upstreams[0]?.answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    expect((await rig.send({ ...BODY, stream: true }, { headers })).headers).toMatchObject(OPEN)
  })

  it('can be read when it is an error of the gateway or of the upstream', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, { error: { message: 'no' } }, 400))
    const answers = [
      await rig.send(BODY, { headers }),
      await rig.send(BODY, { headers, key: 'nobody' }),
      await rig.send('{', { headers }),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 401, 400])
    for (const answer of answers) {
      expect(answer.headers).toMatchObject({
        ...OPEN,
        'access-control-expose-headers': expect.stringContaining('x-reelgate-cost'),
      })
    }
  })

  it('says nothing to another origin', async () => {
    const answer = await rig.send(BODY, { headers: { Origin: 'https://other.example' }, key: 'nobody' })
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
    expect(answer.headers).toMatchObject({ vary: 'Origin' })
  })
})
