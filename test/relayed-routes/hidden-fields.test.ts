import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Operation } from '#routes/index.ts'
import { writeTokenizerRanks } from '../../lib/config/tokenizer-ranks.ts'
import {
  CHAT,
  chatAnswer,
  chatEvent,
  DONE,
  FINISH,
  type RelayRig,
  sendJson,
  sendStream,
  startRelayRig,
  USAGE,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'
import { BILLED, errorIn, type RelayedRoute, relayedRoute } from '../engines/relayed-samples.ts'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-hidden-'))

let rig: RelayRig
beforeAll(async () => {
  const file = join(directory, 'cl100k_base.json')
  writeTokenizerRanks(file)
  process.env.TOKENIZER_RANKS_FILE = file
  rig = await startRelayRig()
})
afterAll(async () => {
  await rig.close()
  rmSync(directory, { recursive: true })
})

/** Everything that an upstream says of itself in these tests. */
const SECRET = /acme|0\.0[12]7/

/** What a gateway upstream reports of who served a request, and for how much. */
const METADATA = { gateway: { routing: { finalProvider: 'acme' }, cost: '0.027' } }
const PRICES = {
  estimated_cost: 0.017,
  TotalPrice: '0.017',
  cost_details: { upstream: 0.017 },
  prompt_tokens_details: { cached_tokens: 0, cached_cost: 0.017, list: [{ input_price: 0.017, tokens: 1 }] },
}
const SHOWN = { prompt_tokens_details: { cached_tokens: 0, list: [{ tokens: 1 }] } }
const ERROR = { message: 'no', type: 't', param: 'p', code: 429, metadata: { provider_name: 'acme' }, cost: 0.017 }
const SHOWN_ERROR = { message: 'no', type: 't', param: 'p', code: 429 }

const MESSAGE = { role: 'assistant', content: 'Hi' }
const CHOICE = { index: 0, message: MESSAGE, finish_reason: 'stop' }

async function send(operation: Operation, body: object, fields: object = {}) {
  rig.upstreams[0]?.answerWith((response) => sendJson(response, body))
  const { statusCode, text } = await rig.send({ ...relayedRoute(operation).body, ...fields }, { operation })
  expect(text).not.toMatch(SECRET)
  return { statusCode, json: JSON.parse(text) }
}

async function stream(events: readonly string[], operation: Operation = 'create-chat-completion') {
  rig.upstreams[0]?.answerWith((response) => sendStream(response, ...events))
  const body = { ...relayedRoute(operation).body, stream: true, stream_options: { include_usage: true } }
  const { text } = await rig.send(body, { operation })
  expect(text).not.toMatch(SECRET)
  return text
}

/** The same reply from an upstream that says who it is, and what it takes. */
const telling = (json: string) =>
  json
    .replaceAll(/"model":"[^"]*"/g, '"model":"acme-1","provider":"acme"')
    .replaceAll('"usage":{', '"usage":{"estimated_cost":0.017,')

describe('an upstream that says who it is', () => {
  it.each(BILLED)('$operation: is not shown by a whole reply', async ({ operation, body, reply }) => {
    const { statusCode, json } = await send(operation, JSON.parse(telling(JSON.stringify(reply))))
    expect(statusCode).toBe(200)
    expect('model' in reply ? json.model : body.model).toBe(body.model)
  })

  it.each(BILLED.filter(({ stream: events }) => events !== undefined))(
    '$operation: is not shown by a stream',
    async ({ operation, body, stream: events }) => {
      const text = await stream([telling(String(events))], operation)
      expect(text).toContain(`"model":"${body.model}"`)
    },
  )
})

describe('a price of the upstream', () => {
  it('create-chat-completion: is hidden in a usage under any name, at any depth', async () => {
    const { json } = await send('create-chat-completion', chatAnswer({ usage: { ...USAGE, ...PRICES } }))
    expect(json.usage).toStrictEqual({ ...USAGE, ...SHOWN, cost: 0.015 })
  })

  it('create-chat-completion: is hidden under an escaped name, and in the usage of a choice', async () => {
    const text = `{"choices":[${JSON.stringify({ ...CHOICE, usage: { prompt_cost: 0.017, a: 1 } })}],"us\\u0061ge":{"prompt_tokens":9,"completion_tokens":3,"estimated_\\u0063ost":0.017}}`
    rig.upstreams[0]?.answerWith((response) => sendJson(response, text))
    const reply = await rig.send(relayedRoute('create-chat-completion').body)
    expect(reply.text).toBe(
      text.replace('"prompt_cost":0.017,', '').replace('"estimated_\\u0063ost":0.017', '"cost":0.015'),
    )
  })

  it('create-embedding, create-image: is hidden', async () => {
    const usage = { prompt_tokens: 1, total_tokens: 1, ...PRICES }
    const shown = { prompt_tokens: 1, total_tokens: 1, ...SHOWN, cost: expect.any(Number) }
    const data = [{ object: 'embedding', index: 0, embedding: [1] }]
    const embeddings = { object: 'list', data, usage }
    expect((await send('create-embedding', embeddings, { input: 'a' })).json.usage).toStrictEqual(shown)
    const images = { created: 1, data: [{ url: 'https://example.com/a.png' }], usage }
    expect((await send('create-image', images)).json.usage).toStrictEqual(shown)
  })

  it('is hidden in a stream, and where it is nobody keeps every other byte', async () => {
    const priced = chatEvent({ choices: [], usage: { ...USAGE, estimated_cost: 0.017 } })
    const text = await stream([word('cost: "usage"'), FINISH, priced, DONE])
    expect(text).toBe(
      [word('cost: "usage"'), FINISH, USAGE_CHUNK.replace('12}', '12,"cost":0.015}'), DONE]
        .join('')
        .replaceAll('upstream-chat', CHAT),
    )
  })
})

describe('the metadata of a gateway upstream', () => {
  it('create-chat-completion: is hidden beside the choices, and in a message', async () => {
    const choices = [{ ...CHOICE, message: { ...MESSAGE, provider_metadata: METADATA } }]
    const { json } = await send('create-chat-completion', chatAnswer({ choices, provider_metadata: METADATA }))
    expect(json).toStrictEqual(chatAnswer({ model: CHAT, choices: [CHOICE], usage: { ...USAGE, cost: 0.015 } }))
  })

  it('create-chat-completion: is hidden in a delta', async () => {
    const delta = { content: 'Hi', 'provider\u005fmetadata': METADATA }
    const text = await stream([chatEvent({ choices: [{ index: 0, delta }] }), FINISH, USAGE_CHUNK, DONE])
    expect(text).toContain('"delta":{"content":"Hi"}')
  })

  it('create-embedding: is hidden beside the data, and in an entry', async () => {
    const data = [{ provider_metadata: METADATA, object: 'embedding', index: 0, embedding: [1] }]
    const reply = { object: 'list', data, model: 'm', providerMetadata: METADATA, usage: { prompt_tokens: 1 } }
    const { json } = await send('create-embedding', reply, { input: 'a' })
    expect(json).toMatchObject({ data: [{ object: 'embedding', index: 0, embedding: [1] }] })
  })

  it('create-image: is hidden beside the data, and in an entry', async () => {
    const data = [{ url: 'https://example.com/a.png', provider_metadata: METADATA }]
    const { json } = await send('create-image', { created: 1, data, provider_metadata: METADATA })
    expect(json).toStrictEqual({ created: 1, data: [{ url: 'https://example.com/a.png' }] })
  })

  it('create-chat-completion: is left out of a reply that is relayed while it arrives', async () => {
    const long = 'a'.repeat(33 * 1024 * 1024)
    const choices = [{ ...CHOICE, message: { ...MESSAGE, provider_metadata: METADATA, content: long }, error: ERROR }]
    const reply = chatAnswer({ choices, provider_metadata: METADATA, usage: { ...USAGE, ...PRICES } })
    const { json } = await send('create-chat-completion', reply)
    expect(json.choices[0].message.content.length).toBe(long.length)
    expect({
      ...json,
      choices: [{ ...json.choices[0], message: { ...json.choices[0].message, content: '' } }],
    }).toEqual(
      chatAnswer({
        model: CHAT,
        choices: [{ ...CHOICE, message: { ...MESSAGE, content: '' }, error: SHOWN_ERROR }],
        usage: { ...USAGE, ...SHOWN, cost: 0.015 },
      }),
    )
  })
})

describe('comments of the upstream', () => {
  const COMMENTS = [
    ': OPENROUTER PROCESSING\n\n',
    `: acme\n${word('Hi')}`,
    ':\r\n\r\n',
    FINISH,
    ': bye\n\n',
    USAGE_CHUNK,
    DONE,
  ]

  it('create-chat-completion: are left out of a stream, and nothing else is', async () => {
    expect(await stream(COMMENTS)).toBe(
      [word('Hi'), FINISH, USAGE_CHUNK.replace('12}', '12,"cost":0.015}'), DONE]
        .join('')
        .replaceAll('upstream-chat', CHAT),
    )
  })

  it('create-completion: are left out of a stream', async () => {
    expect(await stream(COMMENTS, 'create-completion')).not.toMatch(/^:/m)
  })
})

describe('a refusal of the upstream', () => {
  const REFUSED = {
    message: 'the upstream refused the request without a message for clients',
    type: 'invalid_request_error',
    param: null,
    code: null,
  }

  async function refused({ operation, body }: RelayedRoute, refusal: unknown) {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, refusal, 400))
    const { statusCode, text } = await rig.send(body, { operation })
    expect(statusCode).toBe(400)
    expect(text).not.toMatch(SECRET)
    return JSON.parse(text)
  }

  it.each(BILLED)('$operation: shows message, type, param and code', async (route) => {
    const refusal = await refused(route, { error: ERROR, user_id: 'acme', provider: 'acme' })
    expect(refusal).toStrictEqual(errorIn(route, SHOWN_ERROR))
  })

  it.each<[string, unknown, unknown]>([
    ['without an error object', { ...ERROR, object: 'acme' }, SHOWN_ERROR],
    ['in a list', [{ error: ERROR }], [{ error: SHOWN_ERROR }]],
    ['with a string', { error: 'no', host: 'acme' }, { error: 'no' }],
    [
      'with an object for a message',
      { error: { message: { message: 'no', host: 'acme' } } },
      { error: { message: null } },
    ],
    ['with other fields alone', { detail: 'acme says no' }, { error: REFUSED }],
  ])('create-chat-completion: %s shows the same', async (_, body, shown) => {
    expect(await refused(relayedRoute('create-chat-completion'), body)).toStrictEqual(shown)
  })

  it.each([
    [
      'a stream of events',
      'text/event-stream',
      ': ACME\n\ndata: {"error":{"message":"m","metadata":{"name":"acme"}}}\n\n',
    ],
    ['a text that is cut', 'application/json', '{"error":{"message":"m","metadata":{"name":"acme"'],
    ['a text behind a prefix', 'application/json', ")]}'\n" + '{"error":{"message":"m","metadata":{"name":"acme"}}}'],
    ['two texts', 'application/json', '{"error":{"message":"m"}}\n{"name":"acme"}'],
    ['a string', 'application/json', '"acme says no, cost 3"'],
    ['a list as error', 'application/json', '{"error":["acme"]}'],
    ['the page of a proxy', 'text/html', '<html>acme</html>'],
    ['nothing', undefined, ''],
  ])('is an error of the gateway where the upstream sends %s', async (_, contentType, body) => {
    for (const route of BILLED) {
      const { operation } = route
      rig.upstreams[0]?.answerWith((response) => {
        response.writeHead(400, contentType === undefined ? {} : { 'content-type': contentType }).end(body)
      })
      const { statusCode, headers, text } = await rig.send(route.body, { operation })
      expect([operation, statusCode, headers['content-type']]).toEqual([operation, 400, 'application/json'])
      expect(JSON.parse(text)).toStrictEqual(errorIn(route, REFUSED))
    }
  })

  it.each([
    [
      'in the words of OpenAI',
      { error: { message: 'The model `upstream-chat` does not exist', code: 'model_not_found' } },
    ],
    ['as a string', { error: "model 'upstream-chat' not found, try pulling it first" }],
    ['without a code', { error: { message: 'models/upstream-chat:\nupstream-chat is not found', code: 404 } }],
    ['as Anthropic does', { type: 'error', error: { type: 'not_found_error', message: 'model: upstream-chat' } }],
  ])('create-chat-completion 404: an unknown model %s has the id and the code that clients know', async (_, body) => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, body, 404))
    const { statusCode, text } = await rig.send(relayedRoute('create-chat-completion').body)
    expect([statusCode, text]).toEqual([404, expect.not.stringContaining('upstream-chat')])
    expect(JSON.parse(text).error).toMatchObject({ message: expect.stringContaining(CHAT), code: 'model_not_found' })
  })

  it('create-chat-completion: names the model as clients know it, under any status and in a stream', async () => {
    const error = { message: 'upstream-chat takes no upstream-chatter', code: 'x' }
    rig.upstreams[0]?.answerWith((response) => sendJson(response, { error }, 400))
    const { text } = await rig.send(relayedRoute('create-chat-completion').body)
    expect(JSON.parse(text).error.message).toBe(`${CHAT} takes no upstream-chatter`)
    const events = await stream([word('Hi'), chatEvent({ choices: [], error }), DONE])
    expect(events).toContain(`${CHAT} takes no upstream-chatter`)
  })

  it('create-chat-completion 404: one that names no model keeps its own words', async () => {
    const error = { message: 'Invalid URL', type: 'invalid_request_error', param: null, code: null }
    rig.upstreams[0]?.answerWith((response) => sendJson(response, { error }, 404))
    expect((await rig.send(relayedRoute('create-chat-completion').body)).text).toBe(JSON.stringify({ error }))
  })

  it('keeps the bytes of what it shows', async () => {
    const text = '{ "error" : {"code":1.0, "message":"\\u00fc","x":"acme" } , "user_id":"acme"}'
    rig.upstreams[0]?.answerWith((response) => sendJson(response, text, 400))
    expect((await rig.send(relayedRoute('create-chat-completion').body)).text).toBe(
      '{ "error" : {"code":1.0, "message":"\\u00fc" }}',
    )
  })
})

describe('an error of the upstream under a status of success', () => {
  it.each(['create-chat-completion', 'create-completion'] as const)(
    '%s: shows message, type, param and code in a stream',
    async (operation) => {
      const error = chatEvent({
        provider: 'acme',
        user_id: 'acme',
        choices: [],
        usage: { estimated_cost: 0.017 },
        error: ERROR,
      })
      const text = await stream([word('Hi'), error, DONE], operation)
      expect(text.trimEnd().split('\n\n').at(-1)).toBe(`data: ${JSON.stringify({ error: SHOWN_ERROR })}`)
    },
  )

  it('create-chat-completion: shows the same beside choices, and in one', async () => {
    const choices = [{ ...CHOICE, error: ERROR }]
    const { json } = await send('create-chat-completion', chatAnswer({ choices, error: ERROR, user_id: 'acme' }))
    expect(json).toMatchObject({ choices: [{ error: SHOWN_ERROR }], error: SHOWN_ERROR })
  })

  it('create-image: shows the same in an entry', async () => {
    const { json } = await send('create-image', {
      created: 1,
      data: [{ url: 'https://example.com/a.png' }, { error: ERROR }],
    })
    expect(json.data).toStrictEqual([{ url: 'https://example.com/a.png' }, { error: SHOWN_ERROR }])
  })
})
