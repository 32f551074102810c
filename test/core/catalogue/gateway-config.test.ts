import { describe, expect, it } from '@jest/globals'
import * as z from 'zod'
import { channelPriority, channelSchema, channelWeight } from '#core/catalogue/channel.ts'
import { gatewayConfigSchema, hiddenMembers } from '#core/catalogue/gateway-config.ts'
import { chatTokenPrices, embeddingTokenPrices } from '#core/catalogue/model.ts'
import { price, strictObject } from '#core/catalogue/schema-parts.ts'
import { shippedConfig } from '../shipped-catalogue.ts'

const read = (changes: object) => gatewayConfigSchema.parse({ ...shippedConfig, ...changes })

describe('gatewayConfigSchema', () => {
  it('fills in the defaults', () => {
    const { channels, models } = shippedConfig
    expect(gatewayConfigSchema.parse({ channels, models })).toMatchObject({
      ...{ unit: 'credit', callback_allowlist: [], trusted_origins: [] },
      ...{ submit_wait_seconds: 10, answer_seconds: 290, queue_minutes: 60, max_video_bytes: 2_147_483_648 },
    })
  })

  it.each(['hooks.example.com', '*.partner.example', 'http://127.0.0.1:9400'])(
    'takes %s into the allowlist',
    (entry) => {
      expect(read({ callback_allowlist: [entry] }).callback_allowlist).toEqual([entry])
    },
  )

  it.each(['Hooks.example.com', 'localhost', '*', 'https://hooks.example/path', 'http://h:65536', 'hooks.example.'])(
    'refuses %s in the allowlist, and says what is allowed',
    (entry) => {
      expect(() => read({ callback_allowlist: [entry] })).toThrow('use a lower-case host (hooks.example.com)')
    },
  )

  it.each(['http://127.0.0.1:9400/', 'http://h:65536', 'ftp://h', 'h.example'])('refuses the origin %s', (entry) => {
    expect(() => read({ trusted_origins: [entry] })).toThrow('use an origin such as http://127.0.0.1:9400')
  })

  it('allows no origin of a browser unless told so', () => {
    expect(read({}).cors).toEqual({ origins: [] })
    expect(read({ cors: {} }).cors).toEqual({ origins: [] })
  })

  it.each([
    ['https://app.example.com'],
    ['http://localhost:5173'],
    ['https://app.example.com:8443'],
    ['http://[::1]:3000'],
    ['*'],
  ])('lets browsers call the API from %s', (origin) => {
    expect(read({ cors: { origins: [origin] } }).cors.origins).toEqual([origin])
  })

  it.each([
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://app.example.com:443',
    'http://app.example.com:80',
    'https://App.example.com',
    'https://user@app.example.com',
    'https://*.example.com',
    'app.example.com',
    'null',
    '',
    'https://h:65536',
    'https://ä.example',
  ])('refuses %j as an origin of a browser, and says how to write one', (origin) => {
    expect(() => read({ cors: { origins: [origin] } })).toThrow('exactly as browsers send it')
  })

  it('refuses other origins beside the star, and more origins than functions can be told', () => {
    expect(() => read({ cors: { origins: ['*', 'https://a.example'] } })).toThrow('list it alone')
    const many = Array.from({ length: 21 }, (_, index) => `https://a${index}.example`)
    expect(() => read({ cors: { origins: many } })).toThrow()
    expect(() => read({ cors: { origin: [] } })).toThrow('allowed: origins')
  })

  it.each([
    { submit_wait_seconds: 26 },
    { answer_seconds: 291 },
    { queue_minutes: 0 },
    { max_video_bytes: 10_737_418_241 },
    { models: [] },
    { unit: 'dollar' },
    { no_such_key: 1 },
  ])('refuses %j', (changes) => {
    expect(() => read(changes)).toThrow()
  })
})

describe('channelSchema', () => {
  it.each([
    [channelWeight, [0.001, 1, 1000], [0, -1, 1000.1, Number.NaN]],
    [channelPriority, [0, 1000], [-1, 0.5, 1001]],
  ])('has bounds of weight and priority (%#)', (schema, allowed, refused) => {
    expect(allowed.every((value) => schema.safeParse(value).success)).toBe(true)
    expect(refused.some((value) => schema.safeParse(value).success)).toBe(false)
  })

  it('has weight 1 and priority 0 unless the configuration says otherwise', () => {
    const channel = { id: 'chat', provider: 'openai', base_url: 'http://127.0.0.1:9', models: {} }
    expect(channelSchema.parse(channel)).toMatchObject({ weight: 1, priority: 0 })
  })
})

const CHANNEL = { id: 'relay-1', provider: 'openai', base_url: 'https://upstream.example/v1', models: {} }

/** What is wrong with a channel's `pass_members`: where, and a sentence. */
function problems(passMembers: object): string[] {
  const { error } = channelSchema.safeParse({ ...CHANNEL, pass_members: passMembers })
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('pass_members of a channel', () => {
  it('adds nothing where it is left out', () => {
    expect(channelSchema.parse(CHANNEL)).toMatchObject({ pass_members: { chat: [], embeddings: [], images: [] } })
  })

  it('takes what other vendors have besides, also inside of messages, and what the list leaves out', () => {
    const chat = ['top_k', 'enable_thinking', 'chat_template_kwargs', 'service_tier', 'messages.reasoning_content']
    const inner = ['messages.content.cache_control', 'messages.content.image_url.max_pixels', 'tools.cache_control']
    expect(problems({ chat: [...chat, ...inner], embeddings: ['task'], images: ['complexity'] })).toStrictEqual([])
  })

  it.each([
    ['chat', 'Model', 'model'],
    ['chat', 'MAX_TOKENS', 'max_tokens'],
    ['chat', 'maxTokens', 'max_tokens'],
    ['chat', 'max-completion-tokens', 'max_completion_tokens'],
    ['chat', 'N', 'n'],
    ['chat', 'streamOptions', 'stream_options'],
    ['chat', 'stream_options.includeUsage', 'include_usage'],
    ['chat', 'messages.Content', 'content'],
    ['chat', 'messages.content.imageUrl', 'image_url'],
    ['chat', 'messages.tool_calls.function.Arguments', 'arguments'],
    ['embeddings', 'Input', 'input'],
    ['images', 'Size', 'size'],
    ['images', 'QUALITY', 'quality'],
  ])('of %s refuses %s, which a loose upstream takes for %s', (api, path, known) => {
    expect(problems({ [api]: [path] })).toStrictEqual([
      `pass_members.${api}.0: an upstream that ignores case and underscores reads ${path} as ${known}, which already passes; leave it out`,
    ])
  })

  it.each([
    ['chat', 'models'],
    ['chat', 'Fallbacks'],
    ['chat', 'bestOf'],
    ['chat', 'max_output_tokens'],
    ['embeddings', 'models'],
    ['images', 'route'],
  ])('of %s refuses %s, which would change what is billed', (api, path) => {
    expect(problems({ [api]: [path] })).toStrictEqual([
      `pass_members.${api}.0: ${path} would let a client change the model or the amount that is billed; leave it out`,
    ])
  })

  it.each([
    [['model'], '0: model already passes; leave it out'],
    [['messages.role'], '0: messages.role already passes; leave it out'],
    [
      ['top_k', 'topK'],
      '1: topK and top_k are the same name to an upstream that ignores case and underscores; leave one out',
    ],
    [['metadata.x'], '0: metadata already passes with all of its fields; leave this out'],
    [
      ['tools.function.parameters.x'],
      '0: tools.function.parameters already passes with all of its fields; leave this out',
    ],
    [
      ['thinking.type'],
      '0: thinking is no listed object; write thinking alone, or one of stream_options, messages, tools, tool_choice, functions, function_call before the dot',
    ],
    [
      ['a b'],
      '0: use names of letters, digits, underscores and hyphens, separated by dots, such as messages.content.cache_control',
    ],
  ])('refuses %j with a sentence', (chat, problem) => {
    expect(problems({ chat })).toStrictEqual([`pass_members.chat.${problem}`])
  })

  it.each(['ſeed', '\u212aey', 'a..b', '.a', 'a.', ''])('refuses %j, which is no name', (path) => {
    expect(problems({ chat: [path] })[0]).toContain('use names of letters')
  })

  it('refuses a route that it does not know', () => {
    expect(problems({ completions: ['top_k'] })).toStrictEqual([
      'pass_members: unknown key "completions"; allowed: chat, embeddings, images, responses, messages',
    ])
  })
})

describe('gatewayConfigSchema, output limits:', () => {
  const CHAT = { id: 'm', kind: 'chat', billing: 'per_request', context_tokens: 9, prices: [{ price: '1' }] }

  function problems(model: object): string[] {
    const { error } = gatewayConfigSchema.safeParse({ channels: [], models: [{ ...CHAT, ...model }] })
    return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
  }

  describe('the default limit of a chat model', () => {
    it('is none unless it is written, and at most what the model makes', () => {
      expect(problems({ max_output_tokens: 5 })).toStrictEqual([])
      expect(problems({ max_output_tokens: 5, default_max_output_tokens: 5 })).toStrictEqual([])
      expect(problems({ max_output_tokens: 5, default_max_output_tokens: 6 })).toStrictEqual([
        'models.0.default_max_output_tokens: above max_output_tokens; allowed: 1 to 5',
      ])
      expect(problems({ max_output_tokens: 5, default_max_output_tokens: 0 })).toHaveLength(1)
    })
  })

  describe('the name of the output limit on a channel', () => {
    const channel = { id: 'relay-1', provider: 'openai', base_url: 'https://upstream.example/v1', models: {} }

    it('is max_tokens or max_completion_tokens', () => {
      for (const name of ['max_tokens', 'max_completion_tokens']) {
        expect(channelSchema.parse({ ...channel, output_limit_member: name })).toHaveProperty(
          'output_limit_member',
          name,
        )
      }
      expect(channelSchema.parse(channel)).not.toHaveProperty('output_limit_member')
      expect(channelSchema.safeParse({ ...channel, output_limit_member: 'maxTokens' }).success).toBe(false)
    })
  })
})

describe('chatTokenPrices', () => {
  it('keeps every price that is written, and adds none', () => {
    const row = {
      input: '3',
      output: '15',
      cached_input: '0.3',
      cached_input_explicit: '0.2',
      cache_write: '3.75',
      cache_write_1h: '6',
    }
    expect(chatTokenPrices.parse(row)).toStrictEqual(row)
    expect(chatTokenPrices.parse({ input: '3', output: '15' })).toStrictEqual({ input: '3', output: '15' })
  })

  it('takes the older names, alone and beside the prices of a cache', () => {
    const older = { input_per_million: '3', output_per_million: '15' }
    expect(chatTokenPrices.parse(older)).toStrictEqual({ input: '3', output: '15' })
    expect(chatTokenPrices.parse({ ...older, cached_input: '0.3' })).toStrictEqual({
      input: '3',
      output: '15',
      cached_input: '0.3',
    })
  })

  it.each([
    [{ input: '3' }, 'output', 'write output, the price of a million tokens'],
    [{ output: '3' }, 'input', 'write input, the price of a million tokens'],
    [{ input: '3', output: '1', input_per_million: '3' }, 'input', 'the same as input_per_million; leave one out'],
    [{ input: '3', output: '1', cached_inptu: '3' }, undefined, 'unknown key "cached_inptu"'],
    [{ input: '3', output: '1', cached_input: 0.3 }, 'cached_input', 'write the price as a decimal string'],
    [{ input: '3', output: '1', cache_write: '-1' }, 'cache_write', 'write a decimal string in credits'],
  ])('refuses %j', (row, name, message) => {
    const [issue] = chatTokenPrices.safeParse(row).error?.issues ?? []
    expect(issue?.path[0]).toBe(name)
    expect(issue?.message).toContain(message)
  })
})

describe('embeddingTokenPrices', () => {
  it('takes either name', () => {
    expect(embeddingTokenPrices.parse({ input: '3' })).toStrictEqual({ input: '3' })
    expect(embeddingTokenPrices.parse({ input_per_million: '3' })).toStrictEqual({ input: '3' })
    expect(embeddingTokenPrices.safeParse({}).success).toBe(false)
  })
})

describe('hidden_members', () => {
  it('hides what upstreams say of who served a request and for whom, if nothing is configured', () => {
    expect(hiddenMembers.parse(undefined)).toStrictEqual(['usage.is_byok', 'provider', 'user_id'])
  })

  it('takes any path of names, and none at all', () => {
    const paths = ['error.metadata', 'system_fingerprint', 'x-groq.usage.queue_time']
    expect(hiddenMembers.parse(paths)).toStrictEqual(paths)
    expect(hiddenMembers.parse([])).toStrictEqual([])
  })

  it.each(['', '.usage', 'usage.', 'usage..cost', 'usage[0]', 'a b', 1])('refuses %p', (path) => {
    expect(hiddenMembers.safeParse([path]).success).toBe(false)
  })

  it.each(['model', 'choices', 'data', 'choices.message'])('refuses %s, without which a response is none', (path) => {
    expect(hiddenMembers.safeParse([path]).error?.issues).toMatchObject([
      { path: [0], message: 'a response needs model, choices and data; leave this out' },
    ])
  })
})

describe('strictObject', () => {
  const schema = strictObject({ id: z.string(), weight: z.number().optional() })

  it('takes the known keys', () => {
    expect(schema.parse({ id: 'a' })).toStrictEqual({ id: 'a' })
  })

  it('names every unknown key and lists the allowed ones', () => {
    expect(schema.safeParse({ id: 'a', wieght: 1, x: 2 }).error?.issues).toMatchObject([
      { message: 'unknown key "wieght", "x"; allowed: id, weight' },
    ])
  })

  it('leaves other errors to their own schema', () => {
    expect(schema.safeParse({ id: 5 }).error?.issues).toMatchObject([{ path: ['id'], code: 'invalid_type' }])
  })
})

describe('a price in the configuration', () => {
  it.each(['0', '0.14', '3', '0.000001', '1000000000'])('may be %s', (text) => {
    expect(price.parse(text)).toBe(text)
  })

  it.each([0.14, '', '-1', '.5', '1.', '0.0000001', '1e3', ' 1', '1000000000.000001', '99999999999', null])(
    'must be a decimal string with at most six places, not %p',
    (value) => {
      expect(price.safeParse(value).error?.issues[0]?.message).toContain('decimal string in credits')
    },
  )
})
