import { describe, expect, it } from '@jest/globals'
import {
  CHAT,
  chatAnswer,
  type RelayOperation,
  type RelayRig,
  sendJson,
  startRelayRig,
  UNSERVED,
} from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

const GOOD: Readonly<Record<string, { body: Record<string, unknown>; unserved: string; answer: object }>> = {
  'create-chat-completion': {
    body: { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 },
    unserved: UNSERVED.chat,
    answer: chatAnswer(),
  },
  'create-completion': { body: { model: CHAT, prompt: 'hi' }, unserved: UNSERVED.chat, answer: chatAnswer() },
  'create-embedding': {
    body: { model: 'text-embedding-3-small', input: 'hi' },
    unserved: UNSERVED.embedding,
    answer: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      model: 'up',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  },
  'create-image': {
    body: { model: 'image-v2', prompt: 'hi' },
    unserved: UNSERVED.image,
    answer: { created: 1, data: [{ url: 'https://example.com/a.png' }] },
  },
}

const rig = useOpened(() => startRelayRig({ channel: { timeouts: { first_byte_seconds: 1.5 } } }))

type Send = (operation: RelayOperation) => Promise<{ statusCode: number; headers: object; text: string }>

function good(operation: RelayOperation) {
  const found = GOOD[operation]
  if (found === undefined) {
    throw new TypeError(`no request for ${operation}`)
  }
  return found
}

function upstreamAnswers(answer: Parameters<RelayRig['upstreams'][number]['answerWith']>[0]) {
  rig.upstreams[0]?.answerWith(answer)
}

const sendGood: Send = (operation) => rig.send(good(operation).body, { operation })

/** How each status comes about, and the code that clients read. */
const CASES: Readonly<Record<number, { code: string | null; send: Send }>> = {
  200: {
    code: null,
    send: (operation) => {
      upstreamAnswers((response) => sendJson(response, good(operation).answer))
      return sendGood(operation)
    },
  },
  400: { code: null, send: (operation) => rig.send({ ...good(operation).body, user: 7 }, { operation }) },
  401: {
    code: 'invalid_api_key',
    send: (operation) => rig.send(good(operation).body, { operation, key: 'nobody' }),
  },
  402: {
    code: 'insufficient_quota',
    send: async (operation) => {
      const { key } = await rig.tenant('0')
      return await rig.send(good(operation).body, { operation, key })
    },
  },
  404: {
    code: 'model_not_found',
    send: (operation) => rig.send({ ...good(operation).body, model: 'nothing' }, { operation }),
  },
  413: {
    code: 'request_body_too_large',
    send: (operation) => rig.send({ ...good(operation).body, more: 'x'.repeat(5 * 1024 * 1024) }, { operation }),
  },
  429: {
    code: 'upstream_rate_limited',
    send: (operation) => {
      upstreamAnswers((response) => sendJson(response, '{}', 429))
      return sendGood(operation)
    },
  },
  502: {
    code: 'upstream_unavailable',
    send: (operation) => {
      upstreamAnswers((response) => sendJson(response, '{}', 500))
      return sendGood(operation)
    },
  },
  503: {
    code: 'no_channel_available',
    send: (operation) => rig.send({ ...good(operation).body, model: good(operation).unserved }, { operation }),
  },
  504: {
    code: 'upstream_timeout',
    send: (operation) => {
      upstreamAnswers(() => undefined)
      return sendGood(operation)
    },
  },
}

const DECLARED = Object.keys(GOOD).flatMap((operation) => Object.keys(CASES).map((status) => `${operation} ${status}`))

describe('every status of every relayed route', () => {
  it.each(DECLARED)('%s, in the shape that SDKs read, with its request id and nothing held', async (name) => {
    const [operation = '', status = ''] = name.split(' ')
    if (!isRelayed(operation)) {
      throw new TypeError(`${operation} is not relayed`)
    }
    const { code, send } = CASES[Number(status)] ?? {}
    const answer = await send?.(operation)
    expect(answer?.statusCode).toBe(Number(status))
    expect(answer?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'openai-processing-ms': expect.stringMatching(/^\d+$/),
      'x-content-type-options': 'nosniff',
    })
    if (status !== '200') {
      expect(JSON.parse(answer?.text ?? '')).toStrictEqual({
        error: {
          message: expect.any(String),
          type: expect.any(String),
          param: code === 'model_not_found' ? 'model' : status === '400' ? 'user' : null,
          code,
        },
      })
    }
  })

  it('says when to come again with 429 and 503, and with 504 that a second try could be billed twice', async () => {
    const operation = 'create-embedding'
    expect((await CASES[429]?.send(operation))?.headers).toMatchObject({ 'retry-after': '1' })
    expect((await CASES[503]?.send(operation))?.headers).toMatchObject({ 'retry-after': '1' })
    expect((await CASES[504]?.send(operation))?.headers).toMatchObject({ 'x-should-retry': 'false' })
  })
})

function isRelayed(operation: string): operation is RelayOperation {
  return Object.hasOwn(GOOD, operation)
}
