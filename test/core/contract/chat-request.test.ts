import { describe, expect, it } from 'vitest'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import { gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { parseChatRequest } from '#core/contract/chat-request.ts'
import { InvalidRequestError, ModelNotFoundError } from '#core/errors.ts'
import { shippedCatalogue, shippedConfig } from '../shipped-catalogue.ts'

const GOOD = { model: 'chat-default', messages: [{ role: 'user', content: 'Say hi' }] }

function parse(body: unknown, allowedModels: readonly string[] | null = null, catalogue: Catalogue = shippedCatalogue) {
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

describe('chat-request: parseChatRequest', () => {
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
    expect(issuesOf({ ...GOOD, messages: [...GOOD.messages, { role: 'user', content }] })).toStrictEqual([
      {
        path: 'messages.1.content.1',
        message: `a part of type ${type} is not supported: use text, image_url or file, or ask the operator to add messages.content.${type} to pass_members of a channel`,
      },
    ])
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
