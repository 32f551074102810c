import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import { requireDocumented } from '../openapi/documented-answer.ts'
import { FREE_MODEL, type RelayGateway, startRelayGateway, UNSERVED_MODEL } from './relay-gateway.ts'

let gateway: RelayGateway
beforeAll(async () => {
  gateway = await startRelayGateway()
})
afterAll(async () => {
  await gateway.stop()
})

describe('openai sdk', () => {
  const MODEL = 'chat-default'
  const say = (content: string) => [{ role: 'user' as const, content }]

  let client: OpenAI
  /** Requests that the client has sent, its own retries included. */
  let sent = 0

  /** Counts, and holds every answer that comes in one piece against openapi.json. */
  const countingFetch: typeof fetch = async (input, init) => {
    sent += 1
    const response = await fetch(input, init)
    const contentType = response.headers.get('content-type')
    if (contentType?.startsWith('application/json')) {
      const path = new URL(String(input)).pathname
      const text = await response.clone().text()
      requireDocumented({ method: init?.method ?? 'GET', path, status: response.status, contentType, text })
    }
    return response
  }

  function clientOf(apiKey: string, maxRetries = 0): OpenAI {
    return new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries, fetch: countingFetch })
  }

  async function errorOf(promise: PromiseLike<unknown>): Promise<unknown> {
    try {
      await promise
    } catch (error) {
      return error
    }
    throw new TypeError('the request was answered')
  }

  beforeAll(() => {
    client = clientOf('e2e-key')
  })

  describe('the official SDK, with nothing but base url and key', () => {
    it('list-models 200, get-model 200: every enabled model of every kind, and one by its id', async () => {
      const models = (await client.models.list()).data
      expect(models.map(({ id }) => id)).toEqual(
        expect.arrayContaining(['famB-1.1-t2v', MODEL, 'text-embedding-3-small', 'image-v3']),
      )
      const model = await client.models.retrieve(MODEL)
      expect(model).toMatchObject({ id: MODEL, object: 'model', owned_by: 'reelgate', created: expect.any(Number) })
      expect(model).toStrictEqual(models.find(({ id }) => id === MODEL))
      expect(model).toMatchObject({ kind: 'chat', context_window: 128_000, pricing: { unit: 'credit' } })
    })

    it('list-models 200: a key that is limited to models sees and uses nothing else', async () => {
      const { key } = await gateway.tenant('1', [MODEL])
      const limited = clientOf(key)
      expect((await limited.models.list()).data.map(({ id }) => id)).toStrictEqual([MODEL])
      expect(await errorOf(limited.models.retrieve('image-v3'))).toBeInstanceOf(NotFoundError)
      const embedding = limited.embeddings.create({ model: 'text-embedding-3-small', input: 'a' })
      expect(await errorOf(embedding)).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' })
    })

    it('create-chat-completion 200: a chat under the public model id, billed by its usage to the last millionth', async () => {
      const { id, key } = await gateway.tenant('1')
      const { data, response, request_id } = await clientOf(key)
        .chat.completions.create({ model: MODEL, messages: say('Say hi'), max_tokens: 50 })
        .withResponse()
      expect(data).toMatchObject({
        object: 'chat.completion',
        model: MODEL,
        choices: [{ message: { role: 'assistant' } }],
      })
      expect(response.headers.get('openai-processing-ms')).toMatch(/^\d+$/)
      const { prompt_tokens = 0, completion_tokens = 0 } = data.usage ?? {}
      const cost = Math.round(prompt_tokens * 0.15 + completion_tokens * 0.6)
      const [settle, reserve] = await gateway.ledger(id)
      expect(settle).toMatchObject({ kind: 'settle', job: request_id, actual: String(cost / 1_000_000) })
      expect(reserve).toMatchObject({ kind: 'reserve', job: request_id, amount: settle?.amount })
      expect(await gateway.balance(id)).toMatchObject({ held: '0', spent: settle?.actual })
    })

    it('returns the requested number of choices', async () => {
      const { choices } = await client.chat.completions.create({ model: MODEL, messages: say('Hi'), n: 3 })
      expect(choices.map(({ index }) => index)).toStrictEqual([0, 1, 2])
    })

    it('streams the same words, with the usage only on request', async () => {
      const body = { model: MODEL, messages: say('Tell me a story'), max_tokens: 20 } as const
      const whole = await client.chat.completions.create(body)
      const plain = await readStream(await client.chat.completions.create({ ...body, stream: true }))
      expect(plain.text).toBe(whole.choices[0]?.message.content)
      expect(plain.usage).toBeUndefined()
      const withUsage = await readStream(
        await client.chat.completions.create({ ...body, stream: true, stream_options: { include_usage: true } }),
      )
      expect(withUsage).toMatchObject({ text: plain.text, usage: whole.usage })
    })

    it('bills a stream like a whole response', async () => {
      const { id, key } = await gateway.tenant('1')
      const body = { model: MODEL, messages: say('Count the money'), max_tokens: 20 } as const
      await clientOf(key).chat.completions.create(body)
      await readStream(await clientOf(key).chat.completions.create({ ...body, stream: true }))
      const settled = (await gateway.ledger(id)).filter(({ kind }) => kind === 'settle')
      expect(settled).toHaveLength(2)
      expect(settled[0]?.actual).toBe(settled[1]?.actual)
    })

    it('bills a stream without a usage at its estimate, and marks it', async () => {
      const { id, key } = await gateway.tenant('1')
      await readStream(
        await clientOf(key).chat.completions.create({ model: MODEL, messages: say('[no-usage] hi'), stream: true }),
      )
      const [settle] = await gateway.ledger(id)
      expect(settle).toMatchObject({ kind: 'settle', estimated: true })
      expect(settle?.actual).toBe(settle?.amount)
    })

    it('relays tool calls and their results, whole and streamed', async () => {
      const tools = [
        {
          type: 'function' as const,
          function: {
            name: 'get_weather',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          },
        },
      ]
      const body = { model: MODEL, messages: say('What is the weather in Oslo?'), tools }
      const [choice] = (await client.chat.completions.create(body)).choices
      const [call] = choice?.message.tool_calls ?? []
      expect(choice?.finish_reason).toBe('tool_calls')
      if (call?.type !== 'function') {
        throw new TypeError('no function was called')
      }
      expect(JSON.parse(call.function.arguments)).toEqual({ city: expect.any(String) })
      const streamed = await client.chat.completions.stream(body).finalMessage()
      expect(streamed.tool_calls).toMatchObject([{ function: call.function }])
      const answer = await client.chat.completions.create({
        ...body,
        messages: [
          ...body.messages,
          { role: 'assistant', content: null, tool_calls: [call] },
          { role: 'tool', tool_call_id: call.id, content: '12 degrees' },
        ],
      })
      expect(answer.choices[0]?.finish_reason).toBe('stop')
    })

    it('create-completion 200: legacy completions of several prompts, whole and streamed', async () => {
      const body = { model: MODEL, prompt: ['Once', 'Twice'], n: 2, echo: true, suffix: ' END' }
      const whole = await client.completions.create(body)
      expect(whole).toMatchObject({ object: 'text_completion', model: MODEL })
      expect(whole.choices.map(({ index }) => index)).toStrictEqual([0, 1, 2, 3])
      expect(whole.choices[3]?.text).toMatch(/^Twice.+ END$/s)
      const texts = ['', '', '', '']
      for await (const { choices } of await client.completions.create({ ...body, stream: true })) {
        for (const { index, text } of choices) {
          texts[index] += text
        }
      }
      expect(texts).toStrictEqual(whole.choices.map(({ text }) => text))
    })

    it('create-embedding 200: the same vectors as floats and as base64, which the SDK asks for by itself', async () => {
      const body = { model: 'text-embedding-3-small', input: ['a paper city', 'at night'], dimensions: 16 }
      const decoded = await client.embeddings.create(body)
      const floats = await client.embeddings.create({ ...body, encoding_format: 'float' })
      expect(decoded.model).toBe(body.model)
      expect(decoded.data.map(({ index }) => index)).toStrictEqual([0, 1])
      for (const [index, { embedding }] of decoded.data.entries()) {
        expect(embedding).toHaveLength(16)
        expect(embedding).toStrictEqual(Array.from(new Float32Array(floats.data[index]?.embedding ?? [])))
      }
    })

    it('decodes vectors of an upstream without base64', async () => {
      const body = { model: 'text-embedding-3-small', input: '[ignore-encoding] a city', dimensions: 8 }
      const floats = await client.embeddings.create({ ...body, encoding_format: 'float' })
      const [decoded] = (await client.embeddings.create(body)).data
      expect(decoded?.embedding).toStrictEqual(Array.from(new Float32Array(floats.data[0]?.embedding ?? [])))
    })

    it('create-image 200: an image as a url and as base64', async () => {
      const byUrl = await client.images.generate({ model: 'image-v3', prompt: 'a paper city' })
      const [first] = byUrl.data ?? []
      expect(first?.revised_prompt).toEqual(expect.any(String))
      const served = await fetch(first?.url ?? '')
      expect(served.headers.get('content-type')).toBe('image/png')
      const inline = await client.images.generate({
        model: 'image-v2',
        prompt: 'a city',
        n: 2,
        size: '256x256',
        response_format: 'b64_json',
      })
      expect(inline.data).toHaveLength(2)
      expect(
        Buffer.from(inline.data?.[0]?.b64_json ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG')
    })
  })

  describe('errors as classes of the SDK', () => {
    it.each<[string, () => PromiseLike<unknown>, new (...parameters: never) => Error, object]>([
      [
        'create-chat-completion 400: a parameter out of its range',
        () => client.chat.completions.create({ model: MODEL, messages: say('hi'), temperature: 3 }),
        BadRequestError,
        { param: 'temperature', type: 'invalid_request_error' },
      ],
      [
        'create-chat-completion 400: a refusal of the upstream, in its own words',
        () => client.chat.completions.create({ model: MODEL, messages: say('[error:400]') }),
        BadRequestError,
        { type: 'invalid_request_error' },
      ],
      [
        'create-chat-completion 401: a key that does not exist',
        () => clientOf('nobody').chat.completions.create({ model: MODEL, messages: say('hi') }),
        AuthenticationError,
        { code: 'invalid_api_key', message: expect.stringMatching(/^401 invalid api key/) },
      ],
      [
        'create-chat-completion 404: a model that does not exist',
        () => client.chat.completions.create({ model: 'nothing', messages: say('hi') }),
        NotFoundError,
        { code: 'model_not_found', param: 'model' },
      ],
      [
        'create-chat-completion 404: an embedding model is told its route',
        () => client.chat.completions.create({ model: 'text-embedding-3-small', messages: say('hi') }),
        NotFoundError,
        { code: 'model_not_found', message: expect.stringContaining('use POST /v1/embeddings') },
      ],
      [
        'create-chat-completion 404: a base url without /v1 is told the end of one',
        () =>
          new OpenAI({ apiKey: 'e2e-key', baseURL: gateway.url, maxRetries: 0 }).chat.completions.create({
            model: MODEL,
            messages: say('hi'),
          }),
        NotFoundError,
        {
          message: expect.stringContaining(
            'not served: did you mean POST /v1/chat/completions? A base url ends in /v1,',
          ),
        },
      ],
      [
        'get-model 404: a model that does not exist',
        () => client.models.retrieve('nothing'),
        NotFoundError,
        { code: 'model_not_found' },
      ],
      [
        'create-chat-completion 429: an upstream that asks for patience',
        () => client.chat.completions.create({ model: MODEL, messages: say('[error:429]') }),
        RateLimitError,
        { code: 'upstream_rate_limited' },
      ],
      [
        'create-chat-completion 502: an upstream that fails',
        () => client.chat.completions.create({ model: MODEL, messages: say('[error:500]') }),
        InternalServerError,
        { status: 502, code: 'upstream_unavailable' },
      ],
      [
        'create-chat-completion 503: a model without a channel',
        () => client.chat.completions.create({ model: UNSERVED_MODEL, messages: say('hi') }),
        InternalServerError,
        { status: 503, code: 'no_channel_available' },
      ],
      [
        'create-chat-completion 504: an upstream that does not begin to answer',
        () => client.chat.completions.create({ model: MODEL, messages: say('[hang]') }),
        InternalServerError,
        { status: 504, code: 'upstream_timeout' },
      ],
      [
        'create-image 400: a content policy',
        () => client.images.generate({ model: 'image-v3', prompt: '[policy] a city' }),
        BadRequestError,
        { code: 'content_policy_violation' },
      ],
      [
        'create-embedding 400: dimensions of a model that has but one',
        () => client.embeddings.create({ model: 'text-embedding-ada-002', input: 'a', dimensions: 3 }),
        BadRequestError,
        { param: 'dimensions' },
      ],
      [
        'create-completion 400: a prompt of token ids',
        () => client.completions.create({ model: MODEL, prompt: [1, 2, 3] }),
        BadRequestError,
        { param: 'prompt' },
      ],
    ])('%s', async (_, request, expectedClass, members) => {
      const error = await errorOf(request())
      expect(error).toBeInstanceOf(expectedClass)
      expect(error).toMatchObject({ requestID: expect.stringMatching(/^[0-9a-f-]{36}$/), ...members })
    })

    it('create-chat-completion 402: too little quota is told once, and nothing is locked', async () => {
      const { id, key } = await gateway.tenant('0.000001')
      sent = 0
      const error = await errorOf(clientOf(key, 2).chat.completions.create({ model: MODEL, messages: say('hi') }))
      expect(error).toBeInstanceOf(APIError)
      expect(error).toMatchObject({ status: 402, code: 'insufficient_quota' })
      expect(sent).toBe(1)
      expect(await gateway.balance(id)).toMatchObject({ available: '0.000001', held: '0', spent: '0' })
    })

    it('the SDK does not retry a timeout after which the upstream may still work', async () => {
      sent = 0
      await errorOf(clientOf('e2e-key', 2).chat.completions.create({ model: MODEL, messages: say('[hang]') }))
      expect(sent).toBe(1)
    })

    it('the SDK retries a rate limit after Retry-After', async () => {
      sent = 0
      const words = `[error-once:429] ${crypto.randomUUID()}`
      await clientOf('e2e-key', 2).chat.completions.create({ model: MODEL, messages: say(words) })
      expect(sent).toBe(2)
    })

    it('list-models 429: a key above its rate, which the SDK tries again when the header says', async () => {
      const { key } = await gateway.tenant('0', undefined, 60)
      const makeBurst = () => Promise.allSettled(Array.from({ length: 17 }, () => clientOf(key).models.list()))
      const burst = await makeBurst()
      const refusals = burst.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
      // Twelve at once, and one more for each second that this took.
      expect(refusals.length).toBeGreaterThan(0)
      expect(refusals.length).toBeLessThanOrEqual(5)
      expect(refusals[0]).toBeInstanceOf(RateLimitError)
      expect(refusals[0]).toMatchObject({
        code: 'rate_limit_exceeded',
        message: expect.stringContaining('may send 60 a minute, and 12 at once after a rest'),
      })
      expect(refusals[0].headers.get('retry-after')).toMatch(/^[1-6]$/)
      // A machine that needs a second for this has room for one more again.
      do {
        await makeBurst()
        sent = 0
        expect((await clientOf(key, 2).models.list()).data.length).toBeGreaterThan(0)
      } while (sent < 2)
      expect(sent).toBe(2)
    })

    it('an error in the middle of a stream reaches the reader, after the words before it', async () => {
      const stream = await client.chat.completions.create({ model: MODEL, messages: say('[cut:3] hi'), stream: true })
      const read = readStream(stream)
      expect(await errorOf(read)).toMatchObject({ code: 'upstream_error' })
    })

    it('failed requests are not billed', async () => {
      const { id, key } = await gateway.tenant('1')
      const failing = ['[error:400]', '[error:429]', '[error:500]', '[hang]', '[html]', '[reset]']
      await Promise.all(
        failing.map((words) => errorOf(clientOf(key).chat.completions.create({ model: MODEL, messages: say(words) }))),
      )
      expect(await gateway.balance(id)).toMatchObject({ available: '1', held: '0', spent: '0' })
      expect((await gateway.ledger(id)).filter(({ kind }) => kind === 'release')).toHaveLength(failing.length)
    })
  })

  describe('a free model', () => {
    it('is relayed without a reservation, even with an empty balance', async () => {
      const { id, key } = await gateway.tenant('0')
      const answer = await clientOf(key).chat.completions.create({ model: FREE_MODEL, messages: say('hi') })
      expect(answer.model).toBe(FREE_MODEL)
      expect((await gateway.ledger(id)).filter(({ kind }) => kind !== 'grant')).toHaveLength(0)
    })

    it('is closed to a key at the first request after its revocation', async () => {
      const { key } = await gateway.tenant('1')
      const revoked = clientOf(key)
      const body = { model: FREE_MODEL, messages: say('hi') }
      await revoked.chat.completions.create(body)
      await gateway.revoke(key)
      expect(await errorOf(revoked.chat.completions.create(body))).toBeInstanceOf(AuthenticationError)
      expect(await errorOf(revoked.chat.completions.create({ ...body, model: MODEL }))).toBeInstanceOf(
        AuthenticationError,
      )
      expect(await errorOf(revoked.chat.completions.create({ ...body, model: '' }))).toBeInstanceOf(AuthenticationError)
    })
  })

  async function readStream(stream: AsyncIterable<OpenAI.ChatCompletionChunk>) {
    let text = ''
    let usage: OpenAI.CompletionUsage | undefined
    for await (const chunk of stream) {
      expect(chunk.model).toBe(MODEL)
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    return { text, usage }
  }
})

describe('what the official SDK reads of the cost', () => {
  const MODEL = 'chat-default'
  const say = (content: string) => [{ role: 'user' as const, content }]
  const CHAT = { model: MODEL, messages: say('[usage-details] What do you cost?'), max_tokens: 20 }
  const ASKING = { stream: true, stream_options: { include_usage: true } } as const
  const IMAGE = { model: 'image-v2', prompt: 'a city', n: 2, size: '256x256' } as const

  type Shown = {
    /** `usage.cost` of the response, or of the last usage of a stream. */
    readonly cost: unknown
    /** The header `x-reelgate-cost`. */
    readonly header: string | null
  }

  type Responding<Data> = { withResponse(): Promise<{ readonly data: Data; readonly response: Response }> }

  async function whole(request: Responding<{ readonly usage?: object | undefined }>): Promise<Shown> {
    const { data, response } = await request.withResponse()
    return { cost: Object(data.usage).cost, header: response.headers.get('x-reelgate-cost') }
  }

  async function streamed(request: Responding<AsyncIterable<{ readonly usage?: object | null }>>): Promise<Shown> {
    const { data, response } = await request.withResponse()
    let usage: object | undefined
    for await (const chunk of data) {
      usage = chunk.usage ?? usage
    }
    return { cost: Object(usage).cost, header: response.headers.get('x-reelgate-cost') }
  }

  /** Makes requests as a tenant of its own: what its client saw, and what its ledger and its counters say. */
  async function spend(request: (client: OpenAI) => Promise<Shown>) {
    const { id, key } = await gateway.tenant('1')
    const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const shown = await request(client)
    const settled = (await gateway.ledger(id)).find(({ kind }) => kind === 'settle')
    const { spent } = await gateway.balance(id)
    const usage: { readonly total: { readonly cost: string } } = await client.get('/usage')
    return { shown, settled: settled?.actual, spent, counted: usage.total.cost, channel: settled?.channel }
  }

  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['a chat with cached input', (client) => whole(client.chat.completions.create(CHAT))],
    ['completions', (client) => whole(client.completions.create({ model: MODEL, prompt: ['One', 'Two'] }))],
    ['embeddings', (client) => whole(client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'] }))],
  ])('of %s is the settlement, in the usage and in the header', async (_, request) => {
    const { shown, settled = '', spent, counted, channel } = await spend(request)
    expect(Number(settled)).toBeGreaterThan(0)
    expect(shown).toStrictEqual({ cost: Number(settled), header: settled })
    expect([spent, counted]).toStrictEqual([settled, settled])
    expect(channel).toEqual(expect.any(String))
  })

  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['a streamed chat', (client) => streamed(client.chat.completions.create({ ...CHAT, ...ASKING }))],
    [
      'a chat with a running total',
      (client) => streamed(client.chat.completions.create({ ...CHAT, messages: say('[usage-every] hi'), ...ASKING })),
    ],
    [
      'a chat whose usage comes with its finish reason',
      (client) => streamed(client.chat.completions.create({ ...CHAT, messages: say('[usage-finish] hi'), ...ASKING })),
    ],
    [
      'streamed completions',
      (client) => streamed(client.completions.create({ model: MODEL, prompt: ['One', 'Two'], ...ASKING })),
    ],
  ])('of %s is the settlement, in the usage that was asked for', async (_, request) => {
    const { shown, settled = '', spent, counted } = await spend(request)
    expect(Number(settled)).toBeGreaterThan(0)
    expect(shown).toStrictEqual({ cost: Number(settled), header: null })
    expect([spent, counted]).toStrictEqual([settled, settled])
  })

  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['a chat', (client) => streamed(client.chat.completions.create({ ...CHAT, stream: true }))],
    [
      'a chat with a running total',
      (client) =>
        streamed(client.chat.completions.create({ ...CHAT, messages: say('[usage-every] hi'), stream: true })),
    ],
    ['completions', (client) => streamed(client.completions.create({ model: MODEL, prompt: 'One', stream: true }))],
  ])('is nothing in a stream of %s without stream_options, which is billed all the same', async (_, request) => {
    const { shown, settled, spent } = await spend(request)
    expect(shown).toStrictEqual({ cost: undefined, header: null })
    expect(Number(settled)).toBeGreaterThan(0)
    expect(spent).toBe(settled)
  })

  it.each<[string, (client: OpenAI) => Promise<Shown>]>([
    ['images', (client) => whole(client.images.generate(IMAGE))],
    [
      'a chat without a usage',
      (client) => whole(client.chat.completions.create({ ...CHAT, messages: say('[no-usage] hi') })),
    ],
  ])('of %s is in the header alone', async (_, request) => {
    const { shown, settled = '' } = await spend(request)
    expect(Number(settled)).toBeGreaterThan(0)
    expect(shown).toStrictEqual({ cost: undefined, header: settled })
  })

  it('is nothing of a model without a price, and of a request that an upstream refuses', async () => {
    const free = await spend((client) => whole(client.chat.completions.create({ ...CHAT, model: FREE_MODEL })))
    expect(free).toMatchObject({ shown: { cost: undefined, header: null }, settled: undefined })
    const refused = await spend(async (client) => {
      const error = await client.chat.completions.create({ ...CHAT, messages: say('[error:400]') }).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      return error instanceof BadRequestError
        ? { cost: undefined, header: error.headers.get('x-reelgate-cost') }
        : { cost: 'no error', header: null }
    })
    expect(refused).toMatchObject({ shown: { cost: undefined, header: null }, settled: undefined, spent: '0' })
  })
})
