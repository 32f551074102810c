import { describe, expect, it } from '@jest/globals'
import { chatBodySchema, parseChatRequest } from '#core/api/chat-request.ts'
import { contentSchema, imageUrlOf, PARTS_MAX } from '#core/api/content-parts.ts'
import { parseBody } from '#core/api/request-issues.ts'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { InvalidRequestError, ModelNotFoundError } from '#core/errors.ts'
import { issuesOf, shippedCatalogue, shippedConfig } from '../shipped-catalogue.ts'

describe('parseChatRequest', () => {
  const GOOD = { model: 'chat-default', messages: [{ role: 'user', content: 'Say hi' }] }

  function parse(
    body: unknown,
    allowedModels: readonly string[] | null = null,
    catalogue: Catalogue = shippedCatalogue,
  ) {
    const bodyBytes = Buffer.byteLength(JSON.stringify(body) ?? '')
    return parseChatRequest(body, { catalogue, allowedModels, bodyBytes })
  }

  /** The shipped models, with these fields of the chat model instead. */
  function catalogueWith(members: Readonly<Record<string, unknown>>): Catalogue {
    const models = shippedConfig.models.map((model) => (model.kind === 'chat' ? { ...model, ...members } : model))
    return createCatalogue(gatewayConfigSchema.parse({ ...shippedConfig, models }))
  }

  function issuesOf(body: unknown, catalogue?: Catalogue) {
    try {
      parse(body, null, catalogue)
    } catch (error) {
      return error instanceof InvalidRequestError ? error.issues : error
    }
    return []
  }

  const withMessage = (message: unknown) => ({ ...GOOD, messages: [message] })

  it('accepts a request with every documented parameter and unknown fields', () => {
    const body = {
      ...GOOD,
      messages: [
        { role: 'system', content: 'Be brief', name: 'boss' },
        { role: 'developer', content: 'Be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
            { type: 'file', file: { file_id: 'f' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', content: 'result', tool_call_id: 'c1' },
        { role: 'function', content: 'result', name: 'f' },
        { role: 'function', content: null, name: 'f' },
      ],
      stream: true,
      stream_options: { include_usage: true, extra: 1 },
      temperature: 2,
      max_tokens: 16,
      top_p: 0.5,
      n: 2,
      stop: ['a', 'b'],
      presence_penalty: -2,
      frequency_penalty: 2,
      user: 'u',
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      seed: 7,
      response_format: { type: 'json_object' },
    }
    expect(parse(body)).toMatchObject({
      stream: true,
      includeUsage: true,
      choices: 2,
      outputTokensMax: 16,
      streamOptions: { include_usage: true, extra: 1 },
    })
  })

  it('takes null for a parameter that is not set, as SDKs write it', () => {
    const nothing = { stream: null, temperature: null, max_tokens: null, n: null, stop: null, tools: null, user: null }
    expect(parse({ ...GOOD, ...nothing })).toMatchObject({ stream: false, choices: 1, outputTokensMax: 16_384 })
  })

  it.each(['max_tokens', 'max_completion_tokens'])('refuses more %s than the model makes', (path) => {
    expect(issuesOf({ ...GOOD, [path]: 16_385 })).toContainEqual({ path, message: expect.any(String) })
  })

  it.each([
    ['unknown', 'nothing'],
    ['of another kind', 'text-embedding-3-small'],
    ['a member of every object', 'toString'],
  ])('does not know a model that is %s', (_, model) => {
    expect(() => parse({ ...GOOD, model })).toThrow(ModelNotFoundError)
  })

  it('does not know a model that is not on the list of the key', () => {
    expect(() => parse(GOOD, ['famA-2'])).toThrow(ModelNotFoundError)
    expect(parse(GOOD, ['chat-default']).model.id).toBe('chat-default')
  })

  it('bounds the prompt by the bytes of the body, with the number of its detail for each image in place of its url', () => {
    const bodyBytes = Buffer.byteLength(JSON.stringify(GOOD))
    expect(parse(GOOD)).toMatchObject({ promptTokensMax: bodyBytes, imageTokensMax: 0 })
    const url = `data:image/png;base64,${'A'.repeat(100_000)}`
    const boundOf = (detail?: string) => {
      const image = { type: 'image_url', image_url: { url, detail } }
      return parse(withMessage({ role: 'user', content: [image, image] })).promptTokensMax
    }
    expect(boundOf('low')).toBeGreaterThan(2 * 2_833)
    expect(boundOf('low')).toBeLessThan(2 * 2_833 + 300)
    expect(boundOf()).toBeGreaterThan(2 * 48_169)
    expect(boundOf()).toBeLessThan(2 * 48_169 + 300)
  })

  it.each([
    'da\tta:application/pdf;base64,AA',
    '\u0001data:application/pdf;base64,AA',
    'data\n:application/pdf,AA',
    'data:image/pdf;base64,AA',
    'gs://bucket/film.mp4',
    'https://x\ndata:application/pdf;base64,AA',
    'JVBERi0xLjcK',
  ])('bounds what may be no image, such as %j, by what the model can read', (url) => {
    const image = { type: 'image_url', image_url: { url, detail: 'low' } }
    expect(parse(withMessage({ role: 'user', content: [image] })).promptTokensMax).toBe(128_000)
  })

  it('bounds a prompt with images by the number of the model, else by what the model can read', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } }
    const body = withMessage({ role: 'user', content: [image, image, image] })
    const boundWith = (image_tokens: unknown) => parse(body, null, catalogueWith({ image_tokens })).promptTokensMax
    expect(boundWith(1_000)).toBeGreaterThan(3_000)
    expect(boundWith(1_000)).toBeLessThan(3_500)
    expect(boundWith({ high: 1_000 })).toBeGreaterThanOrEqual(3 * 128_000)
    expect(boundWith({ high: 1_000 })).toBeLessThan(3 * 128_000 + 500)
    expect(boundWith(undefined)).toBe(128_000)
  })

  it.each([
    ['image', { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
    ['file', { type: 'file', file: { file_id: 'f' } }],
  ])('refuses a part of the kind %s for a model that does not take it, and names both', (kind, part) => {
    const catalogue = catalogueWith({ input_modalities: ['text'] })
    const body = withMessage({ role: 'user', content: [{ type: 'text', text: 'a' }, part] })
    expect(issuesOf(body, catalogue)).toStrictEqual([
      {
        path: 'messages.0.content.1',
        message: `the model chat-default does not take input of the kind ${kind}: leave this part out, or use a model whose \`input_modalities\` have ${kind}`,
      },
    ])
    expect(issuesOf(GOOD, catalogue)).toStrictEqual([])
  })

  it('bounds a prompt with parts that only name what they mean by what the model can read', () => {
    const part = { type: 'file', file: { file_id: 'f' } }
    expect(parse(withMessage({ role: 'user', content: [part] })).promptTokensMax).toBe(128_000)
  })

  it.each<[string, object]>([
    ['of audio', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
    ['with nothing but its type', { type: 'input_audio' }],
    [
      'of a video that has a text too',
      { type: 'video_url', text: 'a', video_url: { url: 'https://example.com/a.mp4' } },
    ],
  ])('refuses a part %s, of which an upstream would get no more than its type, and says what to do', (_, part) => {
    const content = [{ type: 'text', text: 'a' }, part]
    const type = Object(part).type
    const catalogue = catalogueWith({ input_modalities: ['text', 'image', 'audio', 'video'] })
    expect(issuesOf({ ...GOOD, messages: [...GOOD.messages, { role: 'user', content }] }, catalogue)).toStrictEqual([
      {
        path: 'messages.1.content.1',
        message: `a part of type ${type} is not supported: use text or image_url, or ask the operator to add messages.content.${type} to pass_members of a channel`,
      },
    ])
  })

  it.each(['image', 'input_image'])('says how an image is written here for a part of type %s', (type) => {
    const message = 'write an image here as {"type":"image_url","image_url":{"url":"https://…"}}'
    const body = withMessage({ role: 'user', content: [{ type, image_url: 'https://example.com/a.png' }] })
    expect(issuesOf(body)).toStrictEqual([{ path: 'messages.0.content.0', message }])
  })

  it.each(['any', { type: 'function', name: 'f' }])('says how a function is chosen here for %j', (tool_choice) => {
    const message = expect.stringContaining('an object such as {"type":"function","function":{"name":"…"}}')
    expect(issuesOf({ ...GOOD, tool_choice })).toStrictEqual([{ path: 'tool_choice', message }])
  })

  it.each(['input_file', 'document'])('says how a file is written here for a part of type %s', (type) => {
    const message = expect.stringContaining('write a file here as {"type":"file","file":{')
    const body = withMessage({ role: 'user', content: [{ type }] })
    expect(issuesOf(body)).toStrictEqual([{ path: 'messages.0.content.0', message }])
  })

  it('never repeats a type that is no name, and takes no part of a listed type without its field', () => {
    const secret = withMessage({ role: 'user', content: [{ type: 'my secret words' }] })
    expect(JSON.stringify(issuesOf(secret))).not.toContain('secret')
    const file = withMessage({ role: 'user', content: [{ type: 'file', text: 'a' }] })
    expect(issuesOf(file)).toStrictEqual([
      { path: 'messages.0.content.0.file', message: '`file` is required in a part of type file' },
    ])
  })

  it('estimates the prompt by a token for four bytes of text, a fixed number for each image, and the context for a file', () => {
    const bodyBytes = Buffer.byteLength(JSON.stringify(GOOD))
    expect(parse(GOOD).promptTokensEstimate).toBe(Math.ceil(bodyBytes / 4))
    const url = `data:image/png;base64,${'A'.repeat(100_000)}`
    const image = { type: 'image_url', image_url: { url, detail: 'low' } }
    const twoImages = parse(withMessage({ role: 'user', content: [image, image] })).promptTokensEstimate
    expect(twoImages).toBeGreaterThan(2 * 2_833)
    expect(twoImages).toBeLessThan(2 * 2_833 + 100)
    const file = { type: 'file', file: { file_id: 'f' } }
    expect(parse(withMessage({ role: 'user', content: [file, image] })).promptTokensEstimate).toBe(128_000 + 2_833)
  })

  it('never estimates the prompt above its bound', () => {
    const body = withMessage({ role: 'user', content: 'a'.repeat(1_000_000) })
    expect(parse(body)).toMatchObject({ promptTokensMax: 128_000, promptTokensEstimate: 128_000 })
  })

  it('never bounds the prompt above what the model can read', () => {
    expect(parse(withMessage({ role: 'user', content: 'a'.repeat(500_000) })).promptTokensMax).toBe(128_000)
  })

  it('bounds the output by the larger of two limits, else by the model', () => {
    expect(parse({ ...GOOD, max_tokens: 10, max_completion_tokens: 20 }).outputTokensMax).toBe(20)
    expect(parse(GOOD).outputTokensMax).toBe(16_384)
  })
})

describe('chatBodySchema', () => {
  const GOOD = { model: 'chat-default', messages: [{ role: 'user', content: 'Say hi' }] }
  const withMessage = (message: unknown) => ({ ...GOOD, messages: [message] })
  const refusalOf = (body: unknown) => issuesOf(() => parseBody(chatBodySchema, body))

  it.each([
    ['an empty assistant message that calls tools', { role: 'assistant', tool_calls: [] }],
    ['a function message without a result', { role: 'function', content: null, name: 'f' }],
    ['a tool message with its call', { role: 'tool', content: 'x', tool_call_id: 'c1' }],
    ['a newer role', { role: 'developer', content: 'x' }],
  ])('takes %s', (_, message) => {
    expect(parseBody(chatBodySchema, withMessage(message)).messages).toEqual([message])
  })

  it.each<[string, unknown, string]>([
    ['a body that is a list', [], ''],
    ['no model', { ...GOOD, model: undefined }, 'model'],
    ['a model that is no string', { ...GOOD, model: 7 }, 'model'],
    ['no messages', { model: 'chat-default' }, 'messages'],
    ['an empty list of messages', { ...GOOD, messages: [] }, 'messages'],
    ['messages that are a string', { ...GOOD, messages: 'hi' }, 'messages'],
    ['a message that is a string', withMessage('hi'), 'messages.0'],
    ['a role that does not exist', withMessage({ role: 'wizard', content: 'hi' }), 'messages.0.role'],
    ['no content', withMessage({ role: 'user' }), 'messages.0.content'],
    ['content that is null for a user', withMessage({ role: 'user', content: null }), 'messages.0.content'],
    ['a tool message without its call', withMessage({ role: 'tool', content: 'x' }), 'messages.0.tool_call_id'],
    ['a function message without its function', withMessage({ role: 'function', content: 'x' }), 'messages.0.name'],
    ['a function message without a content', withMessage({ role: 'function', name: 'f' }), 'messages.0.content'],
    ['a refusal that is an object', withMessage({ role: 'assistant', refusal: {} }), 'messages.0.refusal'],
    ['tool calls of a user', withMessage({ role: 'user', content: 'x', tool_calls: [] }), 'messages.0.tool_calls'],
    [
      'a tool call with arguments that are no string',
      withMessage({ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: {} } }] }),
      'messages.0.tool_calls.0.function.arguments',
    ],
    ['a temperature above 2', { ...GOOD, temperature: 2.1 }, 'temperature'],
    ['a temperature below 0', { ...GOOD, temperature: -0.1 }, 'temperature'],
    ['a temperature that is a string', { ...GOOD, temperature: '1' }, 'temperature'],
    ['top_p above 1', { ...GOOD, top_p: 1.1 }, 'top_p'],
    ['no tokens', { ...GOOD, max_tokens: 0 }, 'max_tokens'],
    ['half a token', { ...GOOD, max_tokens: 1.5 }, 'max_tokens'],
    ['no choices', { ...GOOD, n: 0 }, 'n'],
    ['too many choices', { ...GOOD, n: 129 }, 'n'],
    ['five stops', { ...GOOD, stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
    ['a stop that is a number', { ...GOOD, stop: 7 }, 'stop'],
    ['a penalty above 2', { ...GOOD, presence_penalty: 2.5 }, 'presence_penalty'],
    ['a penalty below -2', { ...GOOD, frequency_penalty: -2.5 }, 'frequency_penalty'],
    ['stream as a string', { ...GOOD, stream: 'yes' }, 'stream'],
    ['a user that is a number', { ...GOOD, user: 7 }, 'user'],
    ['tools that are an object', { ...GOOD, tools: {} }, 'tools'],
    ['a tool of another type', { ...GOOD, tools: [{ type: 'retrieval' }] }, 'tools.0.type'],
    ['a tool without a name', { ...GOOD, tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
    ['a tool choice that does not exist', { ...GOOD, tool_choice: 'maybe' }, 'tool_choice'],
  ])('refuses %s and names the field', (_, body, path) => {
    expect(refusalOf(body)).toContainEqual({ path, message: expect.any(String) })
  })

  it.each<[string, object]>([
    ['messages', { messages: Array.from({ length: 10_000 }, () => 'secret words') }],
    ['parts', { messages: [{ role: 'user', content: Array.from({ length: 1_000_000 }, () => 'secret words') }] }],
    [
      'parts of messages',
      { messages: Array.from({ length: 500 }, () => ({ role: 'user', content: Array(2_000).fill({}) })) },
    ],
    [
      'calls',
      { messages: [{ role: 'assistant', tool_calls: Array.from({ length: 1_000_000 }, () => 'secret words') }] },
    ],
  ])('reports one of a million faults in its %s, and never repeats what the client sent', (_, members) => {
    const issues = refusalOf({ ...GOOD, ...members })
    expect(issues).toHaveLength(1)
    expect(JSON.stringify(issues)).not.toContain('secret')
  })

  it.each([
    ['of messages', { name: 'f', input_schema: {} }],
    ['of responses', { type: 'function', name: 'f', parameters: {} }],
  ])('shows the form of a tool to whoever sends one %s', (_, tool) => {
    const [issue] = refusalOf({ ...GOOD, tools: [tool] })
    expect(issue?.message).toContain('{"type": "function", "function": {"name", "description", "parameters"}}')
  })
})

const refusalOf = (content: unknown) => issuesOf(() => parseBody(contentSchema, content))

describe('contentSchema', () => {
  it.each([
    ['a string', 'hello'],
    [
      'parts of text and images',
      [
        { type: 'text', text: 'a' },
        { type: 'image_url', image_url: { url: 'u' } },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        { type: 'refusal', refusal: 'no' },
      ],
    ],
    ['a part of a type that is not listed', [{ type: 'input_audio', input_audio: {} }]],
    ['as many parts as there may be', Array(PARTS_MAX).fill({ type: 'text', text: 'a' })],
  ])('may be %s', (_, content) => {
    expect(parseBody(contentSchema, content)).toEqual(content)
  })

  it.each([
    ['a number', 7, ''],
    ['no part', [], ''],
    ['too many parts', Array(PARTS_MAX + 1).fill({ type: 'text', text: 'a' }), ''],
    ['a part that is a string', ['a'], '0'],
    ['a part without a type', [{ text: 'a' }], '0.type'],
    ['a text part without a text', [{ type: 'text', text: 'a' }, { type: 'text' }], '1.text'],
    ['an image part without a url', [{ type: 'image_url', image_url: {} }], '0.image_url'],
    ['a listed part without its field', [{ type: 'file', text: 'a' }], '0.file'],
    ['a refusal that is an image', [{ type: 'refusal', refusal: { type: 'image_url', image_url: 'u' } }], '0.refusal'],
    [
      'an image that is a document',
      [{ type: 'image_url', image_url: { url: 'data:application/pdf;base64,AA' } }],
      '0.image_url',
    ],
    [
      'an image that is a sound, its url bare',
      [{ type: 'image_url', image_url: ' DATA: audio/wav,AA' }],
      '0.image_url',
    ],
    ['an image of no type', [{ type: 'image_url', image_url: 'data:;base64,AA' }], '0.image_url'],
  ])('is refused with %s, naming the field', (_, content, path) => {
    expect(refusalOf(content)).toEqual([{ path, message: expect.any(String) }])
  })

  it('reads up to the first part with a fault', () => {
    let looks = 0
    const counted = {
      get type() {
        looks += 1
        return 'image_url'
      },
    }
    expect(refusalOf(Array(PARTS_MAX).fill(counted))).toHaveLength(1)
    expect(looks).toBeLessThan(10)
  })
})

describe('imageUrlOf', () => {
  it.each([
    [{ image_url: { url: 'u', detail: 'low' } }, 'u'],
    [{ image_url: 'u' }, 'u'],
    [{ image_url: { url: 7 } }, undefined],
    [{ image_url: null }, undefined],
    [{}, undefined],
  ])('of %j is %j', (part, url) => {
    expect(imageUrlOf(part)).toBe(url)
  })
})
