import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { BOUNDING_FIELDS, GATED_FIELDS } from '#core/allowed-fields.ts'
import { requestBodySchema } from '../../lib/openapi/request-schemas.ts'
import {
  CHAT,
  chatAnswer,
  DONE,
  FINISH,
  type RelayOperation,
  type RelayRig,
  type RelayUpstream,
  sendJson,
  sendStream,
  startRelayRig,
  USAGE_CHUNK,
  word,
} from '../engines/relay-rig.ts'
import { BILLED, exampleOf } from '../engines/relayed-samples.ts'

const IGNORED = 'x-reelgate-ignored'
const MESSAGES = [{ role: 'user', content: 'hi' }]
const BODIES = {
  'create-chat-completion': { model: CHAT, messages: MESSAGES, max_tokens: 10 },
  'create-completion': { model: CHAT, prompt: 'Once', max_tokens: 10 },
  'create-embedding': { model: 'text-embedding-3-small', input: 'a' },
  'create-image': { model: 'image-v2', prompt: 'a fox', n: 1 },
} as const satisfies Partial<Record<RelayOperation, object>>

type Relayed = keyof typeof BODIES

/** What each upstream gets where nothing was left out. */
const SENT = {
  'create-chat-completion': { model: 'upstream-chat', messages: MESSAGES, max_tokens: 10 },
  'create-completion': { model: 'upstream-chat', messages: [{ role: 'user', content: 'Once' }], max_tokens: 10 },
  'create-embedding': { model: 'upstream-embedding', input: 'a' },
  'create-image': { model: 'upstream-image-2', prompt: 'a fox', n: 1, size: '1024x1024' },
} as const

const ANSWERS = {
  'create-chat-completion': chatAnswer(),
  'create-completion': chatAnswer(),
  'create-embedding': {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [1] }],
    usage: { prompt_tokens: 1 },
  },
  'create-image': { created: 1, data: [{ url: 'https://upstream.example/a.png' }] },
} as const

const RELAYED = Object.keys(BODIES) as Relayed[]

/** Every API of conversations, so that nothing is translated. */
const NATIVE = { chat: '/chat/completions', responses: '/responses', messages: { path: '/messages' } }

/** Two channels of every model, each with fields of its own. */
let rig: RelayRig

beforeAll(async () => {
  const added = [
    {
      chat: ['top_k', 'messages.reasoning_content', 'messages.content.video_url', 'messages.content.cache_control'],
      embeddings: ['task'],
    },
    { chat: ['min_p'] },
  ]
  rig = await startRelayRig({
    channels: 2,
    channel: (index) => ({ pass_members: added[index], apis: NATIVE }),
    chat: { input_modalities: ['text', 'video', 'file'] },
  })
})
afterAll(async () => {
  await rig.close()
})

function upstream(index: number): RelayUpstream {
  const found = rig.upstreams[index]
  if (found === undefined) {
    throw new TypeError(`there is no upstream ${index}`)
  }
  return found
}

async function send(operation: Relayed, fields: object) {
  upstream(0).answerWith((response) => sendJson(response, ANSWERS[operation]))
  const { statusCode, headers } = await rig.send({ ...BODIES[operation], ...fields }, { operation })
  return { statusCode, ignored: headers[IGNORED], sent: upstream(0).calls.at(-1)?.body }
}

describe('fields that are not listed', () => {
  it.each(RELAYED)('%s: reach no upstream in any spelling, and are named to the client', async (operation) => {
    const foldings = { Model: 'x', MODEL: 'x', N: 10, n_: 10, MAX_TOKENS: 16_384, maxTokens: 16_384, Stream: true }
    const more = {
      Size: '1792x1024',
      Quality: 'hd',
      Meſſages: [],
      '\u212aey': 1,
      streamOptions: {},
      Prompt: 'x',
      Input: 'x',
    }
    const priced = { service_tier: 'priority', models: ['x'], fallbacks: ['x'], route: 'x', provider: {}, plugins: [] }
    const { statusCode, ignored, sent } = await send(operation, { ...foldings, ...more, ...priced })
    expect({ statusCode, sent }).toStrictEqual({ statusCode: 200, sent: SENT[operation] })
    const names = [...Object.keys(foldings), ...Object.keys(more), ...Object.keys(priced)]
    expect(ignored).toBe(names.map(encodeURIComponent).join(', '))
  })

  it.each(BILLED)(
    '$operation: reach no upstream of its own API where they raise the price or change the model',
    async (route) => {
      const { operation, input = '', body, speaks } = route
      const reply = speaks === 'chat' ? chatAnswer() : exampleOf(operation)?.reply
      upstream(0).answerWith((response) => sendJson(response, reply))
      const known = Object.keys(requestBodySchema(input).properties ?? {})
      const unknown = [...GATED_FIELDS, ...BOUNDING_FIELDS].filter((name) => !known.includes(name))
      const raised = Object.fromEntries(unknown.map((name) => [name, 9]))
      const sent = []
      for (const fields of [{}, raised]) {
        expect(await rig.send({ ...body, ...fields }, { operation })).toMatchObject({ statusCode: 200 })
        sent.push(upstream(0).calls.at(-1)?.text)
      }
      expect(sent[1]).toBe(sent[0])
    },
  )

  it.each(RELAYED)('%s: say nothing where there are none', async (operation) => {
    expect(await send(operation, {})).toStrictEqual({ statusCode: 200, ignored: undefined, sent: SENT[operation] })
  })

  it('create-chat-completion: are left out of messages, parts, tools and stream options too', async () => {
    const part = { type: 'text', text: 'hi', Type: 'image_url', Image_Url: { url: 'https://example.com/a.png' } }
    const parameters = { type: 'object', Properties: { N: { type: 'string' } } }
    const { ignored, sent } = await send('create-chat-completion', {
      messages: [{ role: 'user', content: [part], Content: 'other', cache_control: {} }],
      tools: [{ type: 'function', Type: 'web_search', function: { name: 'f', Name: 'g', parameters } }],
      stream_options: { include_usage: true, Include_Usage: false },
    })
    expect(sent).toStrictEqual({
      ...SENT['create-chat-completion'],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
      stream_options: { include_usage: true },
    })
    expect(ignored).toBe(
      'messages.content.Type, messages.content.Image_Url, messages.Content, messages.cache_control, tools.Type, tools.function.Name, stream_options.Include_Usage',
    )
  })

  it('create-chat-completion: a content part reaches the upstream with what its type names, and no other content', async () => {
    const file = { file: { file_id: 'f' }, image_url: { url: 'https://example.com/a.png' } }
    const content = [{ type: 'text', text: 'x', ...file }]
    const { statusCode, ignored, sent } = await send('create-chat-completion', {
      messages: [{ role: 'user', content }],
    })
    expect(statusCode).toBe(200)
    expect(sent?.messages).toStrictEqual([{ role: 'user', content: [{ type: 'text', text: 'x' }] }])
    expect(ignored).toBe('messages.content.image_url, messages.content.file')
  })

  it('create-chat-completion: a content part that no channel relays is refused before any money is moved', async () => {
    const { id, key } = await rig.tenant('1')
    const calls = upstream(0).calls.length
    const content = [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }]
    const body = { ...BODIES['create-chat-completion'], messages: [{ role: 'user', content }] }
    const { statusCode, text } = await rig.send(body, { key })
    expect({ statusCode, error: JSON.parse(text).error }).toMatchObject({
      statusCode: 400,
      error: {
        param: 'messages.0.content.0',
        message: expect.stringContaining('does not take input of the kind audio'),
      },
    })
    expect(await rig.rows(id)).toStrictEqual([])
    expect(upstream(0).calls).toHaveLength(calls)
  })

  it('create-chat-completion: a content part that a channel takes is relayed, and is locked at the whole context', async () => {
    const { id, key } = await rig.tenant('1000')
    const content = [{ type: 'text', text: 'x', video_url: { url: 'https://example.com/a.mp4' } }]
    const video = { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }
    upstream(0).answerWith((response) => sendJson(response, chatAnswer()))
    const lockedFor = async (parts: readonly object[]) => {
      const body = { ...BODIES['create-chat-completion'], messages: [{ role: 'user', content: parts }] }
      const { statusCode } = await rig.send(body, { key })
      expect({ statusCode, sent: upstream(0).calls.at(-1)?.body }).toMatchObject({
        statusCode: 200,
        sent: { messages: [{ role: 'user', content: parts }] },
      })
      return (await rig.rows(id))[0]?.amount ?? 0n
    }
    const whole = await lockedFor([{ type: 'file', file: { file_id: 'f' } }])
    expect(await lockedFor([video])).toBe(whole)
    expect(await lockedFor(content)).toBe(whole)
    expect(await lockedFor([{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }])).toBeLessThan(whole)
  })

  it('create-chat-completion: are relayed where they are listed, byte for byte', async () => {
    const text = `{"model":"${CHAT}", "messages":[{"role":"user","content":"hi"}],"seed":9007199254740993 , "temperature":1.0,"X":1,"reasoning_effort":"low","response_format":{"type":"json_object"}}`
    await rig.send(text)
    expect(upstream(0).calls.at(-1)?.text).toBe(text.replace(CHAT, 'upstream-chat').replace(',"X":1', ''))
  })

  it('are named on a stream and on a refusal of the upstream too', async () => {
    upstream(0).answerWith((response) => sendStream(response, word('Hi'), FINISH, USAGE_CHUNK, DONE))
    const streamed = await rig.send({ ...BODIES['create-chat-completion'], stream: true, durration: 1 })
    expect(streamed.headers[IGNORED]).toBe('durration')
    upstream(0).answerWith((response) => sendJson(response, { error: { message: 'no' } }, 400))
    const refused = await rig.send({ ...BODIES['create-chat-completion'], durration: 1 })
    expect(refused).toMatchObject({ statusCode: 400, headers: { [IGNORED]: 'durration' } })
  })
})

describe('fields that a channel adds', () => {
  const FIELDS = { top_k: 4, min_p: 0.1, Top_K: 5 }

  it.each(['create-chat-completion', 'create-completion'] as const)(
    '%s: are relayed to it by their exact names',
    async (operation) => {
      const { ignored, sent } = await send(operation, FIELDS)
      expect(sent).toStrictEqual({ ...SENT[operation], top_k: 4 })
      expect(ignored).toBe('min_p, Top_K')
    },
  )

  it('create-embedding: hold for their route only', async () => {
    const { ignored, sent } = await send('create-embedding', { ...FIELDS, task: 'query' })
    expect(sent).toStrictEqual({ ...SENT['create-embedding'], task: 'query' })
    expect(ignored).toBe('top_k, min_p, Top_K')
  })

  it('create-chat-completion: may stand in messages', async () => {
    const messages = [...MESSAGES, { role: 'assistant', content: 'a', reasoning_content: 'b', Reasoning_Content: 'c' }]
    const { ignored, sent } = await send('create-chat-completion', { messages })
    expect(sent?.messages).toStrictEqual([...MESSAGES, { role: 'assistant', content: 'a', reasoning_content: 'b' }])
    expect(ignored).toBe('messages.Reasoning_Content')
  })

  it.each(['create-chat-completion', 'create-completion'] as const)(
    '%s: are decided anew by the channel that takes over',
    async (operation) => {
      upstream(0).answerWith((response) => sendJson(response, { error: {} }, 500))
      upstream(1).answerWith((response) => sendJson(response, ANSWERS[operation]))
      const { statusCode, headers } = await rig.send({ ...BODIES[operation], ...FIELDS }, { operation })
      expect(statusCode).toBe(200)
      expect(upstream(0).calls.at(-1)?.body).toStrictEqual({ ...SENT[operation], top_k: 4 })
      expect(upstream(1).calls.at(-1)?.body).toStrictEqual({ ...SENT[operation], min_p: 0.1 })
      expect(headers[IGNORED]).toContain('top_k')
      expect(headers[IGNORED]).toContain('Top_K')
    },
  )
})

describe('the price of relayed fields', () => {
  it('cannot be saved by a second spelling: what is locked is what the upstream can make', async () => {
    const { id, key } = await rig.tenant('1')
    const body = { ...BODIES['create-chat-completion'], max_tokens: 1, MAX_TOKENS: 16_384, N: 100 }
    upstream(0).answerWith((response, { body: seen }) => {
      const loose = Object.fromEntries(Object.entries(seen).map(([name, value]) => [name.toLowerCase(), value]))
      const completionTokens = Number(loose.max_tokens) * Number(loose.n ?? 1)
      sendJson(
        response,
        chatAnswer({ usage: { prompt_tokens: 1, completion_tokens: completionTokens, total_tokens: 0 } }),
      )
    })
    expect((await rig.send(body, { key })).statusCode).toBe(200)
    expect(await rig.balance(id)).toStrictEqual({ available: '0.997', held: '0', spent: '0.003' })
  })
})

describe('an image for a model that takes none', () => {
  const url = 'https://example.com/a.png'

  it.each([
    [
      'create-message',
      { max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] },
    ],
    ['create-response', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }],
  ] as const)('%s: is refused before any money is moved', async (operation, body) => {
    const { id, key } = await rig.tenant('1')
    const { statusCode, text } = await rig.send({ model: CHAT, ...body }, { operation, key })
    expect({ statusCode, text }).toMatchObject({
      statusCode: 400,
      text: expect.stringContaining(`the model ${CHAT} does not take input of the kind image`),
    })
    expect(await rig.rows(id)).toStrictEqual([])
  })
})
