import { describe, expect, it } from '@jest/globals'
import { startOpenAiSimulator } from '../../lib/simulators/openai.ts'
import { at, type ClientResponse, recorded, shapeOf, useOpenAi } from './simulator-client.ts'

const contentOf = ({ body }: ClientResponse, choice = 0) => String(at(body, 'choices', choice, 'message', 'content'))
const errorOf = ({ status, body }: ClientResponse, field: string) => [status, at(body, 'error', field)]

describe('the OpenAI-style upstream', () => {
  it('listens below /v1 and rejects a start on a taken port', async () => {
    const { simulator } = await useOpenAi()
    expect(simulator.baseUrl).toBe(`http://127.0.0.1:${simulator.port}/v1`)
    await expect(startOpenAiSimulator({ port: simulator.port })).rejects.toThrow('EADDRINUSE')
  })

  it.each([
    ['chat', 'chat'],
    ['chat_n2', 'chat'],
    ['chat_tools', 'chat'],
    ['embeddings_float', 'embeddings'],
    ['embeddings_base64', 'embeddings'],
    ['images_url', 'images'],
    ['images_b64', 'images'],
    ['models', 'models'],
  ])('responds to the recorded %s with its fields', async (name) => {
    const { call } = await useOpenAi()
    const { request, response } = recorded(`oai_${name}`)
    const { status, body } = await call(request.path, { body: request.body ?? undefined })
    expect([status, shapeOf(body)]).toMatchObject([200, Object(shapeOf(response.body))])
    expect(at(body, 'choices', 'length')).toEqual(at(response.body, 'choices', 'length'))
  })

  it('gives every response an id of its own and the time it took', async () => {
    const { call, chat, post } = await useOpenAi()
    const responses = [
      await chat('hi'),
      await chat('hi', { stream: true }),
      await chat('[error:500]'),
      await chat('[html]'),
      await post('/embeddings', {}),
      await call('/v1/models'),
      await call('/elsewhere'),
    ]
    const ids = responses.map(({ headers }) => headers.get('x-request-id'))
    expect(ids).toEqual(ids.map(() => expect.stringMatching(/^req_[0-9a-f]{32}$/)))
    expect(new Set(ids).size).toBe(ids.length)
    expect(responses.every(({ headers }) => /^\d+$/.test(headers.get('openai-processing-ms') ?? ''))).toBe(true)
  })

  it('refuses a missing token, and another token than its own without repeating it', async () => {
    const { simulator, call } = await useOpenAi({ apiKey: 'TEST_KEY' })
    expect((await call('/v1/models')).status).toBe(200)
    expect((await fetch(`${simulator.baseUrl}/models`)).status).toBe(401)
    const refused = await call('/v1/models', { headers: { authorization: 'Bearer sk-something-else' } })
    expect([refused.status, shapeOf(refused.body)]).toEqual([401, shapeOf(recorded('oai_err_401').response.body)])
    expect(refused.text).not.toContain('something')
  })

  it.each([
    ['/v1/models/chat-default', 'GET', 200],
    ['/v1/models/other', 'GET', 404],
    ['/v1/nothing', 'GET', 404],
    ['/chat/completions', 'POST', 404],
    ['/v1/chat/completions', 'GET', 405],
    ['/v1/models', 'POST', 405],
    // Paths of a channel with the version in them, below the base url of a simulator.
    ['/v1/v1/models', 'GET', 200],
    ['/v1/openai/v1/models', 'GET', 200],
  ])('responds to %s %s with %i', async (path, method, status) => {
    const { call } = await useOpenAi()
    expect((await call(path, { method })).status).toBe(status)
  })
})

describe('words in a model id', () => {
  it('count as in a prompt, unless the prompt has any of its own', async () => {
    const { chat } = await useOpenAi()
    const ask = (content: string) => chat(content, { model: 'small [error:503]' })
    expect((await ask('Hello')).status).toBe(503)
    expect((await ask('[sic] Hello')).status).toBe(503)
    expect((await ask('[error:429] Hello')).status).toBe(429)
    expect((await ask('[policy] Hello')).status).toBe(400)
    expect((await ask('[long:3] Hello')).status).toBe(200)
  })
})

describe('an error that the prompt asks for', () => {
  it.each([
    ['[error:401]', 'err_401'],
    ['[error:404]', 'err_404_model'],
    ['[error:429]', 'err_429_rate'],
    ['[error:429:quota]', 'err_429_quota'],
    ['[error:400:context]', 'err_400_context'],
    ['[error:500]', 'err_500'],
    ['[error:503]', 'err_503'],
    ['[policy]', 'images_policy'],
    ['[policy:nested]', 'images_policy_nested'],
  ])('%s is the recorded %s', async (word, name) => {
    const { chat } = await useOpenAi()
    const { status, body } = recorded(`oai_${name}`).response
    const response = await chat(`${word} hi`)
    expect([response.status, shapeOf(response.body)]).toEqual([status, shapeOf(body)])
    for (const field of ['code', 'type', 'param']) {
      expect(at(response.body, 'error', field)).toEqual(at(body, 'error', field))
    }
  })

  it.each([
    [402, 'insufficient_quota'],
    [403, 'request_forbidden'],
    [418, 'invalid_request_error'],
    [502, 'server_error'],
    [599, 'server_error'],
  ])('may have the status %i', async (status, type) => {
    const { chat } = await useOpenAi()
    expect(errorOf(await chat(`[error:${status}]`, { stream: true }), 'type')).toEqual([status, type])
  })

  it.each([
    ['[error:429]', '2'],
    ['[error:503]', '2'],
    ['[error:429:quota]', null],
    ['[error:500]', null],
    ['[error:429][retry-after:soon]', 'soon'],
    ['[error:429][retry-after:Mon, 30 Nov 2026 07:28:00 GMT]', 'Mon, 30 Nov 2026 07:28:00 GMT'],
  ])('%s has the retry-after %s', async (prompt, retryAfter) => {
    const { chat } = await useOpenAi()
    expect((await chat(prompt)).headers.get('retry-after')).toBe(retryAfter)
  })

  it('comes once for the same prompt with [error-once]', async () => {
    const { chat } = await useOpenAi()
    const prompts = ['[error-once:503] a', '[error-once:503] a', '[error-once:503] b', '[error-once:429:quota] a']
    const statuses = []
    for (const prompt of prompts) {
      statuses.push((await chat(prompt)).status)
    }
    expect(statuses).toEqual([503, 200, 503, 429])
  })

  it('is read in the last message of the user alone', async () => {
    const { post } = await useOpenAi()
    const say = (role: string, content: string) => ({ role, content })
    const earlier = [say('user', '[error:500]'), say('assistant', '[error:500]'), say('user', 'hi')]
    expect((await post('/chat/completions', { model: 'a', messages: earlier })).status).toBe(200)
    const last = [say('user', '[error:500]'), say('assistant', 'hi')]
    expect((await post('/chat/completions', { model: 'a', messages: last })).status).toBe(500)
  })

  it.each([
    ['/embeddings', { input: ['hi', '[error:503]'] }],
    ['/images/generations', { prompt: '[error:503]' }],
  ])('works on %s too', async (path, body) => {
    const { post } = await useOpenAi()
    expect((await post(path, { model: 'a', ...body })).status).toBe(503)
  })

  it.each(['[error:200]', '[error:600]', '[error:abc]', '[error]', '[ordinary]', '[odd-usage:many]'])(
    '%s is none',
    async (prompt) => {
      const { chat } = await useOpenAi()
      expect((await chat(prompt)).status).toBe(200)
    },
  )
})

describe('a request that the OpenAI-style upstream refuses', () => {
  const chatPath = '/chat/completions'
  const image = { model: 'image-v3', prompt: 'a fox' }
  it.each<[string, string, unknown, string | null, string | null]>([
    [
      'without a model',
      chatPath,
      { messages: [{ role: 'user', content: 'a' }] },
      'model',
      'missing_required_parameter',
    ],
    ['without messages', chatPath, { model: 'a' }, 'messages', 'missing_required_parameter'],
    [
      'without a role',
      chatPath,
      { model: 'a', messages: [{ content: 'a' }] },
      'messages[0].role',
      'missing_required_parameter',
    ],
    [
      'with a bare image url',
      chatPath,
      { model: 'a', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'https://a.example' }] }] },
      'messages[0].content[0].image_url',
      'invalid_type',
    ],
    ['that is a list', chatPath, [], null, null],
    ['with strings and ids', '/embeddings', { model: 'a', input: ['a', 1] }, 'input', 'invalid_value'],
    ['with 2049 inputs', '/embeddings', { model: 'a', input: Array(2049).fill('a') }, 'input', 'invalid_value'],
    ['with too many dimensions', '/embeddings', { model: 'a', input: 'a', dimensions: 1537 }, 'dimensions', null],
    ['with no size', '/images/generations', { ...image, size: 'large' }, 'size', 'invalid_value'],
    ['with a large size', '/images/generations', { ...image, size: '4096x4096' }, 'size', 'invalid_value'],
  ])('%s names the field', async (_name, path, body, param, code) => {
    const { post } = await useOpenAi()
    const response = await post(path, body)
    expect([...errorOf(response, 'param'), at(response.body, 'error', 'code')]).toEqual([400, param, code])
  })

  it.each([
    [{ messages: [{ role: 'bob', content: 'hi' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 3 }] }, 'messages[0].content'],
    [{ temperature: 2.1 }, 'temperature'],
    [{ stream_options: { include_usage: true } }, 'stream_options'],
    [{ tool_choice: 'auto' }, 'tool_choice'],
    [{ max_tokens: 16_385 }, 'max_tokens'],
    [{ messages: [{ role: 'user', content: 'a '.repeat(128_000) }] }, 'messages'],
  ])('has a chat with %j', async (more, param) => {
    const { chat } = await useOpenAi()
    expect(errorOf(await chat('hi', more), 'param')).toEqual([400, param])
  })

  it('does not reach its limits', async () => {
    const { chat } = await useOpenAi()
    expect((await chat('a '.repeat(127_990), { max_tokens: 16_384 })).status).toBe(200)
  })
})

describe('a chat', () => {
  it('quotes the last message of the user, cut to sixty characters, the same way each time', async () => {
    const { chat } = await useOpenAi()
    expect(contentOf(await chat('Say hi'))).toContain('“Say hi”')
    expect(contentOf(await chat('Say hi'))).toBe(contentOf(await chat('Say hi')))
    expect(contentOf(await chat('\u{1f600}'.repeat(100)))).toContain(`“${'\u{1f600}'.repeat(59)}…”`)
    expect(contentOf(await chat('[gap:1] Say [hello] hi [no-done]'))).toContain('“Say [hello] hi”')
    expect(contentOf(await chat('[gap:1]'))).toContain('nothing but magic')
  })

  it('has n choices, each with words of its own, and one fewer with [fewer]', async () => {
    const { chat } = await useOpenAi()
    const response = await chat('Say hi', { n: 3 })
    expect(at(response.body, 'choices')).toMatchObject([{ index: 0 }, { index: 1 }, { index: 2 }])
    expect(new Set([0, 1, 2].map((choice) => contentOf(response, choice))).size).toBe(3)
    expect(at((await chat('[fewer]', { n: 3 })).body, 'choices', 'length')).toBe(2)
    expect(at((await chat('[fewer]')).body, 'choices', 'length')).toBe(1)
  })

  it.each([
    [{ max_tokens: 4, n: 2 }, 'length', 8],
    [{ max_completion_tokens: 4 }, 'length', 4],
    [{ max_tokens: 100 }, 'stop', 22],
    [{ stop: ['zebra', 'hi'] }, 'stop', 6],
  ])('with %j ends with %s and counts its tokens', async (more, reason, tokens) => {
    const { chat } = await useOpenAi()
    const whole = contentOf(await chat('Say hi'))
    const response = await chat('Say hi', more)
    expect(whole.startsWith(contentOf(response))).toBe(true)
    expect(at(response.body, 'choices', 0, 'finish_reason')).toBe(reason)
    expect(at(response.body, 'usage', 'completion_tokens')).toBe(tokens)
  })

  it('adds up its usage and counts 85 tokens for an image', async () => {
    const { chat, post } = await useOpenAi()
    const [short, long] = [(await chat('one')).body, (await chat('one two 漢字 extraordinary!')).body]
    expect([short, long].map((body) => at(body, 'usage', 'prompt_tokens'))).toEqual([7, 13])
    const { prompt_tokens, completion_tokens, total_tokens } = Object(at(long, 'usage'))
    expect(total_tokens).toBe(prompt_tokens + completion_tokens)
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } }
    const content = [{ type: 'text', text: 'one' }, image, image]
    const seen = await post('/chat/completions', { model: 'chat-a', messages: [{ role: 'user', content }] })
    expect(contentOf(seen)).toMatch(/“one”.*Lovely pictures/)
    expect(at(seen.body, 'usage', 'prompt_tokens')).toBe(7 + 2 * 85)
  })

  it.each([
    ['[usage-details] hi', 'usage', { prompt_tokens_details: { cached_tokens: 6, audio_tokens: 0 } }],
    ['[filtered]', 'choices', [{ message: { content: '' }, finish_reason: 'content_filter' }]],
    ['[long:500]', 'usage', { completion_tokens: 500 }],
  ])('obeys %s', async (prompt, field, expected) => {
    const { chat } = await useOpenAi()
    expect(at((await chat(prompt)).body, field)).toMatchObject(expected)
  })

  it.each(['-1', '1.50', '1e30', '0'])('reports the usage %s as it stands with [odd-usage]', async (number) => {
    const { chat } = await useOpenAi()
    const usage = `"usage":{"prompt_tokens":${number},"completion_tokens":${number},"total_tokens":${number}}`
    const asked = { stream: true, stream_options: { include_usage: true } }
    expect((await chat(`[odd-usage:${number}] hi`)).text).toContain(usage)
    expect((await chat(`[odd-usage:${number}] hi`, asked)).text).toContain(usage)
  })

  it.each([
    [{ type: 'string' }, 'New York'],
    [{ enum: ['celsius', 'kelvin'] }, 'celsius'],
    [{ const: 4 }, 4],
    [{ type: 'integer', minimum: 2.5 }, 3],
    [{ type: 'null' }, null],
    [{ type: ['null', 'integer'] }, 1],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [
      {
        allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { $ref: '#/$defs/b' } } }],
        $defs: { b: { const: 2 } },
      },
      { a: 1, b: 2 },
    ],
    [undefined, 'New York'],
  ])('follows the JSON schema %j', async (schema, value) => {
    const { chat } = await useOpenAi()
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    const response = await chat('What is the weather in New York today?', { response_format: format })
    expect(JSON.parse(contentOf(response))).toEqual(value)
  })

  it('is JSON for the format json_object', async () => {
    const { chat } = await useOpenAi()
    const response = await chat('Say hi', { response_format: { type: 'json_object' } })
    expect(JSON.parse(contentOf(response))).toMatchObject({ you_said: 'Say hi' })
  })

  it('calls the first or the chosen tool, and none after a tool has spoken', async () => {
    const { chat, post } = await useOpenAi()
    const parameters = { type: 'object', properties: { city: { type: 'string' } } }
    const weather = { type: 'function', function: { name: 'get_weather', parameters } }
    const tools = [weather, { type: 'function', function: { name: 'get_time' } }]
    const calledBy = async (more: object) => {
      const { body } = await chat('The weather in Oslo, please', { tools, ...more })
      return at(body, 'choices', 0, 'message', 'tool_calls', 0, 'function')
    }
    expect(await calledBy({})).toEqual({ name: 'get_weather', arguments: '{"city":"Oslo"}' })
    expect(await calledBy({ tool_choice: tools[1] })).toEqual({ name: 'get_time', arguments: '{}' })
    expect(await calledBy({ tool_choice: 'none' })).toBeUndefined()
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
    const messages = [
      { role: 'user', content: 'The weather?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
    ]
    expect(contentOf(await post('/chat/completions', { model: 'a', messages, tools }))).toContain('“Rain”')
  })
})

describe('chat, responses and messages', () => {
  const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }
  const said = (prompt: string) => ({ messages: [{ role: 'user', content: prompt }] })
  const ROUTES = {
    '/chat/completions': (prompt: string) => ({
      ...{ model: 'a', ...said(prompt) },
      tools: [{ type: 'function', function: { name: 'f', parameters: PARAMETERS } }],
    }),
    '/responses': (prompt: string) => ({
      ...{ model: 'a', input: prompt },
      tools: [{ type: 'function', name: 'f', parameters: PARAMETERS }],
    }),
    '/messages': (prompt: string) => ({
      ...{ model: 'a', max_tokens: 100, ...said(prompt) },
      tools: [{ name: 'f', input_schema: PARAMETERS }],
    }),
  }

  it.each(Object.entries(ROUTES))(
    '%s thinks, and calls a tool several times in parallel, where it is told to',
    async (path, bodyOf) => {
      const { post } = await useOpenAi()
      const { body } = await post(path, bodyOf('Weather in Oslo [reasoning][tools:3]'))
      const text = JSON.stringify(body)
      expect(text).toContain('The user wants something.')
      expect(text.match(/"name":"f"/g)).toHaveLength(3)
      const { tools: _, ...plain } = bodyOf('Weather in Oslo')
      expect(JSON.stringify((await post(path, plain)).body)).not.toContain('The user wants something.')
    },
  )

  it.each([
    ['/chat/completions', said('Say hi now'), { logprobs: true, top_logprobs: 2 }],
    ['/responses', { input: 'Say hi now' }, { include: ['message.output_text.logprobs'], top_logprobs: 2 }],
  ])(
    '%s has log probabilities of each word for a request or a magic word that asks for them',
    async (path, fields, asking) => {
      const { post } = await useOpenAi()
      const logprobsOf = async (more: object) => {
        const { body } = await post(path, { model: 'a', ...fields, ...more })
        const choice = at(body, 'choices', 0, 'logprobs', 'content') ?? at(body, 'output', 0, 'content', 0, 'logprobs')
        return Array.isArray(choice) ? choice : []
      }
      const asked = await logprobsOf(asking)
      expect(asked.length).toBeGreaterThan(3)
      expect(asked[0]).toMatchObject({ token: expect.any(String), logprob: -0.25, top_logprobs: [{}, {}] })
      expect(await logprobsOf({ model: 'a [logprobs]' })).toHaveLength(asked.length)
      expect(await logprobsOf({})).toHaveLength(0)
    },
  )

  it.each([
    ['/chat/completions', /"content":"[^"]/g],
    ['/responses', /^event: response\.output_text\.delta$/gm],
    ['/messages', /^event: content_block_delta$/gm],
  ] as const)('%s has two words of a stream before it breaks off, fails or is malformed', async (path, word) => {
    const { rawPost } = await useOpenAi()
    const wordsBefore = async (failure: string) => {
      const { tools: _, ...body } = ROUTES[path](`${failure} Say hi now`)
      const { text } = await rawPost(path, { ...body, stream: true })
      return text.split('{"id":"chatcmpl-\n')[0]?.match(word)?.length
    }
    expect(await Promise.all(['[cut]', '[error-mid]', '[bad-json]'].map(wordsBefore))).toEqual([2, 2, 2])
  })

  it.each([
    [401, 'authentication_error'],
    [404, 'not_found_error'],
    [429, 'rate_limit_error'],
    [422, 'invalid_request_error'],
    [500, 'api_error'],
    [529, 'overloaded_error'],
    [402, 'billing_error', '429:quota'],
  ])('a %i of messages has the envelope of the Anthropic API', async (status, type, asked = String(status)) => {
    const { post } = await useOpenAi()
    const response = await post('/messages', { model: 'a', max_tokens: 9, ...said(`[error:${asked}]`) })
    const request_id = response.headers.get('request-id')
    expect(response).toMatchObject({
      status,
      body: { type: 'error', error: { type, message: expect.any(String) }, request_id },
    })
  })
})

describe('embeddings', () => {
  const MODEL = 'text-embedding-3-small'
  const vectorOf = ({ body }: ClientResponse, index = 0): number[] => [...Object(at(body, 'data', index, 'embedding'))]
  const product = (a: readonly number[] = [], b: readonly number[] = []) =>
    a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)

  it.each([
    [MODEL, undefined, 1536],
    ['text-embedding-3-large', undefined, 3072],
    [MODEL, 7, 7],
  ])('of %s with %s dimensions are unit vectors', async (model, dimensions, length) => {
    const { post } = await useOpenAi()
    const vector = vectorOf(await post('/embeddings', { model, dimensions, input: 'a paper city' }))
    expect(vector).toHaveLength(length)
    expect(product(vector, vector)).toBeCloseTo(1, 5)
  })

  it('are the same for the same string and near for strings that share words', async () => {
    const { post } = await useOpenAi()
    const input = ['the red fox in snow', 'the red fox in snow', 'a red fox in rain', 'stock market report']
    const response = await post('/embeddings', { model: MODEL, input })
    const [first, same, near, far] = [0, 1, 2, 3].map((index) => vectorOf(response, index))
    expect(same).toEqual(first)
    expect(product(first, near)).toBeGreaterThan(0.4)
    expect(Math.abs(product(first, far))).toBeLessThan(0.15)
  })

  it('are the same numbers in base64, little-endian', async () => {
    const { post } = await useOpenAi()
    const floats = vectorOf(await post('/embeddings', { model: MODEL, input: 'hi' }))
    const packed = await post('/embeddings', { model: MODEL, input: 'hi', encoding_format: 'base64' })
    const bytes = Buffer.from(String(at(packed.body, 'data', 0, 'embedding')), 'base64')
    expect(floats.map((_, index) => bytes.readFloatLE(index * 4))).toEqual(floats)
  })

  it('come in reverse with [disordered], and as numbers without usage with [ignore-encoding][no-usage]', async () => {
    const { post } = await useOpenAi()
    const reversed = await post('/embeddings', { model: MODEL, input: ['one [disordered]', 'two'], dimensions: 4 })
    expect(at(reversed.body, 'data')).toMatchObject([{ index: 1 }, { index: 0 }])
    const input = '[ignore-encoding][no-usage]'
    const numbers = await post('/embeddings', { model: MODEL, input, encoding_format: 'base64' })
    expect([vectorOf(numbers).length, at(numbers.body, 'usage')]).toEqual([1536, undefined])
  })
})

describe('images', () => {
  const urlOf = ({ body }: ClientResponse, index = 0) => String(at(body, 'data', index, 'url'))

  it('are the same PNG behind a url and in base64, behind urls of their own', async () => {
    const { post } = await useOpenAi()
    const asked = { model: 'image-v2', prompt: 'a fox', n: 2 }
    const response = await post('/images/generations', asked)
    const served = await fetch(urlOf(response))
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png'])
    const png = Buffer.from(await served.arrayBuffer())
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
    const packed = await post('/images/generations', { ...asked, response_format: 'b64_json' })
    expect(at(packed.body, 'data', 0, 'b64_json')).toBe(png.toString('base64'))
    expect(urlOf(response, 1)).not.toBe(urlOf(response, 0))
  })

  it('have urls that end after an hour and cannot be changed', async () => {
    const { post, clock } = await useOpenAi()
    const url = urlOf(await post('/images/generations', { model: 'image-v2', prompt: 'a fox' }))
    const statusOf = async (address: string, method = 'GET') => (await fetch(address, { method })).status
    expect(await statusOf(url.replace('-0.png', '-1.png'))).toBe(403)
    expect(await statusOf(url, 'POST')).toBe(405)
    clock.advanceSeconds(3599)
    expect(await statusOf(url)).toBe(200)
    clock.advanceSeconds(1)
    expect(await statusOf(url)).toBe(403)
  })

  it.each(['policy', 'policy_nested'])('are refused exactly like the recorded %s', async (name) => {
    const { post } = await useOpenAi()
    const response = await post('/images/generations', { model: 'image-v3', prompt: `[${name.replace('_', ':')}]` })
    const { body } = recorded(`oai_images_${name}`).response
    expect([response.status, response.text]).toEqual([400, JSON.stringify(body)])
  })
})
